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

// Package backend says what stands behind HostMachines: the interface between the
// HostMachine controller and whatever makes a Node of the workload cluster live.
package backend

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

// Machine is what a backend is told of a HostMachine.
type Machine struct {
	// Cluster is the Cluster that the machine joins.
	Cluster client.ObjectKey
	// Name is the HostMachine's.
	Name client.ObjectKey
	// UID is the HostMachine's; it tells a new HostMachine from an old one of its name.
	UID types.UID
	// ProviderID is what the Node carries.
	ProviderID string
	// Version is the Machine's Kubernetes version, empty where it names none.
	Version string
	// BootstrapData reads what the Machine's bootstrap provider made. A backend calls it
	// for a machine that it does not have yet.
	BootstrapData func(context.Context) ([]byte, error)
	// Spec is the HostMachine's.
	Spec infrav1.HostMachineSpec
	// StartTime is when the machine was first made, zero where it never was.
	StartTime time.Time
	// Kubeconfig reads how the cluster is reached. A backend calls it to connect, and
	// again when credentials are refused or the API server does not answer.
	Kubeconfig func(context.Context) ([]byte, error)
}

// NodeName is the name of the machine's Node.
func (m *Machine) NodeName() string {
	if m.Spec.Simulated.NodeName != "" {
		return m.Spec.Simulated.NodeName
	}
	return m.Name.Name
}

// Status is what a backend tells of a machine.
type Status struct {
	// StartTime is when the machine was made.
	StartTime time.Time
	// Addresses are the machine's.
	Addresses []clusterv1.MachineAddress
}

// ErrNotRunning is returned before Run and after it.
var ErrNotRunning = errors.New("the backend is not running")

// NodeFate says what becomes of the Node of a machine that is removed.
type NodeFate int

const (
	// LeaveNode is for a Machine whose Node Cluster API deletes, as it does last in a
	// Machine's deletion. The backend deletes it only if it is there for long after.
	LeaveNode NodeFate = iota
	// DeleteNode is for a Node that nobody else deletes.
	DeleteNode
)

// Backend makes machines. Its methods are safe for concurrent use.
type Backend interface {
	// Run lets machines live until ctx is done, then returns once all have stopped.
	// What they left in the workload clusters stays.
	Run(ctx context.Context) error
	// Ensure makes the machine unless it is there. A machine whose Node exists already,
	// since before the provider was restarted, takes it over. It does not wait for the
	// workload cluster. A reconcile.TerminalError says that trying again is of no use.
	Ensure(ctx context.Context, m Machine) (Status, error)
	// Remove stops the machine: when it returns, the machine writes nothing more.
	Remove(ctx context.Context, m Machine, fate NodeFate) error
	// Forget stops the machine of a HostMachine that went without being reconciled, as
	// clusterctl move lets it go. Its Node stays, for another provider to take over.
	Forget(name client.ObjectKey)
}
