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
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/taints"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
)

// refuseOurWrites installs an admission policy in the workload cluster that refuses
// what the manager writes to a Node, and returns when it is in force.
func refuseOurWrites(name, why string) (lift func()) {
	GinkgoHelper()
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "refuse-" + name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: new(admissionv1.Fail),
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"nodes"}},
			}}}},
			MatchConditions: []admissionv1.MatchCondition{{Name: "node", Expression: fmt.Sprintf("object.metadata.name == %q", name)}},
			Validations: []admissionv1.Validation{{
				Expression: fmt.Sprintf("!has(request.options.fieldManager) || request.options.fieldManager != %q", v1alpha1.NodeFieldManager),
				Message:    why,
			}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}
	Expect(workload.Client.Create(ctx, policy)).To(Succeed())
	Expect(workload.Client.Create(ctx, binding)).To(Succeed())
	lift = func() {
		Expect(client.IgnoreNotFound(workload.Client.Delete(ctx, binding))).To(Succeed())
		Expect(client.IgnoreNotFound(workload.Client.Delete(ctx, policy))).To(Succeed())
	}
	DeferCleanup(lift)
	Eventually(func() bool {
		n, err := node(name)
		if err != nil {
			return false
		}
		_, err = taints.Apply(ctx, client.NewDryRunClient(workload.Client), n, taints.For(n, environment.ParseTaints("probe:NoSchedule")))
		return apierrors.IsInvalid(err) || apierrors.IsForbidden(err)
	}).Should(BeTrue())
	return lift
}

var _ = Describe("A write that the workload cluster refuses", func() {
	It("is PatchFailed with the reason, and is made once it is allowed", func() {
		sm := createTainted(direct, environment.Taints("w=1:NoSchedule"))
		lift := refuseOurWrites(sm.Name, "ask the platform team first")

		edit(sm, environment.Taints("w=2:NoSchedule", "d=ml:NoExecute"))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/PatchFailed"))
		Expect(message(sm, v1alpha1.NodeTaintedCondition)()).To(And(ContainSubstring(sm.Name), ContainSubstring("ask the platform team first")))
		Expect(condition(sm, v1alpha1.TaintOwnershipConflictCondition)()).To(Equal("False/NoConflict"))
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("False/PatchFailed"))
		Expect(taintsOf(sm.Name)()).To(Equal([]string{"w=1:NoSchedule"}))
		Eventually(mirror(sm)).Should(Equal([]string{"w=1:NoSchedule"}))

		By("it is retried with growing pauses, and status says the same without being written again")
		Eventually(func() int { return len(refused(sm.Name)) }).Should(BeNumerically(">=", 4))
		attempts, status := len(refused(sm.Name)), len(writesOf(sm))
		Eventually(func() int { return len(refused(sm.Name)) }).Should(BeNumerically(">", attempts))
		Expect(writesOf(sm)).To(HaveLen(status))

		lift()
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Expect(taintsOf(sm.Name)()).To(Equal([]string{"w=2:NoSchedule", "d=ml:NoExecute"}))
		Expect(ourWrites(sm.Name)).To(HaveLen(2))
		Eventually(appliedEvents(sm)).Should(HaveLen(2))
	})
})

var _ = Describe("Status that somebody wiped or falsified", func() {
	It("is mended from the Node, without a write to the Node", func() {
		sm := createTainted(direct, environment.Taints("w=1:NoSchedule"))
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(HavePrefix("True/"))
		Eventually(mirror(sm)).Should(Equal([]string{"w=1:NoSchedule"}))
		reference, applied := sm.Status.NodeRef, sm.Status.AppliedNodeTaints
		Expect(reference).NotTo(BeNil())

		for what, change := range map[string]func(*v1alpha1.ScheduledMachineStatus){
			"all of it":         func(s *v1alpha1.ScheduledMachineStatus) { *s = v1alpha1.ScheduledMachineStatus{} },
			"appliedNodeTaints": func(s *v1alpha1.ScheduledMachineStatus) { s.AppliedNodeTaints = nil },
			"a taint that is not there": func(s *v1alpha1.ScheduledMachineStatus) {
				s.AppliedNodeTaints = environment.ParseTaints("false:NoSchedule")
			},
			"nodeRef":        func(s *v1alpha1.ScheduledMachineStatus) { s.NodeRef = nil },
			"the conditions": func(s *v1alpha1.ScheduledMachineStatus) { s.Conditions = nil },
		} {
			By(what)
			Eventually(func() error {
				if err := env.Client.Get(ctx, client.ObjectKeyFromObject(sm), sm); err != nil {
					return err
				}
				change(&sm.Status)
				return env.Client.Status().Update(ctx, sm)
			}).Should(Succeed())
			Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).WithTimeout(10 * time.Second).Should(Equal("True/Applied"))
			Eventually(func() *v1alpha1.NodeReference { _ = mirror(sm)(); return sm.Status.NodeRef }).WithTimeout(10 * time.Second).Should(Equal(reference))
			Eventually(func() []v1alpha1.NodeTaint { _ = mirror(sm)(); return sm.Status.AppliedNodeTaints }).WithTimeout(10 * time.Second).Should(Equal(applied))
			Eventually(condition(sm, v1alpha1.TaintOwnershipConflictCondition)).WithTimeout(10 * time.Second).Should(Equal("False/NoConflict"))
			Eventually(condition(sm, v1alpha1.ReadyCondition)).WithTimeout(10 * time.Second).Should(HavePrefix("True/"))
		}
		Expect(ourWrites(sm.Name)).To(HaveLen(1))
		Expect(appliedEvents(sm)()).To(HaveLen(1))
	})
})

