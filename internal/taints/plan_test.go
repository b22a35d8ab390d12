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

package taints

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// on makes the list of a Node.
func on(texts ...string) []corev1.Taint {
	var taints []corev1.Taint
	for _, text := range texts {
		t := taint(text)
		taints = append(taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	return taints
}

// nodeWith makes a Node with taints and, if there is one, a record.
func nodeWith(taints []corev1.Taint, record []v1alpha1.NodeTaint) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", UID: "uid-1", ResourceVersion: "1"}}
	node.Spec.Taints = taints
	if len(record) > 0 {
		node.Annotations = map[string]string{v1alpha1.AppliedTaintsAnnotation: EncodeRecord(record)}
	}
	return node
}

// after is the Node once the API server has accepted the plan.
func after(node *corev1.Node, p Plan) *corev1.Node {
	node = node.DeepCopy()
	if p.Empty() {
		return node
	}
	node.Spec.Taints = p.Taints
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	node.Annotations[v1alpha1.AppliedTaintsAnnotation] = EncodeRecord(p.Owned)
	return node
}

// written is what a plan sends and says.
type written struct {
	Empty     bool
	Summary   string
	Taints    []corev1.Taint
	Owned     []v1alpha1.NodeTaint
	Satisfied []v1alpha1.NodeTaint
	Conflicts []Conflict
}

func sent(p Plan) written {
	return written{p.Empty(), p.Summary(), p.Taints, p.Owned, p.Satisfied, p.Conflicts}
}

const noSchedule = v1alpha1.TaintEffect(corev1.TaintEffectNoSchedule)

// TestOwnershipTable has one case for each row of the ownership table, in order.
func TestOwnershipTable(t *testing.T) {
	for _, row := range []struct {
		name     string
		declared []v1alpha1.NodeTaint
		node     []corev1.Taint
		owned    []v1alpha1.NodeTaint
		want     written
	}{
		{
			"1: declared, absent, not owned: add",
			list("w=a:NoSchedule"), nil, nil,
			written{Summary: "added w=a:NoSchedule", Taints: on("w=a:NoSchedule"), Owned: list("w=a:NoSchedule")},
		},
		{
			"1: declared, absent, owned: add again",
			list("w=a:NoSchedule"), nil, list("w=a:NoSchedule"),
			written{Summary: "added w=a:NoSchedule", Taints: on("w=a:NoSchedule"), Owned: list("w=a:NoSchedule")},
		},
		{
			"1: declared, absent, owned with another value: add the declared one",
			list("w=b:NoSchedule"), nil, list("w=a:NoSchedule"),
			written{Summary: "added w=b:NoSchedule", Taints: on("w=b:NoSchedule"), Owned: list("w=b:NoSchedule")},
		},
		{
			"2: declared, same value, owned: unchanged",
			list("w=a:NoSchedule"), on("w=a:NoSchedule"), list("w=a:NoSchedule"),
			written{Empty: true, Taints: on("w=a:NoSchedule"), Owned: list("w=a:NoSchedule")},
		},
		{
			"2: declared, same value, owned with another one: unchanged, and the record keeps the value that we applied",
			list("w=b:NoSchedule"), on("w=b:NoSchedule"), list("w=a:NoSchedule"),
			written{Empty: true, Taints: on("w=b:NoSchedule"), Owned: list("w=a:NoSchedule")},
		},
		{
			"3: declared, same value, not owned: satisfied, never owned",
			list("w=a:NoSchedule"), on("w=a:NoSchedule"), nil,
			written{Empty: true, Taints: on("w=a:NoSchedule"), Satisfied: list("w=a:NoSchedule")},
		},
		{
			"4: declared, other value, owned and as we applied it: update",
			list("w=b:NoSchedule"), on("w=a:NoSchedule"), list("w=a:NoSchedule"),
			written{Summary: "updated w=b:NoSchedule", Taints: on("w=b:NoSchedule"), Owned: list("w=b:NoSchedule")},
		},
		{
			"5: declared, other value, owned but changed since: conflict",
			list("w=b:NoSchedule"), on("w=x:NoSchedule"), list("w=a:NoSchedule"),
			written{Empty: true, Taints: on("w=x:NoSchedule"), Owned: list("w=a:NoSchedule"),
				Conflicts: []Conflict{{Key: "w", Effect: noSchedule, Declared: "b", Present: "x", Applied: "a", Reason: ChangedByOther}}},
		},
		{
			"6: declared, other value, not owned: conflict",
			list("w=a:NoSchedule"), on("w=x:NoSchedule"), nil,
			written{Empty: true, Taints: on("w=x:NoSchedule"),
				Conflicts: []Conflict{{Key: "w", Effect: noSchedule, Declared: "a", Present: "x", Reason: HeldByOther}}},
		},
		{
			"7: not declared, the value we applied, owned: remove",
			nil, on("w=a:NoSchedule"), list("w=a:NoSchedule"),
			written{Summary: "removed w=a:NoSchedule"},
		},
		{
			"8: not declared, other value than we applied, owned: conflict, ownership given up",
			nil, on("w=x:NoSchedule"), list("w=a:NoSchedule"),
			written{Summary: "gave up w=a:NoSchedule", Taints: on("w=x:NoSchedule"),
				Conflicts: []Conflict{{Key: "w", Effect: noSchedule, Present: "x", Applied: "a", Reason: ChangedUndeclared}}},
		},
		{
			"9: not declared, absent, owned: forget",
			nil, nil, list("w=a:NoSchedule"),
			written{Summary: "forgot w=a:NoSchedule"},
		},
		{
			"10: not declared, present, not owned: never touched",
			nil, on("w=a:NoSchedule"), nil,
			written{Empty: true, Taints: on("w=a:NoSchedule")},
		},
		{
			"none: nothing anywhere",
			nil, nil, nil,
			written{Empty: true},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := NewWithT(t)
			node := nodeWith(row.node, row.owned)
			p := For(node, row.declared)
			g.Expect(sent(p)).To(Equal(row.want))
			g.Expect(p.RecordError).NotTo(HaveOccurred())
			g.Expect(For(after(node, p), row.declared).Empty()).To(BeTrue(), "a second run writes")
		})
	}
}

