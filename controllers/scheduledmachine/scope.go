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
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/schedule"
)

// want is what should become of the Machine.
type want int

const (
	// keep leaves things as they are.
	keep want = iota
	// run: the Machine should exist.
	run
	// stop: the Machine should go after its grace.
	stop
	// leave: the Machine should go at once.
	leave
)

// scope is everything that one reconcile reads and decides.
type scope struct {
	sm      *v1alpha1.ScheduledMachine
	cluster *clusterv1.Cluster // nil: there is none
	machine *clusterv1.Machine // nil: there is none of ours
	foreign *clusterv1.Machine // bears our name, is not ours
	now     time.Time

	invalid field.ErrorList
	state   schedule.State
	// edge is when the schedule turned to what it is now; zero: it always was.
	edge time.Time
	// activation and cleanup are the schedule's next edges; zero: never.
	activation, cleanup time.Time

	want   want
	reason string // of want, for ScheduleActive
	why    string

	// deadline is when the grace of a shutdown ends; zero: no grace runs.
	deadline time.Time
	// waiting says what a step waits for, in a sentence, and waitingReason in a word.
	waiting, waitingReason string
	// problem is what a person has to mend.
	problem *problem
	// made are the infrastructure and the bootstrap object, once they exist.
	made [2]*v1alpha1.ObjectReference
	// nothingLeft: no Machine and no child of ours exists.
	nothingLeft bool
}

// problem is a reason of MachineReady and a message that names the remedy.
type problem struct{ reason, message string }

func (s *scope) fail(reason, format string, args ...any) {
	s.problem = &problem{reason: reason, message: fmt.Sprintf(format, args...)}
}

func (s *scope) wait(reason, format string, args ...any) {
	s.waiting, s.waitingReason = fmt.Sprintf(format, args...), reason
}

func (s *scope) priority() *int {
	return ptr.To(int(ptr.Deref(s.sm.Spec.Priority, defaultPriority)))
}

func (r *Reconciler) newScope(ctx context.Context, sm *v1alpha1.ScheduledMachine, cluster *clusterv1.Cluster) (*scope, error) {
	s := &scope{sm: sm, cluster: cluster, now: r.Clock.Now()}
	machine := &clusterv1.Machine{}
	switch err := r.Client.Get(ctx, client.ObjectKeyFromObject(sm), machine); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return nil, fmt.Errorf("reading Machine %s: %w", sm.Name, err)
	default:
		s.setMachine(machine)
	}

	s.judge()
	return s, nil
}

// Leaving tells whether a ScheduledMachine's Machine is to go, with or without a
// grace, as of an instant on the clock that schedules are read by. The machine is
// its own, the cluster nil where there is none. It is pure.
func Leaving(sm *v1alpha1.ScheduledMachine, cluster *clusterv1.Cluster, machine *clusterv1.Machine, now time.Time) bool {
	s := &scope{sm: sm, cluster: cluster, machine: machine, now: now}
	s.judge()
	return s.want == stop || s.want == leave
}

// judge reads the spec by the clock and decides.
func (s *scope) judge() {
	s.invalid = validate(s.sm)
	if m := s.machine; m != nil && m.Spec.ClusterName != s.sm.Spec.ClusterName {
		s.invalid = append(s.invalid, field.Invalid(field.NewPath("spec", "clusterName"), s.sm.Spec.ClusterName,
			fmt.Sprintf("it was %s and cannot be changed: delete this ScheduledMachine and create another for the other Cluster", m.Spec.ClusterName)))
	}
	plan, errs := schedule.Compile(s.sm.Spec.Schedule, field.NewPath("spec", "schedule"))
	if len(errs) == 0 {
		s.state = plan.At(s.now)
		s.edge, _ = plan.Previous(s.now)
		s.activation, s.cleanup = plan.Edges(s.now)
	}
	s.decide()
}

// setMachine sorts a Machine of our name into ours or somebody else's.
func (s *scope) setMachine(machine *clusterv1.Machine) {
	s.machine, s.foreign = nil, nil
	if metav1.IsControlledBy(machine, s.sm) {
		s.machine = machine
	} else {
		s.foreign = machine
	}
}

// decide says what should become of the Machine, from the strongest reason to
// the weakest. It is pure.
func (s *scope) decide() {
	set := func(w want, reason, why string) { s.want, s.reason, s.why = w, reason, why }
	spec := s.sm.Spec
	switch {
	case !s.sm.DeletionTimestamp.IsZero():
		set(leave, v1alpha1.DeletingReason, "The ScheduledMachine is being deleted")
	case spec.KillSwitch:
		set(leave, v1alpha1.KillSwitchReason, "spec.killSwitch is true; set it to false to let the schedule decide again")
	case s.cluster != nil && !s.cluster.DeletionTimestamp.IsZero():
		// Cluster API waits for all Machines of a Cluster but deletes only those it
		// owns directly: without us a Cluster's deletion would never end.
		set(leave, v1alpha1.ClusterDeletingReason, fmt.Sprintf("Cluster %s is being deleted", spec.ClusterName))
	case !ptr.Deref(spec.Schedule.Enabled, true):
		set(keep, v1alpha1.DisabledReason, "spec.schedule.enabled is false: what runs stays as it is, nothing new starts")
	case len(s.invalid) > 0:
		set(keep, v1alpha1.InvalidSpecReason, "The spec is invalid: what runs stays as it is, nothing new starts")
	case s.cluster == nil:
		set(keep, v1alpha1.ClusterNotFoundReason, fmt.Sprintf("There is no Cluster %s in namespace %s", spec.ClusterName, s.sm.Namespace))
	case s.state.Active:
		set(run, s.state.Reason, s.state.Message)
	default:
		set(stop, s.state.Reason, s.state.Message)
	}
}
