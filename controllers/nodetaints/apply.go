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
	"errors"
	"fmt"
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/taints"
)

// writeAttempts bounds how often one reconcile reads and writes a Node that
// others keep changing; the Node's own event brings the next reconcile.
const writeAttempts = 5

// reconcileNode plans and applies, and says in the conditions what came of it.
func (r *Reconciler) reconcileNode(ctx context.Context, s *scope) (ctrl.Result, error) {
	switch {
	case s.cluster == nil:
		s.noNode(fmt.Sprintf("There is no Cluster %s", s.sm.Spec.ClusterName))
		return ctrl.Result{}, nil
	case s.machine == nil:
		s.noNode("There is no Machine")
		return ctrl.Result{}, nil
	}
	if r.leaving(s) {
		return ctrl.Result{}, nil
	}
	if s.nodeKey().Name == "" {
		s.noNode("Cluster API has found no Node for the Machine yet")
		return ctrl.Result{}, nil
	}
	// Watches end with the connection: asking for them again is how they come back.
	switch err := r.watchNodes(ctx, s); {
	case errors.Is(err, clustercache.ErrClusterNotConnected):
		s.unreachable(r.whyUnreachable(ctx, s.clusterKey()))
		return ctrl.Result{}, nil // The connection is an event.
	case r.silent(ctx, s):
		s.unreachable(r.whyUnreachable(ctx, s.clusterKey()))
		return ctrl.Result{RequeueAfter: unreachableRetry}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("watching the Nodes of Cluster %s: %w", s.cluster.Name, err)
	}
	if errs := taints.Validate(s.sm.Spec.NodeTaints, field.NewPath("spec", "nodeTaints")); len(errs) > 0 {
		s.invalid(errs)
		return ctrl.Result{}, nil
	}
	if !r.gate.enter(s.clusterKey(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s.sm)}) {
		return ctrl.Result{RequeueAfter: crowdedRetry}, nil
	}
	defer r.gate.leave(s.clusterKey())
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return r.reconcileReachable(ctx, s)
}

// silent tells whether the workload cluster leaves requests unanswered: then none is
// sent, since each would hold a worker until it times out.
func (r *Reconciler) silent(ctx context.Context, s *scope) bool {
	state := r.ClusterCache.GetHealthCheckingState(ctx, s.clusterKey())
	return r.gate.hangs(s.clusterKey(), state.LastProbeSuccessTime) ||
		state.ConsecutiveFailures > 0 && r.Clock.Since(state.LastProbeSuccessTime) > unreachableAfter
}

// reconcileReachable reads the Node from the cache and goes on with it.
func (r *Reconciler) reconcileReachable(ctx context.Context, s *scope) (ctrl.Result, error) {
	cached, err := r.ClusterCache.GetClient(ctx, s.clusterKey())
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("connecting to Cluster %s: %w", s.cluster.Name, err)
	}
	cacheCtx, cancel := context.WithTimeout(ctx, cacheTimeout)
	defer cancel()
	node := &corev1.Node{}
	switch err := cached.Get(cacheCtx, s.nodeKey(), node); {
	case cacheCtx.Err() != nil:
		return r.explainEmptyCache(ctx, s)
	case apierrors.IsNotFound(err):
		s.noNode(fmt.Sprintf("Node %s does not exist", s.nodeKey().Name))
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("reading Node %s: %w", s.nodeKey().Name, err)
	}
	return r.reconcileTaints(ctx, s, node)
}

// explainEmptyCache asks the workload cluster what the cache cannot tell: why it has
// not listed the Nodes. Once it has, each Node is an event.
func (r *Reconciler) explainEmptyCache(ctx context.Context, s *scope) (ctrl.Result, error) {
	live, err := r.ClusterCache.GetUncachedClient(ctx, s.clusterKey())
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("connecting to Cluster %s: %w", s.cluster.Name, err)
	}
	err = live.List(ctx, &corev1.NodeList{}, client.Limit(1))
	switch {
	case apierrors.IsForbidden(err):
		s.unreachable(fmt.Sprintf("the credentials in Secret %s may not list Nodes: %v", secretName(s.clusterKey()), err))
	case err != nil:
		return r.failed(ctx, s, fmt.Errorf("listing the Nodes of Cluster %s: %w", s.cluster.Name, err))
	case !conditions.Has(s.sm, v1alpha1.NodeTaintedCondition):
		s.unreachable("its Nodes are being listed")
	}
	return ctrl.Result{RequeueAfter: unreachableRetry}, nil
}

