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

package nodetaints

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/taints"
)

// nodeName indexes Machines of ScheduledMachines by Cluster and Node.
const nodeName = "5spot.nodeName"

func nodeIndexValue(cluster, node string) string { return cluster + "/" + node }

func addNodeIndex(ctx context.Context, mgr ctrl.Manager) error {
	err := mgr.GetFieldIndexer().IndexField(ctx, &clusterv1.Machine{}, nodeName, func(o client.Object) []string {
		m := o.(*clusterv1.Machine)
		if owner := metav1.GetControllerOf(m); owner == nil || owner.Kind != "ScheduledMachine" || !m.Status.NodeRef.IsDefined() {
			return nil
		}
		return []string{nodeIndexValue(m.Spec.ClusterName, m.Status.NodeRef.Name)}
	})
	if err != nil {
		return fmt.Errorf("indexing Machines by Node: %w", err)
	}
	return nil
}

// watchNodes watches the Nodes of a workload cluster, each mapped to its ScheduledMachine.
func (r *Reconciler) watchNodes(ctx context.Context, s *scope) error {
	cluster := client.ObjectKeyFromObject(s.cluster)
	return r.ClusterCache.Watch(ctx, cluster, clustercache.NewWatcher(clustercache.WatcherOptions{
		Name:         "nodetaints-nodes",
		Watcher:      r.controller,
		Kind:         &corev1.Node{},
		EventHandler: handler.EnqueueRequestsFromMapFunc(r.scheduledMachineOf(cluster)),
		Predicates:   []predicate.Predicate{nodeMatters()},
	}))
}

func (r *Reconciler) scheduledMachineOf(cluster client.ObjectKey) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		machines := &clusterv1.MachineList{}
		if err := r.Client.List(ctx, machines, client.InNamespace(cluster.Namespace),
			client.MatchingFields{nodeName: nodeIndexValue(cluster.Name, o.GetName())}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Looking for the Machine of a Node", "Cluster", cluster, "Node", o.GetName())
			return nil
		}
		requests := make([]reconcile.Request, 0, len(machines.Items))
		for i := range machines.Items {
			// The Machine bears its ScheduledMachine's name.
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&machines.Items[i])})
		}
		return requests
	}
}

// nodeMatters passes what a plan is made from: taints, our record and Cluster
// API's, readiness, identity. A kubelet's heartbeat is none of these.
func nodeMatters() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*corev1.Node)
		after, ok2 := e.ObjectNew.(*corev1.Node)
		if !ok || !ok2 {
			return true
		}
		return before.UID != after.UID ||
			nodeReady(before) != nodeReady(after) ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
			before.Annotations[v1alpha1.AppliedTaintsAnnotation] != after.Annotations[v1alpha1.AppliedTaintsAnnotation] ||
			before.Annotations[taints.MachineTaintsAnnotation] != after.Annotations[taints.MachineTaintsAnnotation] ||
			!equality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints)
	}}
}

func machineNodeChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*clusterv1.Machine)
		after, ok2 := e.ObjectNew.(*clusterv1.Machine)
		if !ok || !ok2 {
			return true
		}
		return before.UID != after.UID ||
			before.Status.NodeRef != after.Status.NodeRef ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero()
	}}
}

func clusterPausedChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*clusterv1.Cluster)
		after, ok2 := e.ObjectNew.(*clusterv1.Cluster)
		return !ok || !ok2 || ptr.Deref(before.Spec.Paused, false) != ptr.Deref(after.Spec.Paused, false)
	}}
}
