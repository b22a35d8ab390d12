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
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// UserAgent is what the machines' requests bear.
const UserAgent = "host-simulated"

const (
	qps = 500
	// recheck is how often the kubeconfig is read again while requests fail.
	recheck = time.Second
)

// connection is the client of a workload cluster. It follows the kubeconfig: once a
// request failed for want of an answer or of valid credentials it looks whether that
// has changed.
type connection struct {
	mu         sync.Mutex
	kubeconfig func(context.Context) ([]byte, error)
	data       []byte
	client     kubernetes.Interface
	doubted    bool
	read       time.Time
	missing    bool
}

// from sets where the kubeconfig comes from.
func (c *connection) from(kubeconfig func(context.Context) ([]byte, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kubeconfig = kubeconfig
}

// get returns the client.
func (c *connection) get(ctx context.Context) (kubernetes.Interface, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client != nil && (!c.doubted || time.Since(c.read) < recheck) {
		return c.client, nil
	}
	data, err := c.kubeconfig(ctx)
	c.missing = apierrors.IsNotFound(err)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	c.read, c.doubted = time.Now(), false
	if c.client != nil && bytes.Equal(data, c.data) {
		return c.client, nil
	}
	client, err := connect(data)
	if err != nil {
		return nil, err
	}
	c.client, c.data = client, data
	return client, nil
}

// doubtful reports whether the last request failed for want of an answer.
func (c *connection) doubtful() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.doubted
}

// answered takes note of how a request ended.
func (c *connection) answered(err error) {
	var status apierrors.APIStatus
	if err == nil || errors.As(err, &status) && !apierrors.IsUnauthorized(err) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doubted = true
}

// over reports whether the kubeconfig is gone, and the cluster with it.
func (c *connection) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.missing
}

func connect(kubeconfig []byte) (kubernetes.Interface, error) {
	cfg, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	cfg.UserAgent = UserAgent
	cfg.QPS, cfg.Burst = qps, 2*qps
	cfg.ContentType = runtime.ContentTypeProtobuf
	cfg.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("creating a client from the kubeconfig: %w", err)
	}
	return client, nil
}