// TestRowsInTheirOtherEffect shows that the same key with another effect is another taint.
func TestRowsInTheirOtherEffect(t *testing.T) {
	g := NewWithT(t)
	node := nodeWith(on("w=x:NoExecute"), list("w=x:NoExecute"))
	p := For(node, list("w=a:NoSchedule", "w=x:NoExecute"))
	g.Expect(sent(p)).To(Equal(written{Summary: "added w=a:NoSchedule", Taints: on("w=x:NoExecute", "w=a:NoSchedule"),
		Owned: list("w=x:NoExecute", "w=a:NoSchedule")}))
}

// TestScheduledMachineCases are the acceptance cases that the plan alone decides,
// each a sequence of states of the Node and the spec. w is workload:NoSchedule.
func TestScheduledMachineCases(t *testing.T) {
	type step struct {
		declared []v1alpha1.NodeTaint
		summary  string
		node     []corev1.Taint
		owned    []v1alpha1.NodeTaint
		conflict []string
	}
	for _, tc := range []struct {
		name  string
		node  []corev1.Taint
		owned []v1alpha1.NodeTaint
		steps []step
	}{
		{"17: added, annotation written", nil, nil, []step{
			{list("workload=batch:NoSchedule"), "added workload=batch:NoSchedule", on("workload=batch:NoSchedule"), list("workload=batch:NoSchedule"), nil},
		}},
		{"18: no write", on("workload=batch:NoSchedule"), list("workload=batch:NoSchedule"), []step{
			{list("workload=batch:NoSchedule"), "", on("workload=batch:NoSchedule"), list("workload=batch:NoSchedule"), nil},
		}},
		{"19: updated", on("workload=old:NoSchedule"), list("workload=old:NoSchedule"), []step{
			{list("workload=new:NoSchedule"), "updated workload=new:NoSchedule", on("workload=new:NoSchedule"), list("workload=new:NoSchedule"), nil},
		}},
		{"20: conflict, untouched", on("workload=admin:NoSchedule"), nil, []step{
			{list("workload=ours:NoSchedule"), "", on("workload=admin:NoSchedule"), nil,
				[]string{`workload:NoSchedule is declared as "ours" and was set to "admin" by somebody else`}},
		}},
		{"21: removed", on("workload=batch:NoSchedule"), list("workload=batch:NoSchedule"), []step{
			{nil, "removed workload=batch:NoSchedule", nil, nil, nil},
		}},
		{"22: nothing", on("workload=admin:NoSchedule"), nil, []step{
			{nil, "", on("workload=admin:NoSchedule"), nil, nil},
		}},
		{"23: conflict, kept, ownership given up", on("workload=admin:NoSchedule"), list("workload=batch:NoSchedule"), []step{
			{nil, "gave up workload=batch:NoSchedule", on("workload=admin:NoSchedule"), nil,
				[]string{`workload:NoSchedule is declared no more, was applied as "batch" and has been changed to "admin" by somebody else: it is kept`}},
			{nil, "", on("workload=admin:NoSchedule"), nil, nil},
		}},
		{"24: an admin's taint survives having been declared", on("workload=batch:NoSchedule"), nil, []step{
			{list("workload=batch:NoSchedule"), "", on("workload=batch:NoSchedule"), nil, nil},
			{nil, "", on("workload=batch:NoSchedule"), nil, nil},
		}},
		{"25: what landed since is kept", on("workload=batch:NoSchedule", "admin=1:NoExecute"), list("workload=batch:NoSchedule"), []step{
			{list("workload=batch:NoSchedule", "dedicated=ml:NoExecute"), "added dedicated=ml:NoExecute",
				on("workload=batch:NoSchedule", "admin=1:NoExecute", "dedicated=ml:NoExecute"),
				list("dedicated=ml:NoExecute", "workload=batch:NoSchedule"), nil},
		}},
		{"26: one conflict of three, the other two applied", on("b=admin:NoSchedule"), nil, []step{
			{list("c=3:NoSchedule", "b=2:NoSchedule", "a=1:NoSchedule"), "added c=3:NoSchedule, a=1:NoSchedule",
				on("b=admin:NoSchedule", "c=3:NoSchedule", "a=1:NoSchedule"), list("a=1:NoSchedule", "c=3:NoSchedule"),
				[]string{`b:NoSchedule is declared as "2" and was set to "admin" by somebody else`}},
		}},
		{"28: both lists empty", nil, nil, []step{{nil, "", nil, nil, nil}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			node := nodeWith(tc.node, tc.owned)
			for _, s := range tc.steps {
				p := For(node, s.declared)
				g.Expect(p.Summary()).To(Equal(s.summary))
				g.Expect(p.Empty()).To(Equal(s.summary == ""))
				var conflicts []string
				for _, c := range p.Conflicts {
					conflicts = append(conflicts, c.String())
				}
				g.Expect(conflicts).To(Equal(s.conflict))
				node = after(node, p)
				g.Expect(node.Spec.Taints).To(Equal(s.node))
				g.Expect(DecodeRecord(node.Annotations[v1alpha1.AppliedTaintsAnnotation])).To(Equal(s.owned))
				g.Expect(For(node, s.declared).Empty()).To(BeTrue(), "a second run writes")
			}
		})
	}
}

