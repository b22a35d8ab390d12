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

package controllers

import (
	"context"
	"fmt"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

// HostCluster reconciles HostClusters: one is provisioned once its API server's
// endpoint is known. There is nothing to delete.
type HostCluster struct {
	Client      client.Client
	Concurrency int
}

// SetupWithManager adds the controller to a manager.
func (r *HostCluster) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		Named("hostcluster").
		For(&infrav1.HostCluster{}, builder.WithPredicates(changedByOthers())).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(ofCluster(r.Client, &infrav1.HostClusterList{})),
			builder.WithPredicates(clusterTurned())).
		WithOptions(controllerOptions(r.Concurrency)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the HostCluster controller: %w", err)
	}
	return nil
}

// Reconcile writes the status of a HostCluster.
func (r *HostCluster) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	hostCluster, err := read[infrav1.HostCluster](ctx, r.Client, req.Namespace, req.Name)
	if hostCluster == nil || err != nil {
		return ctrl.Result{}, err
	}
	if annotations.IsExternallyManaged(hostCluster) || !hostCluster.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	cluster, err := read[clusterv1.Cluster](ctx, r.Client, req.Namespace, owner(hostCluster, "Cluster"))
	if cluster == nil || err != nil {
		return ctrl.Result{}, err
	}
	before := hostCluster.DeepCopy()
	switch {
	case paused(cluster, hostCluster):
	case !hostCluster.Spec.ControlPlaneEndpoint.IsValid() && !cluster.Spec.ControlPlaneEndpoint.IsValid():
		setCondition(hostCluster, clusterv1.ReadyCondition, false, infrav1.WaitingForControlPlaneEndpointReason,
			"spec.controlPlaneEndpoint is empty, here and in the Cluster: set the host and port of the API server")
	default:
		hostCluster.Status.Initialization.Provisioned = ptr.To(true)
		setCondition(hostCluster, clusterv1.ReadyCondition, true, clusterv1.ReadyReason, "")
	}
	return ctrl.Result{}, writeStatus(ctx, r.Client, before, hostCluster)
}
