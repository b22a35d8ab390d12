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
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

// situation is a place in the life of a ScheduledMachine at which something happens
// to it.
type situation struct {
	name string
	text string
	// reach makes a ScheduledMachine of that name come there.
	reach func(name string) *v1alpha1.ScheduledMachine
	// held is a Machine that goes only once it is released.
	held bool
	// after is the phase it has once killSwitch was on and is off again.
	after v1alpha1.Phase
	// stranger is somebody else's HostMachine of the same name.
	stranger bool
}

// situations are all phases, and within a phase all states that differ.
var situations = []situation{
	{name: "active", text: "Active", after: v1alpha1.PhaseActive, reach: func(name string) *v1alpha1.ScheduledMachine {
		return reached(create(name), v1alpha1.PhaseActive)
	}},
	{name: "grace", text: "ShuttingDown, in its grace", after: v1alpha1.PhaseInactive, reach: func(name string) *v1alpha1.ScheduledMachine {
		sm := reached(create(name, grace("1h")), v1alpha1.PhaseActive)
		edit(sm, schedule(environment.NeverOpen()))
		return reached(sm, v1alpha1.PhaseShuttingDown)
	}},
	{name: "going", text: "ShuttingDown, its Machine going", after: v1alpha1.PhaseInactive, held: true, reach: func(name string) *v1alpha1.ScheduledMachine {
		sm := create(name, slowToGo)
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
		edit(sm, schedule(environment.NeverOpen()))
		Eventually(condition(sm, v1alpha1.MachineReadyCondition)).Should(Equal("False/Deleting"))
		return reached(sm, v1alpha1.PhaseShuttingDown)
	}},
	{name: "inactive", text: "Inactive", after: v1alpha1.PhaseInactive, reach: func(name string) *v1alpha1.ScheduledMachine {
		return reached(create(name, schedule(environment.NeverOpen())), v1alpha1.PhaseInactive)
	}},
	{name: "pending", text: "Pending, waiting for the previous Machine", after: v1alpha1.PhaseActive, held: true, reach: func(name string) *v1alpha1.ScheduledMachine {
		sm := create(name, slowToGo)
		Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
		m, err := machine(name)
		Expect(err).NotTo(HaveOccurred())
		remove(m)
		return reached(sm, v1alpha1.PhasePending)
	}},
	{name: "off", text: "Disabled, with a Machine", after: v1alpha1.PhaseDisabled, reach: func(name string) *v1alpha1.ScheduledMachine {
		sm := reached(create(name), v1alpha1.PhaseActive)
		edit(sm, enabled(false))
		return reached(sm, v1alpha1.PhaseDisabled)
	}},
	{name: "astray", text: "Error, its Cluster missing", after: v1alpha1.PhaseError, reach: func(name string) *v1alpha1.ScheduledMachine {
		return reached(create(name, inCluster("nowhere")), v1alpha1.PhaseError)
	}},
	{name: "rivalled", text: "Error, its name taken", after: v1alpha1.PhaseError, stranger: true, reach: func(name string) *v1alpha1.ScheduledMachine {
		createStranger(&infrav1.HostMachine{ObjectMeta: metav1.ObjectMeta{Namespace: environment.Namespace, Name: name}})
		return reached(create(name), v1alpha1.PhaseError)
	}},
}

func reached(sm *v1alpha1.ScheduledMachine, want v1alpha1.Phase) *v1alpha1.ScheduledMachine {
	GinkgoHelper()
	Eventually(func() v1alpha1.Phase {
		p := phase(sm)()
		if sm.Status.ObservedGeneration != sm.Generation && p != v1alpha1.PhaseError {
			return ""
		}
		return p
	}).Should(Equal(want))
	return sm
}

// left is what may be there of a situation's name when all of ours is gone.
func (s situation) left() []string {
	if s.stranger {
		return []string{"HostMachine"}
	}
	return []string{}
}

var _ = Describe("killSwitch", func() {
	for _, s := range situations {
		It("while "+s.text+": all goes without grace, nothing is written any more; false again, the schedule decides", func() {
			name := "kill-" + s.name
			sm := s.reach(name)
			edit(sm, killed(true))
			reached(sm, v1alpha1.PhaseTerminated)
			if s.held {
				Expect(machine(name)).To(HaveField("DeletionTimestamp", Not(BeNil())))
				Consistently(phase(sm)).WithTimeout(time.Second).Should(Equal(v1alpha1.PhaseTerminated))
				release(name)
			}
			Eventually(madeFor(name)).WithTimeout(20 * time.Second).Should(Equal(s.left()))
			Expect(condition(sm, v1alpha1.ScheduleActiveCondition)()).To(Equal("False/KillSwitch"))
			expectQuiet(name)
			Expect(phase(sm)()).To(Equal(v1alpha1.PhaseTerminated))
			Expect(sm.Annotations).NotTo(HaveKey(v1alpha1.ShutdownSinceAnnotation))

			edit(sm, killed(false))
			reached(sm, s.after)
			if s.after == v1alpha1.PhaseActive {
				Eventually(condition(sm, v1alpha1.ReadyCondition)).Should(Equal("True/Ready"))
			} else {
				Consistently(madeFor(name)).WithTimeout(time.Second).Should(Equal(s.left()))
			}
		})
	}
})

var _ = Describe("Deletion", func() {
	for _, s := range append(situations, situation{
		name: "terminated", text: "Terminated", reach: func(name string) *v1alpha1.ScheduledMachine {
			return reached(create(name, killed(true)), v1alpha1.PhaseTerminated)
		},
	}) {
		It("while "+s.text+": all of ours goes without grace, then the ScheduledMachine", func() {
			name := "delete-" + s.name
			sm := s.reach(name)
			remove(sm)
			if s.held {
				Eventually(condition(sm, v1alpha1.ScheduleActiveCondition)).Should(Equal("False/Deleting"))
				Consistently(phase(sm)).WithTimeout(time.Second).Should(Equal(v1alpha1.PhaseShuttingDown))
				Expect(message(sm, v1alpha1.MachineReadyCondition)).To(ContainSubstring("Machine " + name))
				release(name)
			}
			Eventually(func() error { return get(sm, name) }).WithTimeout(20 * time.Second).Should(beNotFound)
			Expect(madeFor(name)()).To(Equal(s.left()))
		})
	}
})
