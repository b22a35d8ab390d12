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
	"os/exec"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
)

// forced is a schedule of one window, always open or never, with today forced the
// other way.
func forced(on bool) v1alpha1.Schedule {
	s := environment.AlwaysOpen()
	if on {
		s = environment.NeverOpen()
	}
	today := now.Now().UTC()
	s.Exceptions = append(s.Exceptions, v1alpha1.Exception{
		From: today.AddDate(0, 0, -1).Format("2006-01-02"), To: today.AddDate(0, 0, 1).Format("2006-01-02"), Active: ptr.To(on),
	})
	return s
}

var _ = Describe("ScheduleActive", func() {
	It("says whether the schedule asks for the Machine, and why", func() {
		sm := create("reasons")
		active := condition(sm, v1alpha1.ScheduleActiveCondition)
		for _, step := range []struct {
			change change
			want   string
			says   string
		}{
			{schedule(environment.AlwaysOpen()), "True/InWindow", ""},
			{schedule(forced(false)), "False/ForcedOffByException", ""},
			{schedule(forced(true)), "True/ForcedOnByException", ""},
			{schedule(environment.NeverOpen()), "False/OutOfWindow", ""},
			{enabled(false), "False/Disabled", "spec.schedule.enabled is false"},
			{killed(true), "False/KillSwitch", "set it to false to let the schedule decide again"},
		} {
			edit(sm, step.change)
			Eventually(active).Should(Equal(step.want))
			Expect(message(sm, v1alpha1.ScheduleActiveCondition)).To(And(Not(BeEmpty()), ContainSubstring(step.says)))
			Expect(condition(sm, v1alpha1.ScheduleValidCondition)()).To(Equal("True/Valid"))
		}
	})
})

var _ = Describe("Ready", func() {
	It("says whether the world is as the schedule asks now", func() {
		sm := create("telling", grace("1h"), environment.Taints("workload=batch:NoSchedule"), func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.InfrastructureSpec.Spec.Raw = []byte(`{"simulated":{"readyAfter":"1h"}}`)
		})
		isReady := condition(sm, v1alpha1.ReadyCondition)

		By("in the window: not before the Machine is Ready and its Node has the taints")
		Eventually(isReady).Should(HavePrefix("False/"))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/NodeNotReady"))
		Expect(isReady()).To(HavePrefix("False/"))
		Expect(message(sm, v1alpha1.ReadyCondition)).To(HavePrefix("MachineReady: "))
		Expect(env.Backend.SetReady(client.ObjectKeyFromObject(workload.Cluster), "telling", true)).To(Succeed())
		Eventually(isReady).Should(Equal("True/Ready"))
		Expect(condition(sm, v1alpha1.MachineReadyCondition)()).To(Equal("True/Ready"))
		Expect(condition(sm, v1alpha1.NodeTaintedCondition)()).To(Equal("True/Applied"))

		By("disabled with a Machine that is well")
		edit(sm, enabled(false))
		Eventually(condition(sm, v1alpha1.ScheduleActiveCondition)).Should(Equal("False/Disabled"))
		Expect(isReady()).To(Equal("True/Ready"))
		edit(sm, enabled(true))

		By("in the grace: not yet as the schedule asks")
		edit(sm, schedule(environment.NeverOpen()))
		Eventually(isReady).Should(Equal("False/ShuttingDown"))
		Expect(message(sm, v1alpha1.ReadyCondition)).To(ContainSubstring("unless the window opens again"))

		By("outside the window, nothing there: as it should be")
		edit(sm, grace("0s"))
		Eventually(isReady).Should(Equal("True/OutOfWindow"))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseInactive))
		edit(sm, killed(true))
		Eventually(isReady).Should(Equal("True/KillSwitch"))
		edit(sm, killed(false))
		edit(sm, enabled(false))
		Eventually(isReady).Should(Equal("True/Disabled"))

		for _, c := range sm.Status.Conditions {
			Expect(c.Reason).NotTo(BeEmpty(), c.Type)
			Expect(c.ObservedGeneration).To(BeNumerically(">", 0), c.Type)
		}
	})
})

func runKubectl(args ...string) string {
	GinkgoHelper()
	path, err := env.Management.WriteKubeconfig("kubectl.kubeconfig", env.Management.Config())
	Expect(err).NotTo(HaveOccurred())
	out, err := exec.CommandContext(ctx, kubectl, append([]string{"--kubeconfig", path, "--namespace", environment.Namespace}, args...)...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", out)
	return string(out)
}

var _ = Describe("kubectl", func() {
	It("tells the story at a glance: short name, columns, category", func() {
		edge := now.beforeMinute(59 * time.Second)
		end := minutes(edge, 60)
		on := create("glance-on", schedule(windows(minutes(edge, -60), end)))
		off := create("glance-off", schedule(windows(end, minutes(edge, 120))))
		Eventually(condition(on, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
		Eventually(condition(off, v1alpha1.ReadyCondition)).Should(Equal("True/OutOfWindow"))
		Eventually(condition(off, v1alpha1.NodeTaintedCondition)).Should(Equal("Unknown/NoNodeYet"))

		table := runKubectl("get", "sm")
		header, _, _ := strings.Cut(table, "\n")
		Expect(strings.Fields(header)).To(Equal(strings.Fields("NAME PHASE IN SCHEDULE CLUSTER NODE TAINTED NEXT CHANGE AGE")))
		next := end.UTC().Format("2006-01-02T15:04:05Z")
		Expect(table).To(MatchRegexp(`(?m)^glance-on +Active +true +life +glance-on +True +%s +\d+s$`, next))
		Expect(table).To(MatchRegexp(`(?m)^glance-off +Inactive +false +life +Unknown +%s +\d+s$`, next))

		wide := runKubectl("get", "sm", "-o", "wide")
		header, _, _ = strings.Cut(wide, "\n")
		Expect(strings.Fields(header)).To(ContainElements("READY", "WHY"))
		Expect(wide).To(MatchRegexp(`(?m)^glance-off .*True +Inactive until `))

		Expect(runKubectl("get", "cluster-api", "-o", "name")).To(And(
			ContainSubstring("scheduledmachine.5spot.finos.org/glance-on\n"),
			ContainSubstring("cluster.cluster.x-k8s.io/life\n"),
			ContainSubstring("machine.cluster.x-k8s.io/glance-on\n")))
		Expect(runKubectl("describe", "sm", "glance-on")).To(ContainSubstring("MachineCreated"))
	})
})
