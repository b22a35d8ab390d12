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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
)

func expectEdges(sm *v1alpha1.ScheduledMachine, activation, cleanup, change time.Time) {
	GinkgoHelper()
	same := func(got *metav1.Time, want time.Time, field string) {
		GinkgoHelper()
		Expect(got).NotTo(BeNil(), field)
		Expect(got.Time).To(BeTemporally("==", want), field)
	}
	same(sm.Status.NextActivation, activation, "nextActivation")
	same(sm.Status.NextCleanup, cleanup, "nextCleanup")
	same(sm.Status.NextChange, change, "nextChange")
}

// expectActedUpon holds where one request was made within a second of an instant,
// and not before.
func expectActedUpon(requests []request, due time.Time, what string) {
	GinkgoHelper()
	Expect(requests).To(HaveLen(1), what)
	late := lateness(requests[0], due)
	AddReportEntry(what+" after", late.String())
	Expect(late).To(And(BeNumerically(">=", 0), BeNumerically("<", oneSecond)), what)
}

var _ = Describe("The edges of a schedule", func() {
	It("are acted upon within a second each: Inactive, Active, ShuttingDown, Inactive, Active", func() {
		first := now.beforeMinute(5 * time.Second)
		end, second := minutes(first, 1), minutes(first, 2)
		sm := create("edges", schedule(windows(first, end, second, minutes(second, 5))), grace("3s"))
		phases := record(sm, phaseText)
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseInactive))
		expectEdges(sm, first, end, first)
		Expect(sm.Status.InSchedule).To(HaveValue(BeFalse()))
		Expect(madeFor("edges")()).To(BeEmpty())

		By("the window opens")
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
		expectActedUpon(writesTo("machines", "edges", "create"), first, "Machine created")
		expectEdges(sm, second, end, end)
		Expect(sm.Status.InSchedule).To(HaveValue(BeTrue()))
		Expect(sm.Status.LastScheduledTime.Time).To(BeTemporally("~", first, oneSecond))
		Expect(condition(sm, v1alpha1.ScheduleActiveCondition)()).To(Equal("True/InWindow"))

		By("the window closes: the grace runs")
		Eventually(phase(sm)).WithTimeout(2 * time.Minute).Should(Equal(v1alpha1.PhaseShuttingDown))
		Expect(condition(sm, v1alpha1.ScheduleActiveCondition)()).To(Equal("False/OutOfWindow"))
		Expect(writesTo("machines", "edges", "delete")).To(BeEmpty())
		Expect(sm.Annotations).To(HaveKeyWithValue(v1alpha1.ShutdownSinceAnnotation, end.UTC().Format(time.RFC3339Nano)))
		expectEdges(sm, second, minutes(second, 5), second)
		var patches []request
		for _, e := range writesTo("scheduledmachines", "edges", "patch") {
			if e.Subresource == "" && lateness(e, end) > -time.Second {
				patches = append(patches, e)
			}
		}
		expectActedUpon(patches, end, "shutdown recorded")

		By("the grace is over")
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseInactive))
		expectActedUpon(writesTo("machines", "edges", "delete"), end.Add(3*time.Second), "Machine deleted")
		Expect(madeFor("edges")()).To(BeEmpty())
		Expect(sm.Annotations).NotTo(HaveKey(v1alpha1.ShutdownSinceAnnotation))
		Expect(sm.Status.MachineRef).To(BeNil())
		Expect(sm.Status.InfrastructureRef).To(BeNil())
		Expect(sm.Status.BootstrapRef).To(BeNil())
		Eventually(func() *v1alpha1.NodeReference { phase(sm)(); return sm.Status.NodeRef }).Should(BeNil())

		By("the next window opens")
		jumpBefore(second, sm)
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
		expectActedUpon(writesTo("machines", "edges", "create")[1:], second, "Machine created again")
		Expect(phases()).To(Equal([]string{"Inactive", "Active", "ShuttingDown", "Inactive", "Active"}))
		for reason, n := range map[string]int{
			v1alpha1.MachineCreatedEvent: 2, v1alpha1.ShutdownStartedEvent: 1, v1alpha1.MachineDeletedEvent: 1,
		} {
			Eventually(eventsOf("edges", reason)).Should(HaveLen(n), reason)
		}
	})

	It("leave the Machine as it is where the window opens again within the grace", func() {
		end := now.beforeMinute(4 * time.Second)
		again := minutes(end, 2)
		sm := create("reopened", schedule(windows(minutes(end, -1), end, again, minutes(again, 5))), grace("10m"))
		phases := record(sm, phaseText)
		Eventually(machineUID("reopened")).ShouldNot(BeEmpty())
		uid := machineUID("reopened")()
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseShuttingDown))
		Expect(message(sm, v1alpha1.MachineReadyCondition)).To(ContainSubstring(end.Add(10 * time.Minute).UTC().Format(time.RFC3339)))

		jumpBefore(again, sm)
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
		Expect(machineUID("reopened")()).To(Equal(uid))
		Expect(sm.Annotations).NotTo(HaveKey(v1alpha1.ShutdownSinceAnnotation))
		Eventually(eventsOf("reopened", v1alpha1.ShutdownCancelledEvent)).Should(HaveLen(1))
		Expect(writesTo("machines", "reopened", "delete")).To(BeEmpty())
		Expect(phases()).To(Equal([]string{"Active", "ShuttingDown", "Active"}))

		By("the end of the grace that ran, long past, means nothing any more")
		now.jump(end.Add(10*time.Minute), 0)
		edit(sm, schedule(environment.AlwaysOpen()))
		Eventually(condition(sm, v1alpha1.ScheduleActiveCondition)).Should(Equal("True/InWindow"))
		Consistently(machineUID("reopened")).Should(Equal(uid))
	})

	It("wait for a Machine that goes slowly while the next window opens, then make a new one, never in Error", func() {
		end := now.beforeMinute(50 * time.Second)
		again := minutes(end, 1)
		sm := create("slow", schedule(windows(minutes(end, -1), end, again, minutes(again, 5))), slowToGo)
		phases := record(sm, phaseText)
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
		uid := machineUID("slow")()
		jumpBefore(end, sm)
		Eventually(func() []request { return writesTo("machines", "slow", "delete") }).Should(HaveLen(1))
		Eventually(condition(sm, v1alpha1.MachineReadyCondition)).Should(Equal("False/Deleting"))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseShuttingDown))

		jumpBefore(again, sm)
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhasePending))
		Consistently(phase(sm)).Should(Equal(v1alpha1.PhasePending))
		Expect(message(sm, v1alpha1.MachineReadyCondition)).To(ContainSubstring("Waiting for the previous Machine slow to be gone"))
		Expect(machineUID("slow")()).To(Equal(uid))

		release("slow")
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
		Expect(machineUID("slow")()).NotTo(Or(BeEmpty(), Equal(uid)))
		Expect(phases()).To(Equal([]string{"Active", "ShuttingDown", "Pending", "Active"}))
	})

	It("count the grace from the edit where an edit closed the window", func() {
		sm := create("edited", grace("10s"))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
		// The schedule's last edge is an hour ago: the grace would be long over.
		edited := now.Now()
		hour := edited.Truncate(time.Minute)
		edit(sm, schedule(windows(minutes(hour, -120), minutes(hour, -60))))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseShuttingDown))
		since, err := time.Parse(time.RFC3339Nano, sm.Annotations[v1alpha1.ShutdownSinceAnnotation])
		Expect(err).NotTo(HaveOccurred())
		Expect(since).To(BeTemporally("~", edited, 5*time.Second))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseInactive))
		deletion := writesTo("machines", "edited", "delete")
		expectActedUpon(deletion, since.Add(10*time.Second), "Machine deleted")
	})

	It("make no Machine for a window that passed while the clock jumped over it", func() {
		first := now.beforeMinute(30 * time.Second)
		sm := create("jumped", schedule(windows(first, minutes(first, 1))))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseInactive))
		jumpBefore(minutes(first, 3), sm)
		tomorrow := first.Add(24 * time.Hour)
		Eventually(func() time.Time { phase(sm)(); return sm.Status.NextActivation.Time }).Should(BeTemporally("==", tomorrow))
		Expect(sm.Status.Phase).To(Equal(v1alpha1.PhaseInactive))
		Expect(writesTo("machines", "jumped")).To(BeEmpty())
	})
})

