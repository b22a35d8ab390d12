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
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/internal/taints"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

// patience is for a controller manager that has yet to fill its caches.
const patience = 45 * time.Second

var _ = Describe("Beside a real kube-controller-manager", func() {
	It("we add and remove ours, and it adds and removes its own", func(ctx SpecContext) {
		withControllers := start(controlplane.Options{Name: "taints-kcm", ControllerManager: true,
			ControllerManagerArgs: []string{"--node-monitor-period=500ms"}})
		kubelet, us := newActorOf(withControllers, "kubelet"), newActorOf(withControllers, "5spot")
		report := func(name string, ready corev1.ConditionStatus) {
			GinkgoHelper()
			node := kubelet.node(ctx, name)
			before := client.MergeFrom(node.DeepCopy())
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready,
				LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}}
			Expect(kubelet.Status().Patch(ctx, node, before)).To(Succeed())
		}
		// Where not a single Node is Ready it sets no NoExecute taint on any.
		const name, healthy = "lives", "healthy"
		for _, name := range []string{name, healthy} {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
			Expect(kubelet.Create(ctx, node)).To(Succeed())
		}
		report(healthy, corev1.ConditionTrue)

		shown := func() []string { return show(us.node(ctx, name)) }

		By("the Node goes NotReady")
		report(name, corev1.ConditionFalse)
		Eventually(shown).WithContext(ctx).WithTimeout(patience).Should(ConsistOf(
			"node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute"))
		marked := us.node(ctx, name)
		Expect(marked.ManagedFields).To(ContainElement(And(HaveField("Manager", "kube-controller-manager"),
			HaveField("FieldsV1.Raw", ContainSubstring(`"f:taints"`)))))

		By("we add two")
		desired := declare("workload=batch:NoSchedule", "dedicated=ml:NoExecute")
		plan, result := us.reconcile(ctx, name, desired)
		Expect(plan.Complete()).To(BeTrue())
		Expect(plan.Conflicts).To(BeEmpty())
		Expect(result.Spec.Taints).To(Equal(append(marked.Spec.Taints, on("workload=batch:NoSchedule", "dedicated=ml:NoExecute")...)),
			"its two taints are kept as they were, timeAdded included")
		Expect(result.Spec.Taints).To(ContainElement(HaveField("TimeAdded", Not(BeNil()))), "it has set no timeAdded: nothing is shown")

		By("the Node goes Ready")
		report(name, corev1.ConditionTrue)
		Eventually(shown).WithContext(ctx).WithTimeout(patience).Should(Equal([]string{"workload=batch:NoSchedule", "dedicated=ml:NoExecute"}))
		Expect(taints.For(us.node(ctx, name), desired).Empty()).To(BeTrue())

		By("and NotReady again, while ours are taken off")
		report(name, corev1.ConditionFalse)
		us.reconcile(ctx, name, nil)
		Eventually(shown).WithContext(ctx).WithTimeout(patience).Should(ConsistOf(
			"node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute"))
	})
})