// TestSomebodyElseAndBack is case 29 and how a conflict clears by itself.
func TestSomebodyElseAndBack(t *testing.T) {
	g := NewWithT(t)
	declared := list("w=ours:NoSchedule")
	node := after(nodeWith(nil, nil), For(nodeWith(nil, nil), declared))

	node.Spec.Taints = nil
	p := For(node, declared)
	g.Expect(p.Summary()).To(Equal("added w=ours:NoSchedule"), "an admin deleted ours: back")
	node = after(node, p)

	node.Spec.Taints = on("w=theirs:NoSchedule")
	p = For(node, declared)
	g.Expect(p.Empty()).To(BeTrue(), "an admin changed ours: no fight")
	g.Expect(p.Complete()).To(BeFalse())
	g.Expect(p.Conflicts).To(HaveLen(1))

	node.Spec.Taints = on("w=ours:NoSchedule")
	p = For(node, declared)
	g.Expect(p.Empty()).To(BeTrue(), "the admin gave way")
	g.Expect(p.Complete()).To(BeTrue())
	g.Expect(For(node, nil).Summary()).To(Equal("removed w=ours:NoSchedule"), "and it is ours again")

	node.Spec.Taints = on("w=theirs:NoSchedule")
	p = For(node, list("w=theirs:NoSchedule"))
	g.Expect(p.Empty()).To(BeTrue(), "the spec gave way")
	g.Expect(p.Complete()).To(BeTrue())
	p = For(node, nil)
	g.Expect(p.Removed).To(BeEmpty(), "what the admin set is not removed as ours")
	g.Expect(p.Taints).To(Equal(on("w=theirs:NoSchedule")))
}

