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
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend"
)

const (
	stepTimeout  = 10 * time.Second
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 5 * time.Second
)

// errNodeGone says that the Node was deleted, or that another one bears its name.
var errNodeGone = errors.New("the Node is gone")

// machine is one simulated machine.
type machine struct {
	name client.ObjectKey // of the HostMachine
	node string
	conn *connection
	// start is when it was made.
	start    time.Time
	settings atomic.Pointer[settings]
	removed  atomic.Bool

	// mu is held for a whole step, requests included: who holds it knows that the
	// machine does nothing.
	mu     sync.Mutex
	life   life
	failed int
}

// newMachine returns a machine that has done nothing yet.
func newMachine(of *backend.Machine, conn *connection, s *settings) *machine {
	m := &machine{name: of.Name, node: of.NodeName(), conn: conn, start: of.StartTime}
	if m.start.IsZero() {
		m.start = time.Now()
	}
	m.settings.Store(s)
	return m
}

// step does what is due and returns after which time to come again; negative means
// not before something happens.
func (m *machine) step(ctx context.Context, log logr.Logger) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	for !m.removed.Load() {
		what, wait := m.life.next(time.Now(), m.start, m.settings.Load())
		if what == rest {
			return wait
		}
		err := m.act(ctx, what)
		switch {
		case errors.Is(err, errNodeGone):
			log.Info("The Node went although its machine did not, as by kubectl delete", "Node", m.node)
			m.life.deleted = true
		case err != nil:
			if m.failed == 0 && ctx.Err() == nil {
				log.Info("Cannot "+string(what)+" the Node", "Node", m.node, "error", err.Error())
			}
			return m.backoff()
		}
		m.failed = 0
	}
	return 0
}

func (m *machine) act(ctx context.Context, what action) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	c, err := m.conn.get(ctx)
	if err != nil {
		return err
	}
	switch what {
	case seek:
		err = m.seek(ctx, c)
	case register:
		err = m.register(ctx, c)
	case report:
		err = m.report(ctx, c)
	case rest:
	}
	m.conn.answered(err)
	return err
}

// silent reports whether the machine writes nothing at present.
func (m *machine) silent() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.life.paused
}

// backoff is the time to wait after a failure.
func (m *machine) backoff() time.Duration {
	wait := min(firstBackoff<<min(m.failed, 10), lastBackoff)
	m.failed++
	return wait
}

// register makes the Node. One that is there already is taken over if it is this
// machine's.
func (m *machine) register(ctx context.Context, c kubernetes.Interface) error {
	s := *m.settings.Load()
	if s.version == "" {
		server, err := serverVersion(ctx, c)
		if err != nil {
			return err
		}
		s.version = server
	}
	now := time.Now()
	node, err := c.CoreV1().Nodes().Create(ctx, newNode(m.node, &s, now), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		if err = m.seek(ctx, c); err == nil && m.life.node == "" {
			err = fmt.Errorf("the Node was there and is gone again: %w", errNotYet)
		}
		return err
	}
	if err != nil {
		return err
	}
	m.life.node, m.life.joined = node.UID, now
	m.life.shown, m.life.turned = false, now
	// Machines that join together do not send their heartbeats together.
	m.life.beat = now.Add(-rand.N(s.heartbeatInterval / 2))
	return nil
}

// errNotYet is for what another attempt will find changed.
var errNotYet = errors.New("not yet")

// seek takes over the machine's Node if it is there.
func (m *machine) seek(ctx context.Context, c kubernetes.Interface) error {
	node, err := c.CoreV1().Nodes().Get(ctx, m.node, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		m.life.sought = true
		return nil
	}
	if err != nil {
		return err
	}
	if want := m.settings.Load().providerID; node.Spec.ProviderID != want {
		return fmt.Errorf("a Node of the name has providerID %q instead of %q", node.Spec.ProviderID, want)
	}
	m.life.sought = true
	m.life.node, m.life.joined = node.UID, node.CreationTimestamp.Time
	m.life.shown, m.life.turned = showsReady(node)
	m.life.beat = time.Time{}
	return nil
}

// report writes the Node's conditions and, as a heartbeat, the Lease.
func (m *machine) report(ctx context.Context, c kubernetes.Interface) error {
	s := m.settings.Load()
	now := time.Now()
	ready, turned := m.life.ready(now, s), m.life.turned
	if ready != m.life.shown {
		turned = now
	}
	patch := statusPatch(m.life.node, nodeConditions(ready, m.life.joined, turned, now))
	_, err := c.CoreV1().Nodes().Patch(ctx, m.node, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err), apierrors.IsInvalid(err):
		return m.whetherGone(ctx, c, err)
	case err != nil:
		return err
	}
	m.life.shown, m.life.turned = ready, turned
	if m.life.leased && m.life.beat.Add(s.heartbeatInterval).After(now) {
		return nil // Between two heartbeats, for a change alone.
	}
	if m.life.leased {
		m.life.beat = now
	}
	if err := renewLease(ctx, c, m.node, m.life.node, s.heartbeatInterval); err != nil {
		return fmt.Errorf("renewing the Lease: %w", err)
	}
	m.life.leased = true
	return nil
}

// whetherGone tells a Node that is gone or another's from a request that was wrong.
func (m *machine) whetherGone(ctx context.Context, c kubernetes.Interface, cause error) error {
	node, err := c.CoreV1().Nodes().Get(ctx, m.node, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return errNodeGone
	case err != nil:
		return err
	case node.UID != m.life.node:
		return errNodeGone
	}
	return cause
}

// deleteNode deletes the Node if it is this machine's, and its Lease.
func (m *machine) deleteNode(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout/2)
	defer cancel()
	c, err := m.conn.get(ctx)
	if err != nil {
		return err
	}
	defer func() { m.conn.answered(err) }()
	if m.life.node == "" {
		node, err := c.CoreV1().Nodes().Get(ctx, m.node, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		case node.Spec.ProviderID != m.settings.Load().providerID:
			return nil
		}
		m.life.node = node.UID
	}
	err = c.CoreV1().Nodes().Delete(ctx, m.node, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: ptr.To(m.life.node)}})
	switch {
	case apierrors.IsConflict(err):
		return nil // Another Node bears the name, and the Lease is its.
	case client.IgnoreNotFound(err) != nil:
		return err
	}
	err = c.CoordinationV1().Leases(corev1.NamespaceNodeLease).Delete(ctx, m.node, metav1.DeleteOptions{})
	return client.IgnoreNotFound(err)
}

func serverVersion(ctx context.Context, c kubernetes.Interface) (string, error) {
	data, err := c.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return "", err
	}
	var info version.Info
	if err := json.Unmarshal(data, &info); err != nil {
		return "", fmt.Errorf("reading the API server's version: %w", err)
	}
	return info.GitVersion, nil
}
