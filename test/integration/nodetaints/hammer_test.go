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

package nodetaints_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/taints"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/rival"
)

const rounds = 1000

var _ = Describe("A second writer as fast as it can, while declared taints change 1,000 times", func() {
	It("loses nothing, gets nothing back, and the declared taints are there in the end", func() {
		sm := createTainted(direct, environment.Taints("always=start:NoSchedule"))
		start, err := node(sm.Name)
		Expect(err).NotTo(HaveOccurred())

		history := make(chan *corev1.Node, 100*rounds)
		var latest atomic.Pointer[corev1.Node]
		latest.Store(start)
		unwatch, err := rival.Watch(ctx, workload.Client, start, func(n *corev1.Node) { history <- n; latest.Store(n) })
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(unwatch)

		stop := make(chan struct{})
		var left map[string]string
		var their sync.WaitGroup
		their.Go(func() {
			defer GinkgoRecover()
			var err error
			left, err = rival.Write(ctx, workload.Client, sm.Name, stop)
			Expect(err).NotTo(HaveOccurred())
		})

		began := time.Now()
		func() {
			defer their.Wait()
			defer close(stop)
			for round, burst := 0, 0; round < rounds; round++ {
				before := sm.DeepCopy()
				sm.Spec.NodeTaints = declaredIn(round)
				Expect(env.Client.Patch(ctx, sm, client.MergeFrom(before))).To(Succeed())
				// Up to three edits at once, then the controller gets to where they are.
				if burst--; burst < 0 || round == rounds-1 {
					Eventually(func() string { return latest.Load().Annotations[v1alpha1.AppliedTaintsAnnotation] }).
						WithPolling(time.Millisecond).Should(Equal(taints.EncodeRecord(sm.Spec.NodeTaints)), "round %d", round)
					burst = rand.IntN(3)
				}
			}
		}()
		took := time.Since(began)

		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Expect(sm.Generation).To(BeNumerically(">=", rounds))
		Eventually(mirror(sm)).Should(Equal(recordOf(sm.Name)()))
		Expect(sm.Status.AppliedNodeTaints).To(ConsistOf(declaredIn(rounds - 1)))
		Expect(condition(sm, v1alpha1.TaintOwnershipConflictCondition)()).To(Equal("False/NoConflict"))
		Expect(eventsOf(sm, v1alpha1.TaintConflictEvent)()).To(BeEmpty())
		final, err := node(sm.Name)
		Expect(err).NotTo(HaveOccurred())
		var ours []v1alpha1.NodeTaint
		for _, t := range rival.Others(final) {
			ours = append(ours, v1alpha1.NodeTaint{Key: t.Key, Value: t.Value, Effect: v1alpha1.TaintEffect(t.Effect)})
		}
		Expect(ours).To(ConsistOf(declaredIn(rounds - 1)))
		Expect(rival.Left(final)).To(Equal(left), "what the other writer has left there is not what it wrote last")

		By("looking at every version that the Node has had")
		previous, ourVersions, theirVersions := start, 0, 0
		for previous.ResourceVersion != final.ResourceVersion {
			var version *corev1.Node
			Eventually(history).Should(Receive(&version))
			theirs, err := rival.Compare(previous, version)
			Expect(err).NotTo(HaveOccurred())
			switch {
			case theirs:
				theirVersions++
			case previous.Annotations[v1alpha1.AppliedTaintsAnnotation] != version.Annotations[v1alpha1.AppliedTaintsAnnotation]:
				ourVersions++
			}
			previous = version
		}
		writes, stale := ourWrites(sm.Name), refused(sm.Name)
		GinkgoWriter.Printf("%d edits in %v: %d writes of ours, %d refused as stale, %d writes of theirs\n", rounds, took.Round(time.Millisecond), len(writes), len(stale), theirVersions)
		AddReportEntry("hammer", fmt.Sprintf("%d edits in %v: %d writes of ours, %d refused as stale, %d writes of theirs", rounds, took.Round(time.Millisecond), len(writes), len(stale), theirVersions))
		Expect(writes).To(HaveLen(ourVersions+1), "a write of ours changed nothing")
		Expect(ourVersions).To(BeNumerically(">", rounds/4), "the controller hardly wrote: nothing is shown")
		Expect(theirVersions).To(BeNumerically(">", rounds/4), "the other writer hardly wrote: nothing is shown")
		Expect(stale).NotTo(BeEmpty(), "no write of ours was ever stale: nothing is shown")
	})
})

// declaredIn differs from round to round by an addition, a removal or a new value.
func declaredIn(round int) []v1alpha1.NodeTaint {
	list := environment.ParseTaints(fmt.Sprintf("always=%d:NoSchedule", round))
	if round%2 == 0 {
		list = append(list, environment.ParseTaints("even=x:NoExecute")...)
	}
	if round%3 == 0 {
		list = append(list, environment.ParseTaints("third:PreferNoSchedule")...)
	}
	return list
}

var _ = Describe("A writer that does not lock, as kubectl taint", func() {
	It("may overwrite a taint of ours, which is back within a second", func() {
		sm := createTainted(direct, environment.Taints("a=1:NoSchedule"))
		read, err := node(sm.Name)
		Expect(err).NotTo(HaveOccurred())
		edit(sm, environment.Taints("a=1:NoSchedule", "b=1:NoSchedule"))
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"a=1:NoSchedule", "b=1:NoSchedule"}))

		By("a strategic merge patch, without resourceVersion, of a Node read before that")
		changed := read.DeepCopy()
		changed.Spec.Taints = append(changed.Spec.Taints, environment.ParseTaint("admin=1:NoSchedule"))
		Expect(workload.Client.Patch(ctx, changed, client.StrategicMergeFrom(read))).To(Succeed())
		Expect(environment.TaintTexts(changed)).NotTo(ContainElement("b=1:NoSchedule"), "the patch overwrote nothing: nothing is shown")
		Eventually(taintsOf(sm.Name)).WithTimeout(time.Second).Should(Equal([]string{"a=1:NoSchedule", "admin=1:NoSchedule", "b=1:NoSchedule"}))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
	})
})
