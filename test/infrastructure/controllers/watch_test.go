/*
Copyright 2026 The 5-Spot Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package controllers

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/event"

	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

func TestChangedByOthers(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*infrav1.HostMachine)
		want   bool
	}{
		{"status", func(m *infrav1.HostMachine) { m.Status.Initialization.Provisioned = ptr.To(true) }, false},
		{"spec", func(m *infrav1.HostMachine) { m.Generation = 2 }, true},
		{"owner", func(m *infrav1.HostMachine) { m.OwnerReferences = []metav1.OwnerReference{{Name: "m"}} }, true},
		{"label", func(m *infrav1.HostMachine) { m.Labels = map[string]string{"a": "b"} }, true},
		{"annotation", func(m *infrav1.HostMachine) { m.Annotations = map[string]string{"a": "b"} }, true},
		{"finalizer", func(m *infrav1.HostMachine) { m.Finalizers = []string{"a"} }, true},
		{"deletion", func(m *infrav1.HostMachine) { m.DeletionTimestamp = &metav1.Time{} }, true},
		{"another object of the name", func(m *infrav1.HostMachine) { m.UID = "other" }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := &infrav1.HostMachine{ObjectMeta: metav1.ObjectMeta{Generation: 1, UID: "u", ResourceVersion: "1"}}
			after := before.DeepCopy()
			row.change(after)
			if got := changedByOthers().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != row.want {
				t.Errorf("got %t, want %t", got, row.want)
			}
		})
	}
}

func TestClusterTurned(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*clusterv1.Cluster)
		want   bool
	}{
		{"a condition", func(c *clusterv1.Cluster) { c.Status.Conditions = []metav1.Condition{{Type: "Available"}} }, false},
		{"provisioned", func(c *clusterv1.Cluster) { c.Status.Initialization.InfrastructureProvisioned = ptr.To(true) }, true},
		{"initialized", func(c *clusterv1.Cluster) { c.Status.Initialization.ControlPlaneInitialized = ptr.To(true) }, true},
		{"paused, or anything else in the spec", func(c *clusterv1.Cluster) { c.Generation = 2 }, true},
		{"deletion", func(c *clusterv1.Cluster) { c.DeletionTimestamp = &metav1.Time{} }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
			after := before.DeepCopy()
			row.change(after)
			if got := clusterTurned().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != row.want {
				t.Errorf("got %t, want %t", got, row.want)
			}
		})
	}
}
