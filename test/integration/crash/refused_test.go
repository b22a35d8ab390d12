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

package crash_test

import (
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/fault"
)

// Case 31.
var _ = Describe("A clean-up that the API server refuses", func() {
	It("keeps the finalizer, says which object it is about, and ends once the refusal does", func() {
		const refused = "somebody forbids it"
		machine := environment.ScheduledMachine(clusterName, "refused-machine")
		child := environment.ScheduledMachine(clusterName, "refused-child")

		By("a Machine, and the infrastructure of a Machine that was never made")
		manager := startManager(toManagement)
		create(machine)
		Eventually(isActive(machine)).Should(BeTrue(), func() string { return describe(machine) })
		g := setGate([]string{child.Name}, func(_ string, made []string) bool { return made[len(made)-1] == "create hostmachines" })
		create(child)
		Eventually(g.stopped).WithArguments(child).Should(BeTrue())
		g.kill(manager)
		g.lift()

		By("an admission policy refuses the one, a failing API server the other")
		admit := forbidDeletion(machine.Name, refused)
		recover := toManagement.OnRequest(func(r *http.Request) fault.Action {
			if d := fault.Describe(r); d.Verb == "delete" && d.Resource == "hostmachines" && d.Name == child.Name {
				return fault.Fail(http.StatusInternalServerError)
			}
			return fault.Pass
		})
		DeferCleanup(recover)
		for _, sm := range []*v1alpha1.ScheduledMachine{machine, child} {
			Expect(env.Client.Delete(ctx, sm)).To(Succeed())
		}
		startManager(toManagement)
		for sm, want := range map[*v1alpha1.ScheduledMachine][]string{
			machine: {"Machine refused-machine", refused},
			child:   {"HostMachine refused-child", "failed by the test's proxy"},
		} {
			Eventually(func(g Gomega) {
				g.Expect(get(sm)).To(BeTrue())
				c := conditions.Get(sm, v1alpha1.MachineReadyCondition)
				g.Expect(c).NotTo(BeNil())
				g.Expect(fmt.Sprintf("%s/%s", c.Status, c.Reason)).To(Equal("False/" + v1alpha1.DeleteFailedReason))
				for _, text := range want {
					g.Expect(c.Message).To(ContainSubstring(text))
				}
			}).Should(Succeed())
			Expect(sm.Finalizers).To(ContainElement(v1alpha1.ScheduledMachineFinalizer))
			Expect(sm.Status.Phase).To(Equal(v1alpha1.PhaseError))
		}
		Expect(leftOf(machine)).To(Equal([]string{hostConfigs, hostMachines, machines, "Node"}))
		Expect(leftOf(child)).To(Equal([]string{hostMachines}))

		By("the refusals end")
		admit()
		recover()
		for _, sm := range []*v1alpha1.ScheduledMachine{machine, child} {
			Eventually(isGone(sm)).Should(BeTrue(), func() string { return describe(sm) })
		}
		Expect(past.uidsOf(machines, child)).To(BeEmpty())
	})
})

// forbidDeletion makes the API server refuse the deletion of a Machine, until it is
// admitted again or the test ends.
func forbidDeletion(name, message string) (admit func()) {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Name: "keep-" + name}
	fails := admissionv1.Fail
	objects := []client.Object{
		&admissionv1.ValidatingAdmissionPolicy{
			ObjectMeta: meta,
			Spec: admissionv1.ValidatingAdmissionPolicySpec{
				FailurePolicy: &fails,
				MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
					RuleWithOperations: admissionv1.RuleWithOperations{
						Operations: []admissionv1.OperationType{admissionv1.Delete},
						Rule:       admissionv1.Rule{APIGroups: []string{clusterv1.GroupVersion.Group}, APIVersions: []string{"*"}, Resources: []string{"machines"}},
					},
				}}},
				Validations: []admissionv1.Validation{{Expression: fmt.Sprintf("request.name != %q", name), Message: message}},
			},
		},
		&admissionv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: meta,
			Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: meta.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
		},
	}
	for _, o := range objects {
		Expect(env.Client.Create(ctx, o)).To(Succeed())
	}
	admit = func() {
		for _, o := range objects {
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, o))).To(Succeed())
		}
	}
	DeferCleanup(admit)
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: environment.Namespace, Name: name}}
	Eventually(func() error { return env.Client.Delete(ctx, machine, client.DryRunAll) }).Should(MatchError(ContainSubstring(message)))
	return admit
}
