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

import "strings"

// ReservedKey says whether a taint key belongs to Kubernetes, to Cluster API's
// Node taints, to Aether or to this provider itself. Taints with such keys are
// part of the protocols of others and are never declared, changed or removed by
// us. Only the prefix before the slash is looked at: a key without a prefix is
// private to the user.
func ReservedKey(key string) bool {
	prefix, _, found := strings.Cut(key, "/")
	if !found {
		return false
	}
	switch prefix {
	case "5spot.finos.org", "aether.io", "node.cluster.x-k8s.io", "kubernetes.io", "k8s.io":
		return true
	}
	// Kubernetes reserves these two domains with all their subdomains:
	// https://kubernetes.io/docs/reference/labels-annotations-taints/
	return strings.HasSuffix(prefix, ".kubernetes.io") || strings.HasSuffix(prefix, ".k8s.io")
}
