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

package admission

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/5spot/cluster-api-addon-provider-5spot/config"
)

// celRule is a rule in the CRD, at the field that its refusals name.
type celRule struct{ field, message string }

// celRules lists the rules below a field of the schema. List indices are [].
func celRules(field string, s apiextensionsv1.JSONSchemaProps) []celRule {
	var all []celRule
	for _, rule := range s.XValidations {
		// A transition cannot be refused on creation; update_test.go tries the one there is.
		if !strings.Contains(rule.Rule, "oldSelf") {
			all = append(all, celRule{field: field + rule.FieldPath, message: rule.Message})
		}
	}
	for name, property := range s.Properties {
		all = append(all, celRules(strings.TrimPrefix(field+"."+name, "."), property)...)
	}
	if s.Items != nil {
		all = append(all, celRules(field+"[]", *s.Items.Schema)...)
	}
	return all
}

// An API server ends the evaluation of rules that cost too much, and then refuses.
var _ = Describe("The largest ScheduledMachine that the rules allow", func() {
	It("is accepted", func(ctx context.Context) {
		prefix := strings.Repeat("a.", 126) + "a/"
		labels := fmt.Sprintf("{labels: {%[1]s}, annotations: {%[1]s}}", many(64, prefix+x(59)+"%04d: "+x(63)))
		items := func(n int, item string) string {
			return "[" + strings.TrimSuffix(strings.Repeat(item+", ", n), ", ") + "]"
		}
		days := "'" + strings.Repeat("mon-sun,", 15) + "mon-sun'"
		hours := "'" + strings.Repeat("00-23,", 20) + "00-23'"
		provider := x(200) + ".x-k8s.io/v1beta2"

		object := with(fmt.Sprintf(`{clusterName: %[1]s, machineTemplate: %[2]s, nodeTaints: [%[3]s],
			bootstrapSpec: {metadata: %[2]s, apiVersion: %[4]s, kind: K%[5]s}, infrastructureSpec: {metadata: %[2]s, apiVersion: %[4]s, kind: K%[5]s}}`,
			x(63), labels, many(50, "{key: "+prefix+x(59)+"%04d, value: "+x(63)+", effect: PreferNoSchedule}"), provider, x(62)))
		exceptions := items(200, "{from: '2028-02-29', to: '2028-02-29', active: true}")
		for _, schedule := range []string{
			fmt.Sprintf("{daysOfWeek: %s, hoursOfDay: %s, exceptions: %s}", items(50, days), items(50, hours), exceptions),
			fmt.Sprintf("{windows: %s, exceptions: %s}", items(50, "{days: "+items(7, days)+", start: '22:00', end: '07:00'}"), exceptions),
		} {
			object.Object["spec"].(map[string]any)["schedule"] = parse(schedule).Object
			Expect(try(ctx, admin, object)).To(Succeed())
		}
	})
})

var index = regexp.MustCompile(`\[\d+\]`)

var _ = Describe("The table of rules", func() {
	It("has a refusal by every rule in the CRD", func(ctx context.Context) {
		refused := map[string]string{}
		for _, rule := range rules {
			for _, refusal := range rule.refuses {
				var status apierrors.APIStatus
				Expect(errors.As(try(ctx, admin, with(refusal.spec)), &status)).To(BeTrue())
				for _, cause := range status.Status().Details.Causes {
					refused[index.ReplaceAllString(cause.Field, "[]")] += cause.Message
				}
			}
		}
		var missing []celRule
		for _, crd := range config.CRDs() {
			for _, version := range crd.Spec.Versions {
				all := celRules("", *version.Schema.OpenAPIV3Schema)
				Expect(len(all)).To(BeNumerically(">", 30))
				for _, rule := range all {
					if !strings.Contains(refused[rule.field], rule.message) {
						missing = append(missing, rule)
					}
				}
			}
		}
		Expect(missing).To(BeEmpty())
	})
})
