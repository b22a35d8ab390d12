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

// Package scheduledmachine makes a Machine exist while its ScheduledMachine's
// window is open.
//
// Everything a decision needs is read at the top into a scope; what should be is
// decided from it by one pure function; one step each then makes it so: run
// creates, shutdown waits out the grace and deletes, remove deletes. Nothing is
// remembered between reconciles: spec, metadata, children and the clock tell all.
package scheduledmachine

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/cluster-api/util/paused"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/controllers/index"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/gone"
)

const controllerName = "scheduledmachine"

// The ScheduledMachine itself: read, finalizer and owner reference, status.
// +kubebuilder:rbac:groups=5spot.finos.org,resources=scheduledmachines,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=5spot.finos.org,resources=scheduledmachines/status,verbs=patch
// Owner references with blockOwnerDeletion to a ScheduledMachine, where OwnerReferencesPermissionEnforcement is on.
// +kubebuilder:rbac:groups=5spot.finos.org,resources=scheduledmachines/finalizers,verbs=update
// The Cluster is read for existence, pause and deletion.
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch
// Machines are what this controller makes, keeps labelled and deletes.
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines,verbs=get;list;watch;create;patch;delete
// The contract label of an embedded kind stands on its CRD; only metadata is read.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// What happened is told by Events.
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch

// Reconciler makes a Machine exist while its ScheduledMachine's window is open.
type Reconciler struct {
	// Client reads through the manager's cache.
	Client client.Client
	// Cache tells whether a kind's objects are known to it yet.
	Cache cache.Cache
	// APIReader reads from the API server, where a stale answer would do harm.
	APIReader client.Reader
	// Recorder takes the Events.
	Recorder record.EventRecorder
	// Clock is asked for the time; the real clock in production.
	Clock clock.PassiveClock
	// WatchFilterValue limits the controller to objects with that value of the
	// label cluster.x-k8s.io/watch-filter; empty means all.
	WatchFilterValue string

	children external.ObjectTracker
}

// SetupWithManager registers the controller with the manager.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	log := ctrl.LoggerFrom(ctx).WithValues("controller", controllerName)
	filter := predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, r.WatchFilterValue)
	// The priority of a ScheduledMachine is that of its place in the queue.
	options.UsePriorityQueue = ptr.To(true)

	c, err := ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		WithOptions(options).
		Watches(&v1alpha1.ScheduledMachine{}, byPriority{}, builder.WithPredicates(filter)).
		Watches(&clusterv1.Machine{}, ownerOrNamesake(mgr.GetScheme(), mgr.GetRESTMapper())).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(index.ScheduledMachinesOf(r.Client)),
			builder.WithPredicates(filter, clusterLifecycle())).
		Build(r)
	if err != nil {
		return err
	}
	r.children = external.ObjectTracker{Controller: c, Cache: mgr.GetCache(), Scheme: mgr.GetScheme(), PredicateLogger: &log}
	return nil
}

