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

// The manager of cluster-api-addon-provider-5spot: see --help for its flags, which
// are those that Cluster API's providers share.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsv1 "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/klog/v2"
	"sigs.k8s.io/cluster-api/controllers/remote"
	"sigs.k8s.io/cluster-api/util/flags"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/5spot/cluster-api-addon-provider-5spot/controllers"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/feature"
)

const managerName = "cluster-api-addon-provider-5spot-manager"

// Leader election, metrics and the manager's own health need these.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

type config struct {
	leaderElect         bool
	leaderLease         time.Duration
	leaderRenewDeadline time.Duration
	leaderRetryPeriod   time.Duration
	leaderNamespace     string
	namespace           string
	syncPeriod          time.Duration
	qps                 float32
	burst               int
	healthAddress       string
	manager             flags.ManagerOptions
	logs                *logs.Options
	controllers         controllers.Options
}

func (c *config) addFlags(fs *pflag.FlagSet) {
	logsv1.AddFlags(c.logs, fs)
	fs.BoolVar(&c.leaderElect, "leader-elect", false, "Let only one of several managers act at a time.")
	fs.DurationVar(&c.leaderLease, "leader-elect-lease-duration", 15*time.Second, "Time after which the others take over from a leader that does not renew its lease.")
	fs.DurationVar(&c.leaderRenewDeadline, "leader-elect-renew-deadline", 10*time.Second, "Time after which a leader that cannot renew its lease gives up.")
	fs.DurationVar(&c.leaderRetryPeriod, "leader-elect-retry-period", 2*time.Second, "Time between attempts to become or stay the leader.")
	fs.StringVar(&c.leaderNamespace, "leader-elect-namespace", "", "Namespace of the lease; empty means the one that the manager's Pod runs in.")
	fs.StringVar(&c.namespace, "namespace", "", "Namespace to reconcile objects in; empty means all.")
	fs.StringVar(&c.controllers.WatchFilterValue, "watch-filter", "", "Value of the label cluster.x-k8s.io/watch-filter that objects must carry to be reconciled; empty means all.")
	fs.DurationVar(&c.syncPeriod, "sync-period", 10*time.Minute, "Interval at which every object is reconciled even though nothing changed.")
	fs.IntVar(&c.controllers.ScheduledMachineConcurrency, "scheduledmachine-concurrency", 20, "Number of ScheduledMachines whose Machines are managed at once.")
	fs.IntVar(&c.controllers.NodeTaintsConcurrency, "nodetaints-concurrency", 20, "Number of ScheduledMachines whose Nodes are tainted at once.")
	fs.IntVar(&c.controllers.ClusterCacheConcurrency, "clustercache-concurrency", 100, "Number of workload clusters connected to or probed at once.")
	fs.Float32Var(&c.qps, "kube-api-qps", 500, "Requests a second to the management cluster's API server.")
	fs.IntVar(&c.burst, "kube-api-burst", 1000, "Requests to the management cluster's API server in one burst.")
	fs.Float32Var(&c.controllers.ClusterCacheClientQPS, "clustercache-client-qps", 100, "Requests a second to each workload cluster's API server.")
	fs.IntVar(&c.controllers.ClusterCacheClientBurst, "clustercache-client-burst", 200, "Requests to each workload cluster's API server in one burst.")
	fs.StringVar(&c.healthAddress, "health-addr", ":9440", "Address of the health endpoints /healthz and /readyz.")
	flags.AddManagerOptions(fs, &c.manager)
	feature.MutableGates.AddFlag(fs)
}

func main() {
	c := &config{logs: logs.NewOptions()}
	c.addFlags(pflag.CommandLine)
	pflag.CommandLine.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	pflag.CommandLine.AddGoFlagSet(flag.CommandLine)
	if err := pflag.CommandLine.Set("v", "2"); err != nil {
		fatal(err)
	}
	pflag.Parse()
	if err := logsv1.ValidateAndApply(c.logs, nil); err != nil {
		fatal(fmt.Errorf("logging flags: %w", err))
	}
	ctrl.SetLogger(klog.Background())
	if err := c.run(ctrl.SetupSignalHandler()); err != nil {
		fatal(err)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "manager:", err)
	os.Exit(1)
}

func (c *config) run(ctx context.Context) error {
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the management cluster: %w", err)
	}
	cfg.QPS, cfg.Burst = c.qps, c.burst
	cfg.UserAgent = remote.DefaultClusterAPIUserAgent(managerName)

	_, metrics, err := flags.GetManagerOptions(c.manager)
	if err != nil {
		return fmt.Errorf("metrics and TLS flags: %w", err)
	}
	options := controllers.ManagerOptions(managerName, c.namespace, c.syncPeriod)
	options.LeaderElection = c.leaderElect
	options.LeaderElectionID = "controller-leader-election-caap5spot"
	options.LeaderElectionNamespace = c.leaderNamespace
	options.LeaderElectionResourceLock = resourcelock.LeasesResourceLock
	// A manager that stops on purpose hands over at once.
	options.LeaderElectionReleaseOnCancel = true
	options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = &c.leaderLease, &c.leaderRenewDeadline, &c.leaderRetryPeriod
	options.HealthProbeBindAddress = c.healthAddress
	options.Metrics = *metrics
	mgr, err := ctrl.NewManager(cfg, options)
	if err != nil {
		return fmt.Errorf("creating the manager: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	c.controllers.Name = managerName
	if err := controllers.Setup(ctx, mgr, c.controllers); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
