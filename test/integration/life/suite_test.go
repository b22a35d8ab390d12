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

// Package life_test shows the life of a ScheduledMachine on real API servers: what
// its window, its switches, its Cluster and other people's objects make of it.
package life_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/binaries"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

// cluster is the Cluster that most ScheduledMachines here belong to.
const cluster = "life"

var (
	env      *environment.Environment
	workload *environment.Workload
	kubectl  string
	now      = &movableClock{}
	ctx      context.Context
)

func TestLife(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The life of a ScheduledMachine")
}

var _ = BeforeSuite(func() {
	var cancel context.CancelFunc
	ctx, cancel = context.WithCancel(context.Background())
	DeferCleanup(cancel)
	SetDefaultEventuallyTimeout(60 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyDuration(3 * time.Second)
	SetDefaultConsistentlyPollingInterval(100 * time.Millisecond)

	dir, err := binaries.Ensure(ctx, GinkgoWriter, binaries.Kubectl)
	Expect(err).NotTo(HaveOccurred())
	kubectl = dir.Path(binaries.Kubectl)
	// Garbage collection by owner references is part of a Cluster's deletion.
	env, err = environment.Start(ctx, environment.Options{ControllerManager: true, Out: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
	workload, err = env.AddWorkload(ctx, cluster, controlplane.Options{ControllerManager: true})
	Expect(err).NotTo(HaveOccurred())
	_, err = env.StartManager(environment.ManagerOptions{Clock: now})
	Expect(err).NotTo(HaveOccurred())
})

// registerCluster makes another Cluster of the same API server.
func registerCluster(name string) {
	GinkgoHelper()
	_, err := env.Register(ctx, name, workload.Config())
	Expect(err).NotTo(HaveOccurred())
}

// eventsOf are the messages of the Events of a reason on a ScheduledMachine.
func eventsOf(name, reason string) func() []string {
	return func() []string {
		list := &corev1.EventList{}
		if err := env.Client.List(ctx, list, client.InNamespace(environment.Namespace)); err != nil {
			return nil
		}
		var messages []string
		for _, e := range list.Items {
			if e.InvolvedObject.Kind == "ScheduledMachine" && e.InvolvedObject.Name == name && e.Reason == reason {
				messages = append(messages, e.Message)
			}
		}
		return messages
	}
}
