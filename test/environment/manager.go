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

package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/5spot/cluster-api-addon-provider-5spot/controllers"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/workdir"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure"
)

// ManagerOptions says how this provider's manager runs within the process.
type ManagerOptions struct {
	// Clock is what schedules are read by; nil means the real clock.
	Clock clock.PassiveClock
	// Config reaches the management cluster; nil means an administrator's.
	Config *rest.Config
}

var managers atomic.Int64

// StartManager runs this provider's manager in this process. The function it
// returns stops it and waits until it has; it may be called twice.
func (e *Environment) StartManager(options ManagerOptions) (stop func() error, err error) {
	if options.Config == nil {
		options.Config = e.Management.Config()
	}
	name := fmt.Sprintf("5spot-in-process-%d", managers.Add(1))
	cfg := rest.CopyConfig(options.Config)
	cfg.UserAgent = name
	managerOptions := controllers.ManagerOptions(name, "", 10*time.Minute)
	managerOptions.Metrics = metricsserver.Options{BindAddress: "0"}
	mgr, err := ctrl.NewManager(cfg, managerOptions)
	if err != nil {
		return nil, fmt.Errorf("creating the manager: %w", err)
	}
	ctx, cancel := context.WithCancel(e.ctx)
	if err := controllers.Setup(ctx, mgr, controllers.Options{
		Name:                        name,
		Clock:                       options.Clock,
		ScheduledMachineConcurrency: 10,
		NodeTaintsConcurrency:       10,
		ClusterCacheConcurrency:     10,
		ClusterCacheClientQPS:       1000,
		ClusterCacheClientBurst:     2000,
		SkipNameValidation:          true,
	}); err != nil {
		cancel()
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	e.onStop(stop)
	return stop, nil
}

// startHostProvider runs the host provider in this process.
func (e *Environment) startHostProvider() error {
	mgr, err := infrastructure.NewManager(e.Management.Config(), infrastructure.Options{Backend: e.Backend})
	if err != nil {
		return fmt.Errorf("creating the host provider: %w", err)
	}
	ctx, cancel := context.WithCancel(e.ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	e.onStop(func() error {
		cancel()
		return <-ended
	})
	return nil
}

// repository is the folder of this module.
var repository = sync.OnceValues(func() (string, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	return strings.TrimSpace(string(dir)), nil
})

// managerBinary builds the manager's binary, once for each process that asks; the
// Go toolchain makes the second build a matter of a second.
var managerBinary = sync.OnceValues(func() (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "bin", "manager")
	// Suites run side by side: each renames a complete file into place.
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	build := exec.Command("go", "build", "-o", fresh, ".")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the manager: %w\n%s", err, out)
	}
	if err := os.Rename(fresh, path); err != nil {
		return "", fmt.Errorf("putting the manager in place: %w", err)
	}
	return path, nil
})

// StartManagerProcess runs this provider's manager as users run it, in a process
// of its own that reaches the management cluster with cfg.
func (e *Environment) StartManagerProcess(ctx context.Context, cfg *rest.Config, args ...string) (*process.Process, error) {
	path, err := managerBinary()
	if err != nil {
		return nil, err
	}
	dir, err := workdir.New("manager")
	if err != nil {
		return nil, err
	}
	kubeconfig, err := e.Management.Kubeconfig(cfg)
	if err != nil {
		return nil, err
	}
	file, err := dir.WriteFile("kubeconfig", kubeconfig)
	if err != nil {
		return nil, err
	}
	p, err := process.Start(ctx, process.Spec{
		Name: "manager", Path: path, LogDir: dir.Path(),
		Args: append([]string{"--kubeconfig", file, "--health-addr=127.0.0.1:0", "--diagnostics-address=0"}, args...),
	})
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	e.onStop(func() error { return errors.Join(p.Stop(), dir.Close()) })
	return p, nil
}
