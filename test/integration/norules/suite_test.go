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

// Package norules_test shows that the controller refuses by itself what admission
// would refuse: the API is installed without rules and without the policy, and the
// manager has the rights that users give it.
package norules_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

var (
	env      *environment.Environment
	workload *environment.Workload
	ctx      context.Context
)

func TestWithoutRules(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Without rules of admission")
}

var _ = BeforeSuite(func() {
	var cancel context.CancelFunc
	ctx, cancel = context.WithCancel(context.Background())
	DeferCleanup(cancel)
	SetDefaultEventuallyTimeout(60 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(50 * time.Millisecond)

	var err error
	env, err = environment.Start(ctx, environment.Options{WithoutRules: true, ControllerManager: true, Out: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
	workload, err = env.AddWorkload(ctx, "norules", controlplane.Options{ControllerManager: true, Audit: true})
	Expect(err).NotTo(HaveOccurred())
	// A manager that reads what it may not, for a spec names it, would wait for ever.
	cfg, err := env.ManagerConfig(ctx)
	Expect(err).NotTo(HaveOccurred())
	_, err = env.StartManager(environment.ManagerOptions{Config: cfg})
	Expect(err).NotTo(HaveOccurred())
})

// create makes a ScheduledMachine and removes it after the test. It does not wait
// until it is gone: no other test uses its name.
func create(name string, changes ...func(*v1alpha1.ScheduledMachine)) *v1alpha1.ScheduledMachine {
	GinkgoHelper()
	sm := environment.ScheduledMachine("norules", name, changes...)
	Expect(env.Client.Create(ctx, sm)).To(Succeed())
	DeferCleanup(func() { Expect(client.IgnoreNotFound(env.Client.Delete(ctx, sm))).To(Succeed()) })
	return sm
}

func removeAndWait(sm *v1alpha1.ScheduledMachine) {
	GinkgoHelper()
	Expect(env.Client.Delete(ctx, sm)).To(Succeed())
	Eventually(func() error { return env.Client.Get(ctx, client.ObjectKeyFromObject(sm), sm) }).Should(Satisfy(apierrors.IsNotFound))
}

func edit(sm *v1alpha1.ScheduledMachine, change func(*v1alpha1.ScheduledMachine)) {
	GinkgoHelper()
	Expect(environment.Edit(ctx, env.Client, sm, change)).To(Succeed())
}

func phase(sm *v1alpha1.ScheduledMachine) func() v1alpha1.Phase {
	return func() v1alpha1.Phase {
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(sm), sm); err != nil {
			return v1alpha1.Phase(err.Error())
		}
		return sm.Status.Phase
	}
}

// condition reads a condition as Status/Reason, empty until it speaks of the present
// generation.
func condition(sm *v1alpha1.ScheduledMachine, conditionType string) func() string {
	return func() string {
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(sm), sm); err != nil {
			return err.Error()
		}
		return environment.Condition(sm, conditionType)
	}
}

// message is a condition's message, as last read.
func message(sm *v1alpha1.ScheduledMachine, conditionType string) string {
	for _, c := range sm.Status.Conditions {
		if c.Type == conditionType {
			return c.Message
		}
	}
	return ""
}

func machine(name string) (*clusterv1.Machine, error) {
	m := &clusterv1.Machine{}
	return m, env.Client.Get(ctx, client.ObjectKey{Namespace: environment.Namespace, Name: name}, m)
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
