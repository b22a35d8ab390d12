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
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

const (
	inProcess = "5spot-in-process"
	// late is how long after it was due something may be done.
	late = 2 * time.Second
)

// edge is the instant around which windows lie: noon of tomorrow, for managers whose
// clocks are put forward to it.
var edge = time.Now().UTC().Truncate(24 * time.Hour).Add(36 * time.Hour)

// upTo is a window that closes at the edge, an hour after it opened.
func upTo(sm *v1alpha1.ScheduledMachine) {
	sm.Spec.Schedule = environment.Window(edge.Add(-time.Hour), edge)
}

// at runs a manager on whose clock it is now that time. The manager ends with stop.
func at(t time.Time) (clock environment.OffsetClock, stop func()) {
	GinkgoHelper()
	clock = environment.OffsetClock{Offset: time.Until(t)}
	end, err := env.StartManager(environment.ManagerOptions{Clock: clock})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(end)
	return clock, func() { Expect(end()).To(Succeed()) }
}

// shutdownSince is the instant from which the grace of a ScheduledMachine counts.
func shutdownSince(sm *v1alpha1.ScheduledMachine) func() time.Time {
	return func() time.Time {
		if !get(sm) {
			return time.Time{}
		}
		since, err := time.Parse(time.RFC3339Nano, sm.Annotations[v1alpha1.ShutdownSinceAnnotation])
		if err != nil {
			return time.Time{}
		}
		return since
	}
}

// deletedAt waits for the deletion of the Machine and for what follows, and returns
// when, by that clock, the deletion was asked for.
func deletedAt(clock environment.OffsetClock, sm *v1alpha1.ScheduledMachine) time.Time {
	GinkgoHelper()
	Eventually(isInactive(sm)).Should(BeTrue(), func() string { return describe(sm) })
	deletions := []controlplane.AuditEvent{}
	for _, write := range managementWrites(inProcess, "machines", sm.Name) {
		if write.Verb == "delete" {
			deletions = append(deletions, write)
		}
	}
	Expect(deletions).To(HaveLen(1), "deletions of Machine %s", sm.Name)
	return deletions[0].Received.Add(clock.Offset)
}

func expectOnTime(what string, got, due time.Time) {
	GinkgoHelper()
	AddReportEntry(what+" after it was due", got.Sub(due))
	// Audit timestamps are to the microsecond.
	Expect(got).To(And(BeTemporally(">=", due.Add(-time.Millisecond)), BeTemporally("<=", due.Add(late))), what)
}

var _ = Describe("A manager that was down over an edge", func() {
	It("lands where the schedule asks: the grace counts from the edge or the edit, never from its return", func() {
		returns := edge.Add(5 * time.Minute)
		soon := returns.Add(14 * time.Second)

		atOnce := environment.ScheduledMachine(clusterName, "edge-without-grace", upTo)
		passed := environment.ScheduledMachine(clusterName, "edge-grace-passed", upTo, gracefully("1m"))
		running := environment.ScheduledMachine(clusterName, "edge-grace-runs", upTo, gracefully(soon.Sub(edge).String()))
		edited := environment.ScheduledMachine(clusterName, "edited-before")
		editedWhileDown := environment.ScheduledMachine(clusterName, "edited-while-down", gracefully("8s"))
		missed := environment.ScheduledMachine(clusterName, "window-missed", func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.Schedule = environment.Window(edge.Add(time.Minute), edge.Add(3*time.Minute))
		})

		By("ten minutes before the edge")
		clock, stop := at(edge.Add(-10 * time.Minute))
		create(atOnce, passed, running, edited, editedWhileDown, missed)
		active := []*v1alpha1.ScheduledMachine{atOnce, passed, running, edited, editedWhileDown}
		for _, sm := range active {
			Eventually(phaseOf(sm)).Should(Equal(v1alpha1.PhaseActive), func() string { return describe(sm) })
		}
		Eventually(isInactive(missed)).Should(BeTrue())
		edit(edited, func(sm *v1alpha1.ScheduledMachine) {
			closeWindow(sm)
			sm.Spec.GracefulShutdownTimeout = soon.Sub(clock.Now()).Round(time.Second).String()
		})
		Eventually(shutdownSince(edited)).ShouldNot(BeZero())
		since := shutdownSince(edited)()
		Expect(since).To(BeTemporally("~", clock.Now(), 10*time.Second))
		stop()

		By("the edge and a whole window pass, a schedule is edited, and status is lost, while no manager runs")
		edit(editedWhileDown, closeWindow)
		for _, sm := range []*v1alpha1.ScheduledMachine{running, edited} {
			statusLost(sm)
		}

		By("five minutes after the edge")
		clock, _ = at(returns)
		for _, sm := range []*v1alpha1.ScheduledMachine{atOnce, passed} {
			Expect(deletedAt(clock, sm)).To(BeTemporally("<", soon), "%s got a grace of its own", sm.Name)
		}
		Eventually(shutdownSince(running)).Should(BeTemporally("==", edge))
		Expect(shutdownSince(edited)()).To(BeTemporally("==", since))
		sinceReturn := deletedAt(clock, editedWhileDown)
		Expect(sinceReturn).To(And(BeTemporally(">=", returns.Add(8*time.Second)), BeTemporally("<", soon.Add(8*time.Second))))
		expectOnTime("deletion at edge and grace", deletedAt(clock, running), soon)
		expectOnTime("deletion at edit and grace", deletedAt(clock, edited), since.Add(graceOf(edited)))

		By("the window that was missed")
		Eventually(isInactive(missed)).Should(BeTrue())
		Expect(managementWrites(inProcess, "machines", missed.Name)).To(BeEmpty())
		Expect(past.uidsOf(machines, missed)).To(BeEmpty())
		Expect(past.uidsOf(hostMachines, missed)).To(BeEmpty())
		Expect(missed.Status.NextActivation.Time).To(BeTemporally("==", edge.Add(24*time.Hour+time.Minute)))
		for _, sm := range append(active, missed) {
			expectNoError(sm)
		}
		for _, sm := range active {
			Expect(past.uidsOf(machines, sm)).To(HaveLen(1), "Machines %s", sm.Name)
		}
	})
})

