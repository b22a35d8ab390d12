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

package taints_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/taints"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/rival"
)

const rounds = 1000

var _ = Describe("Two writers as fast as they can", func() {
	It("lose and resurrect nothing of each other's over 1,000 changes", func(ctx SpecContext) {
		us := newActor("5spot")
		node := newNode(ctx)

		versions := versionsOf(ctx, node)
		stop := make(chan struct{})
		var left map[string]string
		var their sync.WaitGroup
		their.Go(func() {
			defer GinkgoRecover()
			var err error
			left, err = rival.Write(ctx, newActor("admin"), node.Name, stop)
			Expect(err).NotTo(HaveOccurred())
		})

		var desired []v1alpha1.NodeTaint
		func() {
			defer their.Wait()
			defer close(stop)
			for round := range rounds {
				desired = declaredIn(round)
				us.reconcile(ctx, node.Name, desired)
			}
		}()

		final := us.node(ctx, node.Name)
		Expect(ours(final)).To(ConsistOf(desired), "the final state is not as declared")
		Expect(record(final)).To(ConsistOf(desired))
		Expect(rival.Left(final)).To(Equal(left), "what the other writer has left there is not what it wrote last")

		By("looking at every version that the Node has had")
		previous, ourWrites, theirWrites := node, 0, 0
		for previous.ResourceVersion != final.ResourceVersion {
			var version *corev1.Node
			Eventually(ctx, versions).WithTimeout(30 * time.Second).Should(Receive(&version))
			theirs, err := rival.Compare(previous, version)
			Expect(err).NotTo(HaveOccurred())
			if theirs {
				theirWrites++
			} else {
				ourWrites++
			}
			previous = version
		}
		GinkgoWriter.Printf("%d writes of ours, %d of theirs, %d of ours refused as stale\n", ourWrites, theirWrites, int(us.writes.Load())-ourWrites)
		Expect(ourWrites).To(Equal(rounds), "each round changes what is declared")
		Expect(theirWrites).To(BeNumerically(">", rounds/10), "the other writer hardly wrote: nothing is shown")
		Expect(us.writes.Load()).To(BeNumerically(">", rounds), "no write of ours was ever stale: nothing is shown")
	}, SpecTimeout(5*time.Minute))

	It("never bring back a Node that is deleted while we apply", func(ctx SpecContext) {
		us, admin := newActor("5spot"), newActor("admin")
		var applied, gone atomic.Int32
		for range 200 {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "short-lived-"}}
			Expect(admin.Create(ctx, node)).To(Succeed())
			plan := taints.For(node, declare("workload=batch:NoSchedule"))

			start := make(chan struct{})
			var both sync.WaitGroup
			both.Go(func() {
				defer GinkgoRecover()
				<-start
				_, err := taints.Apply(ctx, us, node, plan)
				if err == nil {
					applied.Add(1)
					return
				}
				Expect(err).To(MatchError(taints.ErrNodeGone))
				gone.Add(1)
			})
			both.Go(func() {
				defer GinkgoRecover()
				<-start
				Expect(admin.Delete(ctx, node.DeepCopy())).To(Succeed())
			})
			close(start)
			both.Wait()
			beAbsent(ctx, us, node.Name)
		}
		GinkgoWriter.Printf("applied before the deletion %d times, after it %d times\n", applied.Load(), gone.Load())
		Expect(applied.Load()).NotTo(BeZero(), "never applied first: nothing is shown")
		Expect(gone.Load()).NotTo(BeZero(), "never deleted first: nothing is shown")
	}, SpecTimeout(2*time.Minute))
})

// declaredIn differs from round to round by an addition, a removal or a new value.
func declaredIn(round int) []v1alpha1.NodeTaint {
	list := declare(fmt.Sprintf("always=%d:NoSchedule", round))
	if round%2 == 0 {
		list = append(list, declare("even=x:NoExecute")...)
	}
	if round%3 == 0 {
		list = append(list, declare("third:PreferNoSchedule")...)
	}
	return list
}

// versionsOf delivers every version of a Node after the one given.
func versionsOf(ctx context.Context, node *corev1.Node) <-chan *corev1.Node {
	GinkgoHelper()
	c, err := client.NewWithWatch(cluster.Config(), client.Options{})
	Expect(err).NotTo(HaveOccurred())
	versions := make(chan *corev1.Node, 100*rounds)
	stop, err := rival.Watch(ctx, c, node, func(version *corev1.Node) { versions <- version })
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(stop)
	return versions
}

func ours(node *corev1.Node) []v1alpha1.NodeTaint {
	var list []v1alpha1.NodeTaint
	for _, t := range rival.Others(node) {
		list = append(list, v1alpha1.NodeTaint{Key: t.Key, Value: t.Value, Effect: v1alpha1.TaintEffect(t.Effect)})
	}
	return list
}
