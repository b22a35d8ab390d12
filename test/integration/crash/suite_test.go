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

// Package crash_test kills the real manager between any two of its writes, stops it
// over the edges of windows, and lets two of them compete, on real API servers: what
// the next one finds is always enough to go on with.
package crash_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/fault"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
)

// clusterName is the workload cluster that every ScheduledMachine here is for.
const clusterName = "crash"

// managerAgent is in the user agent of every request of a manager's process.
const managerAgent = "cluster-api-addon-provider-5spot-manager"

var (
	env      *environment.Environment
	workload *controlplane.ControlPlane
	// nodes reads and writes the workload cluster as an administrator.
	nodes client.Client
	// toManagement and toWorkload stand between a manager and its two API servers.
	// The workload cluster's is in the kubeconfig Secret, so Cluster API's core
	// manager and the machines go through it as well.
	toManagement, toWorkload *fault.Proxy
	past                     *history
	ctx                      context.Context
)

func TestCrash(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Crashes, hand-overs and missed edges")
}

var _ = BeforeSuite(func() {
	var cancel context.CancelFunc
	ctx, cancel = context.WithCancel(context.Background())
	DeferCleanup(cancel)
	SetDefaultEventuallyTimeout(3 * time.Minute)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	log.SetLogger(GinkgoLogr)

	var err error
	env, err = environment.Start(ctx, environment.Options{
		// Its garbage collector removes the bootstrap Secret of a HostConfig that is gone.
		ControllerManager: true,
		Out:               GinkgoWriter,
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
	workload, err = controlplane.Start(ctx, controlplane.Options{Name: clusterName, SharedEtcd: env.Management, Audit: true, Out: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(workload.Stop()).To(Succeed()) })
	nodes, err = client.New(workload.Config(), client.Options{Scheme: environment.NewScheme()})
	Expect(err).NotTo(HaveOccurred())

	toManagement, toWorkload = newProxy(env.Management.Config()), newProxy(workload.Config())
	_, err = env.Register(ctx, clusterName, toWorkload.Config())
	Expect(err).NotTo(HaveOccurred())
	past = recordHistory()
})

func newProxy(target *rest.Config) *fault.Proxy {
	GinkgoHelper()
	p, err := fault.New(target)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(p.Close()).To(Succeed()) })
	return p
}

// startManager runs the real binary behind a proxy until the test ends.
func startManager(proxy *fault.Proxy, args ...string) *process.Process {
	GinkgoHelper()
	// Some tests hold a worker for each ScheduledMachine; the others go on.
	args = append([]string{"--scheduledmachine-concurrency=100", "--nodetaints-concurrency=100"}, args...)
	p, err := env.StartManagerProcess(ctx, proxy.Config(), args...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(p.Stop()).To(Succeed()) })
	return p
}

// create makes ScheduledMachines, for the time of the test.
func create(sms ...*v1alpha1.ScheduledMachine) {
	GinkgoHelper()
	removeAfterwards(sms...)
	for _, sm := range sms {
		Expect(env.Client.Create(ctx, sm)).To(Succeed())
	}
}

// removeAfterwards removes what a test has left, with a manager that runs for no
// other purpose: the test's own has ended by then.
func removeAfterwards(sms ...*v1alpha1.ScheduledMachine) {
	DeferCleanup(func() {
		var left []*v1alpha1.ScheduledMachine
		for _, sm := range sms {
			err := env.Client.Delete(ctx, sm)
			Expect(client.IgnoreNotFound(err)).To(Succeed())
			if err == nil {
				left = append(left, sm)
			}
		}
		if len(left) == 0 {
			return
		}
		stop, err := env.StartManager(environment.ManagerOptions{})
		Expect(err).NotTo(HaveOccurred())
		for _, sm := range left {
			Eventually(isGone(sm)).Should(BeTrue(), "ScheduledMachine %s", sm.Name)
		}
		Expect(stop()).To(Succeed())
	})
}

func edit(sm *v1alpha1.ScheduledMachine, change func(*v1alpha1.ScheduledMachine)) {
	GinkgoHelper()
	Expect(environment.Edit(ctx, env.Client, sm, change)).To(Succeed())
}

func closeWindow(sm *v1alpha1.ScheduledMachine) { sm.Spec.Schedule = environment.NeverOpen() }
func openWindow(sm *v1alpha1.ScheduledMachine)  { sm.Spec.Schedule = environment.AlwaysOpen() }

func gracefully(d string) func(*v1alpha1.ScheduledMachine) {
	return func(sm *v1alpha1.ScheduledMachine) { sm.Spec.GracefulShutdownTimeout = d }
}

// node reads the Node of a ScheduledMachine, which bears its name.
func node(sm *v1alpha1.ScheduledMachine) (*corev1.Node, error) {
	n := &corev1.Node{}
	return n, nodes.Get(ctx, client.ObjectKey{Name: sm.Name}, n)
}

// managementWrites are the successful writes of this provider to objects of a name
// in the management cluster.
func managementWrites(agent, resource, name string) []controlplane.AuditEvent {
	GinkgoHelper()
	return writesIn(env.Management, agent, resource, name)
}

// nodeWrites are the successful writes of a manager's process to a Node.
func nodeWrites(name string) []controlplane.AuditEvent {
	GinkgoHelper()
	return writesIn(workload, managerAgent, "nodes", name)
}
