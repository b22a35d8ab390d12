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

package taints_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/taints"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

var _ = Describe("Apply", func() {
	var us, admin *actor

	BeforeEach(func() {
		us, admin = newActor("5spot"), newActor("admin")
	})

	It("sends list and record in one server-side apply, and nothing the second time", func(ctx SpecContext) {
		node := newNode(ctx)
		desired := declare("workload=batch:NoSchedule", "dedicated=ml:NoExecute")

		var result *corev1.Node
		Expect(us.sent(func() { _, result = us.reconcile(ctx, node.Name, desired) })).To(BeEquivalentTo(1))

		live := us.node(ctx, node.Name)
		Expect(result).To(Equal(live), "the Node returned is not the one there")
		Expect(live.Spec.Taints).To(Equal(on("workload=batch:NoSchedule", "dedicated=ml:NoExecute")))
		Expect(live.Annotations).To(HaveKeyWithValue("5spot.finos.org/applied-taints",
			`[{"key":"dedicated","value":"ml","effect":"NoExecute"},{"key":"workload","value":"batch","effect":"NoSchedule"}]`))
		Expect(live.ManagedFields).To(ContainElement(And(
			HaveField("Manager", "5spot-controller"), HaveField("Operation", metav1.ManagedFieldsOperationApply))))

		Expect(us.sent(func() {
			plan, _ := us.reconcile(ctx, node.Name, desired)
			Expect(plan.Empty()).To(BeTrue())
		})).To(BeZero())
		Expect(us.node(ctx, node.Name).ResourceVersion).To(Equal(live.ResourceVersion))

		writes, err := cluster.Audit(func(e controlplane.AuditEvent) bool {
			return e.Write() && e.Name == node.Name && e.UserAgent == "5spot"
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(writes).To(ConsistOf(And(HaveField("Verb", "patch"), HaveField("FieldManager", "5spot-controller"), HaveField("Code", 200))))
	})

	It("works from a Node that a cache has stripped of its managed fields", func(ctx SpecContext) {
		node := newNode(ctx, taint("admin=1:NoExecute"))
		node.ManagedFields, node.Status = nil, corev1.NodeStatus{}
		_, err := taints.Apply(ctx, us, node, taints.For(node, declare("workload=batch:NoSchedule")))
		Expect(err).NotTo(HaveOccurred())
		Expect(show(us.node(ctx, node.Name))).To(Equal([]string{"admin=1:NoExecute", "workload=batch:NoSchedule"}))
	})

	It("takes no notice of kube-controller-manager owning spec.taints", func(ctx SpecContext) {
		node := newNode(ctx)
		added := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
		notReady := taint("node.kubernetes.io/not-ready:NoExecute")
		notReady.TimeAdded = &added
		newActor("kube-controller-manager").setTaints(ctx, node.Name, "kube-controller-manager", notReady)

		By("which an apply without force would fail on")
		node = us.node(ctx, node.Name)
		err := us.Apply(ctx, client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": node.Name},
			"spec": map[string]any{"taints": []any{map[string]any{"key": "workload", "effect": "NoSchedule"}}},
		}}), client.FieldOwner(v1alpha1.NodeFieldManager))
		Expect(apierrors.IsConflict(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(`conflict with "kube-controller-manager"`)))

		plan, result := us.reconcile(ctx, node.Name, declare("workload=batch:NoSchedule"))
		Expect(plan.Complete()).To(BeTrue())
		Expect(show(result)).To(Equal([]string{"node.kubernetes.io/not-ready:NoExecute", "workload=batch:NoSchedule"}))
		Expect(result.Spec.Taints[0].TimeAdded.Equal(&added)).To(BeTrue(), "timeAdded is %v, was %v", result.Spec.Taints[0].TimeAdded, added)

		By("and kube-controller-manager takes its taint off again")
		newActor("kube-controller-manager").setTaints(ctx, node.Name, "kube-controller-manager", result.Spec.Taints[1])
		plan, result = us.reconcile(ctx, node.Name, declare("workload=batch:NoSchedule"))
		Expect(plan.Empty()).To(BeTrue())
		Expect(show(result)).To(Equal([]string{"workload=batch:NoSchedule"}))
	})

	It("empties the list, also where somebody else owns it as well", func(ctx SpecContext) {
		node := newNode(ctx)
		_, result := us.reconcile(ctx, node.Name, declare("workload=batch:NoSchedule"))
		admin.setTaints(ctx, node.Name, "kubectl-taint", taint("workload=batch:NoSchedule"), taint("admin:NoSchedule"))
		admin.setTaints(ctx, node.Name, "kubectl-taint", result.Spec.Taints...)

		plan, result := us.reconcile(ctx, node.Name, nil)
		Expect(plan.Summary()).To(Equal("removed workload=batch:NoSchedule"))
		Expect(us.node(ctx, node.Name).Spec.Taints).To(BeEmpty())
		Expect(result.Annotations).To(HaveKeyWithValue(v1alpha1.AppliedTaintsAnnotation, "[]"))
		Expect(taints.For(us.node(ctx, node.Name), nil).Empty()).To(BeTrue())
	})

	It("empties the record, also where somebody else owns the annotation as well", func(ctx SpecContext) {
		node := newNode(ctx)
		_, node = us.reconcile(ctx, node.Name, declare("workload=batch:NoSchedule"))
		text := node.Annotations[v1alpha1.AppliedTaintsAnnotation]

		By("an edit that makes kubectl an owner of it")
		delete(node.Annotations, v1alpha1.AppliedTaintsAnnotation)
		Expect(admin.Update(ctx, node, client.FieldOwner("kubectl-annotate"))).To(Succeed())
		node.Annotations = map[string]string{v1alpha1.AppliedTaintsAnnotation: text}
		Expect(admin.Update(ctx, node, client.FieldOwner("kubectl-annotate"))).To(Succeed())

		Expect(us.sent(func() {
			plan, _ := us.reconcile(ctx, node.Name, nil)
			Expect(plan.Removed).To(HaveLen(1))
		})).To(BeEquivalentTo(1))
		live := us.node(ctx, node.Name)
		Expect(live.Spec.Taints).To(BeEmpty())
		Expect(record(live)).To(BeEmpty())
		Expect(taints.For(live, nil).Empty()).To(BeTrue())
	})

	It("owns nothing after somebody has taken the record off", func(ctx SpecContext) {
		node := newNode(ctx)
		_, node = us.reconcile(ctx, node.Name, declare("workload=batch:NoSchedule"))
		delete(node.Annotations, v1alpha1.AppliedTaintsAnnotation)
		Expect(admin.Update(ctx, node, client.FieldOwner("kubectl-annotate"))).To(Succeed())

		plan, _ := us.reconcile(ctx, node.Name, nil)
		Expect(plan.Empty()).To(BeTrue())
		Expect(show(us.node(ctx, node.Name))).To(Equal([]string{"workload=batch:NoSchedule"}))
	})

	It("mends an unreadable record with the next write", func(ctx SpecContext) {
		node := newNode(ctx, taint("workload=batch:NoSchedule"))
		node.Annotations = map[string]string{v1alpha1.AppliedTaintsAnnotation: "not JSON"}
		Expect(admin.Update(ctx, node, client.FieldOwner("kubectl-annotate"))).To(Succeed())

		Expect(us.sent(func() {
			plan, _ := us.reconcile(ctx, node.Name, declare("workload=batch:NoSchedule"))
			Expect(plan.RecordError).To(HaveOccurred())
		})).To(BeZero())
		us.reconcile(ctx, node.Name, declare("workload=batch:NoSchedule", "dedicated=ml:NoExecute"))
		live := us.node(ctx, node.Name)
		Expect(show(live)).To(Equal([]string{"workload=batch:NoSchedule", "dedicated=ml:NoExecute"}))
		Expect(record(live)).To(Equal(declare("dedicated=ml:NoExecute")))
	})

	Context("to a Node that is not the one read any more", func() {
		var read *corev1.Node
		var plan taints.Plan

		BeforeEach(func(ctx SpecContext) {
			read = newNode(ctx)
			plan = taints.For(read, declare("workload=batch:NoSchedule"))
		})

		It("answers ErrStale where it has changed, and keeps both changes in the end (case 25)", func(ctx SpecContext) {
			admin.setTaints(ctx, read.Name, "kubectl-taint", taint("admin=1:NoSchedule"))

			_, err := taints.Apply(ctx, us, read, plan)
			Expect(err).To(MatchError(taints.ErrStale))
			Expect(err).NotTo(MatchError(taints.ErrNodeGone))
			Expect(apierrors.IsConflict(err)).To(BeTrue(), "%v", err)
			Expect(show(us.node(ctx, read.Name))).To(Equal([]string{"admin=1:NoSchedule"}))

			us.reconcile(ctx, read.Name, declare("workload=batch:NoSchedule"))
			Expect(show(us.node(ctx, read.Name))).To(Equal([]string{"admin=1:NoSchedule", "workload=batch:NoSchedule"}))
		})

		It("answers ErrStale where only its status has changed", func(ctx SpecContext) {
			changed := read.DeepCopy()
			changed.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
			Expect(newActor("kubelet").Status().Update(ctx, changed)).To(Succeed())
			_, err := taints.Apply(ctx, us, read, plan)
			Expect(err).To(MatchError(taints.ErrStale))
		})

		It("answers ErrNodeGone where it is deleted, and makes no ghost", func(ctx SpecContext) {
			Expect(admin.Delete(ctx, read.DeepCopy())).To(Succeed())
			_, err := taints.Apply(ctx, us, read, plan)
			Expect(err).To(MatchError(taints.ErrNodeGone))
			Expect(err).NotTo(MatchError(taints.ErrStale))
			beAbsent(ctx, us, read.Name)
		})

		It("leaves a new Node of the same name alone", func(ctx SpecContext) {
			Expect(admin.Delete(ctx, read.DeepCopy())).To(Succeed())
			newNodeNamed(ctx, read.Name, taint("fresh:NoSchedule"))

			_, err := taints.Apply(ctx, us, read, plan)
			// The API server compares the resourceVersion first, so that it says only
			// that the Node is not the one read.
			Expect(err).To(Or(MatchError(taints.ErrStale), MatchError(taints.ErrNodeGone)))
			live := us.node(ctx, read.Name)
			Expect(show(live)).To(Equal([]string{"fresh:NoSchedule"}))
			Expect(live.Annotations).NotTo(HaveKey(v1alpha1.AppliedTaintsAnnotation))

			By("and taints it afresh once it is read")
			us.reconcile(ctx, read.Name, declare("workload=batch:NoSchedule"))
			Expect(show(us.node(ctx, read.Name))).To(Equal([]string{"fresh:NoSchedule", "workload=batch:NoSchedule"}))
		})

		It("answers ErrNodeGone where the UID alone differs", func(ctx SpecContext) {
			read.UID = "00000000-0000-0000-0000-000000000000"
			_, err := taints.Apply(ctx, us, read, plan)
			Expect(err).To(MatchError(taints.ErrNodeGone))
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(us.node(ctx, read.Name).Spec.Taints).To(BeEmpty())
		})
	})

	It("returns a refusal for another reason as it is", func(ctx SpecContext) {
		node := newNode(ctx)
		_, err := taints.Apply(ctx, us, node, taints.For(node, declare("-a:NoSchedule")))
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(errors.Is(err, taints.ErrStale) || errors.Is(err, taints.ErrNodeGone)).To(BeFalse())
		Expect(err).To(MatchError(ContainSubstring("taints[0].key")))
	})
})

