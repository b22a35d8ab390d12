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

package life_test

import (
	"fmt"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	hostbootstrapv1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/bootstrap/v1beta2"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

type change = func(*v1alpha1.ScheduledMachine)

func schedule(s v1alpha1.Schedule) change {
	return func(sm *v1alpha1.ScheduledMachine) { sm.Spec.Schedule = s }
}

func grace(d string) change {
	return func(sm *v1alpha1.ScheduledMachine) { sm.Spec.GracefulShutdownTimeout = d }
}

func inCluster(name string) change {
	return func(sm *v1alpha1.ScheduledMachine) { sm.Spec.ClusterName = name }
}

func killed(yes bool) change {
	return func(sm *v1alpha1.ScheduledMachine) { sm.Spec.KillSwitch = yes }
}

func enabled(yes bool) change {
	return func(sm *v1alpha1.ScheduledMachine) { sm.Spec.Schedule.Enabled = ptr.To(yes) }
}

// hook keeps a Machine that has a Node from going until release: Cluster API waits
// for it before it drains.
const hook = "pre-drain.delete.hook.machine.cluster.x-k8s.io/test"

func slowToGo(sm *v1alpha1.ScheduledMachine) {
	sm.Spec.MachineTemplate = &v1alpha1.MachineTemplate{Annotations: map[string]string{hook: "test"}}
}

func release(name string) {
	GinkgoHelper()
	m, err := machine(name)
	if apierrors.IsNotFound(err) {
		return
	}
	err = environment.Edit(ctx, env.Client, m, func(m *clusterv1.Machine) { delete(m.Annotations, hook) })
	Expect(client.IgnoreNotFound(err)).To(Succeed())
}

// create makes a ScheduledMachine and removes it after the test. It does not wait
// until it is gone: no other test uses its name.
func create(name string, changes ...change) *v1alpha1.ScheduledMachine {
	GinkgoHelper()
	sm := environment.ScheduledMachine(cluster, name, changes...)
	Expect(env.Client.Create(ctx, sm)).To(Succeed())
	DeferCleanup(func() {
		Expect(client.IgnoreNotFound(env.Client.Delete(ctx, sm))).To(Succeed())
		release(name)
	})
	return sm
}

var beNotFound = Satisfy(apierrors.IsNotFound)

func edit(sm *v1alpha1.ScheduledMachine, change change) {
	GinkgoHelper()
	Expect(environment.Edit(ctx, env.Client, sm, change)).To(Succeed())
}

func remove(o client.Object) {
	GinkgoHelper()
	Expect(env.Client.Delete(ctx, o)).To(Succeed())
}

// phase reads the phase, or an error.
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

// message reads a condition's message.
func message(sm *v1alpha1.ScheduledMachine, conditionType string) string {
	GinkgoHelper()
	Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(sm), sm)).To(Succeed())
	for _, c := range sm.Status.Conditions {
		if c.Type == conditionType {
			return c.Message
		}
	}
	return ""
}

func get(o client.Object, name string) error {
	return env.Client.Get(ctx, client.ObjectKey{Namespace: environment.Namespace, Name: name}, o)
}

func machine(name string) (*clusterv1.Machine, error) {
	m := &clusterv1.Machine{}
	return m, get(m, name)
}

// machineUID is the Machine's UID, empty where there is none.
func machineUID(name string) func() types.UID {
	return func() types.UID {
		m, err := machine(name)
		if err != nil {
			return ""
		}
		return m.UID
	}
}

func hostMachine(name string) (*infrav1.HostMachine, error) {
	m := &infrav1.HostMachine{}
	return m, get(m, name)
}

func hostConfig(name string) (*hostbootstrapv1.HostConfig, error) {
	c := &hostbootstrapv1.HostConfig{}
	return c, get(c, name)
}

// madeFor lists which of Machine, HostMachine and HostConfig of a name exist.
func madeFor(name string) func() []string {
	return func() []string {
		made := []string{}
		for kind, o := range map[string]client.Object{
			"Machine": &clusterv1.Machine{}, "HostMachine": &infrav1.HostMachine{}, "HostConfig": &hostbootstrapv1.HostConfig{},
		} {
			if err := get(o, name); err == nil {
				made = append(made, kind)
			} else if !apierrors.IsNotFound(err) {
				made = append(made, err.Error())
			}
		}
		return made
	}
}

// record watches a ScheduledMachine from now on and returns the values that what
// took, each once in a row.
func record(sm *v1alpha1.ScheduledMachine, what func(*v1alpha1.ScheduledMachine) string) func() []string {
	GinkgoHelper()
	watch, err := env.Client.Watch(ctx, &v1alpha1.ScheduledMachineList{},
		client.InNamespace(sm.Namespace), client.MatchingFields{"metadata.name": sm.Name})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(watch.Stop)
	var mu sync.Mutex
	var values []string
	go func() {
		for event := range watch.ResultChan() {
			value := fmt.Sprintf("%s: %v", event.Type, event.Object)
			if seen, ok := event.Object.(*v1alpha1.ScheduledMachine); ok {
				value = what(seen)
			}
			mu.Lock()
			if value != "" && (len(values) == 0 || values[len(values)-1] != value) {
				values = append(values, value)
			}
			mu.Unlock()
		}
	}()
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string{}, values...)
	}
}

func phaseText(sm *v1alpha1.ScheduledMachine) string { return string(sm.Status.Phase) }
