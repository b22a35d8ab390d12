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

package crash_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
)

// halfway is a crash in the middle of creation, after which the world changes before
// the next manager comes.
type halfway struct {
	name string
	// after is the last write before the crash.
	after string
	// meanwhile is what a person does while no manager runs.
	meanwhile func(*v1alpha1.ScheduledMachine)
	// done is the state that the next manager must come to.
	done func(*v1alpha1.ScheduledMachine) func() bool
	// machines is how many Machines there may ever have been.
	machines int
}

var halfways = []halfway{
	{"closed-at-infrastructure", "create hostmachines", closed, isInactive, 0},
	{"closed-at-bootstrap", "create hostconfigs", closed, isInactive, 0},
	{"closed-at-machine", "create machines", closed, isInactive, 1},
	{"deleted-at-infrastructure", "create hostmachines", deleted, isGone, 0},
	{"deleted-at-bootstrap", "create hostconfigs", deleted, isGone, 0},
	{"deleted-at-machine", "create machines", deleted, isGone, 1},
	{"killed-at-bootstrap", "create hostconfigs", killed, isTerminated, 0},
	// Case 30: what a crash leaves is adopted, also where status was lost as well.
	{"lost-at-infrastructure", "create hostmachines", statusLost, isActive, 1},
	{"lost-at-bootstrap", "create hostconfigs", statusLost, isActive, 1},
	{"lost-at-machine", "create machines", statusLost, isActive, 1},
	{"lost-at-node", "patch nodes", statusLost, isActive, 1},
}

func closed(sm *v1alpha1.ScheduledMachine)  { edit(sm, closeWindow) }
func deleted(sm *v1alpha1.ScheduledMachine) { Expect(env.Client.Delete(ctx, sm)).To(Succeed()) }
func killed(sm *v1alpha1.ScheduledMachine) {
	edit(sm, func(sm *v1alpha1.ScheduledMachine) { sm.Spec.KillSwitch = true })
}

// statusLost does to status what clusterctl move does.
func statusLost(sm *v1alpha1.ScheduledMachine) {
	Expect(get(sm)).To(BeTrue())
	sm.Status = v1alpha1.ScheduledMachineStatus{}
	Expect(env.Client.Status().Update(ctx, sm)).To(Succeed())
}

func isTerminated(sm *v1alpha1.ScheduledMachine) func() bool {
	return func() bool { return get(sm) && sm.Status.Phase == v1alpha1.PhaseTerminated && len(leftOf(sm)) == 0 }
}

var _ = Describe("A manager killed halfway through creation", func() {
	It("leaves what the next one adopts, or removes where there is no place for it any more", func() {
		row := map[string]halfway{}
		var sms []*v1alpha1.ScheduledMachine
		for _, h := range halfways {
			row[h.name] = h
			sms = append(sms, environment.ScheduledMachine(clusterName, h.name, environment.Taints("workload=batch:NoSchedule")))
		}
		manager := startManager(toManagement)
		g := setGate(namesOf(sms), func(name string, made []string) bool { return made[len(made)-1] == row[name].after })
		create(sms...)
		for _, sm := range sms {
			Eventually(g.stopped).WithArguments(sm).Should(BeTrue(), "%s did not come to its crash", sm.Name)
		}
		g.kill(manager)
		for _, sm := range sms {
			if row[sm.Name].after == "create hostmachines" {
				Expect(leftOf(sm)).To(Equal([]string{hostMachines}), "left of %s by the crash", sm.Name)
			}
			row[sm.Name].meanwhile(sm)
		}

		g.lift()
		startManager(toManagement)
		for _, sm := range sms {
			h := row[sm.Name]
			Eventually(h.done(sm)).Should(BeTrue(), func() string { return fmt.Sprintf("%s did not recover:\n%s", sm.Name, describe(sm)) })
			expectNoError(sm)
			Expect(past.uidsOf(machines, sm)).To(HaveLen(h.machines), "Machines %s", sm.Name)
			Expect(past.uidsOf(hostMachines, sm)).To(HaveLen(1), "HostMachines %s", sm.Name)
			if h.machines == 1 && get(sm) && sm.Status.Phase == v1alpha1.PhaseActive {
				expectMade(sm, 1)
				expectTainted(sm)
				taintedOnce(sm, 1)
			}
		}
		expectNoOrphans(sms...)
		// Nothing comes late.
		Consistently(func() int {
			n := 0
			for _, sm := range sms {
				n += len(past.uidsOf(machines, sm)) - row[sm.Name].machines
			}
			return n
		}).WithTimeout(2 * time.Second).Should(BeZero())
	})
})
