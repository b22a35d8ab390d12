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
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/rival"
)

var _ = Describe("Two taints on a Ready Node", func() {
	It("are there, recorded and mirrored, after one write and one Event; then nothing is written", func() {
		sm := createTainted(direct, environment.Taints("workload=batch:NoSchedule", "dedicated=ml:NoExecute"))
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(HavePrefix("True/"))

		n, err := node(sm.Name)
		Expect(err).NotTo(HaveOccurred())
		Expect(taintsOf(sm.Name)()).To(Equal([]string{"workload=batch:NoSchedule", "dedicated=ml:NoExecute"}))
		Expect(n.Annotations).To(HaveKeyWithValue("5spot.finos.org/applied-taints",
			`[{"key":"dedicated","value":"ml","effect":"NoExecute"},{"key":"workload","value":"batch","effect":"NoSchedule"}]`))
		// The conditions and the rest of status are written one after the other.
		Eventually(mirror(sm)).Should(ConsistOf("workload=batch:NoSchedule", "dedicated=ml:NoExecute"))
		Expect(sm.Status.NodeRef).To(HaveValue(Equal(v1alpha1.NodeReference{APIVersion: "v1", Kind: "Node", Name: sm.Name, UID: string(n.UID)})))
		Expect(condition(sm, v1alpha1.TaintOwnershipConflictCondition)()).To(Equal("False/NoConflict"))

		writes := ourWrites(sm.Name)
		Expect(writes).To(HaveLen(1))
		Expect(writes[0].Verb).To(Equal("patch"))
		Expect(writes[0].FieldManager).To(Equal("5spot-controller"))
		Eventually(appliedEvents(sm)).Should(Equal([]string{"Node " + sm.Name + ": added workload=batch:NoSchedule, dedicated=ml:NoExecute"}))

		By("60 seconds of heartbeats")
		Eventually(func() time.Duration { all := writesOf(sm); return time.Since(all[len(all)-1].Answered) }).Should(
			BeNumerically(">", 3*time.Second), "the Machine's own conditions settle first")
		settled := len(writesOf(sm))
		beats := 0
		watchNode(sm.Name, func(*corev1.Node) { beats++ }, func() {
			Consistently(func() int { return len(writesOf(sm)) }).WithTimeout(60 * time.Second).WithPolling(time.Second).Should(Equal(settled))
		})
		Expect(beats).To(BeNumerically(">", 3), "the Node should have had heartbeats")
		Expect(ourWrites(sm.Name)).To(HaveLen(1))
		Expect(appliedEvents(sm)()).To(HaveLen(1))
	})
})

// watchNode shows every version of a Node to see while do runs.
func watchNode(name string, see func(*corev1.Node), do func()) {
	GinkgoHelper()
	n, err := node(name)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	n.Name = name
	stop, err := rival.Watch(ctx, workload.Client, n, see)
	Expect(err).NotTo(HaveOccurred())
	defer stop()
	do()
}

var _ = Describe("kube-controller-manager", func() {
	It("owns .spec.taints beside us and alone, and that is no conflict", func() {
		sm := createTainted(direct, environment.Taints("workload=batch:NoSchedule"))

		By("it taints the Node itself, and takes that off again")
		setReady(sm, false)
		Eventually(func() []string { n, _ := node(sm.Name); return environment.TaintTexts(n) }).Should(ContainElement(HavePrefix("node.kubernetes.io/not-ready")))
		n, err := node(sm.Name)
		Expect(err).NotTo(HaveOccurred())
		Expect(taintManagers(n)).To(Equal([]string{"kube-controller-manager"}))
		Expect(condition(sm, v1alpha1.TaintOwnershipConflictCondition)()).To(Equal("False/NoConflict"))
		setReady(sm, true)
		Eventually(func() []string { n, _ := node(sm.Name); return environment.TaintTexts(n) }).Should(Equal([]string{"workload=batch:NoSchedule"}))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Expect(ourWrites(sm.Name)).To(HaveLen(1))
		n, err = node(sm.Name)
		Expect(err).NotTo(HaveOccurred())
		Expect(taintManagers(n)).To(Equal([]string{"kube-controller-manager"}), "our taint is on a list that it alone owns")

		By("a change of ours goes through all the same")
		edit(sm, environment.Taints("workload=web:NoSchedule"))
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"workload=web:NoSchedule"}))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Expect(condition(sm, v1alpha1.TaintOwnershipConflictCondition)()).To(Equal("False/NoConflict"))
		Expect(ourWrites(sm.Name)).To(HaveLen(2))
		Expect(eventsOf(sm, v1alpha1.TaintConflictEvent)()).To(BeEmpty())
	})
})

