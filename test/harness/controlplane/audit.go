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

package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// auditPolicy logs who did what to Nodes, Events and all objects of Cluster API and
// of this project, once a request. barrierPath is logged to know how far the log has
// come.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  nonResourceURLs: ["` + barrierPath + `"]
- level: Metadata
  resources:
  - group: ""
    resources: ["nodes", "nodes/*", "events"]
  - group: events.k8s.io
  - group: 5spot.finos.org
  - group: cluster.x-k8s.io
  - group: addons.cluster.x-k8s.io
  - group: bootstrap.cluster.x-k8s.io
  - group: controlplane.cluster.x-k8s.io
  - group: infrastructure.cluster.x-k8s.io
  - group: runtime.cluster.x-k8s.io
- level: None
`

const barrierPath = "/harness-audit-barrier"

// AuditEvent is one request that the API server has answered.
type AuditEvent struct {
	// Verb is the Kubernetes verb: get, list, watch, create, update, patch, delete,
	// deletecollection.
	Verb string
	// Group, Resource, Subresource, Namespace and Name say of what; empty where the
	// request names none. A create has a Name only once the object has one.
	Group       string
	Resource    string
	Subresource string
	Namespace   string
	Name        string
	User        string
	UserAgent   string
	// FieldManager and DryRun come from the request's URL.
	FieldManager string
	DryRun       bool
	RequestURI   string
	// Code is the HTTP status of the answer.
	Code int
	// Received and Answered are the API server's clock, in microseconds.
	Received time.Time
	Answered time.Time
}

// Write tells whether the request was to change something.
func (e AuditEvent) Write() bool {
	return !e.DryRun && slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb)
}

// auditLog reads what the API server has appended to its log, once.
type auditLog struct {
	path string

	mu       sync.Mutex
	offset   int64
	events   []AuditEvent
	barriers map[string]bool
	barrier  int
}

// Audit returns the answered requests for which filter says true, oldest answer
// first; a nil filter takes all. Every request answered before Audit was called is
// in the log by the time it returns, except while the API server is stopped. Watches
// appear when they end. The control plane must have been started with Options.Audit.
func (cp *ControlPlane) Audit(filter func(AuditEvent) bool) ([]AuditEvent, error) {
	if cp.audit == nil {
		return nil, errors.New("reading the audit log: the control plane was started without Options.Audit")
	}
	if err := cp.auditBarrier(); err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return cp.audit.filtered(filter), nil
}

// auditBarrier makes a request of its own and waits for it to appear in the log. The
// API server logs a request right after the last byte of its answer, so those that
// were answered before are in the log before this one.
func (cp *ControlPlane) auditBarrier() error {
	if cp.apiServer.running() == nil {
		return cp.audit.read()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	marker := cp.audit.nextBarrier()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, cp.admin.Host+barrierPath+"?marker="+marker, nil)
	if err != nil {
		return err
	}
	response, err := cp.probe.Do(request)
	if err != nil {
		return fmt.Errorf("asking the API server how far it is: %w", err)
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		if err := cp.audit.read(); err != nil {
			return err
		}
		if cp.audit.passed(marker) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the log to catch up: %w", ctx.Err())
		case <-again.C:
		}
	}
}

func (l *auditLog) nextBarrier() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.barrier++
	return strconv.Itoa(l.barrier)
}

func (l *auditLog) passed(marker string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.barriers[marker]
}

func (l *auditLog) filtered(filter func(AuditEvent) bool) []AuditEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []AuditEvent
	for _, event := range l.events {
		if filter == nil || filter(event) {
			found = append(found, event)
		}
	}
	return found
}

// read takes in the whole lines that were added since the last time.
func (l *auditLog) read() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	file, err := os.Open(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing was logged yet
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(l.offset, io.SeekStart); err != nil {
		return err
	}
	added, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(added, '\n') + 1
	for line := range bytes.Lines(added[:whole]) {
		if err := l.take(line); err != nil {
			return err
		}
	}
	l.offset += int64(whole)
	return nil
}

// wireEvent is the part of audit.k8s.io/v1 Event that is read here.
type wireEvent struct {
	Stage      string
	Verb       string
	RequestURI string
	UserAgent  string
	User       struct{ Username string }
	ObjectRef  struct {
		APIGroup    string
		Resource    string
		Subresource string
		Namespace   string
		Name        string
	}
	ResponseStatus           struct{ Code int }
	RequestReceivedTimestamp metav1.MicroTime
	StageTimestamp           metav1.MicroTime
}

// take keeps a request once, at its end: watches are logged at their start as well.
func (l *auditLog) take(line []byte) error {
	var wire wireEvent
	if err := json.Unmarshal(line, &wire); err != nil {
		return fmt.Errorf("line at byte %d: %w", l.offset, err)
	}
	if wire.Stage != "ResponseComplete" && wire.Stage != "Panic" {
		return nil
	}
	uri, err := url.Parse(wire.RequestURI)
	if err != nil {
		return fmt.Errorf("line at byte %d: %w", l.offset, err)
	}
	query := uri.Query()
	if uri.Path == barrierPath {
		if l.barriers == nil {
			l.barriers = map[string]bool{}
		}
		l.barriers[query.Get("marker")] = true
		return nil
	}
	l.events = append(l.events, AuditEvent{
		Verb:         wire.Verb,
		Group:        wire.ObjectRef.APIGroup,
		Resource:     wire.ObjectRef.Resource,
		Subresource:  wire.ObjectRef.Subresource,
		Namespace:    wire.ObjectRef.Namespace,
		Name:         wire.ObjectRef.Name,
		User:         wire.User.Username,
		UserAgent:    wire.UserAgent,
		FieldManager: query.Get("fieldManager"),
		DryRun:       query.Has("dryRun"),
		RequestURI:   wire.RequestURI,
		Code:         wire.ResponseStatus.Code,
		Received:     wire.RequestReceivedTimestamp.Time,
		Answered:     wire.StageTimestamp.Time,
	})
	return nil
}
