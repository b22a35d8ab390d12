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
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/crds"
	hostbootstrapv1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/bootstrap/v1beta2"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

// byItself is how long Error may outlive its cause: what raises no event is looked
// at again every 30 s.
const byItself = 35 * time.Second

var _ = Describe("What a person has to mend", func() {
	It("is a template that is not there; Error is left by itself once it is", func() {
		sm := create("templateless", fromTemplates("missing-host", "missing-config"))
		Eventually(condition(sm, v1alpha1.MachineReadyCondition)).Should(Equal("False/TemplateNotFound"))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseError))
		Expect(message(sm, v1alpha1.MachineReadyCondition)).To(And(
			HavePrefix("spec.infrastructureRef: HostMachineTemplate missing-host in namespace default"), ContainSubstring("create it or name another")))
		Expect(condition(sm, v1alpha1.ReadyCondition)()).To(Equal("False/TemplateNotFound"))
		Expect(madeFor("templateless")()).To(BeEmpty())

		host := &infrav1.HostMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: environment.Namespace, Name: "missing-host"}}
		Expect(env.Client.Create(ctx, host)).To(Succeed())
		DeferCleanup(remove, host)
		Eventually(func() string { return message(sm, v1alpha1.MachineReadyCondition) }).WithTimeout(byItself).Should(
			HavePrefix("spec.bootstrapRef: HostConfigTemplate missing-config"))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseError))

		config := &hostbootstrapv1.HostConfigTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: environment.Namespace, Name: "missing-config"}}
		Expect(env.Client.Create(ctx, config)).To(Succeed())
		DeferCleanup(remove, config)
		mended := time.Now()
		Eventually(phase(sm)).WithTimeout(byItself).Should(Equal(v1alpha1.PhaseActive))
		AddReportEntry("left Error after", time.Since(mended).String())
	})

	It("is a kind whose CRD is missing, or bears no contract label; Error is left by itself once it does", func() {
		sm := create("kindless", func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.InfrastructureSpec = environment.Embedded("infrastructure.example.com/v1", "GhostMachine", `{"size":"xl"}`)
		})
		Eventually(condition(sm, v1alpha1.MachineReadyCondition)).Should(Equal("False/CreateFailed"))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseError))
		Expect(message(sm, v1alpha1.MachineReadyCondition)).To(And(
			ContainSubstring("spec.infrastructure"), ContainSubstring("ghostmachines.infrastructure.example.com"), ContainSubstring("install its provider")))

		By("the CRD is there, without the label")
		crd := ghostMachines()
		Expect(crds.Install(ctx, env.Management.Config(), crd)).To(Succeed())
		Eventually(func() string { return message(sm, v1alpha1.MachineReadyCondition) }).WithTimeout(byItself).Should(And(
			ContainSubstring("ghostmachines.infrastructure.example.com carries no label cluster.x-k8s.io/v1beta*"), ContainSubstring("name one that is")))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseError))
		Expect(condition(sm, v1alpha1.MachineReadyCondition)()).To(Equal("False/CreateFailed"))
		ghosts := &metav1.PartialObjectMetadataList{}
		ghosts.SetGroupVersionKind(metav1.Unversioned.WithKind("GhostMachineList"))
		ghosts.APIVersion = "infrastructure.example.com/v1"
		Expect(env.Client.List(ctx, ghosts)).To(Succeed())
		Expect(ghosts.Items).To(BeEmpty())

		By("the label is there")
		Expect(environment.Edit(ctx, env.Client, crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Labels = map[string]string{"cluster.x-k8s.io/v1beta2": "v1"}
		})).To(Succeed())
		mended := time.Now()
		Eventually(phase(sm)).WithTimeout(byItself).Should(Equal(v1alpha1.PhaseActive))
		AddReportEntry("left Error after", time.Since(mended).String())
		Expect(env.Client.List(ctx, ghosts)).To(Succeed())
		Expect(ghosts.Items).To(HaveLen(1))
	})

	It("is an embedded spec that its CRD refuses", func() {
		sm := create("misfit", func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.InfrastructureSpec.Spec.Raw = []byte(`{"backend":"unheard-of"}`)
		})
		Eventually(condition(sm, v1alpha1.MachineReadyCondition)).Should(Equal("False/CreateFailed"))
		Expect(message(sm, v1alpha1.MachineReadyCondition)).To(And(
			ContainSubstring("spec.infrastructure"), ContainSubstring("spec.backend"), ContainSubstring("unheard-of")))
		Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseError))
		edit(sm, func(sm *v1alpha1.ScheduledMachine) { sm.Spec.InfrastructureSpec.Spec.Raw = []byte(`{}`) })
		Eventually(phase(sm)).WithTimeout(byItself).Should(Equal(v1alpha1.PhaseActive))
	})
})