func TestOrderAndTimeAdded(t *testing.T) {
	g := NewWithT(t)
	early, late := metav1.NewTime(time.Unix(1000, 0)), metav1.NewTime(time.Unix(2000, 0))
	current := on("first:NoExecute", "ours=old:NoExecute", "gone=1:NoSchedule", "last=x:NoSchedule")
	current[0].TimeAdded, current[1].TimeAdded, current[3].TimeAdded = &early, &late, &early
	node := nodeWith(current, list("ours=old:NoExecute", "gone=1:NoSchedule"))
	before := node.DeepCopy()

	p := For(node, list("z=1:NoExecute", "ours=new:NoExecute", "a=1:NoSchedule"))

	want := on("first:NoExecute", "ours=new:NoExecute", "last=x:NoSchedule", "z=1:NoExecute", "a=1:NoSchedule")
	want[0].TimeAdded, want[1].TimeAdded, want[2].TimeAdded = &early, &late, &early
	g.Expect(p.Taints).To(Equal(want))
	g.Expect(p.Summary()).To(Equal("added z=1:NoExecute, a=1:NoSchedule; updated ours=new:NoExecute; removed gone=1:NoSchedule"))
	g.Expect(node).To(Equal(before), "the Node that was read has been changed")

	p.Taints[0].TimeAdded.Time = time.Unix(3000, 0)
	g.Expect(node).To(Equal(before), "the plan shares memory with the Node that was read")
}

