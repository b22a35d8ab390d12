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
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	hostbootstrapv1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/bootstrap/v1beta2"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend"
)

// HostMachine reconciles HostMachines: it has a backend make the machine of each, once
// the Machine has bootstrap data, and remove it.
type HostMachine struct {
	Client client.Client
	// Secrets reads Secrets, uncached.
	Secrets client.Reader
	Backend backend.Backend
	// Kubeconfig reads how machines reach the cluster that they join.
	Kubeconfig  func(ctx context.Context, cluster client.ObjectKey) ([]byte, error)
	Concurrency int
}

// SetupWithManager adds the controller to a manager.
func (r *HostMachine) SetupWithManager(mgr ctrl.Manager) error {
	toMachine := util.MachineToInfrastructureMapFunc(infrav1.GroupVersion.WithKind("HostMachine"))
	err := ctrl.NewControllerManagedBy(mgr).
		Named("hostmachine").
		For(&infrav1.HostMachine{}, builder.WithPredicates(changedByOthers())).
		// A Machine's bootstrap data is part of its spec; its status changes too often.
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(toMachine),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(ofCluster(r.Client, &infrav1.HostMachineList{})),
			builder.WithPredicates(clusterTurned())).
		WithOptions(controllerOptions(r.Concurrency)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the HostMachine controller: %w", err)
	}
	return nil
}

