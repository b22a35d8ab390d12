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
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/taints"
)

// writeAttempts bounds how often one reconcile reads and writes a Node that
// others keep changing; the Node's own event brings the next reconcile.
const writeAttempts = 5

// reconcileNode plans and applies, and says in the conditions what came of it.
func (r *Reconciler) reconcileNode(ctx context.Context, s *scope) (ctrl.Result, error) {
	if s.machine == nil {
		s.noNode("There is no Machine")
		return ctrl.Result{}, nil
	}
	if s.leaving() {
		return ctrl.Result{}, nil
	}
	// Watches end with the connection: asking for them again is how they come back.
	watchErr := r.watchNodes(ctx, s)
	if errors.Is(watchErr, clustercache.ErrClusterNotConnected) || r.silent(s) {
		s.unreachable()
		return ctrl.Result{RequeueAfter: unreachableRetry}, nil
	}
	if watchErr != nil {
		return ctrl.Result{}, fmt.Errorf("watching the Nodes of Cluster %s: %w", s.cluster.Name, watchErr)
	}
	if s.nodeKey().Name == "" {
		s.noNode("Cluster API has found no Node for the Machine yet")
		return ctrl.Result{}, nil
	}
	if errs := taints.Validate(s.sm.Spec.NodeTaints, field.NewPath("spec", "nodeTaints")); len(errs) > 0 {
		s.invalid(errs)
		return ctrl.Result{}, nil
	}
	cached, err := r.ClusterCache.GetClient(ctx, client.ObjectKeyFromObject(s.cluster))
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("connecting to Cluster %s: %w", s.cluster.Name, err)
	}
	node := &corev1.Node{}
	switch err := cached.Get(ctx, s.nodeKey(), node); {
	case apierrors.IsNotFound(err):
		s.noNode(fmt.Sprintf("Node %s does not exist", s.nodeKey().Name))
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("reading Node %s: %w", s.nodeKey().Name, err)
	}
	return r.reconcileTaints(ctx, s, node)
}

// silent tells whether the workload cluster left Cluster API's probes unanswered:
// then no request is sent, since each would hold a worker until it times out.
func (r *Reconciler) silent(s *scope) bool {
	state := r.ClusterCache.GetHealthCheckingState(context.Background(), client.ObjectKeyFromObject(s.cluster))
	return state.ConsecutiveFailures > 0 && r.Clock.Since(state.LastProbeSuccessTime) > unreachableAfter
}

// reconcileTaints applies the plan for a Node, first as it is cached, and where
// there is something to write as it is.
func (r *Reconciler) reconcileTaints(ctx context.Context, s *scope, node *corev1.Node) (ctrl.Result, error) {
	plan := taints.For(node, s.sm.Spec.NodeTaints)
	if !nodeReady(node) || !node.DeletionTimestamp.IsZero() || plan.Empty() {
		s.report(node, plan)
		return ctrl.Result{}, nil
	}
	live, err := r.ClusterCache.GetUncachedClient(ctx, client.ObjectKeyFromObject(s.cluster))
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("connecting to Cluster %s: %w", s.cluster.Name, err)
	}
	err = r.write(ctx, s, live)
	if apierrors.IsUnauthorized(err) {
		// The kubeconfig was rotated.
		if live, err = r.freshClient(ctx, client.ObjectKeyFromObject(s.cluster)); err == nil {
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
		s.patchFailed(node, err)
		return ctrl.Result{}, fmt.Errorf("applying taints to Node %s: %w", node.Name, err)
	}
	return ctrl.Result{}, nil
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
		r.recorder.Eventf(s.sm, corev1.EventTypeNormal, v1alpha1.NodeTaintsAppliedEvent, "Node %s: %s", node.Name, plan.Summary())
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
