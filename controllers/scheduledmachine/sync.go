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
	"bytes"
	"context"
	"fmt"
	"maps"
	"strings"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// syncMachine brings what a spec may change in place to a Machine that exists:
// the labels and annotations of machineTemplate, and the drain timeout. What
// Cluster API and others put on the Machine stays: a key is taken off only where
// the Machine's managed fields say that it is ours.
func (r *Reconciler) syncMachine(ctx context.Context, s *scope) error {
	before := s.machine.DeepCopy()
	after := s.machine
	labels, annotations := templateMetadata(s.sm.Spec)
	after.Labels = merge(after.Labels, s.ownLabels(labels), ownedKeys(before, "labels"))
	after.Annotations = merge(after.Annotations, annotations, ownedKeys(before, "annotations"))
	if want := drainTimeoutSeconds(s.sm.Spec); ptr.Deref(after.Spec.Deletion.NodeDrainTimeoutSeconds, -1) != *want {
		after.Spec.Deletion.NodeDrainTimeoutSeconds = want
	}
	patch := client.MergeFrom(before)
	data, err := patch.Data(after)
	if err != nil {
		return fmt.Errorf("comparing Machine %s: %w", after.Name, err)
	}
	if bytes.Equal(data, []byte("{}")) {
		return nil
	}
	if err := r.Client.Patch(ctx, after, patch, client.FieldOwner(v1alpha1.FieldManager)); err != nil {
		return fmt.Errorf("updating Machine %s in place: %w", after.Name, err)
	}
	ctrl.LoggerFrom(ctx).Info("Updated Machine in place", "Machine", after.Name)
	return nil
}

// merge returns current with desired laid over it and without the owned keys that
// are desired no more.
func merge(current, desired map[string]string, owned []string) map[string]string {
	merged := maps.Clone(current)
	for _, key := range owned {
		delete(merged, key)
	}
	if merged == nil && len(desired) > 0 {
		merged = map[string]string{}
	}
	maps.Copy(merged, desired)
	return merged
}

// ownedKeys lists the keys of metadata.labels or metadata.annotations that our
// field manager set.
func ownedKeys(machine *clusterv1.Machine, name string) []string {
	var keys []string
	for _, entry := range machine.ManagedFields {
		if entry.Manager != v1alpha1.FieldManager || entry.FieldsV1 == nil || entry.Subresource != "" {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			continue // Not readable means not known to be ours.
		}
		prefix := "." + strings.Join([]string{"metadata", name}, ".")
		set.Iterate(func(p fieldpath.Path) {
			if len(p) == 3 && p[:2].String() == prefix && p[2].FieldName != nil {
				keys = append(keys, *p[2].FieldName)
			}
		})
	}
	return keys
}
