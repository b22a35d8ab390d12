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

package crash_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/fault"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
)

// gate kills a manager between two writes of each of many ScheduledMachines, and
// exactly there for each of them.
//
// It stands in both proxies and lets the writes that concern one ScheduledMachine
// (those to the objects of its name, its Node included) through one at a time. The
// answer to the last that the ScheduledMachine may have is kept in hand, and no write
// goes upstream after it; once every ScheduledMachine has come to that point the
// process is killed, and what was kept is dropped. To each ScheduledMachine that is
// a crash right after that write, and one restart serves them all.
type gate struct {
	// last says whether the write that was just made is the last one that its
	// ScheduledMachine may have.
	last func(name string, made []string) bool
	// killed is closed when the process is dead.
	killed chan struct{}
	hooks  []func()

	mu     sync.Mutex
	tracks map[string]*track
}

// track is the life of one ScheduledMachine at the gate.
type track struct {
	// turn is held by the one write that is on its way.
	turn chan struct{}
	// made are the writes that the API server has carried out, as "verb resource".
	made []string
	// stopped: the last write was made, its answer is not given out.
	stopped bool
	// at is when the last write was made.
	at time.Time
}

// setGate puts a gate into both proxies until the test ends or it is lifted.
func setGate(names []string, last func(name string, made []string) bool) *gate {
	g := &gate{last: last, killed: make(chan struct{}), tracks: map[string]*track{}}
	for _, name := range names {
		g.tracks[name] = &track{turn: make(chan struct{}, 1), at: time.Now()}
	}
	for _, p := range []*fault.Proxy{toManagement, toWorkload} {
		g.hooks = append(g.hooks, p.OnRequest(g.request), p.OnResponse(g.response))
	}
	DeferCleanup(g.lift)
	return g
}

// afterWrite is the rule that stops each ScheduledMachine after the write of that
// number, the first being 1.
func afterWrite(number map[string]int) func(string, []string) bool {
	return func(name string, made []string) bool { return len(made) == number[name] }
}

// request lets a write go upstream when it is its turn.
func (g *gate) request(r *http.Request) fault.Action {
	t, _, _ := g.trackOf(r)
	if t == nil {
		return fault.Pass
	}
	select {
	case <-g.killed:
		return fault.Drop
	default:
	}
	select {
	case t.turn <- struct{}{}:
	case <-g.killed:
		return fault.Drop
	case <-r.Context().Done():
		return fault.Drop
	}
	// The request's context ends with the request, however that ends.
	context.AfterFunc(r.Context(), func() { <-t.turn })
	g.mu.Lock()
	stopped := t.stopped
	g.mu.Unlock()
	if !stopped {
		return fault.Pass
	}
	select {
	case <-g.killed:
	case <-r.Context().Done():
	}
	return fault.Drop
}

// response counts a write that was carried out, and keeps the answer to the last.
func (g *gate) response(r *http.Request, code int) fault.Action {
	t, name, write := g.trackOf(r)
	if t == nil || code >= http.StatusMultipleChoices {
		return fault.Pass
	}
	g.mu.Lock()
	t.made, t.at = append(t.made, write), time.Now()
	t.stopped = g.last(name, t.made)
	stopped := t.stopped
	g.mu.Unlock()
	if !stopped {
		return fault.Pass
	}
	<-g.killed
	return fault.Drop
}

// trackOf returns the track that a request is on, the ScheduledMachine's name and
// what the request does, or nothing for one that is no write of the manager or
// concerns nobody here. Events tell of what was done and are not part of it.
func (g *gate) trackOf(r *http.Request) (t *track, name, write string) {
	d := fault.Describe(r)
	if !d.Write() || d.Resource == "events" || d.Resource == "leases" || !strings.Contains(r.UserAgent(), managerAgent) {
		return nil, "", ""
	}
	write = d.Verb + " " + d.Resource
	if d.Subresource != "" {
		write += "/" + d.Subresource
	}
	name = nameOf(r)
	return g.tracks[name], name, write
}

// nameOf is the name of the object that a request writes. It reads the body.
func nameOf(r *http.Request) string {
	if name := fault.Describe(r).Name; name != "" {
		return name
	}
	var created struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if json.NewDecoder(r.Body).Decode(&created) != nil {
		return "" // Not JSON: none of the kinds that are created here.
	}
	return created.Metadata.Name
}

// made are the writes of a ScheduledMachine so far.
func (g *gate) made(o client.Object) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.tracks[o.GetName()].made)
}

// stopped tells whether a ScheduledMachine has come to its last write.
func (g *gate) stopped(o client.Object) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tracks[o.GetName()].stopped
}

// quiet tells whether nothing was written for that time.
func (g *gate) quiet(d time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range g.tracks {
		if time.Since(t.at) < d {
			return false
		}
	}
	return true
}

// kill kills the process and drops what was kept, as well as whatever the process
// may still have sent.
func (g *gate) kill(p *process.Process) {
	GinkgoHelper()
	Expect(p.Kill()).To(Succeed())
	close(g.killed)
}

// lift opens the gate to the next process.
func (g *gate) lift() {
	for _, remove := range g.hooks {
		remove()
	}
	g.hooks = nil
}
