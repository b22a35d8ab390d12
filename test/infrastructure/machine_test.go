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

package infrastructure_test

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/capi"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	hostbootstrapv1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/bootstrap/v1beta2"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

var _ = Describe("A Machine", func() {
	It("becomes a Node as its HostConfig says, Ready after the delay", func() {
		s := create(newSet(cluster, "joins", simulation(infrav1.SimulatedMachine{ReadyAfter: after(2 * time.Second)}), func(s *set) {
			s.config.Spec.NodeLabels = map[string]string{"example.com/zone": "a"}
			s.config.Spec.NodeTaints = []hostbootstrapv1.NodeTaint{
				{Key: "dedicated", Value: "ml", Effect: corev1.TaintEffectNoExecute},
				{Key: "node.cluster.x-k8s.io/uninitialized", Effect: corev1.TaintEffectNoSchedule},
			}
		}))
		Eventually(readiness("joins")).Should(Equal("False"))
		joined, err := node("joins")
		Expect(err).NotTo(HaveOccurred())
		Expect(joined.Spec.ProviderID).To(Equal("host://default/joins"))
		Expect(joined.Labels).To(And(
			HaveKeyWithValue("example.com/zone", "a"), HaveKeyWithValue(corev1.LabelHostname, "joins"), HaveKeyWithValue(corev1.LabelOSStable, "linux")))
		Expect(joined.Status.NodeInfo.KubeletVersion).To(Equal(version))

		Eventually(readiness("joins")).Should(Equal("True"))
		// Creation has whole seconds.
		Expect(time.Since(joined.CreationTimestamp.Time)).To(BeNumerically(">=", 2*time.Second))
		n := ready(s)
		Expect(n.UID).To(Equal(joined.UID))
		Eventually(func() ([]corev1.Taint, error) { n, err := node("joins"); return n.Spec.Taints, err }).
			Should(HaveExactElements(HaveField("Key", "dedicated")), "Cluster API takes its taint off, Kubernetes the one of Nodes that are not Ready")

		Eventually(condition(s.machine, clusterv1.MachineReadyCondition)).Should(HavePrefix("True/"))
		Expect(s.machine.Spec.ProviderID).To(Equal("host://default/joins"))
		Expect(s.machine.Status.Addresses).To(ConsistOf(clusterv1.MachineAddress{Type: clusterv1.MachineHostName, Address: "joins"}))
		Expect(condition(s.machine, clusterv1.MachineInfrastructureReadyCondition)()).To(Equal("True/" + infrav1.ProvisionedReason))
		Expect(condition(s.machine, clusterv1.MachineBootstrapConfigReadyCondition)()).To(Equal("True/" + hostbootstrapv1.DataSecretAvailableReason))

		data := &corev1.Secret{}
		Expect(mgmt.Get(ctx, client.ObjectKeyFromObject(s.config), data)).To(Succeed())
		Expect(data.Labels).To(HaveKeyWithValue(clusterv1.ClusterNameLabel, cluster.Name))
		Expect(data.Type).To(Equal(clusterv1.ClusterSecretType))
		Expect(metav1.IsControlledBy(data, s.config)).To(BeTrue())
	})

	It("joins after the delay, under the name that it was given", func() {
		s := newSet(cluster, "late", simulation(infrav1.SimulatedMachine{NodeName: "late-node", JoinAfter: after(2 * time.Second)}))
		create(s)
		Eventually(fetch(s.hostMachine)).Should(HaveField("Status.Initialization.Provisioned", HaveValue(BeTrue())))
		Expect(readiness("late-node")()).To(Equal("absent"))
		Eventually(readiness("late-node")).Should(Equal("True"))
		Expect(time.Since(s.hostMachine.Status.StartTime.Time)).To(BeNumerically(">=", 2*time.Second))
		Eventually(fetch(s.machine)).Should(HaveField("Status.NodeRef.Name", "late-node"))
	})

	It("is drained, then its Node is deleted by Cluster API and written no more", func() {
		s := create(newSet(cluster, "drained", simulation(infrav1.SimulatedMachine{HeartbeatInterval: after(200 * time.Millisecond)})))
		n := ready(s)
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "evicted", Finalizers: []string{"example.com/hold"}},
			Spec: corev1.PodSpec{
				NodeName:    "drained",
				Containers:  []corev1.Container{{Name: "c", Image: "none"}},
				Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			},
		}
		Expect(nodes.Create(ctx, pod)).To(Succeed())
		Expect(mgmt.Delete(ctx, s.machine)).To(Succeed())
		Eventually(func() (*corev1.Pod, error) { return pod, nodes.Get(ctx, client.ObjectKeyFromObject(pod), pod) }).Should(And(
			HaveField("DeletionTimestamp", Not(BeNil())), HaveField("DeletionGracePeriodSeconds", HaveValue(BeZero()))),
			"evicted by Cluster API, let go by the machine, held by its finalizer")
		Expect(exists(mgmt, s.hostMachine)()).To(BeTrue())
		Expect(readiness("drained")()).To(Equal("True"), "a machine that is drained runs")
		pod.Finalizers = nil
		Expect(nodes.Update(ctx, pod)).To(Succeed())

		remove(s)
		Expect(readiness("drained")()).To(Equal("absent"))
		deletions, err := workload.Audit(func(e controlplane.AuditEvent) bool {
			return e.Verb == "delete" && e.Resource == "nodes" && e.Name == n.Name
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(deletions).To(HaveLen(1))
		Expect(deletions[0].UserAgent).To(HavePrefix(capi.User), "%+v", deletions[0])
		last := writes("drained")
		Expect(last[len(last)-1].Received).To(BeTemporally("<", deletions[0].Received))
		Consistently(readiness("drained")).WithTimeout(time.Second).Should(Equal("absent"))
		Expect(writes("drained")).To(HaveLen(len(last)))
	})

	It("leaves no Node where Cluster API does not delete it", func() {
		By("a HostMachine that is deleted alone")
		s := create(newSet(cluster, "alone"))
		ready(s)
		Expect(mgmt.Delete(ctx, s.hostMachine)).To(Succeed())
		Eventually(exists(mgmt, s.hostMachine)).Should(BeFalse())
		Expect(readiness("alone")()).To(Equal("absent"))
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: "alone"}}
		Expect(exists(nodes, lease)()).To(BeFalse())

		By("the same after a restart of the provider")
		s = create(newSet(cluster, "alone-later"))
		ready(s)
		stopProvider()
		Expect(mgmt.Delete(ctx, s.hostMachine)).To(Succeed())
		startProvider()
		Eventually(exists(mgmt, s.hostMachine)).Should(BeFalse())
		Expect(readiness("alone-later")()).To(Equal("absent"))
	})

	It("goes on with its Node after a restart of the provider", func() {
		s := create(newSet(cluster, "restart", simulation(infrav1.SimulatedMachine{HeartbeatInterval: after(500 * time.Millisecond)})))
		before := ready(s)
		stopProvider()
		stopped := len(writes("restart"))
		Consistently(func() int { return len(writes("restart")) }).WithPolling(audited).WithTimeout(time.Second).Should(Equal(stopped), "nothing runs any more")
		startProvider()
		Eventually(func() int { return len(writes("restart")) }).WithPolling(audited).Should(BeNumerically(">", stopped+2))
		n, err := node("restart")
		Expect(err).NotTo(HaveOccurred())
		Expect(n.UID).To(Equal(before.UID))
		Expect(since(n)).To(Equal(since(before)), "it was Ready all the time")
		remove(s)
		Expect(readiness("restart")()).To(Equal("absent"))
	})

	It("gets another Node of the same name when it registers anew", func() {
		s := create(newSet(cluster, "anew", func(s *set) {
			s.config.Spec.NodeTaints = []hostbootstrapv1.NodeTaint{{Key: "dedicated", Value: "ml", Effect: corev1.TaintEffectNoSchedule}}
		}))
		first := ready(s)
		first.Spec.Taints = append(first.Spec.Taints, corev1.Taint{Key: "admin", Effect: corev1.TaintEffectNoSchedule})
		Eventually(func() error { return taint("anew", corev1.Taint{Key: "admin", Effect: corev1.TaintEffectNoSchedule}) }).Should(Succeed())
		Expect(backend.RecreateNode(ctx, client.ObjectKeyFromObject(cluster), "anew")).To(Succeed())
		second, err := node("anew")
		Expect(err).NotTo(HaveOccurred())
		Expect(second.UID).NotTo(Equal(first.UID))
		Expect(second.Spec.ProviderID).To(Equal(first.Spec.ProviderID))
		Expect(second.Spec.Taints).NotTo(ContainElement(HaveField("Key", "admin")))
		Expect(second.Spec.Taints).To(ContainElement(HaveField("Key", "dedicated")))
		Eventually(readiness("anew")).Should(Equal("True"))
		Eventually(func() (map[string]string, error) { n, err := node("anew"); return n.Annotations, err }).Should(
			HaveKeyWithValue(clusterv1.MachineAnnotation, "anew"), "Cluster API takes care of the new Node")
		Eventually(condition(s.machine, clusterv1.MachineReadyCondition)).Should(HavePrefix("True/"))
		remove(s)
		Expect(readiness("anew")()).To(Equal("absent"))
	})

	It("does not bring back a Node that somebody deleted, before it registers anew", func() {
		s := create(newSet(cluster, "deleted", simulation(infrav1.SimulatedMachine{HeartbeatInterval: after(100 * time.Millisecond)})))
		n := ready(s)
		Expect(nodes.Delete(ctx, n)).To(Succeed())
		Consistently(readiness("deleted")).WithTimeout(time.Second).Should(Equal("absent"))
		Expect(backend.SetReady(client.ObjectKeyFromObject(cluster), "deleted", true)).To(MatchError(ContainSubstring("RecreateNode")))
		Expect(backend.RecreateNode(ctx, client.ObjectKeyFromObject(cluster), "deleted")).To(Succeed())
		Eventually(readiness("deleted")).Should(Equal("True"))
	})

	It("leaves a Node alone that is not its own", func() {
		foreign := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "taken"}, Spec: corev1.NodeSpec{ProviderID: "other://taken"}}
		Expect(nodes.Create(ctx, foreign)).To(Succeed())
		s := create(newSet(cluster, "taken"))
		Eventually(fetch(s.hostMachine)).Should(HaveField("Status.Initialization.Provisioned", HaveValue(BeTrue())))
		Eventually(func() int { return len(writes("taken")) }).WithPolling(audited).Should(BeNumerically(">", 1), "it tries to register")
		for _, e := range writes("taken") {
			Expect(e.Code).To(Equal(409), "%+v", e)
		}
		By("the foreign Node is gone")
		Expect(nodes.Delete(ctx, foreign)).To(Succeed())
		Expect(ready(s).Spec.ProviderID).To(Equal("host://default/taken"))

		By("the Node is replaced by a foreign one")
		Expect(nodes.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "taken"}})).To(Succeed())
		foreign.ObjectMeta = metav1.ObjectMeta{Name: "taken"}
		Expect(nodes.Create(ctx, foreign)).To(Succeed())
		Expect(backend.RecreateNode(ctx, client.ObjectKeyFromObject(cluster), "taken")).To(MatchError(ContainSubstring("providerID")))
		Expect(mgmt.Delete(ctx, s.hostMachine)).To(Succeed())
		Eventually(exists(mgmt, s.hostMachine)).Should(BeFalse())
		n, err := node("taken")
		Expect(err).NotTo(HaveOccurred())
		Expect(n.UID).To(Equal(foreign.UID))
		Expect(nodes.Delete(ctx, foreign)).To(Succeed())
	})

	It("is left alone while it is paused, and is let go with its Node kept where clusterctl move strips it", func() {
		s := newSet(cluster, "moved")
		s.hostMachine.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
		create(s)
		Eventually(condition(s.hostMachine, clusterv1.PausedCondition)).Should(Equal("True/Paused"))
		Eventually(fetch(s.machine)).Should(HaveField("Spec.Bootstrap.DataSecretName", Not(BeNil())))
		Consistently(readiness("moved")).WithTimeout(500 * time.Millisecond).Should(Equal("absent"))
		edit(s.hostMachine, func() { s.hostMachine.Annotations = nil })
		n := ready(s)

		By("paused, stripped and deleted")
		edit(s.hostMachine, func() { s.hostMachine.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} })
		Eventually(condition(s.hostMachine, clusterv1.PausedCondition)).Should(Equal("True/Paused"))
		edit(s.hostMachine, func() { s.hostMachine.Finalizers = nil })
		Expect(mgmt.Delete(ctx, s.hostMachine)).To(Succeed())
		Eventually(func() error { return backend.SetReady(client.ObjectKeyFromObject(cluster), "moved", true) }).Should(
			MatchError(ContainSubstring("no simulated machine")), "the machine is forgotten")
		kept, err := node("moved")
		Expect(err).NotTo(HaveOccurred())
		Expect(kept.UID).To(Equal(n.UID))

		By("the same HostMachine at the target takes the Node over")
		moved := newSet(cluster, "moved").hostMachine
		moved.Spec.ProviderID = "host://default/moved"
		moved.Finalizers = []string{infrav1.MachineFinalizer}
		Expect(mgmt.Create(ctx, moved)).To(Succeed())
		Eventually(func() error { return backend.SetReady(client.ObjectKeyFromObject(cluster), "moved", false) }).Should(Succeed())
		Eventually(readiness("moved")).Should(Equal("False"))
		kept, err = node("moved")
		Expect(err).NotTo(HaveOccurred())
		Expect(kept.UID).To(Equal(n.UID))
	})

	It("says what is wrong with bootstrap data that is not a HostConfig's", func() {
		Expect(mgmt.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloud-init"}, Data: map[string][]byte{"value": []byte("#cloud-config\nruncmd: []\n")},
		})).To(Succeed())
		s := newSet(cluster, "wrong", func(s *set) { s.machine.Spec.Bootstrap = clusterv1.Bootstrap{DataSecretName: ptr.To("cloud-init")} })
		create(s)
		Eventually(condition(s.hostMachine, clusterv1.ReadyCondition)).Should(Equal("False/" + infrav1.ProvisioningFailedReason))
		Expect(s.hostMachine.Status.Conditions).To(ContainElement(HaveField("Message", ContainSubstring(`unknown field "runcmd"`))))
	})

	It("does not take over a Secret of somebody else", func() {
		other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "other"}}
		Expect(mgmt.Create(ctx, other)).To(Succeed())
		s := create(newSet(cluster, "other"))
		Eventually(condition(s.config, clusterv1.ReadyCondition)).Should(Equal("False/" + hostbootstrapv1.DataSecretNotOursReason))
		Expect(s.config.Status.DataSecretName).To(BeEmpty())
	})
})

