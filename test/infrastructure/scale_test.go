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

package infrastructure_test

import (
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

// atOnce is how many machines the suite makes together.
const atOnce = 100

var _ = Describe("Many Machines at once", func() {
	It("all join, and all go", func() {
		labelled := client.MatchingLabels{"example.com/suite": "scale"}
		joined := func(ready bool) func() (int, error) {
			return func() (int, error) {
				list := &corev1.NodeList{}
				err := nodes.List(ctx, list, labelled)
				count := 0
				for i := range list.Items {
					if !ready || isReady(&list.Items[i]) {
						count++
					}
				}
				return count, err
			}
		}
		started := time.Now()
		var sets []*set
		var group sync.WaitGroup
		for i := range atOnce {
			s := newSet(cluster, fmt.Sprintf("scale-%03d", i), simulation(infrav1.SimulatedMachine{ReadyAfter: after(time.Second)}), func(s *set) {
				s.config.Spec.NodeLabels = labelled
			})
			sets = append(sets, s)
			group.Go(func() {
				defer GinkgoRecover()
				for _, o := range []client.Object{s.config, s.hostMachine, s.machine} {
					Expect(mgmt.Create(ctx, o)).To(Succeed())
				}
			})
		}
		group.Wait()
		created := time.Since(started)
		Eventually(joined(true)).WithTimeout(5 * time.Minute).WithPolling(100 * time.Millisecond).Should(Equal(atOnce))
		AddReportEntry("machines", fmt.Sprintf("%d created in %s, all Nodes Ready after %s", atOnce, created, time.Since(started)))

		started = time.Now()
		for _, s := range sets {
			group.Go(func() {
				defer GinkgoRecover()
				Expect(mgmt.Delete(ctx, s.machine)).To(Succeed())
			})
		}
		group.Wait()
		Eventually(joined(false)).WithTimeout(5 * time.Minute).WithPolling(100 * time.Millisecond).Should(BeZero())
		for _, s := range sets {
			Eventually(exists(mgmt, s.machine)).WithTimeout(time.Minute).Should(BeFalse())
		}
		AddReportEntry("machines", fmt.Sprintf("all gone after %s", time.Since(started)))
	})
})

func isReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
