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

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
)

// step is one thing that somebody does, and how everything stands after it.
type step struct {
	// declare is what spec.nodeTaints becomes; nil leaves it as it is.
	declare []string
	// edit is another edit of the spec.
	edit func(*v1alpha1.ScheduledMachine)
	// admin is what an administrator does to the Node's taints.
	admin func([]corev1.Taint) []corev1.Taint
	// ready turns the Node Ready or not.
	ready *bool

	// shows and owned are the Node's taints and its record, in their order.
	shows, owned []string
	// tainted is NodeTainted, True/Applied where empty.
	tainted string
	// conflict is part of TaintOwnershipConflict's message; empty: there is none.
	conflict string
	// event is the end of the one NodeTaintsApplied Event; empty: there is none.
	event string
	// warning is part of the one TaintOwnershipConflict Event; empty: there is none.
	warning string
	// writes is how often we change the Node.
	writes int
}

func (s step) do(sm *v1alpha1.ScheduledMachine) {
	GinkgoHelper()
	if s.ready != nil {
		setReady(sm, *s.ready)
	}
	if s.admin != nil {
		taintAsAdmin(sm.Name, s.admin)
	}
	if s.declare != nil {
		edit(sm, environment.Taints(s.declare...))
	}
	if s.edit != nil {
		edit(sm, s.edit)
	}
}

// stands is everything that a step is judged by.
type stands struct {
	Shows, Owned, Mirror []string
	Tainted, Conflict    string
	Writes               int
	Applied, Warnings    []string
}

func look(sm *v1alpha1.ScheduledMachine) stands {
	GinkgoHelper()
	return stands{
		Shows: taintsOf(sm.Name)(), Owned: recordOf(sm.Name)(), Mirror: mirror(sm)(),
		Tainted:  condition(sm, v1alpha1.NodeTaintedCondition)(),
		Conflict: condition(sm, v1alpha1.TaintOwnershipConflictCondition)(),
		Writes:   len(ourWrites(sm.Name)),
		Applied:  appliedEvents(sm)(), Warnings: eventsOf(sm, v1alpha1.TaintConflictEvent)(),
	}
}

// leadsTo expects that everything comes to stand as the step says, and stays so.
func (s step) leadsTo(sm *v1alpha1.ScheduledMachine, before stands) {
	GinkgoHelper()
	want := stands{
		Shows: append([]string{}, s.shows...), Owned: append([]string{}, s.owned...), Mirror: append([]string{}, s.owned...),
		Tainted: "True/Applied", Conflict: "False/NoConflict", Writes: before.Writes + s.writes,
		Applied: before.Applied, Warnings: before.Warnings,
	}
	if s.tainted != "" {
		want.Tainted = s.tainted
	}
	if s.conflict != "" {
		want.Conflict = "True/TaintOwnershipConflict"
	}
	if s.event != "" {
		want.Applied = append(want.Applied[:len(want.Applied):len(want.Applied)], "Node "+sm.Name+": "+s.event)
	}
	warned := func(now *stands) *stands {
		// The text of a warning is checked apart.
		if s.warning != "" && len(now.Warnings) == len(before.Warnings)+1 {
			now.Warnings = now.Warnings[:len(before.Warnings)]
		}
		return now
	}
	current := func() stands { now := look(sm); return *warned(&now) }
	Eventually(current).WithTimeout(20 * time.Second).WithPolling(50 * time.Millisecond).Should(Equal(want))
	Consistently(current).WithTimeout(700 * time.Millisecond).WithPolling(100 * time.Millisecond).Should(Equal(want))
	if s.conflict != "" {
		Expect(message(sm, v1alpha1.TaintOwnershipConflictCondition)()).To(ContainSubstring(s.conflict))
	}
	if s.warning != "" {
		warnings := eventsOf(sm, v1alpha1.TaintConflictEvent)()
		Expect(warnings[len(warnings)-1]).To(ContainSubstring(s.warning))
	}
}

var (
	on, off = true, false
	none    = []string{}
)

