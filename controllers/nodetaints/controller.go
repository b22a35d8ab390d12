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

// Package nodetaints keeps spec.nodeTaints of a ScheduledMachine on its Node.
//
// The Node is watched in the workload cluster through Cluster API's ClusterCache;
// nothing polls. A reconcile computes a plan from the Node as cached, and only
// where that plan is not empty reads the Node itself and sends one request. The
// record of what is ours stands on the Node and is written in that same request,
// so that a crash at any instant loses nothing.
package nodetaints

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/controllers/index"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/gone"
)

const (
	controllerName = "nodetaints"

	// unreachableAfter is how long a workload cluster may leave Cluster API's
	// health probe, sent every 10 s, unanswered before its Nodes count as unknown:
	// two probes missed.
	unreachableAfter = 25 * time.Second
	// unreachableRetry is the interval at which an unreachable cluster is looked at
	// again: a probe that succeeds without a reconnect raises no event.
	unreachableRetry = 5 * time.Second
	// crowdedRetry is for those that wait at the gate and were overlooked: one that
	// was let in instead of them had nothing to do there.
	crowdedRetry = 5 * time.Second
	// requestTimeout bounds what one reconcile asks of a workload cluster, and
	// cacheTimeout the wait for the cache of its Nodes to be filled.
	requestTimeout = 5 * time.Second
	cacheTimeout   = 250 * time.Millisecond
)

// The ScheduledMachine's status is written by two controllers, each its own fields.
// +kubebuilder:rbac:groups=5spot.finos.org,resources=scheduledmachines,verbs=get;list;watch
// +kubebuilder:rbac:groups=5spot.finos.org,resources=scheduledmachines/status,verbs=patch
// The Machine names the Node; the Cluster names the workload cluster.
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines;clusters,verbs=get;list;watch
// Cluster API's ClusterCache reads <cluster>-kubeconfig Secrets; only those with the cluster-name label are cached.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// What was changed on a Node is told by Events.
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch

// Reconciler keeps the declared taints of a ScheduledMachine on its Node.
type Reconciler struct {
	// Client reads through the manager's cache.
	Client client.Client
	// APIReader reads from the API server, where a stale answer would do harm.
	APIReader client.Reader
	// SecretClient reads kubeconfig Secrets.
	SecretClient client.Reader
	// ClusterCache connects to workload clusters.
	ClusterCache clustercache.ClusterCache
	// Recorder takes the Events.
	Recorder record.EventRecorder
	// Clock is asked for the time; the real clock in production.
	Clock clock.PassiveClock
	// Leaving tells whether a Machine is to go now: the scheduledmachine controller's
	// own judgement, asked here because an edit may close the window and declare other
	// taints at once, before any object tells.
	Leaving func(*v1alpha1.ScheduledMachine, *clusterv1.Cluster, *clusterv1.Machine) bool
	// WatchFilterValue limits the controller to objects with that value of the
	// label cluster.x-k8s.io/watch-filter; empty means all.
	WatchFilterValue string

	controller controller.Controller
	gate       *gate
}

// SetupWithManager registers the controller with the manager.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	filter := predicates.ResourceHasFilterLabel(mgr.GetScheme(), ctrl.LoggerFrom(ctx).WithValues("controller", controllerName), r.WatchFilterValue)
	if err := addNodeIndex(ctx, mgr); err != nil {
		return err
	}
	r.gate = newGate(options.MaxConcurrentReconciles)
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		WithOptions(options).
		For(&v1alpha1.ScheduledMachine{}, builder.WithPredicates(filter)).
		Watches(&clusterv1.Machine{},
			handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &v1alpha1.ScheduledMachine{}, handler.OnlyControllerOwner()),
			builder.WithPredicates(machineNodeChanged())).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(index.ScheduledMachinesOf(r.Client)),
			builder.WithPredicates(filter, clusterPausedChanged())).
		WatchesRawSource(r.ClusterCache.GetClusterSource(controllerName, index.ScheduledMachinesOf(r.Client),
			clustercache.WatchForProbeFailure(unreachableAfter))).
		WatchesRawSource(r.gate.source()).
		Build(r)
	if err != nil {
		return err
	}
	r.controller = c
	return nil
}