// taintManagers are the field managers that own a Node's list of taints.
func taintManagers(n *corev1.Node) []string {
	var managers []string
	for _, entry := range n.ManagedFields {
		if entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.GetRawString(), `"f:taints"`) {
			managers = append(managers, entry.Manager)
		}
	}
	slices.Sort(managers)
	return slices.Compact(managers)
}

var _ = Describe("A Node that is not Ready", func() {
	It("gets its taints within a second of turning Ready", func() {
		sm := create(direct, environment.Taints("workload=batch:NoSchedule"), readyOnRequest)
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/NodeNotReady"))
		Expect(condition(sm, v1alpha1.TaintOwnershipConflictCondition)()).To(Equal("False/NoConflict"))
		Consistently(taintsOf(sm.Name)).Should(BeEmpty())
		Expect(ourRequests(sm.Name)).To(BeEmpty())

		setReady(sm, true)
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Expect(taintsOf(sm.Name)()).To(Equal([]string{"workload=batch:NoSchedule"}))
		delay := ourWrites(sm.Name)[0].Answered.Sub(answeredReady(sm.Name))
		GinkgoWriter.Printf("tainted %v after the Node turned Ready\n", delay)
		Expect(delay).To(BeNumerically("<", time.Second))

		By("not Ready again, and edited: no write, the condition says so")
		setReady(sm, false)
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/NodeNotReady"))
		edit(sm, environment.Taints("workload=web:NoSchedule"))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/NodeNotReady"))
		Consistently(taintsOf(sm.Name)).Should(Equal([]string{"workload=batch:NoSchedule"}))
		Expect(ourWrites(sm.Name)).To(HaveLen(1))
		Eventually(mirror(sm)).Should(Equal([]string{"workload=batch:NoSchedule"}))

		By("Ready: what was edited meanwhile is applied")
		setReady(sm, true)
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"workload=web:NoSchedule"}))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Expect(ourWrites(sm.Name)).To(HaveLen(2))
	})
})

// answeredReady is when the Node's latest status was written before our first write.
func answeredReady(name string) time.Time {
	GinkgoHelper()
	first := ourWrites(name)[0]
	events, err := workload.Audit(nil)
	Expect(err).NotTo(HaveOccurred())
	var at time.Time
	for _, e := range events {
		if e.Resource == "nodes" && e.Name == name && e.Subresource == "status" && e.Write() && e.Answered.Before(first.Answered) {
			at = e.Answered
		}
	}
	return at
}

var _ = Describe("A Machine without a Node", func() {
	It("is NoNodeYet, without an error and without a request", func() {
		sm := create(direct, environment.Taints("workload=batch:NoSchedule"), func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.InfrastructureSpec = environment.Embedded("infrastructure.cluster.x-k8s.io/v1beta2", "HostMachine", `{"simulated":{"joinAfter":"4s"}}`)
		})
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("Unknown/NoNodeYet"))
		Expect(condition(sm, v1alpha1.TaintOwnershipConflictCondition)()).To(Equal("False/NoConflict"))
		Expect(sm.Status.NodeRef).To(BeNil())
		Expect(ourRequests(sm.Name)).To(BeEmpty())
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Expect(taintsOf(sm.Name)()).To(Equal([]string{"workload=batch:NoSchedule"}))
	})

	It("is NoNodeYet outside the window as well", func() {
		sm := create(direct, environment.Taints("workload=batch:NoSchedule"), func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.Schedule = environment.NeverOpen()
		})
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("Unknown/NoNodeYet"))
		Expect(message(sm, v1alpha1.NodeTaintedCondition)()).To(ContainSubstring("no Machine"))
		Expect(ourRequests(sm.Name)).To(BeEmpty())
	})
})

var _ = Describe("A ScheduledMachine that declares no taints", func() {
	It("makes no request to its Node at all", func() {
		sm := createTainted(direct)
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(HavePrefix("True/"))
		taintAsAdmin(sm.Name, set("admin=1:NoSchedule"))
		Consistently(taintsOf(sm.Name)).Should(Equal([]string{"admin=1:NoSchedule"}))
		Expect(ourRequests(sm.Name)).To(BeEmpty())
		n, err := node(sm.Name)
		Expect(err).NotTo(HaveOccurred())
		Expect(n.Annotations).NotTo(HaveKey(v1alpha1.AppliedTaintsAnnotation))
	})
})
