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

package scheduledmachine

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// ownedConditions are those that this controller alone writes; NodeTainted and
// TaintOwnershipConflict are the nodetaints controller's.
var ownedConditions = []string{
	v1alpha1.PausedCondition,
	v1alpha1.ReadyCondition,
	v1alpha1.ScheduleActiveCondition,
	v1alpha1.ScheduleValidCondition,
	v1alpha1.MachineReadyCondition,
}

// nameTaken reports an object that bears our name and is not ours.
func (r *Reconciler) nameTaken(s *scope, o client.Object) {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	if kind == "" {
		kind = "Machine" // Typed objects read through a client carry no kind.
	}
	s.fail(v1alpha1.NameTakenReason, "%s %s exists and does not belong to this ScheduledMachine; it is left alone. "+
		"Delete it, or give the ScheduledMachine another name", kind, o.GetName())
	if conditions.GetMessage(s.sm, v1alpha1.MachineReadyCondition) != s.problem.message {
		r.Recorder.Event(s.sm, corev1.EventTypeWarning, v1alpha1.NameTakenEvent, s.problem.message)
	}
}

// explain turns an error of a step into a problem that status shows. A write that
// lost a race is none: the retry follows at once.
func (s *scope) explain(err error) {
	if s.problem != nil || apierrors.IsConflict(err) {
		return
	}
	reason := v1alpha1.CreateFailedReason
	if s.want != run {
		reason = v1alpha1.DeleteFailedReason
	}
	if apierrors.IsForbidden(err) {
		s.fail(reason, "%v. Kinds of a provider that the manager does not know are granted with a ClusterRole labelled "+
			"5spot.finos.org/aggregate-to-manager: \"true\"", err)
		return
	}
	s.fail(reason, "%v", err)
}

// writeStatus says in status what was read and done.
func (s *scope) writeStatus(mapper meta.RESTMapper) {
	st := &s.sm.Status
	st.InSchedule = ptr.To(s.state.Active)
	st.NextActivation, st.NextCleanup = timeOrNil(s.activation), timeOrNil(s.cleanup)
	st.NextChange = st.NextActivation
	if st.NextChange == nil || (st.NextCleanup != nil && st.NextCleanup.Before(st.NextChange)) {
		st.NextChange = st.NextCleanup
	}
	s.writeReferences(mapper)
	st.Phase = s.phase()
	s.setCondition(s.scheduleValid())
	s.setCondition(s.scheduleActive())
	s.setCondition(s.machineReady())
	s.setCondition(s.ready())
}

func timeOrNil(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return ptr.To(metav1.NewTime(t.UTC()))
}

// writeReferences names the Machine and its children, or those made so far.
func (s *scope) writeReferences(mapper meta.RESTMapper) {
	st := &s.sm.Status
	infrastructure, bootstrap := s.made[0], s.made[1]
	if s.machine == nil {
		st.MachineRef, st.ProviderID = nil, ""
	} else {
		st.MachineRef = s.reference(clusterv1.GroupVersion.WithKind("Machine"))
		st.ProviderID = s.machine.Spec.ProviderID
		kinds := machineChildren(s.machine)
		infrastructure, bootstrap = s.referenceByKind(mapper, kinds[0]), s.referenceByKind(mapper, kinds[1])
	}
	if infrastructure != nil || s.nothingLeft {
		st.InfrastructureRef = infrastructure
	}
	if bootstrap != nil || s.nothingLeft {
		st.BootstrapRef = bootstrap
	}
}

func (s *scope) reference(gvk schema.GroupVersionKind) *v1alpha1.ObjectReference {
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	return &v1alpha1.ObjectReference{APIVersion: apiVersion, Kind: kind, Name: s.sm.Name, Namespace: s.sm.Namespace}
}

// referenceByKind returns nil for a kind that is not served (any more).
func (s *scope) referenceByKind(mapper meta.RESTMapper, gk schema.GroupKind) *v1alpha1.ObjectReference {
	mapping, err := mapper.RESTMapping(gk)
	if err != nil {
		return nil
	}
	return s.reference(mapping.GroupVersionKind)
}

