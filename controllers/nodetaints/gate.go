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
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// gate lets only so many reconciles talk to one workload cluster at once. A cluster
// that leaves requests unanswered holds a worker for each until it times out; it
// must not hold them all, or every other cluster would wait with it.
type gate struct {
	// limit is the number of reconciles for each cluster.
	limit int

	mu       sync.Mutex
	queue    queue
	clusters map[client.ObjectKey]*passage
}

// passage is what a gate knows of one cluster.
type passage struct {
	inside  int
	waiting map[reconcile.Request]struct{}
	// hung is when a request was last given up for want of an answer.
	hung time.Time
}

// share is the part of the workers that one cluster may hold: four clusters that
// hang in the same instant leave workers for the others.
const share = 5

func newGate(workers int) *gate {
	return &gate{limit: max(1, workers/share), clusters: map[client.ObjectKey]*passage{}}
}

// source hands the controller's queue to the gate, which puts those that wait back
// into it.
func (g *gate) source() source.Source {
	return source.Func(func(_ context.Context, q queue) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.queue = q
		return nil
	})
}

// enter tells whether a reconcile may talk to a cluster now; it must leave then.
// Where it may not, it is queued again once another has left.
func (g *gate) enter(cluster client.ObjectKey, req reconcile.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.clusters[cluster]
	if p == nil {
		p = &passage{waiting: map[reconcile.Request]struct{}{}}
		g.clusters[cluster] = p
	}
	if p.inside >= g.limit {
		p.waiting[req] = struct{}{}
		return false
	}
	delete(p.waiting, req)
	p.inside++
	return true
}

// leave lets the next one in.
func (g *gate) leave(cluster client.ObjectKey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.clusters[cluster]
	p.inside--
	for req := range p.waiting {
		delete(p.waiting, req)
		g.queue.Add(req)
		break
	}
	if p.inside == 0 && len(p.waiting) == 0 && p.hung.IsZero() {
		delete(g.clusters, cluster)
	}
}

// gaveUp notes that a cluster, talked to at this moment, left a request unanswered.
// All that wait for their turn are queued: they have a condition to set.
func (g *gate) gaveUp(cluster client.ObjectKey, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.clusters[cluster]
	p.hung = now
	for req := range p.waiting {
		g.queue.Add(req)
	}
	clear(p.waiting)
}

// hangs tells whether a cluster left a request unanswered and has answered none of
// Cluster API's health probes since.
func (g *gate) hangs(cluster client.ObjectKey, lastAnswer time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.clusters[cluster]
	if p == nil || p.hung.IsZero() {
		return false
	}
	if p.hung.After(lastAnswer) {
		return true
	}
	p.hung = time.Time{}
	if p.inside == 0 && len(p.waiting) == 0 {
		delete(g.clusters, cluster)
	}
	return false
}