var _ = Describe("The acceptance cases on a Node", func() {
	// Each step is what the spec declares, or what an admin writes; then what the
	// Node shows and the record holds once we have reconciled.
	type step struct {
		declared []v1alpha1.NodeTaint
		admin    []corev1.Taint
		shows    []string
		owned    []v1alpha1.NodeTaint
		conflict string
	}
	DescribeTable("", func(ctx SpecContext, steps ...step) {
		us, admin := newActor("5spot"), newActor("admin")
		name := newNode(ctx).Name
		for i, s := range steps {
			By(fmt.Sprintf("step %d", i))
			if s.admin != nil {
				admin.setTaints(ctx, name, "kubectl-taint", s.admin...)
			}
			plan, node := us.reconcile(ctx, name, s.declared)
			Expect(show(node)).To(Equal(s.shows))
			Expect(record(node)).To(Equal(s.owned))
			if s.conflict == "" {
				Expect(plan.Conflicts).To(BeEmpty())
			} else {
				Expect(plan.Conflicts).To(ConsistOf(HaveField("String()", ContainSubstring(s.conflict))))
			}
			Expect(us.sent(func() { us.reconcile(ctx, name, s.declared) })).To(BeZero(), "a second run writes")
		}
	},
		Entry("17, 18, 19, 21: added, kept, updated, removed",
			step{declared: declare("w=old:NoSchedule"), shows: []string{"w=old:NoSchedule"}, owned: declare("w=old:NoSchedule")},
			step{declared: declare("w=new:NoSchedule"), shows: []string{"w=new:NoSchedule"}, owned: declare("w=new:NoSchedule")},
			step{},
		),
		Entry("20, 22: an admin's value is a conflict, and stays",
			step{admin: on("w=admin:NoSchedule"), declared: declare("w=ours:NoSchedule"), shows: []string{"w=admin:NoSchedule"}, conflict: `"ours" and was set to "admin"`},
			step{shows: []string{"w=admin:NoSchedule"}},
		),
		Entry("23: an admin changed ours, and it is declared no more",
			step{declared: declare("w=batch:NoSchedule"), shows: []string{"w=batch:NoSchedule"}, owned: declare("w=batch:NoSchedule")},
			step{admin: on("w=admin:NoSchedule"), shows: []string{"w=admin:NoSchedule"}, conflict: "is kept"},
		),
		Entry("24: an admin's taint survives having been declared",
			step{admin: on("w=batch:NoSchedule"), declared: declare("w=batch:NoSchedule"), shows: []string{"w=batch:NoSchedule"}},
			step{shows: []string{"w=batch:NoSchedule"}},
		),
		Entry("26: one conflict of three",
			step{admin: on("b=admin:NoSchedule"), declared: declare("a=1:NoSchedule", "b=2:NoSchedule", "c=3:NoSchedule"),
				shows: []string{"b=admin:NoSchedule", "a=1:NoSchedule", "c=3:NoSchedule"}, owned: declare("a=1:NoSchedule", "c=3:NoSchedule"), conflict: "b:NoSchedule"},
		),
		Entry("29: an admin deletes ours, then changes its value, then gives way",
			step{declared: declare("w=batch:NoSchedule"), shows: []string{"w=batch:NoSchedule"}, owned: declare("w=batch:NoSchedule")},
			step{admin: []corev1.Taint{}, declared: declare("w=batch:NoSchedule"), shows: []string{"w=batch:NoSchedule"}, owned: declare("w=batch:NoSchedule")},
			step{admin: on("w=admin:NoSchedule"), declared: declare("w=batch:NoSchedule"), shows: []string{"w=admin:NoSchedule"}, owned: declare("w=batch:NoSchedule"), conflict: `changed to "admin"`},
			step{admin: on("w=batch:NoSchedule"), declared: declare("w=batch:NoSchedule"), shows: []string{"w=batch:NoSchedule"}, owned: declare("w=batch:NoSchedule")},
			step{},
		),
	)
})

