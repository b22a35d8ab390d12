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

package nodetaints

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func newTestGate(t *testing.T, workers int) (*gate, workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	t.Helper()
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(q.ShutDown)
	g := newGate(workers)
	NewWithT(t).Expect(g.source().Start(context.Background(), q)).To(Succeed())
	return g, q
}

func key(name string) client.ObjectKey { return client.ObjectKey{Name: name} }

func request(name string) reconcile.Request { return reconcile.Request{NamespacedName: key(name)} }

func TestGateGivesOneClusterItsShareOfTheWorkers(t *testing.T) {
	for _, row := range []struct{ workers, share int }{{1, 1}, {4, 1}, {5, 1}, {10, 2}, {20, 4}, {100, 20}} {
		t.Run(fmt.Sprint(row.workers, " workers"), func(t *testing.T) {
			g := NewWithT(t)
			gate, _ := newTestGate(t, row.workers)
			for i := range row.share {
				g.Expect(gate.enter(key("a"), request(fmt.Sprint(i)))).To(BeTrue())
			}
			g.Expect(gate.enter(key("a"), request("late"))).To(BeFalse())
			g.Expect(gate.enter(key("b"), request("other"))).To(BeTrue(), "another cluster has a share of its own")
		})
	}
}

func TestGateQueuesOneThatWaitsForEachThatLeaves(t *testing.T) {
	g := NewWithT(t)
	gate, q := newTestGate(t, 5)
	g.Expect(gate.enter(key("a"), request("first"))).To(BeTrue())
	for range 2 { // Asking twice is waiting once.
		g.Expect(gate.enter(key("a"), request("second"))).To(BeFalse())
	}
	g.Expect(gate.enter(key("a"), request("third"))).To(BeFalse())
	g.Expect(q.Len()).To(BeZero())
	for left := range 2 {
		gate.leave(key("a"))
		g.Expect(q.Len()).To(Equal(1), "after %d left", left+1)
		next, _ := q.Get()
		q.Done(next)
		g.Expect(gate.enter(key("a"), next)).To(BeTrue())
	}
	gate.leave(key("a"))
	g.Expect(q.Len()).To(BeZero())
	g.Expect(gate.clusters).To(BeEmpty(), "nothing is remembered of a cluster that nobody talks to")
}

func TestGateHangs(t *testing.T) {
	g := NewWithT(t)
	gate, q := newTestGate(t, 5)
	now := time.Now()
	g.Expect(gate.hangs(key("a"), now)).To(BeFalse())
	g.Expect(gate.enter(key("a"), request("first"))).To(BeTrue())
	g.Expect(gate.enter(key("a"), request("second"))).To(BeFalse())
	g.Expect(gate.enter(key("a"), request("third"))).To(BeFalse())
	gate.gaveUp(key("a"), now)
	g.Expect(q.Len()).To(Equal(2), "all that wait have a condition to set")
	gate.leave(key("a"))

	g.Expect(gate.hangs(key("a"), now.Add(-time.Second))).To(BeTrue(), "the last answer came before")
	g.Expect(gate.hangs(key("b"), now.Add(-time.Second))).To(BeFalse(), "another cluster")
	g.Expect(gate.hangs(key("a"), now.Add(time.Second))).To(BeFalse(), "a health probe was answered since")
	g.Expect(gate.hangs(key("a"), now.Add(-time.Second))).To(BeFalse(), "that is forgotten now")
	g.Expect(gate.clusters).To(BeEmpty())
}

func TestGateUnderConcurrency(t *testing.T) {
	g := NewWithT(t)
	const workers, requests = 10, 1000
	gate, q := newTestGate(t, workers)
	var inside, most, done atomic.Int64
	for i := range requests {
		q.Add(request(fmt.Sprint(i)))
	}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for {
				req, shutdown := q.Get()
				if shutdown {
					return
				}
				if gate.enter(key("a"), req) {
					for n := inside.Add(1); ; {
						if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
							break
						}
					}
					inside.Add(-1)
					gate.leave(key("a"))
					if done.Add(1) == requests {
						q.ShutDown()
					}
				}
				q.Done(req)
			}
		})
	}
	group.Wait()
	g.Expect(done.Load()).To(BeNumerically("==", requests), "each has its turn")
	g.Expect(most.Load()).To(BeNumerically("<=", workers/share))
}
