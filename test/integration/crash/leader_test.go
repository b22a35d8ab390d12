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

package crash_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/fault"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
)

const (
	lease = 5 * time.Second
	retry = time.Second
	// slack is what a slow machine may add to a hand-over.
	slack = 3 * time.Second
)

// candidate is a manager that wants to lead, behind a proxy of its own, so that what
// it does is known from what others do.
type candidate struct {
	*process.Process
	proxy *fault.Proxy

	mu sync.Mutex
	// writes are those that were carried out, Events and the lease left out.
	writes []string
	// tries counts the looks at the lease.
	tries int
}

func newCandidate() *candidate {
	GinkgoHelper()
	c := &candidate{proxy: newProxy(env.Management.Config())}
	c.proxy.OnResponse(func(r *http.Request, code int) fault.Action {
		d := fault.Describe(r)
		c.mu.Lock()
		defer c.mu.Unlock()
		switch {
		case d.Resource == "leases":
			c.tries++
		case d.Write() && d.Resource != "events" && code < http.StatusMultipleChoices:
			c.writes = append(c.writes, fmt.Sprintf("%s %s %s", d.Verb, d.Resource, nameOf(r)))
		}
		return fault.Pass
	})
	c.Process = startManager(c.proxy, "--leader-elect", "--leader-elect-namespace="+environment.Namespace,
		"--leader-elect-lease-duration="+lease.String(), "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period="+retry.String())
	return c
}

func (c *candidate) written() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.writes...)
}

func (c *candidate) tried() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tries
}

// leader is who holds the lease.
func leader() string {
	l := &coordinationv1.Lease{}
	err := env.Client.Get(ctx, client.ObjectKey{Namespace: environment.Namespace, Name: "controller-leader-election-caap5spot"}, l)
	if client.IgnoreNotFound(err) != nil {
		return err.Error()
	}
	return ptr.Deref(l.Spec.HolderIdentity, "")
}

// handOver waits until somebody other than the one named leads, and returns who, and
// the time since.
func handOver(from string, since time.Time) (to string, took time.Duration) {
	GinkgoHelper()
	Eventually(leader).WithPolling(20 * time.Millisecond).ShouldNot(Or(BeEmpty(), Equal(from)))
	return leader(), time.Since(since)
}

var _ = Describe("Two managers with leader election", func() {
	It("act one at a time, and hand over without doubling anything", func() {
		sm := func(name string) *v1alpha1.ScheduledMachine {
			return environment.ScheduledMachine(clusterName, name, environment.Taints("workload=batch:NoSchedule"))
		}
		By("one acts, the other waits")
		first := newCandidate()
		leading, _ := handOver("", time.Now())
		second := newCandidate()
		Eventually(second.tried).Should(BeNumerically(">", 2))
		one := sm("led-by-one")
		create(one)
		Eventually(isActive(one)).Should(BeTrue(), func() string { return describe(one) })
		expectMade(one, 1)
		taintedOnce(one, 1)
		Expect(first.written()).To(ContainElement("create machines led-by-one"))
		Expect(second.written()).To(BeEmpty())

		By("the leader is killed in the middle of a creation: the other finishes it within the time of the lease")
		two := sm("led-by-two")
		killed := make(chan time.Time, 1)
		remove := first.proxy.OnResponse(func(r *http.Request, _ int) fault.Action {
			if d := fault.Describe(r); d.Verb == "create" && d.Resource == "hostmachines" {
				Expect(first.Kill()).To(Succeed())
				killed <- time.Now()
				return fault.Drop
			}
			return fault.Pass
		})
		DeferCleanup(remove)
		create(two)
		var at time.Time
		Eventually(killed).Should(Receive(&at))
		leading, took := handOver(leading, at)
		AddReportEntry("hand-over after SIGKILL", took)
		Expect(took).To(BeNumerically("<", lease+2*retry+slack))
		Eventually(isActive(two)).Should(BeTrue(), func() string { return describe(two) })
		AddReportEntry("Active after SIGKILL of the leader", time.Since(at))
		for _, sm := range []*v1alpha1.ScheduledMachine{one, two} {
			Expect(get(sm)).To(BeTrue())
			expectMade(sm, 1)
			expectTainted(sm)
			expectNoError(sm)
			taintedOnce(sm, 1)
		}
		expectNoOrphans(one, two)
		Expect(second.written()).To(ContainElement("create machines led-by-two"))
		Expect(second.written()).NotTo(ContainElement("create hostmachines led-by-two"))

		By("a change after the hand-over is applied once")
		edit(one, environment.Taints("workload=batch:NoSchedule", "added=later:NoExecute"))
		Eventually(isActive(one)).Should(BeTrue(), func() string { return describe(one) })
		expectTainted(one)
		taintedOnce(one, 2)
		taintedOnce(two, 1)

		By("a leader that stops in peace hands over at once")
		third := newCandidate()
		Eventually(third.tried).Should(BeNumerically(">", 2))
		at = time.Now()
		Expect(second.Stop()).To(Succeed())
		leading, took = handOver(leading, at)
		AddReportEntry("hand-over after SIGTERM", took)
		Expect(took).To(BeNumerically("<", lease))

		By("a leader that slept through its lease does nothing more when it wakes, and ends")
		fourth := newCandidate()
		Eventually(fourth.tried).Should(BeNumerically(">", 2))
		Expect(third.Signal(syscall.SIGSTOP)).To(Succeed())
		DeferCleanup(func() { _ = third.Signal(syscall.SIGCONT) })
		three := sm("led-by-four")
		create(three)
		_, took = handOver(leading, time.Now())
		AddReportEntry("hand-over after SIGSTOP", took)
		Eventually(isActive(three)).Should(BeTrue(), func() string { return describe(three) })
		Expect(third.Signal(syscall.SIGCONT)).To(Succeed())
		Eventually(third.Done()).Should(BeClosed(), "a manager that lost its lease should have ended")
		Expect(strings.Join(third.written(), "\n")).NotTo(ContainSubstring("led-by-four"))
		for _, sm := range []*v1alpha1.ScheduledMachine{one, two, three} {
			Expect(get(sm)).To(BeTrue())
			expectMade(sm, 1)
			expectTainted(sm)
			expectNoError(sm)
		}
		taintedOnce(three, 1)
		expectNoOrphans(one, two, three)
	})
})
