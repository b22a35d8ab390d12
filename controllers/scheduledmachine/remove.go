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

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// remove deletes the Machine and waits for it. Draining, and deleting what
// belongs to the Machine, is Cluster API's job; only children that never got a
// Machine are deleted here. A ScheduledMachine that is being deleted loses its
// finalizer once nothing is left.
func (r *Reconciler) remove(ctx context.Context, s *scope) error {
	if s.machine != nil {
		return r.deleteMachine(ctx, s, s.why)
	}
	left, err := r.removeChildren(ctx, s, s.childKinds())
	if err != nil || left {
		return err
	}
	s.endShutdown()
	s.nothingLeft = true
	if !s.sm.DeletionTimestamp.IsZero() {
		controllerutil.RemoveFinalizer(s.sm, v1alpha1.ScheduledMachineFinalizer)
	}
	return nil
}

func (r *Reconciler) deleteMachine(ctx context.Context, s *scope, why string) error {
	s.wait(v1alpha1.MachineDeletingReason, "Waiting for Cluster API to drain and delete Machine %s", s.machine.Name)
	if !s.machine.DeletionTimestamp.IsZero() {
		return nil
	}
	// The UID keeps a Machine that took the name meanwhile from being deleted.
	err := r.Client.Delete(ctx, s.machine, client.Preconditions{UID: ptr.To(s.machine.UID)})
	switch {
	case apierrors.IsNotFound(err) || apierrors.IsConflict(err):
		return nil // The cache will tell.
	case err != nil:
		s.fail(v1alpha1.DeleteFailedReason, "Deleting Machine %s: %v", s.machine.Name, err)
		return fmt.Errorf("deleting Machine %s: %w", s.machine.Name, err)
	}
	if s.want == stop {
		edgeActedUpon("cleanup", s)
	}
	r.Recorder.Eventf(s.sm, corev1.EventTypeNormal, v1alpha1.MachineDeletedEvent, "Deleting Machine %s: %s", s.machine.Name, why)
	ctrl.LoggerFrom(ctx).Info("Deleting Machine", "Machine", s.machine.Name, "why", why)
	return nil
}

// removeChildren deletes bootstrap and infrastructure objects of ours that have
// no Machine, as a crash or an edit halfway through creation leaves them, and
// tells whether any is left.
func (r *Reconciler) removeChildren(ctx context.Context, s *scope, kinds sets.Set[schema.GroupKind]) (left bool, err error) {
	confirmed := false
	for gk := range kinds {
		obj, err := r.getChild(ctx, gk, s.sm)
		if meta.IsNoMatchError(err) {
			continue // A kind that is not served has no objects.
		}
		if err != nil {
			s.fail(v1alpha1.DeleteFailedReason, "Looking for %s %s: %v", gk.Kind, s.sm.Name, err)
			return true, err
		}
		if obj == nil || !s.owns(obj) {
			continue
		}
		if !confirmed {
			// The cache may not have a Machine that was made a moment ago; taking its
			// infrastructure away would leave it stuck.
			if exists, err := r.machineExists(ctx, s); err != nil || exists {
				return true, err
			}
			confirmed = true
		}
		left = true
		s.wait(v1alpha1.WaitingForPreviousReason, "Waiting for %s %s to be gone", obj.GetKind(), obj.GetName())
		if !obj.GetDeletionTimestamp().IsZero() {
			continue
		}
		err = r.Client.Delete(ctx, obj, client.Preconditions{UID: ptr.To(obj.GetUID())})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			s.fail(v1alpha1.DeleteFailedReason, "Deleting %s %s: %v", obj.GetKind(), obj.GetName(), err)
			return true, fmt.Errorf("deleting %s %s: %w", obj.GetKind(), obj.GetName(), err)
		}
		ctrl.LoggerFrom(ctx).Info("Deleted object that has no Machine", "kind", obj.GetKind(), "name", obj.GetName())
	}
	return left, nil
}

// machineExists asks the API server itself for a Machine of ours.
func (r *Reconciler) machineExists(ctx context.Context, s *scope) (bool, error) {
	live := &clusterv1.Machine{}
	err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(s.sm), live)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading Machine %s: %w", s.sm.Name, err)
	}
	s.setMachine(live)
	return s.machine != nil, nil
}

// specKinds are the kinds of the children that the spec asks for. What a spec may
// not name was never made, and the manager may have no right to look for it.
func (s *scope) specKinds() sets.Set[schema.GroupKind] {
	kinds := sets.Set[schema.GroupKind]{}
	for _, c := range childrenOf(s.sm.Spec) {
		if gk := c.groupKind(); groupAdvice(gk.Group, c.other) == "" {
			kinds.Insert(gk)
		}
	}
	return kinds
}

// childKinds are the kinds that children of ours may have: those of the spec and,
// where it was edited since, those that status remembers.
func (s *scope) childKinds() sets.Set[schema.GroupKind] {
	kinds := s.specKinds()
	for _, ref := range []*v1alpha1.ObjectReference{s.sm.Status.BootstrapRef, s.sm.Status.InfrastructureRef} {
		if ref != nil {
			kinds.Insert(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind())
		}
	}
	return kinds
}

// machineChildren are the kinds of a Machine's infrastructure and bootstrap objects.
func machineChildren(m *clusterv1.Machine) [2]schema.GroupKind {
	return [2]schema.GroupKind{
		{Group: m.Spec.InfrastructureRef.APIGroup, Kind: m.Spec.InfrastructureRef.Kind},
		{Group: m.Spec.Bootstrap.ConfigRef.APIGroup, Kind: m.Spec.Bootstrap.ConfigRef.Kind},
	}
}