func (s *scope) phase() v1alpha1.Phase {
	exists := s.machine != nil
	going := exists && !s.machine.DeletionTimestamp.IsZero()
	switch {
	case s.problem != nil, s.reason == v1alpha1.InvalidSpecReason, s.reason == v1alpha1.ClusterNotFoundReason:
		return v1alpha1.PhaseError
	case s.reason == v1alpha1.KillSwitchReason:
		return v1alpha1.PhaseTerminated
	case s.want == keep:
		return v1alpha1.PhaseDisabled
	case s.want == run && exists && !going:
		return v1alpha1.PhaseActive
	case s.want == run:
		return v1alpha1.PhasePending
	case exists || s.waiting != "":
		return v1alpha1.PhaseShuttingDown
	default:
		return v1alpha1.PhaseInactive
	}
}

// maxMessage keeps a condition's message, which may quote any number of errors,
// well below the API's limit of 32 KiB.
const maxMessage = 4096

func (s *scope) setCondition(c metav1.Condition) {
	c.ObservedGeneration = s.sm.Generation
	if len(c.Message) > maxMessage {
		c.Message = strings.ToValidUTF8(c.Message[:maxMessage], "") + " …"
	}
	conditions.Set(s.sm, c)
}

func condition(t string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: t, Status: status, Reason: reason, Message: message}
}

func (s *scope) scheduleValid() metav1.Condition {
	if len(s.invalid) > 0 {
		return condition(v1alpha1.ScheduleValidCondition, metav1.ConditionFalse, v1alpha1.InvalidSpecReason, s.invalid.ToAggregate().Error())
	}
	return condition(v1alpha1.ScheduleValidCondition, metav1.ConditionTrue, v1alpha1.ScheduleValidReason, "")
}

func (s *scope) scheduleActive() metav1.Condition {
	status := metav1.ConditionFalse
	switch {
	case s.want == run:
		status = metav1.ConditionTrue
	case s.reason == v1alpha1.InvalidSpecReason:
		status = metav1.ConditionUnknown
	}
	return condition(v1alpha1.ScheduleActiveCondition, status, s.reason, s.why)
}

func (s *scope) machineReady() metav1.Condition {
	const t = v1alpha1.MachineReadyCondition
	switch {
	case s.problem != nil:
		return condition(t, metav1.ConditionFalse, s.problem.reason, s.problem.message)
	case s.machine == nil && s.waiting != "":
		return condition(t, metav1.ConditionFalse, s.waitingReason, s.waiting)
	case s.machine == nil:
		return condition(t, metav1.ConditionFalse, v1alpha1.NoMachineReason, s.why)
	case !s.machine.DeletionTimestamp.IsZero():
		message := s.waiting
		if deleting := conditions.Get(s.machine, clusterv1.MachineDeletingCondition); deleting != nil && deleting.Message != "" {
			message += ": " + deleting.Message
		}
		return condition(t, metav1.ConditionFalse, v1alpha1.MachineDeletingReason, message)
	case s.waiting != "":
		return condition(t, metav1.ConditionFalse, s.waitingReason, s.waiting)
	}
	ready := conditions.Get(s.machine, clusterv1.MachineReadyCondition)
	if ready == nil {
		return condition(t, metav1.ConditionUnknown, v1alpha1.MachineNotReadyReason, fmt.Sprintf("Machine %s reports no Ready condition yet", s.machine.Name))
	}
	return condition(t, ready.Status, ready.Reason, ready.Message)
}

// ready says whether the world is as the schedule asks now: in the window, a
// Machine that is Ready with its taints on; outside, no Machine. So a GitOps tool
// that waits for Ready does not wait through the night.
func (s *scope) ready() metav1.Condition {
	const t = v1alpha1.ReadyCondition
	of := func(conditionType string) *metav1.Condition { return conditions.Get(s.sm, conditionType) }
	if s.problem == nil && s.want != run && s.machine == nil && s.waiting == "" && len(s.invalid) == 0 && s.cluster != nil {
		return condition(t, metav1.ConditionTrue, s.reason, s.why)
	}
	inOrder := []*metav1.Condition{of(v1alpha1.ScheduleValidCondition), of(v1alpha1.MachineReadyCondition), of(v1alpha1.NodeTaintedCondition)}
	for _, c := range inOrder {
		if c == nil {
			return condition(t, metav1.ConditionUnknown, v1alpha1.NoNodeYetReason, "Waiting for the Node's taints to be reported")
		}
		if c.Status != metav1.ConditionTrue {
			return condition(t, c.Status, c.Reason, fmt.Sprintf("%s: %s", c.Type, c.Message))
		}
	}
	return condition(t, metav1.ConditionTrue, v1alpha1.MachineReadyReason, "")
}
