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
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	hostbootstrapv1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/bootstrap/v1beta2"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

// get reads a ScheduledMachine anew. It tells whether it is there.
func get(sm *v1alpha1.ScheduledMachine) bool {
	GinkgoHelper()
	err := env.Client.Get(ctx, client.ObjectKeyFromObject(sm), sm)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err == nil
}

// children are what may be made for a ScheduledMachine.
func children() map[string]client.Object {
	return map[string]client.Object{
		machines: &clusterv1.Machine{}, hostMachines: &infrav1.HostMachine{}, hostConfigs: &hostbootstrapv1.HostConfig{},
	}
}

// leftOf lists what exists of a ScheduledMachine: children in the management
// cluster and the Node in the workload cluster.
func leftOf(sm *v1alpha1.ScheduledMachine) []string {
	GinkgoHelper()
	var left []string
	for kind, o := range children() {
		switch err := env.Client.Get(ctx, client.ObjectKeyFromObject(sm), o); {
		case err == nil:
			left = append(left, kind)
		case !apierrors.IsNotFound(err):
			Expect(err).NotTo(HaveOccurred())
		}
	}
	if _, err := node(sm); err == nil {
		left = append(left, "Node")
	} else {
		Expect(client.IgnoreNotFound(err)).To(Succeed())
	}
	slices.Sort(left)
	return left
}

// isActive tells whether all is as it should be in the window.
func isActive(sm *v1alpha1.ScheduledMachine) func() bool {
	return func() bool {
		return get(sm) && sm.Status.Phase == v1alpha1.PhaseActive &&
			strings.HasPrefix(environment.Condition(sm, v1alpha1.ReadyCondition), "True/") &&
			environment.Condition(sm, v1alpha1.NodeTaintedCondition) == "True/"+v1alpha1.TaintsAppliedReason
	}
}

// isInactive tells whether all is as it should be outside the window.
func isInactive(sm *v1alpha1.ScheduledMachine) func() bool {
	return func() bool {
		return get(sm) && sm.Status.Phase == v1alpha1.PhaseInactive &&
			strings.HasPrefix(environment.Condition(sm, v1alpha1.ReadyCondition), "True/") &&
			len(leftOf(sm)) == 0
	}
}

// isGone tells whether a ScheduledMachine and all that was made for it is gone.
func isGone(sm *v1alpha1.ScheduledMachine) func() bool {
	return func() bool {
		err := env.Client.Get(ctx, client.ObjectKeyFromObject(sm), &v1alpha1.ScheduledMachine{})
		return apierrors.IsNotFound(err) && len(leftOf(sm)) == 0
	}
}

// expectMade checks that everything exists exactly once, hangs together, and was
// made the given number of times since the ScheduledMachine was first created.
func expectMade(sm *v1alpha1.ScheduledMachine, times int) {
	GinkgoHelper()
	for kind, o := range children() {
		Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(sm), o)).To(Succeed(), "%s %s", kind, sm.Name)
		past.upTo(o)
		uids := past.uidsOf(kind, sm)
		Expect(uids).To(HaveLen(times), "%s %s was made too often", kind, sm.Name)
		Expect(uids[times-1]).To(Equal(o.GetUID()))
		Expect(o.GetLabels()).To(HaveKeyWithValue(v1alpha1.ScheduledMachineLabel, sm.Name), "%s %s", kind, sm.Name)
		Expect(ownerUIDs(o)).To(ContainElement(sm.UID), "%s %s", kind, sm.Name)
		if kind == machines {
			Expect(metav1.IsControlledBy(o, sm)).To(BeTrue(), "Machine %s", sm.Name)
		}
	}
}

func ownerUIDs(o client.Object) []types.UID {
	var uids []types.UID
	for _, owner := range o.GetOwnerReferences() {
		uids = append(uids, owner.UID)
	}
	return uids
}

// expectTainted checks that Node and mirror are as declared.
func expectTainted(sm *v1alpha1.ScheduledMachine) {
	GinkgoHelper()
	n, err := node(sm)
	Expect(err).NotTo(HaveOccurred())
	for _, t := range sm.Spec.NodeTaints {
		Expect(environment.TaintTexts(n)).To(ContainElement(fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect)), "Node %s", sm.Name)
	}
	Expect(sm.Status.AppliedNodeTaints).To(ConsistOf(sm.Spec.NodeTaints), "the mirror of Node %s", sm.Name)
	Expect(sm.Status.NodeRef).NotTo(BeNil())
	Expect(sm.Status.NodeRef.UID).To(Equal(string(n.UID)))
}

// expectNoOrphans checks that nothing exists but what belongs to the given
// ScheduledMachines.
func expectNoOrphans(sms ...*v1alpha1.ScheduledMachine) {
	GinkgoHelper()
	names := map[string]bool{}
	for _, sm := range sms {
		names[sm.Name] = true
	}
	for kind, list := range map[string]client.ObjectList{
		machines: &clusterv1.MachineList{}, hostMachines: &infrav1.HostMachineList{}, hostConfigs: &hostbootstrapv1.HostConfigList{},
	} {
		Expect(env.Client.List(ctx, list)).To(Succeed())
		for _, name := range namesIn(list) {
			Expect(names).To(HaveKey(name), "%s %s belongs to nobody", kind, name)
		}
	}
}

func namesIn(list client.ObjectList) []string {
	var names []string
	switch l := list.(type) {
	case *clusterv1.MachineList:
		for i := range l.Items {
			names = append(names, l.Items[i].Name)
		}
	case *infrav1.HostMachineList:
		for i := range l.Items {
			names = append(names, l.Items[i].Name)
		}
	case *hostbootstrapv1.HostConfigList:
		for i := range l.Items {
			names = append(names, l.Items[i].Name)
		}
	}
	return names
}

// expectNoError checks that the phase never was Error.
func expectNoError(sm *v1alpha1.ScheduledMachine) {
	GinkgoHelper()
	if get(sm) {
		past.upTo(sm)
	}
	Expect(past.phasesOf(sm)).NotTo(ContainElement(v1alpha1.PhaseError), "phases of %s", sm.Name)
}

// writesIn are the successful writes of a client to objects of a name.
func writesIn(cp *controlplane.ControlPlane, agent, resource, name string) []controlplane.AuditEvent {
	GinkgoHelper()
	events, err := cp.Audit(func(e controlplane.AuditEvent) bool {
		return e.Write() && e.Code < 300 && e.Resource == resource && e.Name == name && strings.Contains(e.UserAgent, agent)
	})
	Expect(err).NotTo(HaveOccurred())
	return events
}

// describe says what a ScheduledMachine looks like, for a test that fails.
func describe(sm *v1alpha1.ScheduledMachine) string {
	if !get(sm) {
		return fmt.Sprintf("ScheduledMachine %s is gone, left: %s", sm.Name, leftOf(sm))
	}
	sm.ManagedFields = nil
	text, err := yaml.Marshal(sm)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%sleft: %s", text, leftOf(sm))
}