var _ = Describe("A ScheduledMachine that is disabled while Active", func() {
	It("keeps its Machine and lets no grace run; enabled again outside its window it gets a fresh grace", func() {
		end := now.beforeMinute(4 * time.Second)
		sm := create("disabled", schedule(windows(minutes(end, -1), end)), grace("10s"))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
		uid := machineUID("disabled")()
		edit(sm, enabled(false))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseDisabled))
		Expect(condition(sm, v1alpha1.ScheduleActiveCondition)()).To(Equal("False/Disabled"))

		By("the end of the window and of what would be its grace pass")
		jumpBefore(end.Add(time.Minute), sm)
		Consistently(phase(sm)).WithTimeout(5 * time.Second).Should(Equal(v1alpha1.PhaseDisabled))
		Expect(machineUID("disabled")()).To(Equal(uid))
		Expect(sm.Annotations).NotTo(HaveKey(v1alpha1.ShutdownSinceAnnotation))

		By("enabled again")
		edit(sm, enabled(true))
		again := now.Now()
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseShuttingDown))
		since, err := time.Parse(time.RFC3339Nano, sm.Annotations[v1alpha1.ShutdownSinceAnnotation])
		Expect(err).NotTo(HaveOccurred())
		Expect(since).To(BeTemporally("~", again, 5*time.Second))
		Expect(writesTo("machines", "disabled", "delete")).To(BeEmpty())
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseInactive))
		expectActedUpon(writesTo("machines", "disabled", "delete"), since.Add(10*time.Second), "Machine deleted")
	})

	It("starts nothing new", func() {
		sm := create("never-enabled", enabled(false))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseDisabled))
		Consistently(madeFor("never-enabled")).Should(BeEmpty())
		edit(sm, enabled(true))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
	})
})
