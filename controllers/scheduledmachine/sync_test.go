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

package scheduledmachine

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

func TestMerge(t *testing.T) {
	for _, row := range []struct {
		name                   string
		current, desired, want map[string]string
		owned                  []string
	}{
		{"nothing at all", nil, nil, nil, nil},
		{"first label", nil, map[string]string{"a": "1"}, map[string]string{"a": "1"}, nil},
		{"others' stay", map[string]string{"theirs": "x"}, map[string]string{"a": "1"}, map[string]string{"theirs": "x", "a": "1"}, nil},
		{"ours and no more declared goes", map[string]string{"a": "1", "theirs": "x"}, nil, map[string]string{"theirs": "x"}, []string{"a"}},
		{"ours and declared stays", map[string]string{"a": "1"}, map[string]string{"a": "2"}, map[string]string{"a": "2"}, []string{"a"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			NewWithT(t).Expect(merge(row.current, row.desired, row.owned)).To(Equal(row.want))
		})
	}
}

func TestOwnedKeys(t *testing.T) {
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}
	}
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		entry("5spot-controller", `{"f:metadata":{"f:labels":{".":{},"f:team":{},"f:x.io/y":{}},"f:annotations":{"f:note":{}}}}`),
		entry("manager", `{"f:metadata":{"f:labels":{"f:theirs":{}}}}`),
		entry("5spot-controller", `garbage`),
	}}}
	g := NewWithT(t)
	g.Expect(ownedKeys(machine, "labels")).To(ConsistOf("team", "x.io/y"))
	g.Expect(ownedKeys(machine, "annotations")).To(ConsistOf("note"))
}