func annotate(name, value string) {
	GinkgoHelper()
	n := &corev1.Node{}
	n.Name = name
	Expect(environment.Edit(ctx, workload.Client, n, func(n *corev1.Node) {
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, v1alpha1.AppliedTaintsAnnotation, value)
	})).To(Succeed())
}

var _ = Describe("A record that cannot be read", func() {
	It("makes nothing ours, loses nothing, is told of, and is mended by the next write", func() {
		sm := createTainted(direct, environment.Taints("w=1:NoSchedule", "d=1:NoSchedule"))
		annotate(sm.Name, "not JSON")
		Eventually(message(sm, v1alpha1.NodeTaintedCondition)).Should(ContainSubstring("applied-taints"))
		Expect(condition(sm, v1alpha1.NodeTaintedCondition)()).To(Equal("True/Applied"), "both taints are there")
		Eventually(mirror(sm)).Should(BeEmpty())
		Consistently(taintsOf(sm.Name)).Should(Equal([]string{"w=1:NoSchedule", "d=1:NoSchedule"}))
		Expect(ourWrites(sm.Name)).To(HaveLen(1))

		By("a taint that is declared no more, or with another value, may be anybody's: it stays")
		edit(sm, environment.Taints("d=2:NoSchedule"))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/TaintOwnershipConflict"))
		Expect(message(sm, v1alpha1.NodeTaintedCondition)()).To(And(ContainSubstring("d:NoSchedule"), ContainSubstring("applied-taints")))
		Consistently(taintsOf(sm.Name)).Should(Equal([]string{"w=1:NoSchedule", "d=1:NoSchedule"}))
		Expect(ourWrites(sm.Name)).To(HaveLen(1))

		By("a write for another reason mends it")
		edit(sm, environment.Taints("d=1:NoSchedule", "new=1:NoSchedule"))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Expect(taintsOf(sm.Name)()).To(Equal([]string{"w=1:NoSchedule", "d=1:NoSchedule", "new=1:NoSchedule"}))
		Expect(recordOf(sm.Name)()).To(Equal([]string{"new=1:NoSchedule"}))
		Eventually(message(sm, v1alpha1.NodeTaintedCondition)).ShouldNot(ContainSubstring("applied-taints"))
		Expect(ourWrites(sm.Name)).To(HaveLen(2))
	})

	It("may say what cannot be a taint: status stays true, and the rest works", func() {
		sm := createTainted(direct, environment.Taints("w=1:NoSchedule", "d=1:NoSchedule"))
		annotate(sm.Name, fmt.Sprintf(`[{"key":"w","value":%q,"effect":"NoSchedule"},{"key":"d","value":"1","effect":"NoSchedule"}]`, strings.Repeat("x", 64)))
		edit(sm, environment.Taints("w=2:NoSchedule", "d=2:NoSchedule"))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/TaintOwnershipConflict"))
		Eventually(mirror(sm)).Should(Equal([]string{"d=2:NoSchedule"}))
		Expect(taintsOf(sm.Name)()).To(Equal([]string{"w=1:NoSchedule", "d=2:NoSchedule"}))

		By("a kubelet may annotate its Node; it cannot have us take a reserved taint off")
		taintAsAdmin(sm.Name, set("node.cluster.x-k8s.io/held=1:NoSchedule"))
		annotate(sm.Name, `[{"key":"d","value":"2","effect":"NoSchedule"},{"key":"node.cluster.x-k8s.io/held","value":"1","effect":"NoSchedule"}]`)
		Eventually(recordOf(sm.Name)).Should(Equal([]string{"d=2:NoSchedule"}))
		edit(sm, environment.Taints("d=2:NoSchedule"))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		n, err := node(sm.Name)
		Expect(err).NotTo(HaveOccurred())
		Expect(environment.TaintTexts(n)).To(ConsistOf("w=1:NoSchedule", "d=2:NoSchedule", "node.cluster.x-k8s.io/held=1:NoSchedule"))
	})

	It("counts what an older controller wrote, and what somebody took off means nothing is ours", func() {
		sm := createTainted(direct, environment.Taints("w:NoSchedule"))
		annotate(sm.Name, `[{"key":"w","effect":"NoSchedule"}]`)
		Eventually(mirror(sm)).Should(Equal([]string{"w:NoSchedule"}))
		edit(sm, environment.Taints())
		Eventually(taintsOf(sm.Name)).Should(BeEmpty())

		edit(sm, environment.Taints("w=1:NoSchedule"))
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"w=1:NoSchedule"}))
		annotate(sm.Name, "")
		Eventually(mirror(sm)).Should(BeEmpty())
		edit(sm, environment.Taints())
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Consistently(taintsOf(sm.Name)).Should(Equal([]string{"w=1:NoSchedule"}))
	})
})

