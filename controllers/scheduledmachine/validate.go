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
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/schedule"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/taints"
)

const (
	defaultTimeout = 5 * time.Minute
	maxTimeout     = 24 * time.Hour
)

var (
	clusterNamePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	durationPattern    = regexp.MustCompile(`^([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?$`)
	versionPattern     = regexp.MustCompile(`^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)
	kindPattern        = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

// reservedMetadataPrefixes are those of labels and annotations that a spec may
// not set on what we make; 5-Spot reserves the same.
var reservedMetadataPrefixes = []string{"kubernetes.io/", "k8s.io/", "cluster.x-k8s.io/", "5spot.finos.org/"}

// validate checks again what admission checks, for clusters whose CRD or policy
// is older or missing. Each message names the field and what to write instead.
func validate(sm *v1alpha1.ScheduledMachine) field.ErrorList {
	spec, root := sm.Spec, field.NewPath("spec")
	var errs field.ErrorList
	if len(spec.ClusterName) > 63 || !clusterNamePattern.MatchString(spec.ClusterName) {
		errs = append(errs, field.Invalid(root.Child("clusterName"), spec.ClusterName,
			"write the name of a Cluster: 1 to 63 letters, digits, '.', '_' or '-', beginning with a letter or digit"))
	}
	errs = append(errs, schedule.Validate(spec.Schedule, root.Child("schedule"))...)
	errs = append(errs, validateChild(root, "bootstrap", "infrastructure", spec.BootstrapSpec, spec.BootstrapRef)...)
	errs = append(errs, validateChild(root, "infrastructure", "bootstrap", spec.InfrastructureSpec, spec.InfrastructureRef)...)
	if t := spec.MachineTemplate; t != nil {
		errs = append(errs, validateMetadata(root.Child("machineTemplate"), t.Labels, t.Annotations)...)
	}
	if spec.Version != "" && !versionPattern.MatchString(spec.Version) {
		errs = append(errs, field.Invalid(root.Child("version"), spec.Version, "write a Kubernetes version, such as v1.36.3"))
	}
	if p := spec.Priority; p != nil && (*p < 0 || *p > 255) {
		errs = append(errs, field.Invalid(root.Child("priority"), *p, "write a number from 0 to 255"))
	}
	errs = append(errs, validateDuration(root.Child("gracefulShutdownTimeout"), spec.GracefulShutdownTimeout)...)
	errs = append(errs, validateDuration(root.Child("nodeDrainTimeout"), spec.NodeDrainTimeout)...)
	return append(errs, taints.Validate(spec.NodeTaints, root.Child("nodeTaints"))...)
}

func validateDuration(path *field.Path, value string) field.ErrorList {
	if value == "" {
		return nil // The default stands for what is left out.
	}
	d, err := time.ParseDuration(value)
	if err != nil || !durationPattern.MatchString(value) || d > maxTimeout {
		return field.ErrorList{field.Invalid(path, value, "write hours, minutes and seconds, such as 30s, 5m or 1h30m; at most 24h")}
	}
	return nil
}

// timeout parses a duration that validate has passed; what is left out is 5m.
func timeout(value string) time.Duration {
	d, err := time.ParseDuration(value)
	if err != nil {
		return defaultTimeout
	}
	return d
}

func validateChild(root *field.Path, name, other string, embedded *v1alpha1.EmbeddedObject, template *v1alpha1.TemplateReference) field.ErrorList {
	specPath, refPath := root.Child(name+"Spec"), root.Child(name+"Ref")
	switch {
	case embedded == nil && template == nil:
		return field.ErrorList{field.Required(specPath, "set exactly one of "+name+"Spec and "+name+"Ref")}
	case embedded != nil && template != nil:
		return field.ErrorList{field.Forbidden(refPath, "set exactly one of "+name+"Spec and "+name+"Ref")}
	case template != nil:
		errs := validateGroup(refPath.Child("apiGroup"), template.APIGroup, other)
		if !kindPattern.MatchString(template.Kind) || !strings.HasSuffix(template.Kind, clusterv1.TemplateSuffix) {
			errs = append(errs, field.Invalid(refPath.Child("kind"), template.Kind, "name a template's kind: it ends in Template"))
		}
		if template.Name == "" {
			errs = append(errs, field.Required(refPath.Child("name"), "name the template"))
		} else if problems := apivalidation.NameIsDNSSubdomain(template.Name, false); len(problems) > 0 {
			errs = append(errs, field.Invalid(refPath.Child("name"), template.Name,
				"write the name of a template in this namespace: lower case letters, digits, '-' or '.', beginning and ending with a letter or digit"))
		}
		return errs
	}
	var errs field.ErrorList
	gv, err := schema.ParseGroupVersion(embedded.APIVersion)
	if err != nil || gv.Version == "" {
		errs = append(errs, field.Invalid(specPath.Child("apiVersion"), embedded.APIVersion, "write group/version, such as "+name+".cluster.x-k8s.io/v1beta2"))
	} else {
		errs = append(errs, validateGroup(specPath.Child("apiVersion"), gv.Group, other)...)
	}
	if !kindPattern.MatchString(embedded.Kind) {
		errs = append(errs, field.Invalid(specPath.Child("kind"), embedded.Kind, "write the kind in CamelCase, such as KubeadmConfig"))
	}
	if raw := embedded.Spec.Raw; len(raw) > 0 {
		var object map[string]any
		if json.Unmarshal(raw, &object) != nil {
			// Not quoted: what providers take may be secret.
			errs = append(errs, field.Invalid(specPath.Child("spec"), "<not shown>", "write an object"))
		}
	}
	if m := embedded.Metadata; m != nil {
		errs = append(errs, validateMetadata(specPath.Child("metadata"), m.Labels, m.Annotations)...)
	}
	return errs
}

func validateGroup(path *field.Path, group, other string) field.ErrorList {
	if advice := groupAdvice(group, other); advice != "" {
		return field.ErrorList{field.Invalid(path, group, advice)}
	}
	return nil
}

// groupAdvice refuses the groups of Kubernetes itself, of Cluster API's own kinds,
// ours, and of the other sort of provider. It is empty for all others.
func groupAdvice(group, other string) string {
	switch {
	case !strings.Contains(group, "."), group == "k8s.io", strings.HasSuffix(group, ".k8s.io"):
		return "kinds of Kubernetes itself are not allowed; name a Cluster API provider's group"
	case group == clusterv1.GroupVersion.Group, group == v1alpha1.GroupVersion.Group:
		return "this group holds no provider's kinds; name a Cluster API provider's group"
	case strings.HasPrefix(group, other+"."):
		return "this is the group of " + other + " providers; name a provider of the right sort"
	default:
		return ""
	}
}

func validateMetadata(path *field.Path, labels, annotations map[string]string) field.ErrorList {
	errs := metav1validation.ValidateLabels(labels, path.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(annotations, path.Child("annotations"))...)
	for name, m := range map[string]map[string]string{"labels": labels, "annotations": annotations} {
		for key := range m {
			for _, prefix := range reservedMetadataPrefixes {
				if strings.HasPrefix(key, prefix) {
					errs = append(errs, field.Invalid(path.Child(name).Key(key), key,
						"keys that begin with "+strings.Join(reservedMetadataPrefixes, ", ")+" are reserved; choose a prefix of your own"))
				}
			}
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}
