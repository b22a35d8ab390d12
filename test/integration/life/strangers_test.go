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
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	hostbootstrapv1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/bootstrap/v1beta2"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

// createStranger makes somebody else's object and removes it after the test.
func createStranger(o client.Object) {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, o)).To(Succeed())
	DeferCleanup(func() {
		Expect(client.IgnoreNotFound(env.Client.Delete(ctx, o))).To(Succeed())
		Eventually(func() error { return get(o, o.GetName()) }).Should(beNotFound)
	})
}

var _ = Describe("Somebody else's object of the same name", func() {
	named := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: environment.Namespace, Name: name,
			// Labels prove nothing: anybody can write them.
			Labels: map[string]string{v1alpha1.ScheduledMachineLabel: name, clusterv1.ClusterNameLabel: cluster},
		}
	}
	for _, row := range []struct {
		kind, resource, name string
		object               client.Object
	}{
		{"Machine", "machines", "foreign-machine", &clusterv1.Machine{ObjectMeta: named("foreign-machine"), Spec: clusterv1.MachineSpec{
			ClusterName: cluster,
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: infrastructureGroup, Kind: "HostMachine", Name: "not-there"},
			Bootstrap: clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: bootstrapGroup, Kind: "HostConfig", Name: "not-there"}},
		}}},
		{"HostMachine", "hostmachines", "foreign-host", &infrav1.HostMachine{ObjectMeta: named("foreign-host")}},
		{"HostConfig", "hostconfigs", "foreign-config", &hostbootstrapv1.HostConfig{ObjectMeta: named("foreign-config")}},
	} {
		It("is never adopted, changed or deleted: a "+row.kind, func() {
			stranger := row.object
			createStranger(stranger)
			uid, spec := stranger.GetUID(), generationOf(stranger)
			sm := create(row.name)
			Eventually(condition(sm, v1alpha1.MachineReadyCondition)).Should(Equal("False/NameTaken"))
			Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseError))
			Expect(message(sm, v1alpha1.MachineReadyCondition)).To(And(
				HavePrefix(row.kind+" "+row.name+" exists and does not belong to this ScheduledMachine"), ContainSubstring("another name")))
			Expect(condition(sm, v1alpha1.ReadyCondition)()).To(Equal("False/NameTaken"))
			Eventually(eventsOf(row.name, v1alpha1.NameTakenEvent)).ShouldNot(BeEmpty())
			if row.kind != "Machine" {
				Expect(writesTo("machines", row.name)).To(BeEmpty())
			}

			By("neither while the window is open, nor when it closes, nor by killSwitch")
			expectQuiet(row.name)
			edit(sm, schedule(environment.NeverOpen()))
			Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseInactive))
			Eventually(madeFor(row.name)).Should(Equal([]string{row.kind}), "what of ours had no Machine goes, the stranger stays")
			edit(sm, killed(true))
			reached(sm, v1alpha1.PhaseTerminated)
			edit(sm, func(sm *v1alpha1.ScheduledMachine) {
				sm.Spec.KillSwitch = false
				sm.Spec.Schedule = environment.AlwaysOpen()
			})
			Eventually(condition(sm, v1alpha1.MachineReadyCondition)).Should(Equal("False/NameTaken"))
			Expect(get(stranger, row.name)).To(Succeed())
			Expect(stranger.GetUID()).To(Equal(uid))
			Expect(generationOf(stranger)).To(Equal(spec))
			Expect(owners(stranger)).NotTo(ContainElement(ContainSubstring("ScheduledMachine")))
			Expect(stranger.GetDeletionTimestamp()).To(BeNil())
			for _, e := range writesTo(row.resource, row.name) {
				Expect(e.Verb+" "+e.Subresource).To(Equal("create "), "only the attempt that the API server refused")
				Expect(e.Code).To(Equal(409))
			}

			By("Error is left by itself when the stranger goes")
			remove(stranger)
			Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
			Eventually(phase(sm)).Should(Equal(v1alpha1.PhaseActive))
		})
	}

	It("outlives the ScheduledMachine", func() {
		stranger := &clusterv1.Machine{ObjectMeta: named("outlives"), Spec: clusterv1.MachineSpec{
			ClusterName: cluster,
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: infrastructureGroup, Kind: "HostMachine", Name: "not-there"},
			Bootstrap: clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: bootstrapGroup, Kind: "HostConfig", Name: "not-there"}},
		}}
		createStranger(stranger)
		sm := create("outlives")
		Eventually(condition(sm, v1alpha1.MachineReadyCondition)).Should(Equal("False/NameTaken"))
		remove(sm)
		Eventually(func() error { return get(sm, "outlives") }).Should(beNotFound)
		Consistently(madeFor("outlives")).Should(Equal([]string{"Machine"}))
		Expect(writesTo("machines", "outlives", "patch", "update", "delete")).To(BeEmpty())
	})
})

// generationOf counts the changes of an object's spec. Cluster API's own controller
// may complete a Machine that it sees for the first time.
func generationOf(o client.Object) int64 {
	if _, ok := o.(*clusterv1.Machine); ok {
		return 0
	}
	return o.GetGeneration()
}
