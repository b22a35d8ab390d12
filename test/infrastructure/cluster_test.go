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
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure"
	hostbootstrapv1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/bootstrap/v1beta2"
	hostcontrolplanev1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/controlplane/v1beta2"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

var _ = Describe("A Cluster", func() {
	It("is provisioned, initialized and available", func() {
		Eventually(condition(cluster, clusterv1.ClusterAvailableCondition)).Should(Equal("True/Available"))
		Expect(cluster.Status.Initialization.InfrastructureProvisioned).To(HaveValue(BeTrue()))
		Expect(cluster.Status.Initialization.ControlPlaneInitialized).To(HaveValue(BeTrue()))
		for _, of := range []string{
			clusterv1.ClusterInfrastructureReadyCondition, clusterv1.ClusterControlPlaneInitializedCondition,
			clusterv1.ClusterControlPlaneAvailableCondition, clusterv1.ClusterRemoteConnectionProbeCondition,
		} {
			Expect(condition(cluster, of)()).To(HavePrefix("True/"), of)
		}
		controlPlane := &hostcontrolplanev1.HostControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster.Name}}
		Expect(fetch(controlPlane)()).To(HaveField("Status", And(
			HaveField("ExternalManagedControlPlane", HaveValue(BeTrue())),
			HaveField("Version", version),
			HaveField("Versions", ConsistOf(clusterv1.StatusVersion{Version: version})),
		)))
		Expect(cluster.Spec.ControlPlaneEndpoint.IsValid()).To(BeTrue())
	})

	It("waits for its kubeconfig Secret, and for an endpoint", func() {
		meta := metav1.ObjectMeta{Namespace: namespace, Name: "waits"}
		hostCluster := &infrav1.HostCluster{ObjectMeta: meta}
		controlPlane := &hostcontrolplanev1.HostControlPlane{ObjectMeta: meta}
		waiting := &clusterv1.Cluster{ObjectMeta: meta, Spec: clusterv1.ClusterSpec{
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "HostCluster", Name: "waits"},
			ControlPlaneRef:   clusterv1.ContractVersionedObjectReference{APIGroup: hostcontrolplanev1.GroupVersion.Group, Kind: "HostControlPlane", Name: "waits"},
		}}
		for _, o := range []client.Object{hostCluster, controlPlane, waiting} {
			Expect(mgmt.Create(ctx, o)).To(Succeed())
		}
		Eventually(condition(hostCluster, clusterv1.ReadyCondition)).Should(Equal("False/" + infrav1.WaitingForControlPlaneEndpointReason))
		Eventually(condition(controlPlane, clusterv1.AvailableCondition)).Should(Equal("False/" + hostcontrolplanev1.WaitingForKubeconfigReason))
		Expect(controlPlane.Status.Initialization.ControlPlaneInitialized).To(BeNil())
		By("its machines wait with it, and say so after a while")
		s := create(newSet(waiting, "waits-too"))
		Eventually(condition(s.config, clusterv1.ReadyCondition)).Should(Equal("False/" + hostbootstrapv1.WaitingForControlPlaneReason))
		Eventually(condition(s.hostMachine, clusterv1.ReadyCondition)).Should(Equal("False/" + infrav1.WaitingForClusterInfrastructureReason))

		kubeconfig, err := management.Kubeconfig(workload.Config())
		Expect(err).NotTo(HaveOccurred())
		Expect(mgmt.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "waits-kubeconfig", Labels: map[string]string{clusterv1.ClusterNameLabel: "waits"}},
			Data:       map[string][]byte{"value": kubeconfig},
		})).To(Succeed())
		Eventually(condition(controlPlane, clusterv1.AvailableCondition)).Should(HavePrefix("True/"))

		By("an endpoint in the Cluster itself")
		edit(waiting, func() { waiting.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "127.0.0.1", Port: 6443} })
		Eventually(fetch(waiting)).Should(HaveField("Status.Initialization", And(
			HaveField("InfrastructureProvisioned", HaveValue(BeTrue())), HaveField("ControlPlaneInitialized", HaveValue(BeTrue())))))

		By("paused, a new version is not reported")
		edit(waiting, func() { waiting.Spec.Paused = ptr.To(true) })
		Eventually(condition(controlPlane, clusterv1.PausedCondition)).Should(Equal("True/Paused"))
		edit(controlPlane, func() { controlPlane.Spec.Version = version })
		Eventually(fetch(controlPlane)).Should(HaveField("Status.Conditions", ContainElement(And(
			HaveField("Type", clusterv1.PausedCondition), HaveField("ObservedGeneration", controlPlane.Generation)))))
		Expect(controlPlane.Status.Version).To(BeEmpty())
		edit(waiting, func() { waiting.Spec.Paused = nil })
		Eventually(fetch(controlPlane)).Should(HaveField("Status.Version", version))

		By("the machine joins")
		ready(s)
		remove(s)

		Expect(mgmt.Delete(ctx, waiting)).To(Succeed())
		for _, o := range []client.Object{waiting, hostCluster, controlPlane} {
			Eventually(exists(mgmt, o)).Should(BeFalse(), "%T", o)
		}
	})

	It("takes its machines and their Nodes along when it is deleted", func() {
		going := register("going", workload.Config())
		s := create(newSet(going, "goes-along"))
		ready(s)
		Expect(mgmt.Delete(ctx, going)).To(Succeed())
		for _, o := range []client.Object{s.machine, s.hostMachine, going} {
			Eventually(exists(mgmt, o)).Should(BeFalse(), "%T", o)
		}
		Expect(readiness("goes-along")()).To(Equal("absent"), "Cluster API leaves the Nodes of a Cluster that is deleted")
	})
})

var _ = Describe("NewCluster", func() {
	DescribeTable("refuses a kubeconfig that does not tell the endpoint", func(server, because string) {
		cfg := workload.Config()
		cfg.Host = server
		kubeconfig, err := management.Kubeconfig(cfg)
		Expect(err).NotTo(HaveOccurred())
		_, err = infrastructure.NewCluster(ctx, mgmt, infrastructure.ClusterOptions{Namespace: namespace, Name: "refused", Kubeconfig: kubeconfig})
		Expect(err).To(MatchError(ContainSubstring(because)))
		Expect(exists(mgmt, &infrav1.HostCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "refused"}})()).To(BeFalse())
	},
		Entry("no port", "https://127.0.0.1", "should be https://HOST:PORT"),
		Entry("a port out of range", "https://127.0.0.1:99999999999", "the port of the kubeconfig's server"),
	)
})

// edit changes an object as it is now.
func edit(o client.Object, change func()) {
	GinkgoHelper()
	Eventually(func() error {
		if err := mgmt.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		change()
		return mgmt.Update(ctx, o)
	}).Should(Succeed())
}
