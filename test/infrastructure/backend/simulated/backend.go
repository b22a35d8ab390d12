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

package simulated

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend"
)

// Backend is the backend simulated. New makes one.
type Backend struct {
	mu     sync.Mutex
	runs   int
	ctx    context.Context
	cancel context.CancelFunc
	fleets map[client.ObjectKey]*fleet
	owners map[client.ObjectKey]*machine // by HostMachine
}

var _ backend.Backend = &Backend{}

// New returns a backend without machines.
func New() *Backend { return &Backend{} }

// Run lets machines live until ctx is done. With several managers on one Backend they
// live until the last of them ends.
func (b *Backend) Run(ctx context.Context) error {
	b.mu.Lock()
	b.runs++
	if b.runs == 1 {
		b.ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
		b.fleets = map[client.ObjectKey]*fleet{}
		b.owners = map[client.ObjectKey]*machine{}
	}
	b.mu.Unlock()

	<-ctx.Done()

	b.mu.Lock()
	b.runs--
	var fleets map[client.ObjectKey]*fleet
	if b.runs == 0 {
		b.cancel()
		fleets, b.fleets, b.owners, b.ctx = b.fleets, nil, nil, nil
	}
	b.mu.Unlock()
	for _, f := range fleets {
		f.stop()
	}
	return nil
}

// Ensure makes the machine unless it is there.
func (b *Backend) Ensure(ctx context.Context, m backend.Machine) (backend.Status, error) {
	if status, there, err := b.keep(&m, nil); there || err != nil {
		return status, err
	}
	data, err := m.BootstrapData(ctx)
	if err != nil {
		return backend.Status{}, fmt.Errorf("reading the bootstrap data: %w", err)
	}
	settings, err := settingsOf(&m, data)
	if err != nil {
		return backend.Status{}, reconcile.TerminalError(err)
	}
	status, _, err := b.keep(&m, settings)
	return status, err
}

// keep lets a machine follow its HostMachine. One that is not there is made with the
// settings given, and not without them.
func (b *Backend) keep(m *backend.Machine, made *settings) (status backend.Status, there bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx == nil {
		return status, false, backend.ErrNotRunning
	}
	node := m.NodeName()
	if old := b.owners[m.Name]; old != nil && old.node != node {
		return status, false, reconcile.TerminalError(fmt.Errorf(
			"spec.simulated.nodeName: the machine runs as Node %s, which cannot be renamed; delete the Machine instead", old.node))
	}
	f := b.fleet(m)
	present := f.machine(node)
	switch {
	case present == nil || present.removed.Load():
		if made == nil {
			return status, false, nil
		}
		present = newMachine(m, f.conn, made)
		b.owners[m.Name] = present
		f.add(present)
	case present.name != m.Name:
		return status, false, fmt.Errorf("spec.simulated.nodeName: the name %s belongs to the Node of HostMachine %s; choose another one", node, present.name)
	default:
		before := present.settings.Load()
		after := before.following(m)
		if !reflect.DeepEqual(before, after) {
			present.settings.Store(after)
			f.queue.Add(item{node: node})
		}
	}
	return backend.Status{StartTime: present.start, Addresses: addresses(node)}, true, nil
}

// Remove stops the machine, and deletes its Node where nobody else does. Where the
// workload cluster does not answer, the Node is deleted later.
func (b *Backend) Remove(ctx context.Context, m backend.Machine, fate backend.NodeFate) error {
	b.mu.Lock()
	if b.ctx == nil {
		b.mu.Unlock()
		return backend.ErrNotRunning
	}
	f := b.fleet(&m)
	node := m.NodeName()
	leaving := f.machine(node)
	switch {
	case leaving != nil && leaving.name == m.Name && leaving.settings.Load().uid == m.UID:
		delete(b.owners, m.Name)
	case leaving != nil:
		// The Node is another HostMachine's by now.
		b.mu.Unlock()
		return nil
	default:
		// Made before the provider was restarted.
		leaving = newMachine(&m, f.conn, &settings{uid: m.UID, providerID: m.ProviderID})
		f.put(leaving)
	}
	b.mu.Unlock()

	if leaving.removed.Swap(true) {
		return nil
	}
	f.remove(ctx, leaving, fate)
	return nil
}

// Forget stops the machine of a HostMachine and leaves its Node as it is.
func (b *Backend) Forget(name client.ObjectKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.owners[name]
	if m == nil {
		return
	}
	delete(b.owners, name)
	m.removed.Store(true)
	for _, f := range b.fleets {
		f.drop(m)
	}
}

// fleet returns the machines of m's cluster, b.mu being held.
func (b *Backend) fleet(m *backend.Machine) *fleet {
	f := b.fleets[m.Cluster]
	if f == nil {
		f = newFleet(b.ctx, m.Cluster, m.Kubeconfig)
		b.fleets[m.Cluster] = f
	} else {
		f.conn.from(m.Kubeconfig)
	}
	return f
}
