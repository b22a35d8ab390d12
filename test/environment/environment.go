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

// Package environment puts a whole fleet together for suites and the demo: a
// management cluster with Cluster API's core manager, this provider's API and
// policy and the host provider, any number of workload clusters that are real API
// servers, and this provider's manager, in the process or as one of its own.
package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/config"
	"github.com/5spot/cluster-api-addon-provider-5spot/controllers"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/capi"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/crds"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend/simulated"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/integration/admission"
)

// Namespace is where suites and the demo put their objects.
const Namespace = "default"

// Options says what a management cluster consists of.
type Options struct {
	// ControllerManager runs kube-controller-manager in the management cluster, for
	// garbage collection by owner references.
	ControllerManager bool
	// WithoutRules installs the API without validation rules and without the
	// admission policy, as an old or a careless installation would have it.
	WithoutRules bool
	// CoreFeatureGates are set on or off in Cluster API's core manager.
	CoreFeatureGates map[string]bool
	// Out receives the progress of building binaries; os.Stderr where nil.
	Out io.Writer
	// Step, where set, is told what begins.
	Step func(what string)
}

// Environment is a running fleet.
type Environment struct {
	// Management is the management cluster.
	Management *controlplane.ControlPlane
	// Client is an administrator's, uncached.
	Client client.WithWatch
	// Backend drives the simulated machines.
	Backend *simulated.Backend

	ctx     context.Context
	options Options
	stops   []func() error
}

// Start brings up a management cluster. It ends with Stop, or when ctx is done.
func Start(ctx context.Context, options Options) (_ *Environment, err error) {
	if options.Out == nil {
		options.Out = os.Stderr
	}
	if options.Step == nil {
		options.Step = func(string) {}
	}
	e := &Environment{ctx: ctx, options: options, Backend: simulated.New()}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Stop())
		}
	}()
	options.Step("management cluster: etcd and kube-apiserver")
	e.Management, err = controlplane.Start(ctx, controlplane.Options{
		Name: "management", Audit: true, ControllerManager: options.ControllerManager, Out: options.Out,
	})
	if err != nil {
		return nil, err
	}
	e.onStop(e.Management.Stop)
	if e.Client, err = client.NewWithWatch(e.Management.Config(), client.Options{Scheme: NewScheme()}); err != nil {
		return nil, fmt.Errorf("creating the client of the management cluster: %w", err)
	}
	options.Step("Cluster API's core manager")
	core, err := capi.Start(ctx, e.Management, capi.Options{FeatureGates: options.CoreFeatureGates, Out: options.Out})
	if err != nil {
		return nil, err
	}
	e.onStop(core.Stop)
	options.Step("the ScheduledMachine API and the host provider")
	if err := e.installAPI(ctx); err != nil {
		return nil, err
	}
	return e, e.startHostProvider()
}

// NewScheme holds the types of this provider and of the host provider.
func NewScheme() *runtime.Scheme {
	scheme := controllers.NewScheme()
	if err := infrastructure.AddToScheme(scheme); err != nil {
		panic(err) // A type that cannot be registered is a mistake in the program.
	}
	return scheme
}

func (e *Environment) onStop(stop func() error) { e.stops = append(e.stops, stop) }

// Stop ends everything, the last started first.
func (e *Environment) Stop() error {
	var errs []error
	for i := len(e.stops) - 1; i >= 0; i-- {
		errs = append(errs, e.stops[i]())
	}
	e.stops = nil
	return errors.Join(errs...)
}

// Workload is a workload cluster: a control plane and the Cluster that stands for it.
type Workload struct {
	*controlplane.ControlPlane
	// Client is an administrator's, uncached.
	Client client.WithWatch
	// Cluster is the object in the management cluster.
	Cluster *clusterv1.Cluster
}

// AddWorkload starts a workload cluster and registers it as a Cluster whose
// machines come from the host provider. All share one etcd process with the
// management cluster unless they need outages of their own.
func (e *Environment) AddWorkload(ctx context.Context, name string, options controlplane.Options) (*Workload, error) {
	options.Name, options.Out = name, e.options.Out
	options.SharedEtcd = e.Management
	cp, err := controlplane.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	e.onStop(cp.Stop)
	w := &Workload{ControlPlane: cp}
	if w.Client, err = client.NewWithWatch(cp.Config(), client.Options{Scheme: NewScheme()}); err != nil {
		return nil, fmt.Errorf("creating the client of workload cluster %s: %w", name, err)
	}
	w.Cluster, err = e.Register(ctx, name, cp.Config())
	return w, err
}

// Register makes a Cluster for an API server that is reached with cfg.
func (e *Environment) Register(ctx context.Context, name string, cfg *rest.Config) (*clusterv1.Cluster, error) {
	kubeconfig, err := e.Management.Kubeconfig(cfg)
	if err != nil {
		return nil, err
	}
	cluster, err := infrastructure.NewCluster(ctx, e.Client, infrastructure.ClusterOptions{
		Namespace: Namespace, Name: name, Kubeconfig: kubeconfig, Version: "v1.36.3",
	})
	if err != nil {
		return nil, fmt.Errorf("registering Cluster %s: %w", name, err)
	}
	return cluster, nil
}

func (e *Environment) installAPI(ctx context.Context) error {
	ours := config.CRDs()
	if e.options.WithoutRules {
		for i := range ours {
			ours[i] = admission.WithoutRules(ours[i])
		}
	}
	hosts, err := infrastructure.CRDs()
	if err != nil {
		return err
	}
	if err := crds.Install(ctx, e.Management.Config(), append(ours, hosts...)...); err != nil {
		return err
	}
	if err := e.ensureNamespace(ctx, config.Namespace); err != nil {
		return err
	}
	if e.options.WithoutRules {
		return nil
	}
	for _, o := range config.AdmissionPolicy() {
		if err := e.Client.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("installing %s: %w", o.GetName(), err)
		}
	}
	return nil
}

func (e *Environment) ensureNamespace(ctx context.Context, name string) error {
	err := e.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	return nil
}