// ghostMachines is the CRD of an infrastructure provider that does not say which
// contract it obeys.
func ghostMachines() *apiextensionsv1.CustomResourceDefinition {
	anything := true
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "ghostmachines.infrastructure.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "infrastructure.example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "ghostmachines", Singular: "ghostmachine", Kind: "GhostMachine", ListKind: "GhostMachineList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &anything}},
			}},
		},
	}
	return crd
}

var _ = Describe("A change of a ScheduledMachine whose Machine runs", func() {
	It("reaches the Machine's labels, annotations and drain timeout in place, those taken out included; others' stay", func() {
		sm := create("inplace", func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.MachineTemplate = &v1alpha1.MachineTemplate{
				Labels:      map[string]string{"changes": "old", "goes": "x", "stays": "x"},
				Annotations: map[string]string{"changes": "old", "goes": "x", "stays": "x"},
			}
		})
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
		uid := machineUID("inplace")()
		m, err := machine("inplace")
		Expect(err).NotTo(HaveOccurred())
		before := m.DeepCopy()
		m.Labels["theirs"], m.Annotations["theirs"] = "kept", "kept"
		Expect(env.Client.Patch(ctx, m, client.MergeFrom(before), client.FieldOwner("somebody"))).To(Succeed())

		edit(sm, func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.MachineTemplate.Labels = map[string]string{"changes": "new", "stays": "x", "comes": "x"}
			sm.Spec.MachineTemplate.Annotations = map[string]string{"changes": "new", "stays": "x", "comes": "x"}
			sm.Spec.NodeDrainTimeout = "77s"
			// These take effect with the next Machine.
			sm.Spec.Version = "v1.36.4"
			sm.Spec.InfrastructureSpec.Spec.Raw = []byte(`{"simulated":{"nodeName":"another"}}`)
		})
		current := func() (map[string]string, error) {
			m, err := machine("inplace")
			if err != nil {
				return nil, err
			}
			if d := m.Spec.Deletion.NodeDrainTimeoutSeconds; d == nil || *d != 77 {
				return nil, nil
			}
			return m.Labels, nil
		}
		wanted := And(HaveKeyWithValue("changes", "new"), HaveKeyWithValue("stays", "x"), HaveKeyWithValue("comes", "x"),
			HaveKeyWithValue("theirs", "kept"), Not(HaveKey("goes")))
		Eventually(current).Should(And(wanted, HaveKeyWithValue(v1alpha1.ScheduledMachineLabel, "inplace")))
		m, err = machine("inplace")
		Expect(err).NotTo(HaveOccurred())
		Expect(m.Annotations).To(wanted)
		Expect(m.UID).To(Equal(uid))
		Expect(m.Spec.Version).To(Equal("v1.36.3"))
		host, err := hostMachine("inplace")
		Expect(err).NotTo(HaveOccurred())
		Expect(host.Spec.Simulated.NodeName).NotTo(Equal("another"))

		By("the whole template taken out")
		edit(sm, func(sm *v1alpha1.ScheduledMachine) { sm.Spec.MachineTemplate = nil })
		Eventually(current).Should(And(HaveKeyWithValue("theirs", "kept"), HaveKeyWithValue(v1alpha1.ScheduledMachineLabel, "inplace"),
			Not(HaveKey("changes")), Not(HaveKey("stays")), Not(HaveKey("comes"))))
		expectQuiet("inplace")

		By("somebody takes one of ours off, it comes back")
		edit(sm, func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.MachineTemplate = &v1alpha1.MachineTemplate{Labels: map[string]string{"ours": "x"}}
		})
		Eventually(current).Should(HaveKeyWithValue("ours", "x"))
		m, err = machine("inplace")
		Expect(err).NotTo(HaveOccurred())
		before = m.DeepCopy()
		delete(m.Labels, "ours")
		Expect(env.Client.Patch(ctx, m, client.MergeFrom(before), client.FieldOwner("somebody"))).To(Succeed())
		Eventually(current).Should(HaveKeyWithValue("ours", "x"))

		By("the next Machine has what waited for it")
		remove(m)
		Eventually(machineUID("inplace")).ShouldNot(Or(BeEmpty(), Equal(uid)))
		m, err = machine("inplace")
		Expect(err).NotTo(HaveOccurred())
		Expect(m.Spec.Version).To(Equal("v1.36.4"))
		host, err = hostMachine("inplace")
		Expect(err).NotTo(HaveOccurred())
		Expect(host.Spec.Simulated.NodeName).To(Equal("another"))
	})
})
