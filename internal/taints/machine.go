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

package taints

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// MachineTaintsAnnotation is where Cluster API records the taints that it keeps on
// a Node for Machine.spec.taints: key:effect, separated by commas. It is
// clusterv1.TaintsFromMachineAnnotation, written by propagateMachineTaintsToNode in
// core/reconcilers/machine (feature gate MachineTaintPropagation).
const MachineTaintsAnnotation = "cluster.x-k8s.io/taints-from-machine"

// machineClaims are the taints that Cluster API holds. It sets their values and
// adds and removes them as the Machine says; were we to do the same the two would
// undo each other's writes for ever.
func machineClaims(node *corev1.Node) map[identity]bool {
	claims := map[identity]bool{}
	for entry := range strings.SplitSeq(node.Annotations[MachineTaintsAnnotation], ",") {
		if key, effect, found := strings.Cut(entry, ":"); found {
			claims[identity{key: key, effect: v1alpha1.TaintEffect(effect)}] = true
		}
	}
	return claims
}