// TestMachineClaims: what Cluster API's own record lists is Cluster API's.
func TestMachineClaims(t *testing.T) {
	for _, tc := range []struct {
		name       string
		claims     string
		declared   []v1alpha1.NodeTaint
		node       []corev1.Taint
		owned      []v1alpha1.NodeTaint
		want       written
		incomplete bool
	}{
		{"declared with the same value: satisfied", "w:NoSchedule", list("w=a:NoSchedule"), on("w=a:NoSchedule"), nil,
			written{Empty: true, Taints: on("w=a:NoSchedule"), Satisfied: list("w=a:NoSchedule")}, false},
		{"declared with the same value, in our record too: given up", "w:NoSchedule", list("w=a:NoSchedule"), on("w=a:NoSchedule"), list("w=a:NoSchedule"),
			written{Summary: "gave up w=a:NoSchedule", Taints: on("w=a:NoSchedule"), Satisfied: list("w=a:NoSchedule")}, false},
		{"declared with another value: conflict", "w:NoSchedule", list("w=a:NoSchedule"), on("w=m:NoSchedule"), nil,
			written{Empty: true, Taints: on("w=m:NoSchedule"),
				Conflicts: []Conflict{{Key: "w", Effect: noSchedule, Declared: "a", Present: "m", Reason: HeldByMachine}}}, true},
		{"declared with another value, in our record as it is: conflict, given up, not updated", "w:NoSchedule", list("w=a:NoSchedule"), on("w=m:NoSchedule"), list("w=m:NoSchedule"),
			written{Summary: "gave up w=m:NoSchedule", Taints: on("w=m:NoSchedule"),
				Conflicts: []Conflict{{Key: "w", Effect: noSchedule, Declared: "a", Present: "m", Reason: HeldByMachine}}}, true},
		{"declared and absent: left to Cluster API", "w:NoSchedule", list("w=a:NoSchedule"), nil, nil,
			written{Empty: true,
				Conflicts: []Conflict{{Key: "w", Effect: noSchedule, Declared: "a", Reason: ClaimedByMachine}}}, true},
		{"not declared, in our record: given up, not removed", "w:NoSchedule", nil, on("w=a:NoSchedule"), list("w=a:NoSchedule"),
			written{Summary: "gave up w=a:NoSchedule", Taints: on("w=a:NoSchedule")}, false},
		{"not declared, absent, in our record: given up", "w:NoSchedule", nil, nil, list("w=a:NoSchedule"),
			written{Summary: "gave up w=a:NoSchedule"}, false},
		{"another effect is another taint", "w:NoExecute", nil, on("w=a:NoSchedule"), list("w=a:NoSchedule"),
			written{Summary: "removed w=a:NoSchedule"}, false},
		{"a list", "a:NoSchedule,w:NoSchedule,z/y:NoExecute", nil, on("w=a:NoSchedule"), list("w=a:NoSchedule"),
			written{Summary: "gave up w=a:NoSchedule", Taints: on("w=a:NoSchedule")}, false},
		{"an empty list, and nonsense", "", list("w=a:NoSchedule"), nil, nil,
			written{Summary: "added w=a:NoSchedule", Taints: on("w=a:NoSchedule"), Owned: list("w=a:NoSchedule")}, false},
		{"nonsense", ",w,:,w:,", list("w=a:NoSchedule"), nil, nil,
			written{Summary: "added w=a:NoSchedule", Taints: on("w=a:NoSchedule"), Owned: list("w=a:NoSchedule")}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			node := nodeWith(tc.node, tc.owned)
			metav1.SetMetaDataAnnotation(&node.ObjectMeta, "cluster.x-k8s.io/taints-from-machine", tc.claims)
			p := For(node, tc.declared)
			g.Expect(sent(p)).To(Equal(tc.want))
			g.Expect(p.Complete()).To(Equal(!tc.incomplete))
			g.Expect(For(after(node, p), tc.declared).Empty()).To(BeTrue(), "a second run writes")
		})
	}
}

func TestUnreadableRecord(t *testing.T) {
	g := NewWithT(t)
	node := nodeWith(on("w=a:NoSchedule", "old=1:NoSchedule"), nil)
	node.Annotations = map[string]string{v1alpha1.AppliedTaintsAnnotation: `{"not":"a list"}`}

	p := For(node, list("w=a:NoSchedule"))
	g.Expect(p.RecordError).To(HaveOccurred())
	g.Expect(sent(p)).To(Equal(written{Empty: true, Taints: on("w=a:NoSchedule", "old=1:NoSchedule"), Satisfied: list("w=a:NoSchedule")}),
		"nothing is owned, everything is kept, and the record alone is no reason to write")

	p = For(node, list("w=b:NoSchedule", "n=1:NoSchedule"))
	g.Expect(p.RecordError).To(HaveOccurred())
	g.Expect(p.Conflicts).To(HaveLen(1))
	g.Expect(p.Summary()).To(Equal("added n=1:NoSchedule"))

	node = after(node, p)
	p = For(node, list("w=b:NoSchedule", "n=1:NoSchedule"))
	g.Expect(p.RecordError).NotTo(HaveOccurred(), "the write mends the record")
	g.Expect(p.Owned).To(Equal(list("n=1:NoSchedule")))
}

