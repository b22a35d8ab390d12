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

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/yaml"

	hostbootstrapv1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/bootstrap/v1beta2"
)

// HostConfig reconciles HostConfigs: it writes each one's bootstrap data, once, into a
// Secret of the HostConfig's name.
type HostConfig struct {
	Client client.Client
	// Secrets reads Secrets, uncached.
	Secrets     client.Reader
	Concurrency int
}

// SetupWithManager adds the controller to a manager.
func (r *HostConfig) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		Named("hostconfig").
		For(&hostbootstrapv1.HostConfig{}, builder.WithPredicates(changedByOthers())).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(ofCluster(r.Client, &hostbootstrapv1.HostConfigList{})),
			builder.WithPredicates(clusterTurned())).
		WithOptions(controllerOptions(r.Concurrency)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the HostConfig controller: %w", err)
	}
	return nil
}

// Reconcile makes the Secret of a HostConfig.
func (r *HostConfig) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	config, err := read[hostbootstrapv1.HostConfig](ctx, r.Client, req.Namespace, req.Name)
	if config == nil || err != nil {
		return ctrl.Result{}, err
	}
	if !config.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	machine, cluster, err := owners(ctx, r.Client, config)
	if machine == nil || cluster == nil || err != nil {
		return ctrl.Result{}, err
	}
	before := config.DeepCopy()
	switch {
	case paused(cluster, config):
	case ptr.Deref(config.Status.Initialization.DataSecretCreated, false):
		// Bootstrap data does not change under a machine that may have read it.
	case !ptr.Deref(cluster.Status.Initialization.ControlPlaneInitialized, false):
		setCondition(config, clusterv1.ReadyCondition, false, hostbootstrapv1.WaitingForControlPlaneReason,
			fmt.Sprintf("the control plane of Cluster %s is not initialized", cluster.Name))
	default:
		if err := r.ensureSecret(ctx, cluster, config); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, writeStatus(ctx, r.Client, before, config)
}

// ensureSecret makes the Secret and reports it, or reports another of its name.
func (r *HostConfig) ensureSecret(ctx context.Context, cluster *clusterv1.Cluster, config *hostbootstrapv1.HostConfig) error {
	data, err := yaml.Marshal(config.Spec)
	if err != nil {
		return fmt.Errorf("writing the bootstrap data: %w", err)
	}
	made := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       config.Namespace,
			Name:            config.Name,
			Labels:          map[string]string{clusterv1.ClusterNameLabel: cluster.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(config, hostbootstrapv1.GroupVersion.WithKind("HostConfig"))},
		},
		Type: clusterv1.ClusterSecretType,
		Data: map[string][]byte{hostbootstrapv1.DataSecretKey: data},
	}
	switch err := r.Client.Create(ctx, made); {
	case apierrors.IsAlreadyExists(err):
		there, err := read[corev1.Secret](ctx, r.Secrets, config.Namespace, config.Name)
		if err != nil {
			return fmt.Errorf("getting Secret %s: %w", config.Name, err)
		}
		if there == nil || !metav1.IsControlledBy(there, config) {
			message := fmt.Sprintf("Secret %s is not controlled by this HostConfig: delete it, or give the HostConfig another name", config.Name)
			setCondition(config, clusterv1.ReadyCondition, false, hostbootstrapv1.DataSecretNotOursReason, message)
			return nil
		}
	case err != nil:
		return fmt.Errorf("creating Secret %s: %w", config.Name, err)
	}
	config.Status.DataSecretName = config.Name
	config.Status.Initialization.DataSecretCreated = ptr.To(true)
	setCondition(config, clusterv1.ReadyCondition, true, hostbootstrapv1.DataSecretAvailableReason, "")
	return nil
}