var _ = DescribeTable("The ownership table, through the controller",
	func(steps ...step) {
		sm := createTainted(direct)
		Expect(condition(sm, v1alpha1.TaintOwnershipConflictCondition)()).To(Equal("False/NoConflict"))
		for i, s := range steps {
			before := look(sm)
			s.do(sm)
			By("after step " + string(rune('1'+i)))
			s.leadsTo(sm, before)
		}
	},
	Entry("declared, absent: added; declared, same value, ours: unchanged (17, 18)",
		step{declare: []string{"w=batch:NoSchedule"}, shows: []string{"w=batch:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}, event: "added w=batch:NoSchedule", writes: 1},
		step{edit: func(sm *v1alpha1.ScheduledMachine) { sm.Spec.NodeDrainTimeout = "31s" }, shows: []string{"w=batch:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}},
	),
	Entry("declared, same value, not ours: satisfied, and never removed by us (24)",
		step{admin: set("w=batch:NoSchedule"), shows: []string{"w=batch:NoSchedule"}},
		step{declare: []string{"w=batch:NoSchedule"}, shows: []string{"w=batch:NoSchedule"}},
		step{declare: none, shows: []string{"w=batch:NoSchedule"}},
	),
	Entry("declared, other value, ours as we applied it: updated in its place (19)",
		step{declare: []string{"w=old:NoSchedule", "d=ml:NoExecute"}, shows: []string{"w=old:NoSchedule", "d=ml:NoExecute"}, owned: []string{"d=ml:NoExecute", "w=old:NoSchedule"},
			event: "added w=old:NoSchedule, d=ml:NoExecute", writes: 1},
		step{declare: []string{"w=new:NoSchedule", "d=ml:NoExecute"}, shows: []string{"w=new:NoSchedule", "d=ml:NoExecute"}, owned: []string{"d=ml:NoExecute", "w=new:NoSchedule"},
			event: "updated w=new:NoSchedule", writes: 1},
		step{declare: []string{"w=new:NoSchedule", "d=ai:NoExecute"}, shows: []string{"w=new:NoSchedule", "d=ai:NoExecute"}, owned: []string{"d=ai:NoExecute", "w=new:NoSchedule"},
			event: "updated d=ai:NoExecute", writes: 1},
	),
	Entry("declared, other value, ours but changed since: a conflict, not a fight (29)",
		step{declare: []string{"w=batch:NoSchedule"}, shows: []string{"w=batch:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}, event: "added w=batch:NoSchedule", writes: 1},
		step{admin: set("w=admin:NoSchedule"), shows: []string{"w=admin:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}, tainted: "False/TaintOwnershipConflict",
			conflict: `w:NoSchedule is declared as "batch", was applied as "batch" and has been changed to "admin"`, warning: `changed to "admin"`},
		step{admin: set("w=batch:NoSchedule"), shows: []string{"w=batch:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}},
	),
	Entry("such a conflict clears when the admin takes the taint off: added again",
		step{declare: []string{"w=batch:NoSchedule"}, shows: []string{"w=batch:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}, event: "added w=batch:NoSchedule", writes: 1},
		step{admin: set("w=admin:NoSchedule"), shows: []string{"w=admin:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}, tainted: "False/TaintOwnershipConflict", conflict: "w:NoSchedule", warning: "w:NoSchedule"},
		step{admin: take("w=admin:NoSchedule"), shows: []string{"w=batch:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}, event: "added w=batch:NoSchedule", writes: 1},
	),
	Entry("such a conflict clears when the spec gives way",
		step{declare: []string{"w=batch:NoSchedule"}, shows: []string{"w=batch:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}, event: "added w=batch:NoSchedule", writes: 1},
		step{admin: set("w=admin:NoSchedule"), shows: []string{"w=admin:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}, tainted: "False/TaintOwnershipConflict", conflict: "w:NoSchedule", warning: "w:NoSchedule"},
		step{declare: []string{"w=admin:NoSchedule"}, shows: []string{"w=admin:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}},
	),
	Entry("declared, other value, not ours: a conflict (20), until the spec drops it",
		step{admin: set("w=admin:NoSchedule"), shows: []string{"w=admin:NoSchedule"}},
		step{declare: []string{"w=ours:NoSchedule"}, shows: []string{"w=admin:NoSchedule"}, tainted: "False/TaintOwnershipConflict",
			conflict: `w:NoSchedule is declared as "ours" and was set to "admin" by somebody else`, warning: `"ours" and was set to "admin"`},
		step{declare: none, shows: []string{"w=admin:NoSchedule"}},
	),
	Entry("declared, other value, not ours: a conflict, until the spec says the same",
		step{admin: set("w=admin:NoSchedule"), shows: []string{"w=admin:NoSchedule"}},
		step{declare: []string{"w=ours:NoSchedule"}, shows: []string{"w=admin:NoSchedule"}, tainted: "False/TaintOwnershipConflict", conflict: "w:NoSchedule", warning: "w:NoSchedule"},
		step{declare: []string{"w=admin:NoSchedule"}, shows: []string{"w=admin:NoSchedule"}},
	),
	Entry("declared, other value, not ours: a conflict, until the admin gives way",
		step{admin: set("w=admin:NoSchedule"), shows: []string{"w=admin:NoSchedule"}},
		step{declare: []string{"w=ours:NoSchedule"}, shows: []string{"w=admin:NoSchedule"}, tainted: "False/TaintOwnershipConflict", conflict: "w:NoSchedule", warning: "w:NoSchedule"},
		step{admin: take("w=admin:NoSchedule"), shows: []string{"w=ours:NoSchedule"}, owned: []string{"w=ours:NoSchedule"}, event: "added w=ours:NoSchedule", writes: 1},
	),
	Entry("not declared, the value we applied: removed, and nothing else (21)",
		step{admin: set("admin=1:NoExecute"), declare: []string{"w=batch:NoSchedule"}, shows: []string{"admin=1:NoExecute", "w=batch:NoSchedule"}, owned: []string{"w=batch:NoSchedule"},
			event: "added w=batch:NoSchedule", writes: 1},
		step{declare: none, shows: []string{"admin=1:NoExecute"}, event: "removed w=batch:NoSchedule", writes: 1},
	),
	Entry("not declared, another value than we applied: kept, and ownership given up (23)",
		step{declare: []string{"w=batch:NoSchedule"}, shows: []string{"w=batch:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}, event: "added w=batch:NoSchedule", writes: 1},
		step{admin: set("w=admin:NoSchedule"), shows: []string{"w=admin:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}, tainted: "False/TaintOwnershipConflict", conflict: "w:NoSchedule", warning: "w:NoSchedule"},
		step{declare: none, shows: []string{"w=admin:NoSchedule"}, warning: `was applied as "batch" and has been changed to "admin" by somebody else: it is kept`, writes: 1},
	),
	Entry("not declared, absent, ours: forgotten",
		step{declare: []string{"w=batch:NoSchedule"}, shows: []string{"w=batch:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}, event: "added w=batch:NoSchedule", writes: 1},
		step{ready: &off, shows: []string{"w=batch:NoSchedule"}, owned: []string{"w=batch:NoSchedule"}, tainted: "False/NodeNotReady"},
		step{admin: take("w=batch:NoSchedule"), declare: none, owned: []string{"w=batch:NoSchedule"}, tainted: "False/NodeNotReady"},
		step{ready: &on, writes: 1},
	),
	Entry("not declared, present, not ours: never touched (22)",
		step{admin: set("w=admin:NoSchedule"), shows: []string{"w=admin:NoSchedule"}},
		step{declare: []string{"o=1:NoSchedule"}, shows: []string{"w=admin:NoSchedule", "o=1:NoSchedule"}, owned: []string{"o=1:NoSchedule"}, event: "added o=1:NoSchedule", writes: 1},
		step{declare: none, shows: []string{"w=admin:NoSchedule"}, event: "removed o=1:NoSchedule", writes: 1},
	),
	Entry("one conflict of three: the other two are applied (26)",
		step{admin: set("b=admin:NoSchedule"), shows: []string{"b=admin:NoSchedule"}},
		step{declare: []string{"a=1:NoSchedule", "b=2:NoSchedule", "c=3:NoSchedule"}, shows: []string{"b=admin:NoSchedule", "a=1:NoSchedule", "c=3:NoSchedule"},
			owned: []string{"a=1:NoSchedule", "c=3:NoSchedule"}, tainted: "False/TaintOwnershipConflict", conflict: "b:NoSchedule", warning: "b:NoSchedule",
			event: "added a=1:NoSchedule, c=3:NoSchedule", writes: 1},
	),
	Entry("key and effect are the identity: the same key with another effect is another taint",
		step{admin: set("w=admin:NoExecute"), declare: []string{"w=batch:NoSchedule", "w:PreferNoSchedule"}, shows: []string{"w=admin:NoExecute", "w=batch:NoSchedule", "w:PreferNoSchedule"},
			owned: []string{"w=batch:NoSchedule", "w:PreferNoSchedule"}, event: "added w=batch:NoSchedule, w:PreferNoSchedule", writes: 1},
		step{declare: []string{"w:PreferNoSchedule"}, shows: []string{"w=admin:NoExecute", "w:PreferNoSchedule"}, owned: []string{"w:PreferNoSchedule"}, event: "removed w=batch:NoSchedule", writes: 1},
	),
	Entry("added, updated and removed in one write and one Event",
		step{declare: []string{"a=1:NoSchedule", "b=1:NoSchedule"}, shows: []string{"a=1:NoSchedule", "b=1:NoSchedule"}, owned: []string{"a=1:NoSchedule", "b=1:NoSchedule"},
			event: "added a=1:NoSchedule, b=1:NoSchedule", writes: 1},
		step{declare: []string{"b=2:NoSchedule", "c=1:NoSchedule"}, shows: []string{"b=2:NoSchedule", "c=1:NoSchedule"}, owned: []string{"b=2:NoSchedule", "c=1:NoSchedule"},
			event: "added c=1:NoSchedule; updated b=2:NoSchedule; removed a=1:NoSchedule", writes: 1},
	),
)

var _ = Describe("Drift", func() {
	It("is mended within a second when an admin deletes one of ours (29)", func() {
		sm := createTainted(direct, environment.Taints("a=1:NoSchedule", "b=2:NoSchedule"))
		for range 3 {
			writes := len(ourWrites(sm.Name))
			taintAsAdmin(sm.Name, take("a=1:NoSchedule"))
			Eventually(taintsOf(sm.Name)).Should(ConsistOf("a=1:NoSchedule", "b=2:NoSchedule"))
			all, err := workload.Audit(nil)
			Expect(err).NotTo(HaveOccurred())
			var taken time.Time
			for _, e := range all {
				if e.Name == sm.Name && e.Verb == "update" && e.User == "harness-admin" && e.Code == 200 && e.Resource == "nodes" {
					taken = e.Answered
				}
			}
			mended := ourWrites(sm.Name)
			Expect(mended).To(HaveLen(writes + 1))
			delay := mended[writes].Answered.Sub(taken)
			GinkgoWriter.Printf("mended after %v\n", delay)
			Expect(delay).To(BeNumerically("<", time.Second))
		}
		Eventually(appliedEvents(sm)).Should(HaveLen(4))
	})

	It("keeps the order and timeAdded of what is not ours", func() {
		sm := createTainted(direct)
		added := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
		taintAsAdmin(sm.Name, func(list []corev1.Taint) []corev1.Taint {
			first, second := environment.ParseTaint("z=1:NoExecute"), environment.ParseTaint("a=1:NoSchedule")
			first.TimeAdded = &added
			return append(list, first, second)
		})
		edit(sm, environment.Taints("m=1:NoExecute"))
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"z=1:NoExecute", "a=1:NoSchedule", "m=1:NoExecute"}))
		edit(sm, environment.Taints("m=2:NoExecute"))
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"z=1:NoExecute", "a=1:NoSchedule", "m=2:NoExecute"}))
		n, err := node(sm.Name)
		Expect(err).NotTo(HaveOccurred())
		Expect(n.Spec.Taints[0].TimeAdded.Equal(&added)).To(BeTrue(), "timeAdded was %v and is %v", added, n.Spec.Taints[0].TimeAdded)
	})
})
