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

package life_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
)

func clusterNamed(name string) *clusterv1.Cluster {
	c := &clusterv1.Cluster{}
	c.Namespace, c.Name = environment.Namespace, name
	return c
}

func pauseCluster(name string, yes bool) {
	GinkgoHelper()
	Expect(environment.Edit(ctx, env.Client, clusterNamed(name), func(c *clusterv1.Cluster) { c.Spec.Paused = ptr.To(yes) })).To(Succeed())
}

func deleteCluster(name string) {
	GinkgoHelper()
	c := clusterNamed(name)
	remove(c)
	Eventually(func() error { return get(c, name) }).WithTimeout(2 * time.Minute).Should(beNotFound)
}

var _ = Describe("A ScheduledMachine without its Cluster", func() {
	It("is in Error, and leaves that by itself when the Cluster appears", func() {
		sm := create("early", inCluster("late"))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseError))
		Expect(condition(sm, v1alpha1.ScheduleActiveCondition)()).To(Equal("False/ClusterNotFound"))
		Expect(message(sm, v1alpha1.ScheduleActiveCondition)).To(Equal("There is no Cluster late in namespace default"))
		Expect(condition(sm, v1alpha1.ReadyCondition)()).To(HavePrefix("False/"))
		Expect(sm.OwnerReferences).To(BeEmpty())
		Expect(madeFor("early")()).To(BeEmpty())

		registerCluster("late")
		DeferCleanup(deleteCluster, "late")
		Eventually(phase(sm)).WithTimeout(10 * time.Second).Should(Equal(v1alpha1.PhaseActive))
		Expect(owners(sm)).To(Equal([]string{"Cluster/late"}))
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
	})
})

var _ = Describe("Paused", func() {
	for _, row := range []struct {
		what, name     string
		pause, unpause func(*v1alpha1.ScheduledMachine)
	}{
		{"the Cluster", "cluster",
			func(*v1alpha1.ScheduledMachine) { pauseCluster("paused", true) },
			func(*v1alpha1.ScheduledMachine) { pauseCluster("paused", false) }},
		{"the ScheduledMachine", "object",
			func(sm *v1alpha1.ScheduledMachine) {
				edit(sm, func(sm *v1alpha1.ScheduledMachine) {
					sm.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
				})
			},
			func(sm *v1alpha1.ScheduledMachine) {
				edit(sm, func(sm *v1alpha1.ScheduledMachine) { delete(sm.Annotations, clusterv1.PausedAnnotation) })
			}},
	} {
		It("nothing is done, deletion included, until it is no more: "+row.what, func() {
			registerCluster("paused")
			DeferCleanup(deleteCluster, "paused")
			name := "paused-" + row.name
			sm := reached(create(name, inCluster("paused"), grace("1h")), v1alpha1.PhaseActive)
			Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
			Expect(condition(sm, v1alpha1.PausedCondition)()).To(Equal("False/NotPaused"))
			m, err := machine(name)
			Expect(err).NotTo(HaveOccurred())

			By("edits and the schedule wait")
			row.pause(sm)
			Eventually(condition(sm, v1alpha1.PausedCondition)).Should(Equal("True/Paused"))
			Expect(message(sm, v1alpha1.PausedCondition)).NotTo(BeEmpty())
			edit(sm, func(sm *v1alpha1.ScheduledMachine) {
				sm.Spec.Schedule = environment.NeverOpen()
				sm.Spec.MachineTemplate = &v1alpha1.MachineTemplate{Labels: map[string]string{"new": "label"}}
			})
			Eventually(condition(sm, v1alpha1.PausedCondition)).Should(Equal("True/Paused"))
			Consistently(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
			Expect(sm.Annotations).NotTo(HaveKey(v1alpha1.ShutdownSinceAnnotation))
			row.unpause(sm)
			Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseShuttingDown))
			Expect(condition(sm, v1alpha1.PausedCondition)()).To(Equal("False/NotPaused"))

			By("killSwitch and deletion wait")
			row.pause(sm)
			Eventually(condition(sm, v1alpha1.PausedCondition)).Should(Equal("True/Paused"))
			edit(sm, killed(true))
			remove(sm)
			expectQuiet(name)
			Expect(get(sm, name)).To(Succeed())
			Expect(sm.DeletionTimestamp).NotTo(BeNil())
			Expect(machineUID(name)()).To(Equal(m.UID))
			Expect(machine(name)).To(HaveField("DeletionTimestamp", BeNil()))

			row.unpause(sm)
			Eventually(func() error { return get(sm, name) }).Should(beNotFound)
			Expect(madeFor(name)()).To(BeEmpty())
		})
	}

	It("from its creation: nothing is written but the condition, not even a finalizer", func() {
		sm := create("paused-born", func(sm *v1alpha1.ScheduledMachine) {
			sm.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
		})
		Eventually(condition(sm, v1alpha1.PausedCondition)).Should(Equal("True/Paused"))
		expectQuiet("paused-born")
		Expect(ourWrites("paused-born")).To(HaveLen(1))
		Expect(get(sm, "paused-born")).To(Succeed())
		Expect(sm.Finalizers).To(BeEmpty())
		Expect(sm.OwnerReferences).To(BeEmpty())
		edit(sm, func(sm *v1alpha1.ScheduledMachine) { sm.Annotations = nil })
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
	})
})

var _ = Describe("A Cluster that is deleted", func() {
	It("takes everything along, whatever its ScheduledMachines are doing; nothing waits for ever", func() {
		registerCluster("doomed")
		DeferCleanup(func() { _ = env.Client.Delete(ctx, clusterNamed("doomed")) })
		running := create("doomed-active", inCluster("doomed"))
		inGrace := create("doomed-grace", inCluster("doomed"), grace("1h"))
		disabled := create("doomed-disabled", inCluster("doomed"))
		idle := create("doomed-idle", inCluster("doomed"), schedule(environment.NeverOpen()))
		all := []*v1alpha1.ScheduledMachine{running, inGrace, disabled, idle}
		for _, sm := range all[:3] {
			Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
		}
		edit(inGrace, schedule(environment.NeverOpen()))
		reached(inGrace, v1alpha1.PhaseShuttingDown)
		edit(disabled, enabled(false))
		reached(disabled, v1alpha1.PhaseDisabled)
		reached(idle, v1alpha1.PhaseInactive)
		reasons := record(running, func(sm *v1alpha1.ScheduledMachine) string {
			return environment.Condition(sm, v1alpha1.ScheduleActiveCondition)
		})

		begun := time.Now()
		deleteCluster("doomed")
		AddReportEntry("Cluster gone after", time.Since(begun).String())
		for _, sm := range all {
			Expect(madeFor(sm.Name)()).To(BeEmpty(), sm.Name)
			// By the garbage collector, for their owner is gone.
			Eventually(func() error { return get(sm, sm.Name) }).WithTimeout(90*time.Second).Should(beNotFound, sm.Name)
		}
		AddReportEntry("ScheduledMachines gone after", time.Since(begun).String())
		Expect(reasons()).To(ContainElement("False/ClusterDeleting"))
	})
})
