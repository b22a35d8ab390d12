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
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend"
)

const (
	// workers is how many requests a cluster sees at a time. It bounds the load, and a
	// cluster that does not answer holds up no other.
	workers = 20
	// leftBehind is how long Cluster API has to delete the Node of a removed machine.
	// It gives up after 10 s of its own (nodeDeletionTimeoutSeconds).
	leftBehind = 30 * time.Second
	// givenUp is how long the Node of a removed machine is tried to be deleted.
	givenUp = 5 * time.Minute
)

// item is what there is to do: a step of the machine of a Node, or a pod that was told
// to go.
type item struct {
	node string
	pod  types.NamespacedName
	uid  types.UID
}

// fleet is the machines of one cluster, woken by one queue.
type fleet struct {
	cluster client.ObjectKey
	conn    *connection
	queue   workqueue.TypedDelayingInterface[item]
	pods    toolscache.Indexer
	log     logr.Logger
	running sync.WaitGroup

	mu       sync.Mutex
	machines map[string]*machine // by Node
}

// newFleet starts a fleet that lives until ctx is done and stop is called.
func newFleet(ctx context.Context, cluster client.ObjectKey, kubeconfig func(context.Context) ([]byte, error)) *fleet {
	f := &fleet{
		cluster:  cluster,
		conn:     &connection{kubeconfig: kubeconfig},
		queue:    workqueue.NewTypedDelayingQueue[item](),
		log:      ctrl.Log.WithName("simulated").WithValues("Cluster", cluster),
		machines: map[string]*machine{},
	}
	pods, informer := f.podInformer()
	f.pods = pods
	for range workers {
		f.running.Go(func() { f.work(ctx) })
	}
	f.running.Go(func() { informer.RunWithContext(logr.NewContext(ctx, f.log)) })
	return f
}

// stop waits until nothing runs any more.
func (f *fleet) stop() {
	f.queue.ShutDown()
	f.running.Wait()
}

func (f *fleet) machine(node string) *machine {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.machines[node]
}

func (f *fleet) put(m *machine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.machines[m.node] = m
}

func (f *fleet) add(m *machine) {
	f.put(m)
	f.queue.Add(item{node: m.node})
	f.seePodsOf(m.node)
}

// drop forgets m, unless another machine has its place already.
func (f *fleet) drop(m *machine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.machines[m.node] == m {
		delete(f.machines, m.node)
	}
}

func (f *fleet) work(ctx context.Context) {
	for {
		i, shutdown := f.queue.Get()
		if shutdown {
			return
		}
		f.do(ctx, i)
		f.queue.Done(i)
	}
}

// do takes the next step of i and sees to the one after it.
func (f *fleet) do(ctx context.Context, i item) {
	if ctx.Err() != nil {
		return
	}
	if i.pod.Name != "" {
		f.deletePod(ctx, i)
		return
	}
	m := f.machine(i.node)
	if m == nil {
		return
	}
	var wait time.Duration
	if m.removed.Load() {
		wait = f.collect(ctx, m)
	} else {
		wait = m.step(ctx, f.log)
	}
	if wait >= 0 {
		f.queue.AddAfter(i, wait)
	}
}

// remove waits for the step that m is taking and sees to its Node.
func (f *fleet) remove(ctx context.Context, m *machine, fate backend.NodeFate) {
	m.mu.Lock()
	m.life.removed = time.Now()
	if fate == backend.DeleteNode {
		m.life.collect = m.life.removed
	} else {
		m.life.collect = m.life.removed.Add(leftBehind)
	}
	m.mu.Unlock()
	switch {
	case fate == backend.LeaveNode:
		f.queue.AddAfter(item{node: m.node}, leftBehind)
	case f.conn.doubtful():
		f.queue.Add(item{node: m.node})
	default:
		if wait := f.collect(ctx, m); wait >= 0 {
			f.queue.AddAfter(item{node: m.node}, wait)
		}
	}
}

// collect deletes what is left of m once it is time, and forgets m. It returns after
// which time to come back, negative for never.
func (f *fleet) collect(ctx context.Context, m *machine) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if wait := time.Until(m.life.collect); m.life.collect.IsZero() || wait > 0 {
		return wait
	}
	if err := m.deleteNode(ctx); err != nil {
		if time.Since(m.life.removed) < givenUp && !f.conn.over() {
			if m.failed == 0 {
				f.log.Error(err, "Deleting the Node of a removed machine", "Node", m.node)
			}
			return m.backoff()
		}
		f.log.Error(err, "Giving up the Node of a removed machine", "Node", m.node)
	}
	f.drop(m)
	return -1
}
