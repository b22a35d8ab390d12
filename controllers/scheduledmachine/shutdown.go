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
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// shutdown lets the grace run and then removes the Machine. The instant from
// which the grace counts is kept in an annotation, so that neither a restart nor
// `clusterctl move` begins it again.
func (r *Reconciler) shutdown(ctx context.Context, s *scope) error {
	if s.machine == nil || !s.machine.DeletionTimestamp.IsZero() {
		return r.remove(ctx, s)
	}
	since, begun := s.shutdownSince()
	if !begun {
		s.setShutdownSince(since)
	}
	s.deadline = since.Add(timeout(s.sm.Spec.GracefulShutdownTimeout))
	if s.now.Before(s.deadline) {
		s.wait(v1alpha1.WaitingForShutdownGraceReason, "Machine %s is deleted at %s unless the window opens again", s.machine.Name, s.deadline.UTC().Format(time.RFC3339))
		if !begun {
			r.Recorder.Eventf(s.sm, corev1.EventTypeNormal, v1alpha1.ShutdownStartedEvent, "%s; %s", s.why, s.waiting)
			ctrl.LoggerFrom(ctx).Info("Shutdown started", "Machine", s.machine.Name, "deadline", s.deadline)
		}
		return nil
	}
	s.deadline = time.Time{}
	return r.remove(ctx, s)
}

// shutdownSince returns the instant from which the grace counts, and whether it
// is recorded already. It is never in the future: a clock that was set back must
// not make the grace endless.
func (s *scope) shutdownSince() (since time.Time, recorded bool) {
	if t, err := time.Parse(time.RFC3339Nano, s.sm.Annotations[v1alpha1.ShutdownSinceAnnotation]); err == nil {
		if t.After(s.now) {
			// Counting from an edge instead could leave no grace at all: after an edit
			// the schedule's last edge says nothing of when the Machine was to stop.
			return s.now, false
		}
		return t, true
	}
	observed := s.sm.Status.ObservedGeneration
	edited := observed != 0 && observed != s.sm.Generation
	if s.edge.IsZero() || edited {
		// An edit, not the clock, ended the window: the new schedule's last edge may
		// be long past and would leave no grace at all.
		return s.now, false
	}
	return s.edge, false
}

func (s *scope) setShutdownSince(t time.Time) {
	if s.sm.Annotations == nil {
		s.sm.Annotations = map[string]string{}
	}
	s.sm.Annotations[v1alpha1.ShutdownSinceAnnotation] = t.UTC().Format(time.RFC3339Nano)
}

// endShutdown forgets that a shutdown was under way.
func (s *scope) endShutdown() {
	delete(s.sm.Annotations, v1alpha1.ShutdownSinceAnnotation)
}