// reconcileTaints applies the plan for a Node, first as it is cached, and where
// there is something to write as it is.
func (r *Reconciler) reconcileTaints(ctx context.Context, s *scope, node *corev1.Node) (ctrl.Result, error) {
	plan := taints.For(node, s.sm.Spec.NodeTaints)
	if !nodeReady(node) || !node.DeletionTimestamp.IsZero() || plan.Empty() {
		s.report(node, plan)
		return ctrl.Result{}, nil
	}
	s.see(node, plan) // It stands where the write fails.
	live, err := r.ClusterCache.GetUncachedClient(ctx, s.clusterKey())
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("connecting to Cluster %s: %w", s.cluster.Name, err)
	}
	err = r.write(ctx, s, live)
	if apierrors.IsUnauthorized(err) {
		// The kubeconfig was rotated.
		if live, err = r.freshClient(ctx, s.clusterKey()); err == nil {
			err = r.write(ctx, s, live)
		}
	}
	switch {
	case errors.Is(err, taints.ErrStale):
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	case errors.Is(err, taints.ErrNodeGone):
		s.noNode(fmt.Sprintf("Node %s was deleted", node.Name))
		return ctrl.Result{}, nil
	case err != nil:
		return r.failed(ctx, s, fmt.Errorf("applying taints to Node %s: %w", node.Name, err))
	}
	return ctrl.Result{}, nil
}

// failed says in the conditions what became of a request: the API server refused it,
// refused us, or gave no answer. Addresses and times stay in the log, since a message
// that is another each time would be a write each time.
func (r *Reconciler) failed(ctx context.Context, s *scope, err error) (ctrl.Result, error) {
	var answer apierrors.APIStatus
	switch {
	case apierrors.IsUnauthorized(err), errors.Is(err, errKubeconfig):
		s.unreachable(r.whyUnreachable(ctx, s.clusterKey()))
	case errors.As(err, &answer):
		s.patchFailed(err)
	case timedOut(err):
		r.gate.gaveUp(s.clusterKey(), r.Clock.Now())
		s.unreachable(r.whyUnreachable(ctx, s.clusterKey()))
		ctrl.LoggerFrom(ctx).Info("A workload cluster gave no answer; it is asked again once it answers Cluster API's health probe", "error", err.Error())
		return ctrl.Result{RequeueAfter: unreachableRetry}, nil
	default:
		s.unreachable(r.whyUnreachable(ctx, s.clusterKey()))
	}
	return ctrl.Result{}, err
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// write reads the Node itself, plans again and applies. The cache may be older
// than our own last write; a plan from it alone would send what is there already.
func (r *Reconciler) write(ctx context.Context, s *scope, live client.Client) error {
	var err error
	for range writeAttempts {
		node := &corev1.Node{}
		if err = live.Get(ctx, s.nodeKey(), node); err != nil {
			if apierrors.IsNotFound(err) {
				return fmt.Errorf("%w: %w", taints.ErrNodeGone, err)
			}
			return err
		}
		plan := taints.For(node, s.sm.Spec.NodeTaints)
		if !nodeReady(node) || !node.DeletionTimestamp.IsZero() || plan.Empty() {
			s.report(node, plan)
			return nil
		}
		var after *corev1.Node
		if after, err = taints.Apply(ctx, live, node, plan); err == nil {
			r.applied(ctx, s, after, plan)
			return nil
		}
		if !errors.Is(err, taints.ErrStale) {
			return err
		}
	}
	return err
}

// applied tells of a write that was made.
func (r *Reconciler) applied(ctx context.Context, s *scope, node *corev1.Node, plan taints.Plan) {
	ctrl.LoggerFrom(ctx).Info("Applied taints", "Node", node.Name, "change", plan.Summary())
	nodeWrites.WithLabelValues(writeReason(plan)).Inc()
	if len(plan.Added)+len(plan.Updated)+len(plan.Removed) > 0 {
		r.Recorder.Eventf(s.sm, corev1.EventTypeNormal, v1alpha1.NodeTaintsAppliedEvent, "Node %s: %s", node.Name, plan.Summary())
	}
	if plan.RecordError != nil {
		ctrl.LoggerFrom(ctx).Error(plan.RecordError, "The ownership record on the Node was unreadable and is replaced; taints applied before it broke stay and count as somebody else's", "Node", node.Name)
	}
	s.report(node, plan)
}

// writeReason is why a Node was written, for the metric: what the plan contains,
// the weightiest first.
func writeReason(plan taints.Plan) string {
	var reasons []string
	for reason, list := range map[string][]v1alpha1.NodeTaint{"added": plan.Added, "updated": plan.Updated, "removed": plan.Removed} {
		if len(list) > 0 {
			reasons = append(reasons, reason)
		}
	}
	switch len(reasons) {
	case 0:
		return "record"
	case 1:
		return reasons[0]
	default:
		return "several"
	}
}

func join(conflicts []taints.Conflict) string {
	texts := make([]string, 0, len(conflicts))
	for _, c := range conflicts {
		texts = append(texts, c.String())
	}
	return strings.Join(texts, "; ")
}