// Reconcile makes or removes the machine of a HostMachine.
func (r *HostMachine) Reconcile(ctx context.Context, req ctrl.Request) (result ctrl.Result, err error) {
	defer func() {
		// Neither is news: a conflict is with a cache that lags behind, and a backend
		// that is not running is about to run, or the process about to end.
		if apierrors.IsConflict(err) || errors.Is(err, backend.ErrNotRunning) {
			result, err = ctrl.Result{RequeueAfter: 50 * time.Millisecond}, nil
		}
	}()
	hostMachine, err := read[infrav1.HostMachine](ctx, r.Client, req.Namespace, req.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if hostMachine == nil {
		r.Backend.Forget(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	machine, cluster, err := owners(ctx, r.Client, hostMachine)
	if err != nil {
		return ctrl.Result{}, err
	}
	before := hostMachine.DeepCopy()
	if paused(cluster, hostMachine) {
		return ctrl.Result{}, writeStatus(ctx, r.Client, before, hostMachine)
	}
	if !hostMachine.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.remove(ctx, cluster, machine, hostMachine)
	}
	if machine == nil || cluster == nil {
		return ctrl.Result{}, nil
	}
	if reason, message := waitsFor(cluster, machine); reason != "" {
		if wait := time.Until(hostMachine.CreationTimestamp.Add(unsaid)); wait > 0 {
			return ctrl.Result{RequeueAfter: wait}, nil
		}
		setCondition(hostMachine, clusterv1.ReadyCondition, false, reason, message)
		return ctrl.Result{}, writeStatus(ctx, r.Client, before, hostMachine)
	}
	before, err = r.ensure(ctx, cluster, machine, hostMachine, before)
	return ctrl.Result{}, errors.Join(err, writeStatus(ctx, r.Client, before, hostMachine))
}

// unsaid is how long a new HostMachine may wait without saying so. Cluster API mirrors
// each condition in the Machine, in several requests, and what comes within seconds is
// not worth them where hundreds of Machines are made at once.
const unsaid = 5 * time.Second

// waitsFor returns what a machine has to wait for, an empty reason for nothing.
func waitsFor(cluster *clusterv1.Cluster, machine *clusterv1.Machine) (reason, message string) {
	switch {
	case !ptr.Deref(cluster.Status.Initialization.InfrastructureProvisioned, false):
		return infrav1.WaitingForClusterInfrastructureReason, fmt.Sprintf("the infrastructure of Cluster %s is not provisioned", cluster.Name)
	case machine.Spec.Bootstrap.DataSecretName == nil:
		return infrav1.WaitingForBootstrapDataReason, fmt.Sprintf("spec.bootstrap.dataSecretName of Machine %s is empty", machine.Name)
	}
	return "", ""
}

// ensure makes the machine. It changes the HostMachine's status
// and returns what that is to be compared with.
func (r *HostMachine) ensure(ctx context.Context, cluster *clusterv1.Cluster, machine *clusterv1.Machine,
	hostMachine, before *infrav1.HostMachine,
) (*infrav1.HostMachine, error) {
	before, err := r.claim(ctx, hostMachine, before)
	if err != nil {
		return before, err
	}
	status, err := r.Backend.Ensure(ctx, r.describe(client.ObjectKeyFromObject(cluster), machine, hostMachine))
	if errors.Is(err, backend.ErrNotRunning) {
		return before, err
	}
	if err != nil {
		setCondition(hostMachine, clusterv1.ReadyCondition, false, infrav1.ProvisioningFailedReason, err.Error())
		return before, err
	}
	hostMachine.Status.StartTime = metav1.NewMicroTime(status.StartTime.Truncate(time.Microsecond))
	hostMachine.Status.Addresses = status.Addresses
	hostMachine.Status.Initialization.Provisioned = ptr.To(true)
	setCondition(hostMachine, clusterv1.ReadyCondition, true, infrav1.ProvisionedReason, "")
	return before, nil
}

// claim writes the finalizer and the providerID, before there is anything to remove. It
// leaves the status that was set in hostMachine and returns the object as it is written.
func (r *HostMachine) claim(ctx context.Context, hostMachine, before *infrav1.HostMachine) (*infrav1.HostMachine, error) {
	claimed := before.DeepCopy()
	controllerutil.AddFinalizer(claimed, infrav1.MachineFinalizer)
	claimed.Spec.ProviderID = providerID(claimed)
	if claimed.Spec.ProviderID == before.Spec.ProviderID && len(claimed.Finalizers) == len(before.Finalizers) {
		return before, nil
	}
	if err := r.Client.Patch(ctx, claimed, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return before, fmt.Errorf("writing spec.providerID and the finalizer: %w", err)
	}
	status := hostMachine.Status
	claimed.DeepCopyInto(hostMachine)
	hostMachine.Status = status
	return claimed, nil
}

// remove stops the machine and lets the HostMachine go.
func (r *HostMachine) remove(ctx context.Context, cluster *clusterv1.Cluster, machine *clusterv1.Machine, hostMachine *infrav1.HostMachine) error {
	if !controllerutil.ContainsFinalizer(hostMachine, infrav1.MachineFinalizer) {
		return nil
	}
	if name := hostMachine.Labels[clusterv1.ClusterNameLabel]; name != "" {
		key := client.ObjectKey{Namespace: hostMachine.Namespace, Name: name}
		if err := r.Backend.Remove(ctx, r.describe(key, machine, hostMachine), nodeFate(cluster, machine)); err != nil {
			return err
		}
	}
	before := hostMachine.DeepCopy()
	controllerutil.RemoveFinalizer(hostMachine, infrav1.MachineFinalizer)
	// A merge patch replaces the list: another's finalizer must not be lost.
	err := r.Client.Patch(ctx, hostMachine, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	return nil
}

// nodeFate says whether Cluster API deletes the Node, which it does as a Machine's
// deletion ends, unless the whole cluster goes or the Machine never knew its Node
// (isDeleteNodeAllowed in Cluster API's core/reconcilers/machine).
func nodeFate(cluster *clusterv1.Cluster, machine *clusterv1.Machine) backend.NodeFate {
	if cluster == nil || !cluster.DeletionTimestamp.IsZero() ||
		machine == nil || machine.DeletionTimestamp.IsZero() || !machine.Status.NodeRef.IsDefined() {
		return backend.DeleteNode
	}
	return backend.LeaveNode
}

// describe tells a backend of a HostMachine. machine may be nil when that is removed.
func (r *HostMachine) describe(cluster client.ObjectKey, machine *clusterv1.Machine, hostMachine *infrav1.HostMachine) backend.Machine {
	described := backend.Machine{
		Cluster:    cluster,
		Name:       client.ObjectKeyFromObject(hostMachine),
		UID:        hostMachine.UID,
		ProviderID: providerID(hostMachine),
		Spec:       hostMachine.Spec,
		StartTime:  hostMachine.Status.StartTime.Time,
		Kubeconfig: func(ctx context.Context) ([]byte, error) { return r.Kubeconfig(ctx, cluster) },
	}
	if machine != nil {
		described.Version = machine.Spec.Version
		described.BootstrapData = func(ctx context.Context) ([]byte, error) { return r.bootstrapData(ctx, machine) }
	}
	return described
}

func (r *HostMachine) bootstrapData(ctx context.Context, machine *clusterv1.Machine) ([]byte, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: machine.Namespace, Name: ptr.Deref(machine.Spec.Bootstrap.DataSecretName, "")}
	if err := r.Secrets.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("getting Secret %s: %w", key.Name, err)
	}
	return secret.Data[hostbootstrapv1.DataSecretKey], nil
}

// providerID is a HostMachine's and its Node's for ever.
func providerID(hostMachine *infrav1.HostMachine) string {
	return fmt.Sprintf("host://%s/%s", hostMachine.Namespace, hostMachine.Name)
}
