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
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/schedule"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// The strongest reason comes first: each row adds one on top of the row above.
func TestDecide(t *testing.T) {
	deletion := ptr.To(metav1.NewTime(noon))
	sm := func(change func(*v1alpha1.ScheduledMachine)) *v1alpha1.ScheduledMachine {
		sm := &v1alpha1.ScheduledMachine{}
		change(sm)
		return sm
	}
	nothing := func(*v1alpha1.ScheduledMachine) {}
	disabled := func(sm *v1alpha1.ScheduledMachine) { sm.Spec.Schedule.Enabled = ptr.To(false) }
	killed := func(sm *v1alpha1.ScheduledMachine) { disabled(sm); sm.Spec.KillSwitch = true }
	deleted := func(sm *v1alpha1.ScheduledMachine) { killed(sm); sm.DeletionTimestamp = deletion }
	cluster := &clusterv1.Cluster{}
	dying := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: deletion}}
	invalid := field.ErrorList{field.Invalid(field.NewPath("spec"), "", "")}
	on := schedule.State{Active: true, Reason: v1alpha1.InWindowReason}
	off := schedule.State{Reason: v1alpha1.OutOfWindowReason}

	for _, row := range []struct {
		name    string
		sm      *v1alpha1.ScheduledMachine
		cluster *clusterv1.Cluster
		invalid field.ErrorList
		state   schedule.State
		want    want
		reason  string
	}{
		{"window closed", sm(nothing), cluster, nil, off, stop, v1alpha1.OutOfWindowReason},
		{"window open", sm(nothing), cluster, nil, on, run, v1alpha1.InWindowReason},
		{"no Cluster: nothing starts, nothing stops", sm(nothing), nil, nil, on, keep, v1alpha1.ClusterNotFoundReason},
		{"invalid: nothing starts, nothing stops", sm(nothing), cluster, invalid, off, keep, v1alpha1.InvalidSpecReason},
		{"disabled, whatever else is wrong", sm(disabled), cluster, invalid, on, keep, v1alpha1.DisabledReason},
		{"Cluster being deleted, though disabled", sm(disabled), dying, nil, on, leave, v1alpha1.ClusterDeletingReason},
		{"killSwitch, though invalid", sm(killed), cluster, invalid, on, leave, v1alpha1.KillSwitchReason},
		{"killSwitch, though there is no Cluster", sm(killed), nil, nil, on, leave, v1alpha1.KillSwitchReason},
		{"being deleted", sm(deleted), nil, invalid, on, leave, v1alpha1.DeletingReason},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := NewWithT(t)
			s := &scope{sm: row.sm, cluster: row.cluster, invalid: row.invalid, state: row.state}
			s.decide()
			g.Expect(s.want).To(Equal(row.want))
			g.Expect(s.reason).To(Equal(row.reason))
		})
	}
}

func TestShutdownSince(t *testing.T) {
	edge := noon.Add(-time.Hour)
	for _, row := range []struct {
		name       string
		annotation string
		edge       time.Time
		observed   int64
		want       time.Time
		recorded   bool
	}{
		{"the clock ended the window", "", edge, 7, edge, false},
		{"the clock ended it while nobody looked, status lost in a move", "", edge, 0, edge, false},
		{"an edit ended it: the schedule's own edge may be long past", "", edge, 6, noon, false},
		{"the schedule has no edge in the past", "", time.Time{}, 7, noon, false},
		{"recorded", "2026-12-01T11:58:00Z", edge, 6, noon.Add(-2 * time.Minute), true},
		{"recorded in the future: the clock was set back", "2026-12-01T13:00:00Z", edge, 7, noon, false},
		{"recorded as garbage", "yesterday", edge, 7, edge, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := NewWithT(t)
			s := &scope{sm: &v1alpha1.ScheduledMachine{}, edge: row.edge, now: noon}
			s.sm.Generation, s.sm.Status.ObservedGeneration = 7, row.observed
			if row.annotation != "" {
				s.sm.Annotations = map[string]string{v1alpha1.ShutdownSinceAnnotation: row.annotation}
			}
			since, recorded := s.shutdownSince()
			g.Expect(since).To(BeTemporally("==", row.want))
			g.Expect(recorded).To(Equal(row.recorded))
			s.setShutdownSince(since)
			again, recorded := s.shutdownSince()
			g.Expect(again).To(BeTemporally("==", since), "what is written reads back the same")
			g.Expect(recorded).To(BeTrue())
		})
	}
}

func TestSleepUntilTheNextThingIsDue(t *testing.T) {
	for _, row := range []struct {
		name string
		s    scope
		want time.Duration
	}{
		{"nothing is ever due", scope{}, 0},
		{"the nearer edge", scope{activation: noon.Add(time.Hour), cleanup: noon.Add(time.Minute)}, time.Minute},
		{"the end of the grace", scope{activation: noon.Add(time.Hour), deadline: noon.Add(time.Second)}, time.Second},
		{"due this very instant is not never", scope{cleanup: noon}, time.Millisecond},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.s.now = noon
			NewWithT(t).Expect(row.s.sleep()).To(Equal(row.want))
		})
	}
}

func TestPhase(t *testing.T) {
	machine := &clusterv1.Machine{}
	going := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: ptr.To(metav1.NewTime(noon))}}
	for _, row := range []struct {
		name string
		s    scope
		want v1alpha1.Phase
	}{
		{"window open, nothing made yet", scope{want: run}, v1alpha1.PhasePending},
		{"window open, the previous Machine still drains", scope{want: run, machine: going, waiting: "x"}, v1alpha1.PhasePending},
		{"window open, Machine there", scope{want: run, machine: machine}, v1alpha1.PhaseActive},
		{"grace runs", scope{want: stop, machine: machine, waiting: "x"}, v1alpha1.PhaseShuttingDown},
		{"Machine draining", scope{want: stop, machine: going}, v1alpha1.PhaseShuttingDown},
		{"a child is still going", scope{want: stop, waiting: "x"}, v1alpha1.PhaseShuttingDown},
		{"window closed, nothing there", scope{want: stop}, v1alpha1.PhaseInactive},
		{"disabled", scope{want: keep, reason: v1alpha1.DisabledReason, machine: machine}, v1alpha1.PhaseDisabled},
		{"killed, still going", scope{want: leave, reason: v1alpha1.KillSwitchReason, machine: going}, v1alpha1.PhaseTerminated},
		{"killed, gone", scope{want: leave, reason: v1alpha1.KillSwitchReason}, v1alpha1.PhaseTerminated},
		{"invalid", scope{want: keep, reason: v1alpha1.InvalidSpecReason, machine: machine}, v1alpha1.PhaseError},
		{"no Cluster", scope{want: keep, reason: v1alpha1.ClusterNotFoundReason}, v1alpha1.PhaseError},
		{"name taken", scope{want: run, problem: &problem{}}, v1alpha1.PhaseError},
	} {
		t.Run(row.name, func(t *testing.T) {
			NewWithT(t).Expect(row.s.phase()).To(Equal(row.want))
		})
	}
}