// Reconcile brings the taints of one ScheduledMachine's Node to what is declared.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (_ ctrl.Result, reterr error) {
	sm := &v1alpha1.ScheduledMachine{}
	if err := r.Client.Get(ctx, req.NamespacedName, sm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	s := &scope{sm: sm}
	if err := r.read(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	if !sm.DeletionTimestamp.IsZero() || annotations.HasPaused(sm) || (s.cluster != nil && annotations.IsPaused(s.cluster, sm)) {
		return ctrl.Result{}, nil
	}
	ctx = ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("cluster", sm.Spec.ClusterName))

	helper, err := patch.NewHelper(sm, r.Client)
	if err != nil {
		return ctrl.Result{}, err
	}
	before := conditions.GetMessage(sm, v1alpha1.TaintOwnershipConflictCondition)
	result, err := r.reconcileNode(ctx, s)
	r.tellConflict(ctx, sm, before)
	patchErr := helper.Patch(ctx, sm, patch.WithOwnedConditions{Conditions: ownedConditions})
	return result, errors.Join(err, gone.Ignore(patchErr))
}

// tellConflict raises one Event for each change of what is in conflict. The cache may
// be older than what the last reconcile wrote and told, so before an Event the API
// server itself is asked what status says.
func (r *Reconciler) tellConflict(ctx context.Context, sm *v1alpha1.ScheduledMachine, before string) {
	now := conditions.Get(sm, v1alpha1.TaintOwnershipConflictCondition)
	if now == nil || now.Status != metav1.ConditionTrue || now.Message == before {
		return
	}
	live := &v1alpha1.ScheduledMachine{}
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(sm), live); err == nil &&
		conditions.GetMessage(live, v1alpha1.TaintOwnershipConflictCondition) == now.Message {
		return
	}
	r.Recorder.Event(sm, corev1.EventTypeWarning, v1alpha1.TaintConflictEvent, now.Message)
}

// scope is everything that one reconcile reads.
type scope struct {
	sm      *v1alpha1.ScheduledMachine
	cluster *clusterv1.Cluster
	machine *clusterv1.Machine // nil: none of ours
}

func (r *Reconciler) read(ctx context.Context, s *scope) error {
	cluster := &clusterv1.Cluster{}
	switch err := r.Client.Get(ctx, client.ObjectKey{Namespace: s.sm.Namespace, Name: s.sm.Spec.ClusterName}, cluster); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading Cluster %s: %w", s.sm.Spec.ClusterName, err)
	}
	s.cluster = cluster

	machine := &clusterv1.Machine{}
	switch err := r.Client.Get(ctx, client.ObjectKeyFromObject(s.sm), machine); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("reading Machine %s: %w", s.sm.Name, err)
	case metav1.IsControlledBy(machine, s.sm) && machine.Spec.ClusterName == cluster.Name:
		// A Node of another Cluster may bear the same name.
		s.machine = machine
	}
	return nil
}

// leaving tells whether the Machine is on its way out: then it keeps the taints it
// has, and status what it says of them.
func (r *Reconciler) leaving(s *scope) bool {
	return !s.machine.DeletionTimestamp.IsZero() || s.sm.Annotations[v1alpha1.ShutdownSinceAnnotation] != "" ||
		r.Leaving(s.sm, s.cluster, s.machine)
}

func (s *scope) clusterKey() client.ObjectKey { return client.ObjectKeyFromObject(s.cluster) }

// nodeKey is the Node that Cluster API found for the Machine.
func (s *scope) nodeKey() client.ObjectKey {
	return client.ObjectKey{Name: s.machine.Status.NodeRef.Name}
}

func nodeReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
