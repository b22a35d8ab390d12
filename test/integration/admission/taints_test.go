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
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/taints"
)

// What the API server takes the controller applies, and the other way round.
var _ = Describe("The API server and the taints' own validation", func() {
	agree := func(spec string) {
		GinkgoHelper()
		machine := &v1alpha1.ScheduledMachine{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(with(spec).Object, machine); err != nil {
			// A value of another type never reaches a controller.
			return
		}
		verdict := taints.Validate(machine.Spec.NodeTaints, field.NewPath("spec", "nodeTaints")).ToAggregate()
		err := try(context.Background(), admin, with(spec))
		Expect(err != nil).To(Equal(verdict != nil), "%s: the API server says %v, taints.Validate says %v", spec, err, verdict)
	}

	It("agree on every taint in the table of rules", func() {
		var tried int
		for _, rule := range rules {
			if !strings.HasPrefix(rule.name, "a taint") {
				continue
			}
			for _, spec := range rule.accepts {
				agree(spec)
				tried++
			}
			for _, refusal := range rule.refuses {
				agree(refusal.spec)
				tried++
			}
		}
		Expect(tried).To(BeNumerically(">", 40))
	})

	It("agree on keys of every shape", func() {
		for _, prefix := range []string{"", "a/", "a.b/", "A.b/", "a..b/", "-a/", "a-/", ".a/", "a_b/", "/", "a/b/", "ä/", " /", "kubernetes.io/", "x.k8s.io/", "KUBERNETES.IO/", "aether.io/", "5spot.finos.org/", "sub.5spot.finos.org/"} {
			for _, name := range []string{"", "a", "A", "0", "a-b", "a_b", "a.b", "-a", "a-", ".a", "a.", "_", "a b", "ä", "a\\n", x(63), x(64)} {
				agree(`{nodeTaints: [{key: "` + prefix + name + `", effect: NoSchedule}]}`)
			}
		}
	})
})