var _ = Describe("A HostMachine", func() {
	DescribeTable("is refused by the API server", func(body, because string) {
		o := newSet(cluster, "refused").hostMachine
		Expect(mgmt.Create(ctx, o)).To(Succeed())
		DeferCleanup(func() { Expect(mgmt.Delete(ctx, o)).To(Succeed()) })
		err := mgmt.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(body)))
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(because)))
	},
		Entry("another backend", `{"spec":{"backend":"cloud"}}`, "spec.backend"),
		Entry("a negative delay", `{"spec":{"simulated":{"readyAfter":"-1s"}}}`, "spec.simulated.readyAfter"),
		Entry("a delay without a unit", `{"spec":{"simulated":{"joinAfter":"5"}}}`, "spec.simulated.joinAfter"),
	)
})

// taint adds a taint as an admin does.
func taint(name string, t corev1.Taint) error {
	n, err := node(name)
	if err != nil {
		return err
	}
	n.Spec.Taints = append(n.Spec.Taints, t)
	return nodes.Update(ctx, n)
}

// since is when a Node's conditions last changed.
func since(n *corev1.Node) string {
	var times []string
	for _, c := range n.Status.Conditions {
		times = append(times, string(c.Type)+c.LastTransitionTime.UTC().Format(time.RFC3339))
	}
	return strings.Join(times, " ")
}
