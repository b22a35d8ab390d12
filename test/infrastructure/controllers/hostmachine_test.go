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
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend"
)

func TestNodeFate(t *testing.T) {
	deleted := &metav1.Time{Time: time.Now()}
	cluster := func(deletion *metav1.Time) *clusterv1.Cluster {
		return &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: deletion}}
	}
	machine := func(deletion *metav1.Time, node string) *clusterv1.Machine {
		m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: deletion}}
		m.Status.NodeRef.Name = node
		return m
	}
	for _, row := range []struct {
		name    string
		cluster *clusterv1.Cluster
		machine *clusterv1.Machine
		want    backend.NodeFate
	}{
		{"a Machine that is deleted, with a Node", cluster(nil), machine(deleted, "n"), backend.LeaveNode},
		{"a Machine that never had a Node", cluster(nil), machine(deleted, ""), backend.DeleteNode},
		{"a HostMachine that is deleted alone", cluster(nil), machine(nil, "n"), backend.DeleteNode},
		{"no Machine", cluster(nil), nil, backend.DeleteNode},
		{"a Cluster that is deleted", cluster(deleted), machine(deleted, "n"), backend.DeleteNode},
		{"no Cluster", nil, machine(deleted, "n"), backend.DeleteNode},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := nodeFate(row.cluster, row.machine); got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

func TestWaitsFor(t *testing.T) {
	for _, row := range []struct {
		name        string
		provisioned *bool
		data        *string
		want        string
	}{
		{"a Cluster that says nothing", nil, ptr.To("d"), infrav1.WaitingForClusterInfrastructureReason},
		{"a Cluster that is not provisioned", ptr.To(false), ptr.To("d"), infrav1.WaitingForClusterInfrastructureReason},
		{"no bootstrap data", ptr.To(true), nil, infrav1.WaitingForBootstrapDataReason},
		{"nothing", ptr.To(true), ptr.To("d"), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			cluster, machine := &clusterv1.Cluster{}, &clusterv1.Machine{}
			cluster.Status.Initialization.InfrastructureProvisioned = row.provisioned
			machine.Spec.Bootstrap.DataSecretName = row.data
			if got, _ := waitsFor(cluster, machine); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
