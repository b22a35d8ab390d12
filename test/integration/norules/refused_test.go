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

package norules_test

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

// expectRefused holds where a ScheduledMachine says that its spec is bad, and how.
func expectRefused(sm *v1alpha1.ScheduledMachine, says []string) {
	GinkgoHelper()
	Eventually(condition(sm, v1alpha1.ScheduleValidCondition)).Should(Equal("False/InvalidSpec"))
	Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseError))
	for _, part := range says {
		Expect(message(sm, v1alpha1.ScheduleValidCondition)).To(ContainSubstring(part))
	}
	Expect(environment.Condition(sm, v1alpha1.ScheduleActiveCondition)).To(Equal("Unknown/InvalidSpec"))
	Expect(environment.Condition(sm, v1alpha1.ReadyCondition)).To(Equal("False/InvalidSpec"))
	Expect(message(sm, v1alpha1.ReadyCondition)).To(ContainSubstring(says[0]))
	Eventually(eventsOf(sm.Name, v1alpha1.InvalidSpecEvent)).Should(ContainElement(ContainSubstring(says[0])))
}

// machineWrites are the requests of this provider's manager for what a
// ScheduledMachine of that name would make, by what they are.
func machineWrites(name string) []string {
	GinkgoHelper()
	found, err := env.Management.Audit(func(e controlplane.AuditEvent) bool {
		return e.Write() && e.Name == name && strings.Contains(e.UserAgent, "5spot-in-process") &&
			e.Resource != "events" && e.Resource != "scheduledmachines"
	})
	Expect(err).NotTo(HaveOccurred())
	texts := []string{}
	for _, e := range found {
		texts = append(texts, e.Verb+" "+e.Resource)
	}
	return texts
}

var _ = Describe("A spec that breaks a rule", func() {
	for i, bad := range badSpecs {
		It("starts nothing, and its ScheduledMachine can be deleted: "+bad.what, func() {
			name := fmt.Sprintf("bad-%d", i)
			sm := create(name, func(sm *v1alpha1.ScheduledMachine) { bad.make(&sm.Spec) })
			expectRefused(sm, bad.says)
			Expect(machineWrites(name)).To(BeEmpty())
			removeAndWait(sm)
		})

		It("stops nothing that runs, and recovers when mended: "+bad.what, func() {
			name := fmt.Sprintf("worse-%d", i)
			sm := create(name)
			Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
			m, err := machine(name)
			Expect(err).NotTo(HaveOccurred())
			good := sm.Spec.DeepCopy()
			made := machineWrites(name)

			edit(sm, func(sm *v1alpha1.ScheduledMachine) { bad.make(&sm.Spec) })
			expectRefused(sm, bad.says)
			Consistently(machine).WithTimeout(500 * time.Millisecond).WithArguments(name).Should(And(
				HaveField("UID", m.UID), HaveField("DeletionTimestamp", BeNil())))
			Expect(machineWrites(name)).To(Equal(made))

			edit(sm, func(sm *v1alpha1.ScheduledMachine) { sm.Spec = *good })
			Eventually(condition(sm, v1alpha1.ScheduleValidCondition)).Should(Equal("True/Valid"))
			Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
			Expect(machine(name)).To(HaveField("UID", m.UID))
		})
	}

	It("is no reason to keep a Machine against killSwitch or deletion", func() {
		sm := create("bad-killed")
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
		edit(sm, func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.KillSwitch = true
			sm.Spec.Schedule.Timezone = "Invalid/Timezone"
			sm.Spec.BootstrapSpec = environment.Embedded("v1", "Secret", `{}`)
		})
		Eventually(func() error { _, err := machine("bad-killed"); return err }).Should(MatchError(ContainSubstring("not found")))
		Eventually(condition(sm, v1alpha1.ScheduleActiveCondition)).Should(Equal("False/KillSwitch"))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseTerminated))
		Expect(condition(sm, v1alpha1.ScheduleValidCondition)()).To(Equal("False/InvalidSpec"))
	})

	It("shows while disabled, too, and then is no Error", func() {
		sm := create("bad-disabled", func(sm *v1alpha1.ScheduledMachine) {
			off := false
			sm.Spec.Schedule.Enabled = &off
			sm.Spec.Schedule.Windows[0].Days = []string{"monday"}
		})
		Eventually(condition(sm, v1alpha1.ScheduleValidCondition)).Should(Equal("False/InvalidSpec"))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseDisabled))
	})

	It("lets no grace run out: the window closed, the spec broke", func() {
		sm := create("bad-grace", func(sm *v1alpha1.ScheduledMachine) { sm.Spec.GracefulShutdownTimeout = "5s" })
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
		edit(sm, func(sm *v1alpha1.ScheduledMachine) { sm.Spec.Schedule = environment.NeverOpen() })
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseShuttingDown))
		edit(sm, func(sm *v1alpha1.ScheduledMachine) { sm.Spec.Schedule.Timezone = "Invalid/Timezone" })
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseError))
		Consistently(machine).WithTimeout(7 * time.Second).WithArguments("bad-grace").Should(HaveField("DeletionTimestamp", BeNil()))
	})

	It("leaves the taints on the Node as they are", func() {
		sm := create("bad-taints", environment.Taints("workload=batch:NoSchedule"))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		edit(sm, func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.NodeTaints = environment.ParseTaints("dedicated=ml:NoSchedule", "aether.io/x=y:NoSchedule")
		})
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/InvalidTaints"))
		Expect(message(sm, v1alpha1.NodeTaintedCondition)).To(ContainSubstring("spec.nodeTaints[1].key"))
		Expect(nodeTaints("bad-taints")).To(And(ContainElement("workload=batch:NoSchedule"), Not(ContainElement(HavePrefix("dedicated")))))

		edit(sm, func(sm *v1alpha1.ScheduledMachine) { sm.Spec.NodeTaints = sm.Spec.NodeTaints[:1] })
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Expect(nodeTaints("bad-taints")).To(And(ContainElement("dedicated=ml:NoSchedule"), Not(ContainElement(HavePrefix("workload")))))
	})
})

// Without the rule, nothing but the controller holds a ScheduledMachine to its Cluster.
var _ = Describe("A clusterName that was changed", func() {
	It("moves no Machine and touches no Node of the other Cluster, and says so", func() {
		other, err := env.Register(ctx, "other", workload.Config())
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { _ = env.Client.Delete(ctx, other) })
		sm := create("moved", environment.Taints("workload=batch:NoSchedule"))
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
		m, err := machine("moved")
		Expect(err).NotTo(HaveOccurred())

		edit(sm, func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.ClusterName = "other"
			sm.Spec.NodeTaints = nil
		})
		expectRefused(sm, []string{"spec.clusterName", "delete this ScheduledMachine and create another for the other Cluster"})
		after, err := machine("moved")
		Expect(err).NotTo(HaveOccurred())
		Expect(after.UID).To(Equal(m.UID))
		Expect(after.Labels).To(Equal(m.Labels))
		Consistently(nodeTaints).WithTimeout(2 * time.Second).WithArguments("moved").Should(ContainElement("workload=batch:NoSchedule"))

		edit(sm, func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.ClusterName = "norules"
			sm.Spec.NodeTaints = environment.ParseTaints("workload=batch:NoSchedule")
		})
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
	})
})

// nodeTaints reads a Node's taints as kubectl writes them.
func nodeTaints(name string) []string {
	GinkgoHelper()
	n := &corev1.Node{}
	Expect(workload.Client.Get(ctx, client.ObjectKey{Name: name}, n)).To(Succeed())
	return environment.TaintTexts(n)
}
