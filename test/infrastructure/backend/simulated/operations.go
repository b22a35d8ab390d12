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
	"errors"
	"fmt"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend"
)

// SetReady turns the Node of a cluster Ready or not Ready and keeps it so, whatever
// readyAfter says. When it returns without an error the Node shows it, that of a
// machine with paused heartbeats too. A Node that is yet to join will show it then.
func (b *Backend) SetReady(cluster client.ObjectKey, node string, ready bool) error {
	return b.with(context.Background(), cluster, node, func(ctx context.Context, m *machine) error {
		m.life.forced = ptr.To(ready)
		if m.life.deleted {
			return fmt.Errorf("deleted Node %s is not registered again by itself; call RecreateNode", node)
		}
		if m.life.node == "" {
			return nil
		}
		return m.act(ctx, report)
	})
}

// PauseHeartbeats makes a machine silent, as one that froze, or lets it speak again.
// When it returns the machine writes nothing more.
func (b *Backend) PauseHeartbeats(cluster client.ObjectKey, node string, paused bool) error {
	return b.with(context.Background(), cluster, node, func(_ context.Context, m *machine) error {
		m.life.paused = paused
		return nil
	})
}

// RecreateNode deletes the Node of a machine, if it is there, and registers it anew, as
// a kubelet does that is started again after kubectl delete node: same name and
// providerID, another UID, the taints and labels of the bootstrap data and no others.
// readyAfter counts again, and what SetReady said is forgotten.
func (b *Backend) RecreateNode(ctx context.Context, cluster client.ObjectKey, node string) error {
	return b.with(ctx, cluster, node, func(ctx context.Context, m *machine) error {
		old := m.life.node
		if old != "" {
			if err := m.deleteNode(ctx); err != nil {
				return fmt.Errorf("deleting Node %s: %w", node, err)
			}
		}
		m.life = life{paused: m.life.paused}
		if err := m.act(ctx, register); err != nil {
			return fmt.Errorf("registering Node %s: %w", node, err)
		}
		if old != "" && m.life.node == old {
			return fmt.Errorf("deletion of Node %s does not end; take its finalizers off", node)
		}
		return nil
	})
}

// with lets do change the machine of a Node and wakes the machine.
func (b *Backend) with(ctx context.Context, cluster client.ObjectKey, node string, do func(context.Context, *machine) error) error {
	b.mu.Lock()
	running, f := b.ctx != nil, b.fleets[cluster]
	b.mu.Unlock()
	if !running {
		return backend.ErrNotRunning
	}
	var m *machine
	if f != nil {
		m = f.machine(node)
	}
	if m == nil || m.removed.Load() {
		return fmt.Errorf("no simulated machine with Node %s in Cluster %s", node, cluster)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*stepTimeout)
	defer cancel()
	err := m.hold(func() error { return do(ctx, m) })
	f.queue.Add(item{node: node})
	f.seePodsOf(node)
	return err
}

// hold does something to m between two steps.
func (m *machine) hold(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.removed.Load() {
		return errors.New("the machine was removed meanwhile")
	}
	err := do()
	if errors.Is(err, errNodeGone) {
		m.life.deleted = true
	}
	return err
}