// Reconcile brings one ScheduledMachine's Machine into the state that its
// schedule asks for now.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (_ ctrl.Result, reterr error) {
	sm := &v1alpha1.ScheduledMachine{}
	if err := r.Client.Get(ctx, req.NamespacedName, sm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	ctx = ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("cluster", sm.Spec.ClusterName))

	cluster, err := r.getCluster(ctx, sm)
	if err != nil {
		return ctrl.Result{}, err
	}
	helper, err := patch.NewHelper(sm, r.Client)
	if err != nil {
		return ctrl.Result{}, err
	}
	// Before anything else is written, deletion included: in the middle of
	// `clusterctl move` the source must neither gain a finalizer nor lose a Machine.
	if isPaused, requeue, err := paused.EnsurePausedCondition(ctx, r.Client, cluster, sm); err != nil || isPaused || requeue {
		return ctrl.Result{}, err
	}
	if written, err := r.ensureMetadata(ctx, sm, cluster); err != nil || written {
		return ctrl.Result{}, err // What was written is an event that brings the next reconcile.
	}
	s, err := r.newScope(ctx, sm, cluster)
	if err != nil {
		return ctrl.Result{}, err
	}
	defer func() {
		before := conditions.GetMessage(sm, v1alpha1.ScheduleValidCondition)
		s.writeStatus(r.Client.RESTMapper())
		if now := conditions.Get(sm, v1alpha1.ScheduleValidCondition); now.Status == metav1.ConditionFalse && now.Message != before {
			r.Recorder.Event(sm, corev1.EventTypeWarning, v1alpha1.InvalidSpecEvent, now.Message)
		}
		options := []patch.Option{patch.WithOwnedConditions{Conditions: ownedConditions}}
		if reterr == nil {
			options = append(options, patch.WithStatusObservedGeneration{})
		}
		if err := helper.Patch(ctx, sm, options...); err != nil {
			// Once the finalizer is off, the object may be gone before its status is written.
			if !sm.DeletionTimestamp.IsZero() && gone.Only(err) {
				return
			}
			reterr = kerrors.NewAggregate([]error{reterr, err})
		}
	}()

	if err := r.step(ctx, s); err != nil {
		s.explain(err)
		return ctrl.Result{Priority: s.priority()}, err
	}
	return ctrl.Result{RequeueAfter: s.sleep(), Priority: s.priority()}, nil
}

// step does the one thing that the decision asks for.
func (r *Reconciler) step(ctx context.Context, s *scope) error {
	switch s.want {
	case run:
		return r.run(ctx, s)
	case stop:
		return r.shutdown(ctx, s)
	case leave:
		return r.remove(ctx, s)
	default: // keep: what runs stays as it is.
		if s.reason == v1alpha1.DisabledReason {
			s.endShutdown() // No grace runs on; enabled again, it gets a new one.
		}
		return nil
	}
}

// getCluster returns the Cluster, or nil where there is none of that name.
func (r *Reconciler) getCluster(ctx context.Context, sm *v1alpha1.ScheduledMachine) (*clusterv1.Cluster, error) {
	cluster, err := util.GetClusterByName(ctx, r.Client, sm.Namespace, sm.Spec.ClusterName)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return cluster, err
}

// ensureMetadata writes, in one request, the finalizer and the Cluster's owner
// reference, without which `clusterctl move` would drop the ScheduledMachine. A
// ScheduledMachine without a Cluster makes nothing that would have to be cleaned up.
func (r *Reconciler) ensureMetadata(ctx context.Context, sm *v1alpha1.ScheduledMachine, cluster *clusterv1.Cluster) (written bool, err error) {
	if !sm.DeletionTimestamp.IsZero() || cluster == nil {
		return false, nil
	}
	original := sm.DeepCopy()
	changed := controllerutil.AddFinalizer(sm, v1alpha1.ScheduledMachineFinalizer)
	if owner := clusterOwner(cluster); !util.HasExactOwnerRef(sm.OwnerReferences, owner) {
		sm.OwnerReferences = util.EnsureOwnerRef(sm.OwnerReferences, owner)
		changed = true
	}
	if !changed {
		return false, nil
	}
	err = r.Client.Patch(ctx, sm, client.MergeFromWithOptions(original, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) {
		return true, nil // Whoever was quicker made the event that brings the next reconcile.
	}
	return true, err
}

func clusterOwner(cluster *clusterv1.Cluster) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: clusterv1.GroupVersion.String(),
		Kind:       "Cluster",
		Name:       cluster.Name,
		UID:        cluster.UID,
	}
}

// sleep is the time until the next instant at which something is due, or zero.
func (s *scope) sleep() time.Duration {
	var next time.Time
	for _, t := range []time.Time{s.activation, s.cleanup, s.deadline} {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if next.IsZero() {
		return 0
	}
	// At least a millisecond: zero would mean never.
	return max(next.Sub(s.now), time.Millisecond)
}
