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
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// identity is what the API server takes a taint's identity to be: a Node cannot
// have two taints with the same key and effect.
type identity struct {
	key    string
	effect v1alpha1.TaintEffect
}

func identityOf(t v1alpha1.NodeTaint) identity {
	return identity{key: t.Key, effect: t.Effect}
}

// fromNode drops timeAdded, which is no part of what is declared or recorded.
func fromNode(t corev1.Taint) v1alpha1.NodeTaint {
	return v1alpha1.NodeTaint{Key: t.Key, Value: t.Value, Effect: v1alpha1.TaintEffect(t.Effect)}
}

func compare(a, b v1alpha1.NodeTaint) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Effect, b.Effect))
}

// Format writes a taint as kubectl does: key=value:Effect, or key:Effect where the
// value is empty.
func Format(t v1alpha1.NodeTaint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}
