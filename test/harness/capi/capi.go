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

// Package capi runs Cluster API's core manager, the real one, beside a control plane
// of the harness.
//
// In a cluster the manager is a Deployment, cert-manager issues its webhook
// certificate, and the API server reaches it through a Service. Here it is a process
// with a certificate of the harness, and the webhook configurations and conversion
// webhooks of Cluster API's own kustomization are pointed at its loopback port. All
// else is as shipped: CRDs, labels, webhooks, controllers, defaults.
package capi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/binaries"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/crds"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/pki"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/ports"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/workdir"
)

// User is the name under which the core manager appears in the audit log.
const User = "capi-core"

// Options says how the core manager runs. The zero value is as shipped.
type Options struct {
	// FeatureGates are set on or off; the others keep Cluster API's defaults.
	FeatureGates map[string]bool
	// ExtraArgs are appended to the manager's command line.
	ExtraArgs []string
	// Out receives the progress of building the binary; os.Stderr where nil.
	Out io.Writer
}

// Core is a running core manager.
type Core struct {
	process  *process.Process
	work     *workdir.Dir
	reserved []*ports.Port
	metrics  string

	stopped  chan struct{}
	stopOnce sync.Once
	stopErr  error
}

// Install installs Cluster API's CRDs alone, for suites that need its kinds but none
// of its behaviour. Without the manager nobody converts, so only v1beta2, the stored
// version, is to be used.
func Install(ctx context.Context, cfg *rest.Config) error {
	components, err := loadComponents()
	if err != nil {
		return err
	}
	components.withoutConversion()
	return crds.Install(ctx, cfg, components.crds...)
}

// Start installs Cluster API's CRDs and webhooks into cp, runs the core manager and
// returns when a Cluster passes its webhooks. The manager ends at Stop, when ctx is
// done and when this process ends. After Stop the webhooks are still configured, as
// they are in a cluster whose manager is down.
func Start(ctx context.Context, cp *controlplane.ControlPlane, options Options) (_ *Core, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("starting Cluster API core on %s: %w", cp.Name(), err)
		}
	}()
	if options.Out == nil {
		options.Out = os.Stderr
	}
	bin, err := binaries.Ensure(ctx, options.Out, binaries.CAPICore)
	if err != nil {
		return nil, err
	}
	core := &Core{stopped: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, core.Stop())
		}
	}()
	if core.work, err = workdir.New("capi-core"); err != nil {
		return nil, err
	}
	if core.reserved, err = ports.ReserveN(3); err != nil {
		return nil, err
	}
	webhook, health, metrics := core.reserved[0], core.reserved[1], core.reserved[2]
	core.metrics = "http://" + metrics.Address() + "/metrics"

	ca, err := core.writeCertificate()
	if err != nil {
		return nil, err
	}
	kubeconfig, err := core.writeKubeconfig(cp)
	if err != nil {
		return nil, err
	}
	components, err := loadComponents()
	if err != nil {
		return nil, err
	}
	components.pointTo("https://"+webhook.Address(), ca.Cert)
	// The manager watches its kinds from the start, so they come first; its webhooks
	// come last, since they refuse everything until it answers.
	if err := crds.Install(ctx, cp.Config(), components.crds...); err != nil {
		return nil, err
	}
	if err := core.run(ctx, bin, kubeconfig, options); err != nil {
		return nil, err
	}
	if err := core.until(ctx, "its health endpoint", func(ctx context.Context) error {
		return healthy(ctx, "http://"+health.Address()+"/readyz")
	}); err != nil {
		return nil, err
	}
	client, err := newClient(cp.Config())
	if err != nil {
		return nil, err
	}
	if err := components.applyWebhooks(ctx, client); err != nil {
		return nil, err
	}
	if err := core.until(ctx, "a Cluster to pass the webhooks", func(ctx context.Context) error {
		return dryRun(ctx, client)
	}); err != nil {
		return nil, err
	}
	go func() {
		select {
		case <-ctx.Done():
			_ = core.Stop()
		case <-core.stopped:
		}
	}()
	return core, nil
}