// TestRecordWithoutValue: an older controller's entry is ours only while the Node
// shows the empty value, so that a value that somebody set is never overwritten.
func TestRecordWithoutValue(t *testing.T) {
	for _, tc := range []struct {
		name     string
		declared []v1alpha1.NodeTaint
		node     []corev1.Taint
		summary  string
		taints   []corev1.Taint
	}{
		{"no value on the Node either, not declared: removed", nil, on("w:NoSchedule"), "removed w:NoSchedule", nil},
		{"no value on the Node either, declared with one: updated", list("w=a:NoSchedule"), on("w:NoSchedule"), "updated w=a:NoSchedule", on("w=a:NoSchedule")},
		{"a value on the Node, not declared: kept", nil, on("w=x:NoSchedule"), "gave up w:NoSchedule", on("w=x:NoSchedule")},
		{"a value on the Node, declared with another: kept", list("w=a:NoSchedule"), on("w=x:NoSchedule"), "", on("w=x:NoSchedule")},
		{"a value on the Node, declared with the same: fine", list("w=x:NoSchedule"), on("w=x:NoSchedule"), "", on("w=x:NoSchedule")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			node := nodeWith(tc.node, nil)
			node.Annotations = map[string]string{v1alpha1.AppliedTaintsAnnotation: `[{"key":"w","effect":"NoSchedule"}]`}
			p := For(node, tc.declared)
			g.Expect(p.Summary()).To(Equal(tc.summary))
			g.Expect(p.Taints).To(Equal(tc.taints))
		})
	}
}

func TestRefused(t *testing.T) {
	g := NewWithT(t)
	p := For(nodeWith(nil, nil), list("w=first:NoSchedule", "w=second:NoSchedule", "aether.io/agent-not-ready:NoSchedule", "w=other:NoExecute"))
	g.Expect(p.Taints).To(Equal(on("w=first:NoSchedule", "w=other:NoExecute")))
	g.Expect(p.Refused).To(Equal(list("w=second:NoSchedule", "aether.io/agent-not-ready:NoSchedule")))
	g.Expect(p.Complete()).To(BeFalse())
}

// TestReservedKeyInRecord: a record that lists what we cannot have applied does not
// make us remove it.
func TestReservedKeyInRecord(t *testing.T) {
	g := NewWithT(t)
	node := nodeWith(on("node-role.kubernetes.io/control-plane:NoSchedule"), list("node-role.kubernetes.io/control-plane:NoSchedule"))
	p := For(node, nil)
	g.Expect(p.Taints).To(Equal(on("node-role.kubernetes.io/control-plane:NoSchedule")))
	g.Expect(p.Owned).To(BeEmpty())
	g.Expect(p.GivenUp).To(HaveLen(1))
	g.Expect(For(after(node, p), nil).Empty()).To(BeTrue())
}

func TestConflictString(t *testing.T) {
	g := NewWithT(t)
	for reason, want := range map[ConflictReason]string{
		HeldByOther:       `w:NoSchedule is declared as "d" and was set to "p" by somebody else`,
		ChangedByOther:    `w:NoSchedule is declared as "d", was applied as "a" and has been changed to "p" by somebody else`,
		ChangedUndeclared: `w:NoSchedule is declared no more, was applied as "a" and has been changed to "p" by somebody else: it is kept`,
		HeldByMachine:     `w:NoSchedule is declared as "d" and is kept at "p" by the Machine's own spec.taints`,
		ClaimedByMachine:  `w:NoSchedule is declared as "d", is not on the Node, and belongs to the Machine's own spec.taints (Node annotation cluster.x-k8s.io/taints-from-machine)`,
	} {
		c := Conflict{Key: "w", Effect: noSchedule, Declared: "d", Present: "p", Applied: "a", Reason: reason}
		g.Expect(c.String()).To(Equal(want))
		g.Expect(c.Undeclared()).To(Equal(reason == ChangedUndeclared))
	}
}
