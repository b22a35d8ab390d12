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

// The host provider on real API servers, beside the real core manager of Cluster API.
package infrastructure_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/capi"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/crds"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure"
	hostbootstrapv1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/bootstrap/v1beta2"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend/simulated"
)

const (
	namespace = "default"
	version   = "v1.36.3"
)

var (
	ctx context.Context
	// management runs Cluster API, workload is the cluster that machines join.
	management, workload *controlplane.ControlPlane
	mgmt, nodes          client.WithWatch
	// cluster stands for workload.
	cluster *clusterv1.Cluster
	// backend is that of the provider that runs.
	backend      *simulated.Backend
	stopProvider func()
)

func TestInfrastructure(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Host provider")
}

var _ = BeforeSuite(func() {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	var cancel context.CancelFunc
	ctx, cancel = context.WithCancel(context.Background())
	DeferCleanup(func() { cancel() })
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)

	management = startControlPlane(controlplane.Options{Name: "management", Audit: true})
	workload = startControlPlane(controlplane.Options{Name: "workload", SharedEtcd: management, ControllerManager: true, Audit: true})
	core, err := capi.Start(ctx, management, capi.Options{Out: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(core.Stop()).To(Succeed()) })
	definitions, err := infrastructure.CRDs()
	Expect(err).NotTo(HaveOccurred())
	Expect(crds.Install(ctx, management.Config(), definitions...)).To(Succeed())

	mgmt, nodes = newClient(management.Config()), newClient(workload.Config())
	startProvider()
	DeferCleanup(func() { stopProvider() })
	cluster = register("workload", workload.Config())
	Eventually(fetch(cluster)).Should(HaveField("Status.Initialization.ControlPlaneInitialized", HaveValue(BeTrue())))
})

func startControlPlane(options controlplane.Options) *controlplane.ControlPlane {
	GinkgoHelper()
	options.Out = GinkgoWriter
	cp, err := controlplane.Start(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(cp.Stop()).To(Succeed()) })
	return cp
}

