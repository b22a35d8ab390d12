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

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/collections"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// run makes the Machine exist: infrastructure, bootstrap, Machine, in that order.
// Names are fixed, so that a crash between any two writes leaves objects that the
// next reconcile finds and goes on with; nothing can be made twice.
func (r *Reconciler) run(ctx context.Context, s *scope) error {
	if s.foreign != nil {
		r.nameTaken(s, s.foreign)
		return nil
	}
	if s.machine != nil && !s.machine.DeletionTimestamp.IsZero() {
		s.wait(v1alpha1.MachineDeletingReason, "Waiting for the previous Machine %s to be gone", s.machine.Name)
		s.endShutdown()
		return nil
	}
	if _, shuttingDown := s.sm.Annotations[v1alpha1.ShutdownSinceAnnotation]; shuttingDown && s.machine != nil {
		r.Recorder.Eventf(s.sm, corev1.EventTypeNormal, v1alpha1.ShutdownCancelledEvent, "The window opened again: Machine %s stays", s.machine.Name)
		ctrl.LoggerFrom(ctx).Info("Shutdown cancelled: the window opened again", "Machine", s.machine.Name)
	}
	s.endShutdown()
	if s.machine != nil && collections.IsUnhealthyAndOwnerRemediated(s.machine) {
		return r.deleteMachine(ctx, s, "a MachineHealthCheck found it unhealthy and leaves it to its owner to replace it")
	}

	// Once Cluster API has provisioned the Machine, a child that is missing is its
	// failure to handle, not ours to paper over.
	if s.machine != nil && ptr.Deref(s.machine.Status.Initialization.InfrastructureProvisioned, false) {
		return r.syncMachine(ctx, s)
	}

	if s.machine == nil {
		// What an edit of the kind halfway through creation left behind.
		if left, err := r.removeChildren(ctx, s, s.childKinds().Difference(s.specKinds())); err != nil || left || s.machine != nil {
			return err
		}
	}
	var made [2]*unstructured.Unstructured
	for i, c := range childrenOf(s.sm.Spec) {
		// The children of a Machine that exists are those that it names.
		if s.machine != nil && c.groupKind() != machineChildren(s.machine)[i] {
			continue
		}
		obj, err := r.ensureChild(ctx, s, c)
		if err != nil || obj == nil {
			return err
		}
		made[i] = obj
		s.made[i] = s.reference(obj.GroupVersionKind())
	}
	if s.machine != nil {
		return r.syncMachine(ctx, s)
	}
	return r.createMachine(ctx, s, made[0], made[1])
}

func (r *Reconciler) createMachine(ctx context.Context, s *scope, infrastructure, bootstrap *unstructured.Unstructured) error {
	machine := s.desiredMachine(infrastructure, bootstrap)
	err := r.Client.Create(ctx, machine, client.FieldOwner(v1alpha1.FieldManager))
	switch {
	case apierrors.IsAlreadyExists(err):
		// Made by us a moment ago or before a crash, or by somebody else: look, live.
		live := &clusterv1.Machine{}
		if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(machine), live); err != nil {
			return fmt.Errorf("reading Machine %s: %w", machine.Name, err)
		}
		s.setMachine(live)
		if s.foreign != nil {
			r.nameTaken(s, s.foreign)
		}
		return nil
	case err != nil:
		return fmt.Errorf("creating Machine %s: %w", machine.Name, err)
	}
	s.setMachine(machine)
	s.sm.Status.LastScheduledTime = ptr.To(metav1.NewTime(s.now))
	edgeActedUpon("activation", s)
	r.Recorder.Eventf(s.sm, corev1.EventTypeNormal, v1alpha1.MachineCreatedEvent, "Created Machine %s: %s", machine.Name, s.why)
	ctrl.LoggerFrom(ctx).Info("Created Machine", "Machine", machine.Name, "reason", s.reason)
	return nil
}

func (s *scope) desiredMachine(infrastructure, bootstrap *unstructured.Unstructured) *clusterv1.Machine {
	spec := s.sm.Spec
	labels, annotations := templateMetadata(spec)
	owner := s.ownerReference()
	owner.Controller = ptr.To(true)
	owner.BlockOwnerDeletion = ptr.To(true)
	return &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       s.sm.Namespace,
			Name:            s.sm.Name,
			Labels:          s.ownLabels(labels),
			Annotations:     annotations,
			OwnerReferences: []metav1.OwnerReference{owner},
		},
		Spec: clusterv1.MachineSpec{
			ClusterName:       spec.ClusterName,
			Version:           spec.Version,
			InfrastructureRef: contractReference(infrastructure),
			Bootstrap:         clusterv1.Bootstrap{ConfigRef: contractReference(bootstrap)},
			Deletion:          clusterv1.MachineDeletionSpec{NodeDrainTimeoutSeconds: drainTimeoutSeconds(spec)},
		},
	}
}

func templateMetadata(spec v1alpha1.ScheduledMachineSpec) (labels, annotations map[string]string) {
	if spec.MachineTemplate == nil {
		return nil, nil
	}
	return spec.MachineTemplate.Labels, spec.MachineTemplate.Annotations
}

func contractReference(obj *unstructured.Unstructured) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{
		APIGroup: obj.GroupVersionKind().Group,
		Kind:     obj.GetKind(),
		Name:     obj.GetName(),
	}
}

// drainTimeoutSeconds is the Machine's drain timeout. To Cluster API zero means
// for ever; to our users 0s means not at all, for which the shortest bound stands.
func drainTimeoutSeconds(spec v1alpha1.ScheduledMachineSpec) *int32 {
	return ptr.To(max(int32(timeout(spec.NodeDrainTimeout)/time.Second), 1))
}
