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
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
)

// holdMachine keeps a Machine that is told to go, with its Node, until the test ends.
func holdMachine(sm *v1alpha1.ScheduledMachine) {
	GinkgoHelper()
	const hook = clusterv1.PreDrainDeleteHookAnnotationPrefix + "/test"
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: sm.Namespace, Name: sm.Name}}
	Expect(environment.Edit(ctx, env.Client, machine, func(m *clusterv1.Machine) {
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, hook, "held")
	})).To(Succeed())
	DeferCleanup(func() {
		Expect(client.IgnoreNotFound(environment.Edit(ctx, env.Client, machine, func(m *clusterv1.Machine) { delete(m.Annotations, hook) }))).To(Succeed())
	})
}

// otherTaints asks for an update, an addition and a removal.
func otherTaints(sm *v1alpha1.ScheduledMachine) {
	sm.Spec.NodeTaints = environment.ParseTaints("a=2:NoSchedule", "c=1:NoExecute")
}

var _ = Describe("From the moment the Machine is on its way out", func() {
	DescribeTable("not a single request goes to its Node (28)", func(leave func(*v1alpha1.ScheduledMachine)) {
		sm := createTainted(direct, environment.Taints("a=1:NoSchedule", "b=1:NoSchedule"), func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.GracefulShutdownTimeout = "1h"
		})
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(HavePrefix("True/"))
		holdMachine(sm)
		before := len(ourRequests(sm.Name))

		leave(sm)
		By("an admin takes one of ours off, changes another, adds one; the spec asks for others")
		taintAsAdmin(sm.Name, take("a=1:NoSchedule"))
		taintAsAdmin(sm.Name, set("b=admin:NoSchedule"))
		taintAsAdmin(sm.Name, set("c=admin:NoSchedule"))
		edit(sm, otherTaints)
		Consistently(taintsOf(sm.Name)).WithTimeout(2 * time.Second).Should(Equal([]string{"b=admin:NoSchedule", "c=admin:NoSchedule"}))
		setReady(sm, false)
		setReady(sm, true)
		Consistently(taintsOf(sm.Name)).Should(Equal([]string{"b=admin:NoSchedule", "c=admin:NoSchedule"}))
		Expect(ourRequests(sm.Name)).To(HaveLen(before))
		Expect(appliedEvents(sm)()).To(HaveLen(1))
		Expect(recordOf(sm.Name)()).To(Equal([]string{"a=1:NoSchedule", "b=1:NoSchedule"}))
	},
		Entry("killSwitch", func(sm *v1alpha1.ScheduledMachine) {
			edit(sm, func(sm *v1alpha1.ScheduledMachine) { sm.Spec.KillSwitch = true })
		}),
		Entry("killSwitch, with other taints in the same edit", func(sm *v1alpha1.ScheduledMachine) {
			edit(sm, otherTaints, func(sm *v1alpha1.ScheduledMachine) { sm.Spec.KillSwitch = true })
		}),
		Entry("the ScheduledMachine is deleted", func(sm *v1alpha1.ScheduledMachine) {
			Expect(env.Client.Delete(ctx, sm)).To(Succeed())
		}),
		Entry("the Machine is deleted by somebody else", func(sm *v1alpha1.ScheduledMachine) {
			Expect(env.Client.Delete(ctx, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: sm.Namespace, Name: sm.Name}})).To(Succeed())
			// The deletion has to have come through before what follows can be wrong.
			Eventually(condition(sm, v1alpha1.MachineReadyCondition)).Should(Equal("False/Deleting"))
		}),
		Entry("the window closes and the grace runs", func(sm *v1alpha1.ScheduledMachine) {
			edit(sm, closed)
			Eventually(condition(sm, v1alpha1.MachineReadyCondition)).Should(Equal("False/ShuttingDown"))
		}),
		Entry("the window closes, with other taints in the same edit", func(sm *v1alpha1.ScheduledMachine) {
			edit(sm, closed, otherTaints)
		}),
	)

	It("and when the window opens again within the grace, the taints are as declared", func() {
		sm := createTainted(direct, environment.Taints("a=1:NoSchedule"), func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.GracefulShutdownTimeout = "1h"
		})
		edit(sm, closed)
		Eventually(condition(sm, v1alpha1.MachineReadyCondition)).Should(Equal("False/ShuttingDown"))
		taintAsAdmin(sm.Name, func([]corev1.Taint) []corev1.Taint { return nil })
		Consistently(taintsOf(sm.Name)).Should(BeEmpty())
		edit(sm, func(sm *v1alpha1.ScheduledMachine) { sm.Spec.Schedule = environment.AlwaysOpen() })
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"a=1:NoSchedule"}))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
	})

	It("a schedule that is disabled is another matter: what runs keeps its taints", func() {
		sm := createTainted(direct, environment.Taints("a=1:NoSchedule"))
		edit(sm, closed, func(sm *v1alpha1.ScheduledMachine) { sm.Spec.Schedule.Enabled = new(false) })
		taintAsAdmin(sm.Name, take("a=1:NoSchedule"))
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"a=1:NoSchedule"}))
	})
})

func closed(sm *v1alpha1.ScheduledMachine) { sm.Spec.Schedule = environment.NeverOpen() }

var _ = Describe("What is paused", func() {
	It("is left alone until it is paused no more", func() {
		sm := createTainted(direct, environment.Taints("a=1:NoSchedule"))
		edit(sm, func(sm *v1alpha1.ScheduledMachine) {
			metav1.SetMetaDataAnnotation(&sm.ObjectMeta, clusterv1.PausedAnnotation, "")
		})
		Eventually(condition(sm, v1alpha1.PausedCondition)).Should(HavePrefix("True/"))
		before := len(ourRequests(sm.Name))
		taintAsAdmin(sm.Name, take("a=1:NoSchedule"))
		edit(sm, otherTaints)
		Consistently(taintsOf(sm.Name)).Should(BeEmpty())
		Expect(ourRequests(sm.Name)).To(HaveLen(before))
		edit(sm, func(sm *v1alpha1.ScheduledMachine) { delete(sm.Annotations, clusterv1.PausedAnnotation) })
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"a=2:NoSchedule", "c=1:NoExecute"}))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
	})
})
