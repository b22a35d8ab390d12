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
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// MaxTaints is how many taints may be declared for one Node.
const MaxTaints = 50

var effects = []v1alpha1.TaintEffect{
	v1alpha1.TaintEffect(corev1.TaintEffectNoSchedule),
	v1alpha1.TaintEffect(corev1.TaintEffectPreferNoSchedule),
	v1alpha1.TaintEffect(corev1.TaintEffectNoExecute),
}

func knownEffect(e v1alpha1.TaintEffect) bool {
	for _, known := range effects {
		if e == known {
			return true
		}
	}
	return false
}

// Validate checks declared taints against the rules that the API server has for
// those of a Node (validateNodeTaints in k8s.io/kubernetes,
// pkg/apis/core/validation) and against ours: no reserved key, at most
// [MaxTaints]. path is the field that holds the list, such as spec.nodeTaints.
// Admission checks the same; this is for clusters where the policy is missing.
func Validate(list []v1alpha1.NodeTaint, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(list) > MaxTaints {
		errs = append(errs, field.Invalid(path, len(list),
			fmt.Sprintf("there are too many taints: declare at most %d", MaxTaints)))
	}

	first := make(map[identity]int, len(list))
	for i, taint := range list {
		at := path.Index(i)
		errs = append(errs, validateKey(taint.Key, at.Child("key"))...)
		errs = append(errs, validateValue(taint.Value, at.Child("value"))...)
		errs = append(errs, validateEffect(taint.Effect, at.Child("effect"))...)

		id := identityOf(taint)
		if j, seen := first[id]; seen {
			duplicate := field.Duplicate(at, Format(taint))
			duplicate.Detail = fmt.Sprintf("a Node has at most one taint for each key and effect, and %s has these already: "+
				"keep one of the two or use another effect", path.Index(j))
			errs = append(errs, duplicate)
			continue
		}
		first[id] = i
	}
	return errs
}

func validateKey(key string, path *field.Path) field.ErrorList {
	if key == "" {
		return field.ErrorList{field.Required(path, "write a taint key, such as workload or example.com/workload")}
	}
	if problems := validation.IsQualifiedName(key); len(problems) > 0 {
		return field.ErrorList{field.Invalid(path, key, "write a qualified name, such as workload or example.com/workload: "+
			strings.Join(problems, "; "))}
	}
	if ReservedKey(key) {
		prefix, _, _ := strings.Cut(key, "/")
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("%q has the prefix %s/, which is reserved: "+
			"use a key without a prefix or with a domain of your own, such as example.com/workload", key, prefix))}
	}
	return nil
}

func validateValue(value string, path *field.Path) field.ErrorList {
	if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
		return field.ErrorList{field.Invalid(path, value, "write a label value, such as batch, or leave it out: "+
			strings.Join(problems, "; "))}
	}
	return nil
}

func validateEffect(effect v1alpha1.TaintEffect, path *field.Path) field.ErrorList {
	switch {
	case effect == "":
		return field.ErrorList{field.Required(path, "write NoSchedule, PreferNoSchedule or NoExecute")}
	case !knownEffect(effect):
		return field.ErrorList{field.NotSupported(path, effect, effects)}
	}
	return nil
}
