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
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/labels/format"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	hostbootstrapv1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/bootstrap/v1beta2"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

const (
	infrastructureGroup = "infrastructure.cluster.x-k8s.io"
	bootstrapGroup      = "bootstrap.cluster.x-k8s.io"
)

// owners writes owner references as Kind/name, the controller with a star.
func owners(o client.Object) []string {
	texts := []string{}
	for _, r := range o.GetOwnerReferences() {
		text := r.Kind + "/" + r.Name
		if ptr.Deref(r.Controller, false) {
			text += "*"
		}
		texts = append(texts, text)
	}
	return texts
}

var _ = Describe("A ScheduledMachine in its window", func() {
	It("makes infrastructure, bootstrap and Machine from its embedded specs, under its own name", func() {
		sm := create("embedded", func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.NodeDrainTimeout = "1m30s"
			sm.Spec.InfrastructureSpec.Spec.Raw = []byte(`{"simulated":{"nodeName":"embedded-node","readyAfter":"100ms"}}`)
			sm.Spec.InfrastructureSpec.Metadata = &v1alpha1.EmbeddedMetadata{
				Labels: map[string]string{"rack": "7"}, Annotations: map[string]string{"example.com/note": "host"},
			}
			sm.Spec.BootstrapSpec.Spec.Raw = []byte(`{"nodeLabels":{"from":"bootstrap"}}`)
			sm.Spec.BootstrapSpec.Metadata = &v1alpha1.EmbeddedMetadata{Labels: map[string]string{"image": "v1"}}
			sm.Spec.MachineTemplate = &v1alpha1.MachineTemplate{
				Labels: map[string]string{"team": "batch"}, Annotations: map[string]string{"example.com/note": "machine"},
			}
		})
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))

		By("the Machine")
		m, err := machine("embedded")
		Expect(err).NotTo(HaveOccurred())
		Expect(m.Labels).To(SatisfyAll(
			HaveKeyWithValue(v1alpha1.ScheduledMachineLabel, "embedded"),
			HaveKeyWithValue(clusterv1.ClusterNameLabel, cluster),
			HaveKeyWithValue("team", "batch")))
		Expect(m.Annotations).To(HaveKeyWithValue("example.com/note", "machine"))
		Expect(owners(m)).To(Equal([]string{"ScheduledMachine/embedded*"}))
		Expect(metav1.GetControllerOf(m)).To(HaveValue(Equal(metav1.OwnerReference{
			APIVersion: "5spot.finos.org/v1alpha1", Kind: "ScheduledMachine", Name: "embedded", UID: sm.UID,
			Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
		})))
		Expect(m.Spec.ClusterName).To(Equal(cluster))
		Expect(m.Spec.Version).To(Equal("v1.36.3"))
		Expect(m.Spec.Deletion.NodeDrainTimeoutSeconds).To(HaveValue(BeEquivalentTo(90)))
		Expect(m.Spec.InfrastructureRef).To(Equal(clusterv1.ContractVersionedObjectReference{
			APIGroup: infrastructureGroup, Kind: "HostMachine", Name: "embedded"}))
		Expect(m.Spec.Bootstrap.ConfigRef).To(Equal(clusterv1.ContractVersionedObjectReference{
			APIGroup: bootstrapGroup, Kind: "HostConfig", Name: "embedded"}))

		By("the infrastructure and the bootstrap object")
		host, err := hostMachine("embedded")
		Expect(err).NotTo(HaveOccurred())
		Expect(host.Spec.Simulated.NodeName).To(Equal("embedded-node"))
		Expect(host.Labels).To(HaveKeyWithValue("rack", "7"))
		Expect(host.Annotations).To(HaveKeyWithValue("example.com/note", "host"))
		config, err := hostConfig("embedded")
		Expect(err).NotTo(HaveOccurred())
		Expect(config.Spec.NodeLabels).To(HaveKeyWithValue("from", "bootstrap"))
		Expect(config.Labels).To(HaveKeyWithValue("image", "v1"))
		for _, o := range []client.Object{host, config} {
			Expect(o.GetLabels()).To(SatisfyAll(
				HaveKeyWithValue(v1alpha1.ScheduledMachineLabel, "embedded"),
				HaveKeyWithValue(clusterv1.ClusterNameLabel, cluster)))
			Expect(owners(o)).To(ConsistOf("Machine/embedded*", "ScheduledMachine/embedded"))
		}

		By("status names all of them")
		Expect(sm.Status.MachineRef).To(HaveValue(Equal(v1alpha1.ObjectReference{
			APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Machine", Name: "embedded", Namespace: environment.Namespace})))
		Expect(sm.Status.InfrastructureRef).To(HaveValue(Equal(v1alpha1.ObjectReference{
			APIVersion: infrastructureGroup + "/v1beta2", Kind: "HostMachine", Name: "embedded", Namespace: environment.Namespace})))
		Expect(sm.Status.BootstrapRef).To(HaveValue(Equal(v1alpha1.ObjectReference{
			APIVersion: bootstrapGroup + "/v1beta2", Kind: "HostConfig", Name: "embedded", Namespace: environment.Namespace})))
		Eventually(func() *v1alpha1.NodeReference { phase(sm)(); return sm.Status.NodeRef }).Should(HaveValue(HaveField("Name", "embedded-node")))
		Expect(sm.Status.ProviderID).To(And(Equal(m.Spec.ProviderID), Not(BeEmpty())))
		Expect(sm.Status.ObservedGeneration).To(Equal(sm.Generation))
		Expect(sm.Status.LastScheduledTime).NotTo(BeNil())
		Eventually(eventsOf("embedded", v1alpha1.MachineCreatedEvent)).Should(HaveLen(1))
	})

	It("is owned by its Cluster, and holds its finalizer, from its very first write", func() {
		sm := create("owned", schedule(environment.NeverOpen()))
		first := record(sm, func(sm *v1alpha1.ScheduledMachine) string {
			if len(sm.Finalizers) == 0 {
				return "" // As it was created, or with the Paused condition alone.
			}
			return strings.Join(append(sm.Finalizers, owners(sm)...), " ")
		})
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseInactive))
		Eventually(first).Should(Equal([]string{v1alpha1.ScheduledMachineFinalizer + " Cluster/" + cluster}))
		Expect(sm.OwnerReferences[0].UID).To(Equal(workload.Cluster.UID))
		Expect(madeFor("owned")()).To(BeEmpty())
	})

	It("clones its templates as MachineDeployments do, and puts the Cluster among their owners", func() {
		host := &infrav1.HostMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: environment.Namespace, Name: "workers"}}
		host.Spec.Template.ObjectMeta = clusterv1.ObjectMeta{Labels: map[string]string{"rack": "8"}, Annotations: map[string]string{"example.com/note": "t"}}
		host.Spec.Template.Spec.Simulated.NodeName = "cloned-node"
		config := &hostbootstrapv1.HostConfigTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: environment.Namespace, Name: "workers-config"}}
		config.Spec.Template.Spec.NodeLabels = map[string]string{"from": "template"}
		for _, o := range []client.Object{host, config} {
			Expect(env.Client.Create(ctx, o)).To(Succeed())
			DeferCleanup(func() { remove(o) })
		}
		sm := create("cloned", fromTemplates("workers", "workers-config"))
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))

		hostClone, err := hostMachine("cloned")
		Expect(err).NotTo(HaveOccurred())
		Expect(hostClone.Spec.Simulated.NodeName).To(Equal("cloned-node"))
		Expect(hostClone.Labels).To(HaveKeyWithValue("rack", "8"))
		Expect(hostClone.Annotations).To(SatisfyAll(
			HaveKeyWithValue("example.com/note", "t"),
			HaveKeyWithValue(clusterv1.TemplateClonedFromNameAnnotation, "workers"),
			HaveKeyWithValue(clusterv1.TemplateClonedFromGroupKindAnnotation, "HostMachineTemplate."+infrastructureGroup)))
		configClone, err := hostConfig("cloned")
		Expect(err).NotTo(HaveOccurred())
		Expect(configClone.Spec.NodeLabels).To(HaveKeyWithValue("from", "template"))
		Expect(configClone.Annotations).To(SatisfyAll(
			HaveKeyWithValue(clusterv1.TemplateClonedFromNameAnnotation, "workers-config"),
			HaveKeyWithValue(clusterv1.TemplateClonedFromGroupKindAnnotation, "HostConfigTemplate."+bootstrapGroup)))
		for _, o := range []client.Object{hostClone, configClone} {
			Expect(o.GetLabels()).To(SatisfyAll(
				HaveKeyWithValue(v1alpha1.ScheduledMachineLabel, "cloned"),
				HaveKeyWithValue(clusterv1.ClusterNameLabel, cluster)))
			Expect(owners(o)).To(ConsistOf("Machine/cloned*", "ScheduledMachine/cloned"))
		}
		Expect(get(host, "workers")).To(Succeed())
		Expect(owners(host)).To(Equal([]string{"Cluster/" + cluster}))
		Expect(get(config, "workers-config")).To(Succeed())
		Expect(owners(config)).To(Equal([]string{"Cluster/" + cluster}))
		m, err := machine("cloned")
		Expect(err).NotTo(HaveOccurred())
		Expect(m.Spec.InfrastructureRef.Kind).To(Equal("HostMachine"))
		Expect(m.Spec.Bootstrap.ConfigRef.Kind).To(Equal("HostConfig"))
	})

	It("hashes its name where that is longer than a label value", func() {
		name := strings.Repeat("long-", 15) + "name"
		Expect(len(name)).To(BeNumerically(">", 63))
		sm := create(name, func(sm *v1alpha1.ScheduledMachine) {
			// A Node's name is a label value of its own, kubernetes.io/hostname.
			sm.Spec.InfrastructureSpec.Spec.Raw = []byte(`{"simulated":{"nodeName":"long-name"}}`)
		})
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
		m, err := machine(name)
		Expect(err).NotTo(HaveOccurred())
		value := m.Labels[v1alpha1.ScheduledMachineLabel]
		Expect(len(value)).To(And(BeNumerically(">", 0), BeNumerically("<=", 63)))
		Expect(value).To(Equal(format.MustFormatValue(name)))
		host, err := hostMachine(name)
		Expect(err).NotTo(HaveOccurred())
		Expect(host.Labels).To(HaveKeyWithValue(v1alpha1.ScheduledMachineLabel, value))
	})

	It("turns a drain timeout of 0s into one second: to Cluster API zero means for ever", func() {
		sm := create("undrained", func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.NodeDrainTimeout = "0s"
			sm.Spec.Version = ""
		})
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
		m, err := machine("undrained")
		Expect(err).NotTo(HaveOccurred())
		Expect(m.Spec.Deletion.NodeDrainTimeoutSeconds).To(HaveValue(BeEquivalentTo(1)))
		Expect(m.Spec.Version).To(BeEmpty())
	})

	It("makes its Machine again when somebody else deletes it", func() {
		sm := create("again")
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
		first, err := machine("again")
		Expect(err).NotTo(HaveOccurred())
		host, err := hostMachine("again")
		Expect(err).NotTo(HaveOccurred())
		phases := record(sm, phaseText)
		remove(first)
		Eventually(machineUID("again")).ShouldNot(Or(BeEmpty(), Equal(first.UID)))
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
		second, err := hostMachine("again")
		Expect(err).NotTo(HaveOccurred())
		Expect(second.UID).NotTo(Equal(host.UID))
		Expect(phases()).To(Equal([]string{"Active", "Pending", "Active"}))
	})
})

func fromTemplates(infrastructure, bootstrap string) change {
	return func(sm *v1alpha1.ScheduledMachine) {
		sm.Spec.InfrastructureSpec, sm.Spec.BootstrapSpec = nil, nil
		sm.Spec.InfrastructureRef = &v1alpha1.TemplateReference{APIGroup: infrastructureGroup, Kind: "HostMachineTemplate", Name: infrastructure}
		sm.Spec.BootstrapRef = &v1alpha1.TemplateReference{APIGroup: bootstrapGroup, Kind: "HostConfigTemplate", Name: bootstrap}
	}
}
