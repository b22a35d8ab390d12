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

// Package controllers puts the provider's controllers into a manager.
package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/core/setup"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/controllers/index"
	"github.com/5spot/cluster-api-addon-provider-5spot/controllers/nodetaints"
	"github.com/5spot/cluster-api-addon-provider-5spot/controllers/scheduledmachine"
)

// Options are what the manager's flags decide about the controllers.
type Options struct {
	// Name identifies the manager in user agents and leader election.
	Name string
	// WatchFilterValue limits all controllers to objects with that value of the
	// label cluster.x-k8s.io/watch-filter; empty means all.
	WatchFilterValue string
	// ScheduledMachineConcurrency, NodeTaintsConcurrency and
	// ClusterCacheConcurrency are the numbers of objects reconciled at once.
	ScheduledMachineConcurrency, NodeTaintsConcurrency, ClusterCacheConcurrency int
	// ClusterCacheClientQPS and ClusterCacheClientBurst bound the requests to each
	// workload cluster, per second.
	ClusterCacheClientQPS   float32
	ClusterCacheClientBurst int
	// Clock is what schedules are read by; nil means the real clock.
	Clock clock.PassiveClock
	// SkipNameValidation lets several managers run in one process, in tests.
	SkipNameValidation bool
}

// Setup adds every controller to the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if err := index.Add(ctx, mgr); err != nil {
		return err
	}
	secrets, err := setup.CreateSecretCachingClient(mgr)
	if err != nil {
		return fmt.Errorf("creating the client for kubeconfig Secrets: %w", err)
	}
	// No ClusterFilter to those clusters that have a ScheduledMachine: the ClusterCache
	// asks it on events of the Cluster alone, so that the first ScheduledMachine of a
	// cluster could wait for a connection until the next resync.
	clusterCache, err := clustercache.SetupWithManager(ctx, mgr, clustercache.Options{
		SecretClient:     secrets,
		WatchFilterValue: o.WatchFilterValue,
		Cache:            nodeCache(),
		Client:           setup.ClusterCacheClientOptions(o.Name, o.ClusterCacheClientQPS, o.ClusterCacheClientBurst),
	}, o.controller(o.ClusterCacheConcurrency))
	if err != nil {
		return fmt.Errorf("setting up the ClusterCache: %w", err)
	}
	recorder, err := newRecorder(mgr)
	if err != nil {
		return err
	}
	if err := (&scheduledmachine.Reconciler{
		Client:           mgr.GetClient(),
		Cache:            mgr.GetCache(),
		APIReader:        mgr.GetAPIReader(),
		Recorder:         recorder,
		Clock:            o.Clock,
		WatchFilterValue: o.WatchFilterValue,
	}).SetupWithManager(ctx, mgr, o.controller(o.ScheduledMachineConcurrency)); err != nil {
		return fmt.Errorf("setting up the scheduledmachine controller: %w", err)
	}
	if err := (&nodetaints.Reconciler{
		Client:       mgr.GetClient(),
		APIReader:    mgr.GetAPIReader(),
		Recorder:     recorder,
		SecretClient: secrets,
		ClusterCache: clusterCache,
		Clock:        clock.RealClock{}, // What it measures is the age of health probes, not a schedule.
		Leaving: func(sm *v1alpha1.ScheduledMachine, cluster *clusterv1.Cluster, machine *clusterv1.Machine) bool {
			return scheduledmachine.Leaving(sm, cluster, machine, o.Clock.Now())
		},
		WatchFilterValue: o.WatchFilterValue,
	}).SetupWithManager(ctx, mgr, o.controller(o.NodeTaintsConcurrency)); err != nil {
		return fmt.Errorf("setting up the nodetaints controller: %w", err)
	}
	return nil
}

// Errors are retried after 50 ms at first and at the latest every 30 s: what a
// person mends (a missing template, a missing permission) raises no event of its
// own that would bring the next attempt.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// reconcileTimeout frees a worker that waits for what does not come; it is that of
// Cluster API's own controllers.
const reconcileTimeout = time.Minute

func (o Options) controller(concurrency int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: concurrency,
		ReconciliationTimeout:   reconcileTimeout,
		SkipNameValidation:      &o.SkipNameValidation,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
	}
}

// nodeCache keeps of each workload Node only what a plan is made from: at scale
// managed fields and image lists are most of a Node.
func nodeCache() clustercache.CacheOptions {
	options := setup.ClusterCacheCacheOptions()
	options.Indexes = nil
	options.ByObject = map[client.Object]ctrlcache.ByObject{
		&corev1.Node{}: {Transform: func(in any) (any, error) {
			if node, ok := in.(*corev1.Node); ok {
				node.ManagedFields = nil
				node.Status = corev1.NodeStatus{Conditions: readyOnly(node.Status.Conditions)}
			}
			return in, nil
		}},
	}
	return options
}

func readyOnly(all []corev1.NodeCondition) []corev1.NodeCondition {
	for _, c := range all {
		if c.Type == corev1.NodeReady {
			return []corev1.NodeCondition{{Type: c.Type, Status: c.Status}}
		}
	}
	return nil
}

// NewScheme returns a scheme with every type that the controllers use.
func NewScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(clusterv1.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

// ManagerOptions are the manager's options that the controllers rely on: what is
// cached, and how. The caller adds those of its own. The name must be unique
// within the process; namespace "" means all.
func ManagerOptions(name, namespace string, syncPeriod time.Duration) ctrl.Options {
	scheme := NewScheme()
	return ctrl.Options{
		Scheme: scheme,
		Cache:  setup.ManagerCacheOptions(scheme, name, namespace, syncPeriod),
		Client: setup.ManagerClientOptions(),
	}
}