// declareOnMachine sets spec.taints of the Machine, which Cluster API itself keeps on
// the Node.
func declareOnMachine(sm *v1alpha1.ScheduledMachine, list ...clusterv1.MachineTaint) {
	GinkgoHelper()
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: sm.Namespace, Name: sm.Name}}
	Expect(environment.Edit(ctx, env.Client, machine, func(m *clusterv1.Machine) { m.Spec.Taints = list })).To(Succeed())
}

var _ = Describe("A taint that Cluster API keeps for the Machine's own spec.taints", func() {
	always := func(value string) clusterv1.MachineTaint {
		return clusterv1.MachineTaint{Key: "w", Value: value, Effect: corev1.TaintEffectNoSchedule, Propagation: clusterv1.MachineTaintPropagationAlways}
	}

	It("is Cluster API's: a conflict while the values differ, ours again once it lets go", func() {
		sm := createTainted(direct, environment.Taints("w=batch:NoSchedule", "d=1:NoSchedule"))
		declareOnMachine(sm, always("machine"))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/TaintOwnershipConflict"))
		Expect(condition(sm, v1alpha1.TaintOwnershipConflictCondition)()).To(Equal("True/TaintOwnershipConflict"))
		Eventually(message(sm, v1alpha1.TaintOwnershipConflictCondition)).Should(ContainSubstring(`w:NoSchedule is declared as "batch" and is kept at "machine" by the Machine's own spec.taints`))
		Eventually(recordOf(sm.Name)).Should(Equal([]string{"d=1:NoSchedule"}))
		written := len(ourWrites(sm.Name))
		Consistently(taintsOf(sm.Name)).WithTimeout(3 * time.Second).Should(Equal([]string{"w=machine:NoSchedule", "d=1:NoSchedule"}))
		Expect(ourWrites(sm.Name)).To(HaveLen(written))

		declareOnMachine(sm)
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Eventually(taintsOf(sm.Name)).Should(ConsistOf("w=batch:NoSchedule", "d=1:NoSchedule"))
		Eventually(condition(sm, v1alpha1.TaintOwnershipConflictCondition)).Should(Equal("False/NoConflict"))
		Expect(recordOf(sm.Name)()).To(Equal([]string{"d=1:NoSchedule", "w=batch:NoSchedule"}))
	})

	It("satisfies a declaration of the same value, and is not removed with it", func() {
		sm := createTainted(direct)
		declareOnMachine(sm, always("batch"))
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"w=batch:NoSchedule"}))
		edit(sm, environment.Taints("w=batch:NoSchedule"))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		edit(sm, environment.Taints())
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Consistently(taintsOf(sm.Name)).Should(Equal([]string{"w=batch:NoSchedule"}))
		Expect(ourWrites(sm.Name)).To(BeEmpty())
	})
})

var _ = Describe("A conflict on a Node that is not Ready", func() {
	It("is told of, and clears when the admin gives way", func() {
		sm := createTainted(direct, environment.Taints("w=1:NoSchedule"))
		taintAsAdmin(sm.Name, set("w=admin:NoSchedule"))
		Eventually(condition(sm, v1alpha1.TaintOwnershipConflictCondition)).Should(Equal("True/TaintOwnershipConflict"))
		setReady(sm, false)
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/NodeNotReady"))
		Expect(condition(sm, v1alpha1.TaintOwnershipConflictCondition)()).To(Equal("True/TaintOwnershipConflict"))
		taintAsAdmin(sm.Name, set("w=1:NoSchedule"))
		Eventually(condition(sm, v1alpha1.TaintOwnershipConflictCondition)).WithTimeout(10 * time.Second).Should(Equal("False/NoConflict"))
		Expect(condition(sm, v1alpha1.NodeTaintedCondition)()).To(Equal("False/NodeNotReady"))
		Expect(ourWrites(sm.Name)).To(HaveLen(1))
	})
})
