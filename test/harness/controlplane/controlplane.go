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

// Package controlplane starts real Kubernetes control planes as processes: etcd,
// kube-apiserver and, when asked, kube-controller-manager and kube-scheduler, on
// free loopback ports, with TLS and client certificates of an authority of their
// own.
//
// It is a test double for nothing: what it starts is what clusters run, less the
// nodes. A control plane is ready within seconds, any number of them run side by
// side, and each keeps its data in a temporary folder that goes with it. Data is
// thrown away, so etcd does not wait for disks, and stopping means SIGKILL.
//
// A control plane ends at Stop, when the context given to Start is done, and when
// this process ends, in whatever way (see package process). So that context must
// last as long as the control plane: the one that ginkgo gives to a BeforeSuite does
// not.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/binaries"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/kubeconfig"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/pki"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/ports"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/workdir"
)

// Options says what a control plane consists of. The zero value is an etcd and an
// API server.
type Options struct {
	// Name is used in kubeconfigs, folder names and errors; "cluster" where empty.
	Name string
	// ControllerManager runs kube-controller-manager: garbage collection, namespace
	// deletion, default ServiceAccounts, node lifecycle taints.
	ControllerManager bool
	// Scheduler runs kube-scheduler.
	Scheduler bool
	// Audit makes the API server log requests, for ControlPlane.Audit.
	Audit bool
	// SharedEtcd, where set, is the control plane whose etcd is used, under a prefix
	// of its own, instead of another etcd. That etcd runs until the last control
	// plane that uses it has stopped.
	SharedEtcd *ControlPlane
	// ExtraArgs are appended to kube-apiserver's command line.
	ExtraArgs []string
	// ControllerManagerArgs are appended to kube-controller-manager's command line.
	ControllerManagerArgs []string
	// Out receives the progress of building binaries; os.Stderr where nil. Nothing is
	// printed where all are built already.
	Out io.Writer
}

// ControlPlane is a running control plane.
type ControlPlane struct {
	options Options
	bin     binaries.Dir
	work    *workdir.Dir
	ca      *pki.CA
	port    *ports.Port
	etcd    *etcd
	admin   *rest.Config
	// probe is the transport of readiness checks and audit barriers: its own, so that
	// they share no connection with a client under test.
	probe     *http.Client
	audit     *auditLog
	apiServer apiServer
	// others are the processes that are clients of the API server.
	others []*process.Process

	stopped  chan struct{}
	stopOnce sync.Once
	stopErr  error
}

// attempts is how often Start tries with other ports where one was taken between
// its reservation and its use.
const attempts = 3

// Start builds what is missing of the binaries, starts a control plane and returns
// when it is ready: /readyz answers, the default namespace is there and, with a
// controller manager, that namespace's ServiceAccount.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	if options.Name == "" {
		options.Name = "cluster"
	}
	if options.Out == nil {
		options.Out = os.Stderr
	}
	names := []binaries.Name{binaries.Etcd, binaries.KubeAPIServer}
	if options.ControllerManager {
		names = append(names, binaries.KubeControllerManager)
	}
	if options.Scheduler {
		names = append(names, binaries.KubeScheduler)
	}
	bin, err := binaries.Ensure(ctx, options.Out, names...)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		cp, err := start(ctx, options, bin)
		if err == nil {
			return cp, nil
		}
		if attempt == attempts || !portTaken(err) {
			return nil, fmt.Errorf("starting control plane %s: %w", options.Name, err)
		}
	}
}

func start(ctx context.Context, options Options, bin binaries.Dir) (_ *ControlPlane, err error) {
	work, err := workdir.New(options.Name)
	if err != nil {
		return nil, err
	}
	cp := &ControlPlane{options: options, bin: bin, work: work, stopped: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, cp.Stop())
		}
	}()
	if cp.port, err = ports.Reserve(); err != nil {
		return nil, err
	}
	if err := cp.writeCredentials(); err != nil {
		return nil, err
	}
	if options.SharedEtcd != nil {
		cp.etcd, err = options.SharedEtcd.etcd.share()
	} else {
		cp.etcd, err = startEtcd(ctx, bin, options.Name)
	}
	if err != nil {
		return nil, err
	}
	if err := cp.prepareAPIServer(); err != nil {
		return nil, err
	}
	if err := cp.StartAPIServer(ctx); err != nil {
		return nil, err
	}
	if err := cp.startClients(ctx); err != nil {
		return nil, err
	}
	go func() {
		select {
		case <-ctx.Done():
			_ = cp.Stop()
		case <-cp.stopped:
		}
	}()
	return cp, nil
}

// Stop ends all processes of the control plane and removes its data. Calling it
// again returns what it returned first.
func (cp *ControlPlane) Stop() error {
	cp.stopOnce.Do(func() {
		close(cp.stopped)
		var errs []error
		for _, client := range cp.others {
			errs = append(errs, client.Kill())
		}
		errs = append(errs, cp.apiServer.close())
		if cp.etcd != nil {
			errs = append(errs, cp.etcd.release())
		}
		if cp.probe != nil {
			cp.probe.CloseIdleConnections()
		}
		errs = append(errs, ports.Release(cp.port), cp.work.Close())
		if err := errors.Join(errs...); err != nil {
			cp.stopErr = fmt.Errorf("stopping control plane %s: %w", cp.options.Name, err)
		}
	})
	return cp.stopErr
}

// Name is the name given in the Options.
func (cp *ControlPlane) Name() string { return cp.options.Name }

// Pids returns the ids of the processes that run for this control plane, a shared
// etcd included.
func (cp *ControlPlane) Pids() []int {
	running := append([]*process.Process{}, cp.others...)
	if server := cp.apiServer.running(); server != nil {
		running = append(running, server)
	}
	running = append(running, cp.etcd.process)
	var pids []int
	for _, p := range running {
		select {
		case <-p.Done():
		default:
			pids = append(pids, p.Pid())
		}
	}
	return pids
}

// Binaries tells where the programs are that this control plane runs.
func (cp *ControlPlane) Binaries() binaries.Dir { return cp.bin }

// Kubeconfig renders cfg, which one of the methods of cp returned, as a kubeconfig.
func (cp *ControlPlane) Kubeconfig(cfg *rest.Config) ([]byte, error) {
	return kubeconfig.FromConfig(cp.options.Name, cfg)
}

// WriteKubeconfig writes cfg as a kubeconfig file into the control plane's temporary
// folder and returns the file's path. The file is gone after Stop.
func (cp *ControlPlane) WriteKubeconfig(fileName string, cfg *rest.Config) (string, error) {
	data, err := cp.Kubeconfig(cfg)
	if err != nil {
		return "", err
	}
	return cp.work.WriteFile(fileName, data)
}
