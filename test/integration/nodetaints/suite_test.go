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

// Package nodetaints_test shows the main job on real API servers: the taints that a
// ScheduledMachine declares are on its Node, and nobody else's are touched.
package nodetaints_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/fault"
)

const (
	// direct is the Cluster that reaches the workload API server itself.
	direct = "taints"
	// proxied is a second Cluster of the same API server, reached through proxy.
	proxied = "proxied"
)

var (
	env      *environment.Environment
	workload *environment.Workload
	proxy    *fault.Proxy
	ctx      context.Context
)

func TestNodeTaints(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Node taints")
}

var _ = BeforeSuite(func() {
	var cancel context.CancelFunc
	ctx, cancel = context.WithCancel(context.Background())
	DeferCleanup(cancel)
	ctrl.SetLogger(GinkgoLogr)
	SetDefaultEventuallyTimeout(60 * time.Second)
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	SetDefaultConsistentlyDuration(time.Second)
	SetDefaultConsistentlyPollingInterval(20 * time.Millisecond)

	var err error
	env, err = environment.Start(ctx, environment.Options{
		Out:              GinkgoWriter,
		CoreFeatureGates: map[string]bool{"MachineTaintPropagation": true},
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
	// A real kube-controller-manager: it owns .spec.taints of every Node.
	workload, err = env.AddWorkload(ctx, direct, controlplane.Options{ControllerManager: true, Audit: true})
	Expect(err).NotTo(HaveOccurred())
	proxy, err = fault.New(workload.Config())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(proxy.Close()).To(Succeed()) })
	_, err = env.Register(ctx, proxied, proxy.Config())
	Expect(err).NotTo(HaveOccurred())
	_, err = env.StartManager(environment.ManagerOptions{})
	Expect(err).NotTo(HaveOccurred())
})

var serial atomic.Int32

// create makes a ScheduledMachine with a name of its own, which its Node will bear,
// and deletes it after the test.
func create(cluster string, changes ...func(*v1alpha1.ScheduledMachine)) *v1alpha1.ScheduledMachine {
	GinkgoHelper()
	sm := environment.ScheduledMachine(cluster, fmt.Sprintf("host-%d", serial.Add(1)), changes...)
	Expect(env.Client.Create(ctx, sm)).To(Succeed())
	DeferCleanup(func() { Expect(client.IgnoreNotFound(env.Client.Delete(ctx, sm))).To(Succeed()) })
	return sm
}

// createTainted is create, waiting until the taints are applied.
func createTainted(cluster string, changes ...func(*v1alpha1.ScheduledMachine)) *v1alpha1.ScheduledMachine {
	GinkgoHelper()
	sm := create(cluster, changes...)
	Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
	return sm
}

// readyOnRequest makes a host machine whose Node turns Ready when setReady says so.
func readyOnRequest(sm *v1alpha1.ScheduledMachine) {
	sm.Spec.InfrastructureSpec = environment.Embedded("infrastructure.cluster.x-k8s.io/v1beta2", "HostMachine", `{"simulated":{"readyAfter":"1h"}}`)
}

func setReady(sm *v1alpha1.ScheduledMachine, ready bool) {
	GinkgoHelper()
	Expect(env.Backend.SetReady(clusterOf(sm), sm.Name, ready)).To(Succeed())
}

func clusterOf(sm *v1alpha1.ScheduledMachine) client.ObjectKey {
	return client.ObjectKey{Namespace: sm.Namespace, Name: sm.Spec.ClusterName}
}

// edit changes a ScheduledMachine as a person would.
func edit(sm *v1alpha1.ScheduledMachine, changes ...func(*v1alpha1.ScheduledMachine)) {
	GinkgoHelper()
	Expect(environment.Edit(ctx, env.Client, sm, func(sm *v1alpha1.ScheduledMachine) {
		for _, change := range changes {
			change(sm)
		}
	})).To(Succeed())
}

// condition reads a condition of a ScheduledMachine as Status/Reason, empty where it
// does not speak of the present spec.
func condition(sm *v1alpha1.ScheduledMachine, conditionType string) func() string {
	return func() string {
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(sm), sm); err != nil {
			return err.Error()
		}
		return environment.Condition(sm, conditionType)
	}
}

// message reads the message of a condition of a ScheduledMachine.
func message(sm *v1alpha1.ScheduledMachine, conditionType string) func() string {
	return func() string {
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(sm), sm); err != nil {
			return err.Error()
		}
		for _, c := range sm.Status.Conditions {
			if c.Type == conditionType {
				return c.Message
			}
		}
		return "no condition " + conditionType
	}
}

// mirror reads what status says is ours on the Node, as kubectl writes taints.
func mirror(sm *v1alpha1.ScheduledMachine) func() []string {
	return func() []string {
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(sm), sm); err != nil {
			return []string{err.Error()}
		}
		return texts(sm.Status.AppliedNodeTaints)
	}
}