func newClient(cfg *rest.Config) client.WithWatch {
	GinkgoHelper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{infrastructure.AddToScheme, coordinationv1.AddToScheme, policyv1.AddToScheme} {
		Expect(add(scheme)).To(Succeed())
	}
	c, err := client.NewWithWatch(cfg, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	return c
}

// startProvider runs the provider with a backend that knows of no machine, as a new
// process has it.
func startProvider() {
	GinkgoHelper()
	backend = simulated.New()
	mgr, err := infrastructure.NewManager(management.Config(), infrastructure.Options{Backend: backend})
	Expect(err).NotTo(HaveOccurred())
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	stopProvider = sync.OnceFunc(func() {
		cancel()
		Expect(<-ended).To(Succeed())
	})
}

// register makes a Cluster for the API server that cfg reaches.
func register(name string, cfg *rest.Config) *clusterv1.Cluster {
	GinkgoHelper()
	kubeconfig, err := management.Kubeconfig(cfg)
	Expect(err).NotTo(HaveOccurred())
	c, err := infrastructure.NewCluster(ctx, mgmt, infrastructure.ClusterOptions{
		Namespace: namespace, Name: name, Kubeconfig: kubeconfig, Version: version,
	})
	Expect(err).NotTo(HaveOccurred())
	return c
}

// set is a Machine with what stands behind it, all of one name.
type set struct {
	machine     *clusterv1.Machine
	config      *hostbootstrapv1.HostConfig
	hostMachine *infrav1.HostMachine
}

// newSet describes a Machine of a cluster; each change makes it what a test needs.
func newSet(of *clusterv1.Cluster, name string, changes ...func(*set)) *set {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	s := &set{
		config:      &hostbootstrapv1.HostConfig{ObjectMeta: meta},
		hostMachine: &infrav1.HostMachine{ObjectMeta: meta},
		machine: &clusterv1.Machine{ObjectMeta: meta, Spec: clusterv1.MachineSpec{
			ClusterName:       of.Name,
			Version:           version,
			Bootstrap:         clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{APIGroup: hostbootstrapv1.GroupVersion.Group, Kind: "HostConfig", Name: name}},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "HostMachine", Name: name},
		}},
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

func simulation(m infrav1.SimulatedMachine) func(*set) {
	return func(s *set) { s.hostMachine.Spec.Simulated = m }
}

func after(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

// create creates a set and deletes it after the test.
func create(s *set) *set {
	GinkgoHelper()
	for _, o := range []client.Object{s.config, s.hostMachine, s.machine} {
		Expect(mgmt.Create(ctx, o)).To(Succeed())
	}
	DeferCleanup(func() { remove(s) })
	return s
}

// remove deletes a Machine and waits until all of it is gone.
func remove(s *set) {
	GinkgoHelper()
	Expect(client.IgnoreNotFound(mgmt.Delete(ctx, s.machine))).To(Succeed())
	if !s.machine.Spec.Bootstrap.ConfigRef.IsDefined() {
		Expect(client.IgnoreNotFound(mgmt.Delete(ctx, s.config))).To(Succeed())
	}
	for _, o := range []client.Object{s.machine, s.hostMachine, s.config} {
		Eventually(exists(mgmt, o)).WithTimeout(time.Minute).Should(BeFalse(), "%T %s should be gone", o, o.GetName())
	}
}

// fetch reads an object of the management cluster anew.
func fetch[T client.Object](o T) func() (T, error) {
	return func() (T, error) { return o, mgmt.Get(ctx, client.ObjectKeyFromObject(o), o) }
}

func exists(c client.Client, o client.Object) func() (bool, error) {
	return func() (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(o), o)
		return err == nil, client.IgnoreNotFound(err)
	}
}

// condition reads a condition as Status/Reason.
func condition[T interface {
	client.Object
	conditions.Getter
}](o T, conditionType string) func() (string, error) {
	return func() (string, error) {
		if err := mgmt.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return "", err
		}
		c := conditions.Get(o, conditionType)
		if c == nil {
			return "", nil
		}
		return fmt.Sprintf("%s/%s", c.Status, c.Reason), nil
	}
}

var errAbsent = errors.New("there is no such Node")

func node(name string) (*corev1.Node, error) {
	n := &corev1.Node{}
	err := nodes.Get(ctx, client.ObjectKey{Name: name}, n)
	if apierrors.IsNotFound(err) {
		err = errAbsent
	}
	return n, err
}

// readiness reads a Node's readiness, "absent" where there is no Node.
func readiness(name string) func() (string, error) {
	return func() (string, error) {
		n, err := node(name)
		if errors.Is(err, errAbsent) {
			return "absent", nil
		}
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady {
				return string(c.Status), err
			}
		}
		return "", err
	}
}

// ready waits until the Node is Ready and its Machine knows it.
func ready(s *set) *corev1.Node {
	GinkgoHelper()
	Eventually(readiness(s.machine.Name)).Should(Equal("True"))
	Eventually(fetch(s.machine)).Should(HaveField("Status.NodeRef.Name", s.machine.Name))
	n, err := node(s.machine.Name)
	Expect(err).NotTo(HaveOccurred())
	return n
}

// audited is how often a log that grows to megabytes is read.
const audited = 250 * time.Millisecond

// writes are the simulated machines' writes to a Node of the workload cluster.
func writes(name string) []controlplane.AuditEvent {
	GinkgoHelper()
	events, err := workload.Audit(func(e controlplane.AuditEvent) bool {
		return e.Write() && e.Resource == "nodes" && e.Name == name && e.UserAgent == simulated.UserAgent
	})
	Expect(err).NotTo(HaveOccurred())
	return events
}

// kubeconfigOf replaces a Cluster's kubeconfig and returns the one it had.
func kubeconfigOf(c *clusterv1.Cluster, next []byte) (before []byte) {
	GinkgoHelper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name + "-kubeconfig"}}
	edit(s, func() { before, s.Data["value"] = s.Data["value"], next })
	return before
}
