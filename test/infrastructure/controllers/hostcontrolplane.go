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
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	hostcontrolplanev1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/controlplane/v1beta2"
)

// HostControlPlane reconciles HostControlPlanes: one is initialized once the cluster's
// kubeconfig Secret, which whoever runs the API server makes, is there.
type HostControlPlane struct {
	Client client.Client
	// Secrets reads Secrets, uncached: nobody keeps kubeconfigs in memory for this.
	Secrets     client.Reader
	Concurrency int
}

// SetupWithManager adds the controller to a manager.
func (r *HostControlPlane) SetupWithManager(mgr ctrl.Manager) error {
	mine := ofCluster(r.Client, &hostcontrolplanev1.HostControlPlaneList{})
	err := ctrl.NewControllerManagedBy(mgr).
		Named("hostcontrolplane").
		For(&hostcontrolplanev1.HostControlPlane{}, builder.WithPredicates(changedByOthers())).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(mine), builder.WithPredicates(clusterTurned())).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(mine), builder.OnlyMetadata,
			builder.WithPredicates(predicate.NewPredicateFuncs(func(o client.Object) bool {
				return strings.HasSuffix(o.GetName(), "-"+string(secret.Kubeconfig))
			}))).
		WithOptions(controllerOptions(r.Concurrency)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the HostControlPlane controller: %w", err)
	}
	return nil
}

// Reconcile writes the status of a HostControlPlane.
func (r *HostControlPlane) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	controlPlane, err := read[hostcontrolplanev1.HostControlPlane](ctx, r.Client, req.Namespace, req.Name)
	if controlPlane == nil || err != nil {
		return ctrl.Result{}, err
	}
	if !controlPlane.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	cluster, err := read[clusterv1.Cluster](ctx, r.Client, req.Namespace, owner(controlPlane, "Cluster"))
	if cluster == nil || err != nil {
		return ctrl.Result{}, err
	}
	before := controlPlane.DeepCopy()
	if !paused(cluster, controlPlane) {
		if err := r.observe(ctx, cluster, controlPlane); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, writeStatus(ctx, r.Client, before, controlPlane)
}

// observe brings the status up to date.
func (r *HostControlPlane) observe(ctx context.Context, cluster *clusterv1.Cluster, controlPlane *hostcontrolplanev1.HostControlPlane) error {
	status := &controlPlane.Status
	status.ExternalManagedControlPlane = ptr.To(true)
	name := secret.Name(cluster.Name, secret.Kubeconfig)
	kubeconfig, err := read[corev1.Secret](ctx, r.Secrets, cluster.Namespace, name)
	if err != nil {
		return fmt.Errorf("getting Secret %s: %w", name, err)
	}
	if kubeconfig == nil || len(kubeconfig.Data[secret.KubeconfigDataName]) == 0 {
		setCondition(controlPlane, clusterv1.AvailableCondition, false, hostcontrolplanev1.WaitingForKubeconfigReason,
			fmt.Sprintf("Secret %s with the key %s is missing: create it, with the label %s=%s", name, secret.KubeconfigDataName, clusterv1.ClusterNameLabel, cluster.Name))
		return nil
	}
	status.Initialization.ControlPlaneInitialized = ptr.To(true)
	if version := controlPlane.Spec.Version; version != "" {
		status.Version = version
		status.Versions = []clusterv1.StatusVersion{{Version: version}}
	}
	setCondition(controlPlane, clusterv1.AvailableCondition, true, hostcontrolplanev1.AvailableReason, "")
	return nil
}