// Stop ends the manager. Calling it again returns what it returned first.
func (c *Core) Stop() error {
	c.stopOnce.Do(func() {
		close(c.stopped)
		var errs []error
		if c.process != nil {
			errs = append(errs, c.process.Stop())
		}
		errs = append(errs, ports.Release(c.reserved...))
		if c.work != nil {
			errs = append(errs, c.work.Close())
		}
		if err := errors.Join(errs...); err != nil {
			c.stopErr = fmt.Errorf("stopping Cluster API core: %w", err)
		}
	})
	return c.stopErr
}

// Process is the manager's process, for tests that kill or freeze it.
func (c *Core) Process() *process.Process { return c.process }

// MetricsURL is where the manager serves its metrics, without authentication.
func (c *Core) MetricsURL() string { return c.metrics }

// Files in the manager's temporary folder. The certificate's names are the
// manager's defaults.
const (
	webhookCertFile = "tls.crt"
	webhookKeyFile  = "tls.key"
	kubeconfigFile  = "kubeconfig"
)

// writeCertificate makes the webhook server's certificate and returns its authority.
func (c *Core) writeCertificate() (*pki.CA, error) {
	ca, err := pki.NewCA("capi-webhook-ca")
	if err != nil {
		return nil, err
	}
	serving, err := ca.Serving()
	if err != nil {
		return nil, err
	}
	if _, err := c.work.WriteFile(webhookCertFile, serving.Cert); err != nil {
		return nil, err
	}
	if _, err := c.work.WriteFile(webhookKeyFile, serving.Key); err != nil {
		return nil, err
	}
	return ca, nil
}

func (c *Core) writeKubeconfig(cp *controlplane.ControlPlane) (path string, err error) {
	cfg, err := cp.ConfigFor(User, "system:masters")
	if err != nil {
		return "", err
	}
	data, err := cp.Kubeconfig(cfg)
	if err != nil {
		return "", err
	}
	return c.work.WriteFile(kubeconfigFile, data)
}

func (c *Core) run(ctx context.Context, bin binaries.Dir, kubeconfig string, options Options) error {
	webhook, health, metrics := c.reserved[0], c.reserved[1], c.reserved[2]
	args := []string{
		"--kubeconfig=" + kubeconfig,
		fmt.Sprintf("--webhook-port=%d", webhook.Number()),
		"--webhook-cert-dir=" + c.work.Path(),
		"--health-addr=" + health.Address(),
		"--diagnostics-address=" + metrics.Address(),
		"--insecure-diagnostics=true",
		// Tests make hundreds of Machines at once and wait for each.
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
		"--clustercache-client-qps=1000",
		"--clustercache-client-burst=2000",
	}
	if gates := featureGates(options.FeatureGates); gates != "" {
		args = append(args, "--feature-gates="+gates)
	}
	var err error
	c.process, err = process.Start(context.WithoutCancel(ctx), process.Spec{
		Name:        "capi-core",
		Path:        bin.Path(binaries.CAPICore),
		Args:        append(args, options.ExtraArgs...),
		LogDir:      c.work.Path(),
		StopTimeout: 5 * time.Second,
	})
	return err
}

func featureGates(gates map[string]bool) string {
	var settings []string
	for name, on := range gates {
		settings = append(settings, fmt.Sprintf("%s=%t", name, on))
	}
	slices.Sort(settings)
	return strings.Join(settings, ",")
}

const (
	pollInterval = 50 * time.Millisecond
	readyTimeout = 90 * time.Second
)

// until asks check again and again until it returns nil, the manager ends, ctx is
// done or readyTimeout is over.
func (c *Core) until(ctx context.Context, what string, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("not within %s", readyTimeout))
	defer cancel()
	again := time.NewTicker(pollInterval)
	defer again.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-c.process.Done():
			return fmt.Errorf("waiting for %s: the manager has ended: %w", what, errors.Join(c.process.Err(), err))
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; last answer: %w; the end of the manager's log:\n%s",
				what, context.Cause(ctx), err, c.process.LogTail())
		case <-again.C:
		}
	}
}

func healthy(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, response.Status)
	}
	return nil
}