var _ = Describe("Validate", func() {
	long63, long64 := strings.Repeat("a", 63), strings.Repeat("a", 64)
	DescribeTable("refuses what the API server refuses", func(ctx SpecContext, accepted bool, list []v1alpha1.NodeTaint) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "dry-run"}}
		for _, t := range list {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
		}
		err := newActor("admin").Create(ctx, node, client.DryRunAll)
		errs := taints.Validate(list, field.NewPath("spec", "nodeTaints"))
		if accepted {
			Expect(err).NotTo(HaveOccurred())
			Expect(errs).To(BeEmpty())
			return
		}
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(errs).NotTo(BeEmpty())
	},
		Entry("none", true, nil),
		Entry("with and without a value", true, declare("w=batch:NoSchedule", "d:NoExecute", "s:PreferNoSchedule")),
		Entry("same key, another effect", true, declare("w=batch:NoSchedule", "w=batch:NoExecute")),
		Entry("longest name and value", true, declare(long63+"="+long63+":NoSchedule")),
		Entry("a prefix", true, declare("example.com/w:NoSchedule")),
		Entry("duplicate", false, declare("w=a:NoSchedule", "w=b:NoSchedule")),
		Entry("key -a", false, declare("-a:NoSchedule")),
		Entry("key a-", false, declare("a-:NoSchedule")),
		Entry("name of 64", false, declare(long64+":NoSchedule")),
		Entry("value of 64", false, declare("a="+long64+":NoSchedule")),
		Entry("upper case prefix", false, declare("Example.com/w:NoSchedule")),
		Entry("two slashes", false, declare("example.com/w/x:NoSchedule")),
		Entry("no key", false, declare("=a:NoSchedule")),
		Entry("no effect", false, declare("a=a:")),
		Entry("unknown effect", false, declare("a=a:Never")),
	)
})
