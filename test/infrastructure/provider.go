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

// Package infrastructure is the host provider: infrastructure, bootstrap and control
// plane provider of Cluster API in one, for tests and the demo. Its clusters are API
// servers that somebody else runs, its machines are made by a backend. It obeys the
// v1beta2 contract and runs inside the process that needs it, several times if need be.
package infrastructure

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	hostbootstrapv1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/bootstrap/v1beta2"
	hostcontrolplanev1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/controlplane/v1beta2"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend/simulated"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/controllers"
)

// UserAgent is what a manager of NewManager bears towards the management cluster.
const UserAgent = "host-provider"

// AddToScheme adds the provider's kinds and those of Cluster API and Kubernetes that it
// works with.
func AddToScheme(scheme *runtime.Scheme) error {
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, clusterv1.AddToScheme,
		infrav1.AddToScheme, hostbootstrapv1.AddToScheme, hostcontrolplanev1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("registering the host provider's kinds: %w", err)
		}
	}
	return nil
}

// Options says how the provider works. All may be left out.
type Options struct {
	// Backend makes the machines, by default simulated.New().
	Backend backend.Backend
	// Kubeconfig reads how machines reach the cluster that they join, by default from
	// the cluster's kubeconfig Secret, as everybody else does.
	Kubeconfig func(ctx context.Context, cluster client.ObjectKey) ([]byte, error)
	// Concurrency is how many objects of a kind are reconciled at a time, by default
	// controllers.DefaultConcurrency.
	Concurrency int
}

// SetupWithManager adds the provider's controllers and its backend to a manager whose
// scheme knows the kinds of AddToScheme.
func SetupWithManager(_ context.Context, mgr manager.Manager, o Options) error {
	if o.Backend == nil {
		o.Backend = simulated.New()
	}
	secrets := mgr.GetAPIReader()
	if o.Kubeconfig == nil {
		o.Kubeconfig = func(ctx context.Context, cluster client.ObjectKey) ([]byte, error) {
			s, err := secret.Get(ctx, secrets, cluster, secret.Kubeconfig)
			if err != nil {
				return nil, fmt.Errorf("getting Secret %s: %w", secret.Name(cluster.Name, secret.Kubeconfig), err)
			}
			return s.Data[secret.KubeconfigDataName], nil
		}
	}
	if err := mgr.Add(manager.RunnableFunc(o.Backend.Run)); err != nil {
		return fmt.Errorf("adding the backend: %w", err)
	}
	c := mgr.GetClient()
	for _, controller := range []interface{ SetupWithManager(ctrl.Manager) error }{
		&controllers.HostCluster{Client: c, Concurrency: o.Concurrency},
		&controllers.HostControlPlane{Client: c, Secrets: secrets, Concurrency: o.Concurrency},
		&controllers.HostConfig{Client: c, Secrets: secrets, Concurrency: o.Concurrency},
		&controllers.HostMachine{Client: c, Secrets: secrets, Backend: o.Backend, Kubeconfig: o.Kubeconfig, Concurrency: o.Concurrency},
	} {
		if err := controller.SetupWithManager(mgr); err != nil {
			return err
		}
	}
	return nil
}

// NewManager returns a manager that runs the provider and nothing else: no leader
// election, no metrics, no limit on requests.
func NewManager(cfg *rest.Config, o Options) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, err
	}
	ofClusters, err := labels.NewRequirement(clusterv1.ClusterNameLabel, selection.Exists, nil)
	if err != nil {
		return nil, fmt.Errorf("selecting the Secrets of clusters: %w", err)
	}
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1
	cfg.UserAgent = UserAgent
	mgr, err := manager.New(cfg, manager.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}: {
					Label: labels.NewSelector().Add(*ofClusters),
				},
			},
		},
		GracefulShutdownTimeout: ptr.To(10 * time.Second),
	})
	if err != nil {
		return nil, fmt.Errorf("creating the host provider's manager: %w", err)
	}
	return mgr, SetupWithManager(context.Background(), mgr, o)
}