func phaseOf(sm *v1alpha1.ScheduledMachine) func() v1alpha1.Phase {
	return func() v1alpha1.Phase { _ = get(sm); return sm.Status.Phase }
}

func graceOf(sm *v1alpha1.ScheduledMachine) time.Duration {
	GinkgoHelper()
	d, err := time.ParseDuration(sm.Spec.GracefulShutdownTimeout)
	Expect(err).NotTo(HaveOccurred())
	return d
}

var _ = Describe("A clock set back during a grace", func() {
	It("neither makes the grace endless nor cuts it short, and reopens a window that has not ended yet", func() {
		const grace = 15 * time.Second
		byEdit := environment.ScheduledMachine(clusterName, "back-edit", gracefully(grace.String()))
		byEdge := environment.ScheduledMachine(clusterName, "back-edge", upTo, gracefully("10m"))

		By("in the window")
		_, stop := at(edge.Add(-10 * time.Minute))
		create(byEdit, byEdge)
		for _, sm := range []*v1alpha1.ScheduledMachine{byEdit, byEdge} {
			Eventually(phaseOf(sm)).Should(Equal(v1alpha1.PhaseActive), func() string { return describe(sm) })
		}
		stop()

		By("after its end: both graces run")
		_, stop = at(edge.Add(time.Minute))
		Eventually(shutdownSince(byEdge)).Should(BeTemporally("==", edge))
		edit(byEdit, closeWindow)
		Eventually(shutdownSince(byEdit)).ShouldNot(BeZero())
		recorded := shutdownSince(byEdit)()
		stop()

		By("an hour earlier")
		back := edge.Add(-30 * time.Minute)
		clock, _ := at(back)
		Eventually(shutdownSince(byEdit)).ShouldNot(BeTemporally("==", recorded))
		since := shutdownSince(byEdit)()
		Expect(since).To(And(BeTemporally(">=", back), BeTemporally("<=", clock.Now())), "the grace counts from when the clock was found to be back")
		Eventually(phaseOf(byEdge)).Should(Equal(v1alpha1.PhaseActive))
		Expect(byEdge.Annotations).NotTo(HaveKey(v1alpha1.ShutdownSinceAnnotation))
		expectOnTime("deletion after the clock was set back", deletedAt(clock, byEdit), since.Add(grace))

		for _, sm := range []*v1alpha1.ScheduledMachine{byEdit, byEdge} {
			expectNoError(sm)
			Expect(past.uidsOf(machines, sm)).To(HaveLen(1), fmt.Sprintf("Machines %s", sm.Name))
		}
		Expect(leftOf(byEdge)).To(ContainElement(machines))
	})
})
