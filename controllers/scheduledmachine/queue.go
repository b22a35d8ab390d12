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

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

const defaultPriority = 50

// byPriority queues a ScheduledMachine with its own priority, also on start-up:
// a controller that was down over an edge catches up in the order that the edge
// itself would have had.
type byPriority struct{}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func (byPriority) Create(_ context.Context, e event.CreateEvent, q queue) {
	add(q, e.Object, priorityOf(e.Object))
}

// Update queues what only had its status written behind everything else: that is an
// echo of a reconcile, to be looked at because it may have worked from a stale cache.
func (byPriority) Update(_ context.Context, e event.UpdateEvent, q queue) {
	priority := priorityOf(e.ObjectNew)
	if onlyStatusChanged(e.ObjectOld, e.ObjectNew) {
		priority = handler.LowPriority
	}
	add(q, e.ObjectNew, priority)
}

func (byPriority) Delete(_ context.Context, e event.DeleteEvent, q queue) {
	add(q, e.Object, priorityOf(e.Object))
}

func (byPriority) Generic(_ context.Context, e event.GenericEvent, q queue) {
	add(q, e.Object, priorityOf(e.Object))
}

func priorityOf(o client.Object) int {
	if sm, ok := o.(*v1alpha1.ScheduledMachine); ok {
		return int(ptr.Deref(sm.Spec.Priority, defaultPriority))
	}
	return defaultPriority
}

func onlyStatusChanged(before, after client.Object) bool {
	return before.GetGeneration() == after.GetGeneration() &&
		before.GetDeletionTimestamp().Equal(after.GetDeletionTimestamp()) &&
		equality.Semantic.DeepEqual(before.GetAnnotations(), after.GetAnnotations()) &&
		equality.Semantic.DeepEqual(before.GetLabels(), after.GetLabels()) &&
		equality.Semantic.DeepEqual(before.GetFinalizers(), after.GetFinalizers()) &&
		equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences())
}

func add(q queue, o client.Object, priority int) {
	req := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}
	if pq, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		pq.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, req)
		return
	}
	q.Add(req)
}

// ownerOrNamesake queues the ScheduledMachine that owns an object and, when an
// object goes, the one that bears its name: it may have waited for a stranger to
// make room.
func ownerOrNamesake(scheme *runtime.Scheme, mapper meta.RESTMapper) handler.EventHandler {
	owner := handler.EnqueueRequestForOwner(scheme, mapper, &v1alpha1.ScheduledMachine{})
	return handler.Funcs{
		CreateFunc:  owner.Create,
		UpdateFunc:  owner.Update,
		GenericFunc: owner.Generic,
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) {
			q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e.Object)})
		},
	}
}

// clusterLifecycle passes what of a Cluster matters here: that it is there,
// paused, or going.
func clusterLifecycle() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*clusterv1.Cluster)
		after, ok2 := e.ObjectNew.(*clusterv1.Cluster)
		if !ok || !ok2 {
			return true
		}
		return before.UID != after.UID ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
			ptr.Deref(before.Spec.Paused, false) != ptr.Deref(after.Spec.Paused, false)
	}}
}
