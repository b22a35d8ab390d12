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
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
)

// atOnce is how many writes are tried in one round: the number of ScheduledMachines
// of each kind, of which the n-th sees the crash after its n-th write.
const atOnce = 16

// stage is a part of a ScheduledMachine's life.
type stage struct {
	name string
	// begin is what a person does.
	begin func(*v1alpha1.ScheduledMachine)
	// done tells whether the stage has come to its end.
	done func(*v1alpha1.ScheduledMachine) func() bool
	// crashes are the writes after which the crash must have been tried.
	crashes []string
	// crashed checks what a crash after a certain write has left.
	crashed map[string]func(*v1alpha1.ScheduledMachine)
	// check is what must be true after the restart.
	check func(*v1alpha1.ScheduledMachine)
}

var life = []stage{
	{
		name:  "the window is open from the start",
		begin: func(sm *v1alpha1.ScheduledMachine) { Expect(env.Client.Create(ctx, sm)).To(Succeed()) },
		done:  isActive,
		crashes: []string{
			"patch scheduledmachines", "create hostmachines", "create hostconfigs", "create machines",
			"patch scheduledmachines/status", "patch nodes", "patch hostmachinetemplates", "patch hostconfigtemplates",
		},
		crashed: map[string]func(*v1alpha1.ScheduledMachine){"patch nodes": nodeWithoutMirror},
		check:   func(sm *v1alpha1.ScheduledMachine) { expectMade(sm, 1); expectTainted(sm); taintedOnce(sm, 1) },
	},
	{
		name:    "the window closes",
		begin:   func(sm *v1alpha1.ScheduledMachine) { edit(sm, closeWindow) },
		done:    isInactive,
		crashes: []string{"patch scheduledmachines", "delete machines", "patch scheduledmachines/status"},
		check: func(sm *v1alpha1.ScheduledMachine) {
			Expect(sm.Annotations).NotTo(HaveKey(v1alpha1.ShutdownSinceAnnotation))
			Expect(sm.Status.MachineRef).To(BeNil())
			taintedOnce(sm, 1)
		},
	},
	{
		name:    "the window opens again",
		begin:   func(sm *v1alpha1.ScheduledMachine) { edit(sm, openWindow) },
		done:    isActive,
		crashes: []string{"create hostmachines", "create hostconfigs", "create machines", "patch scheduledmachines/status", "patch nodes"},
		crashed: map[string]func(*v1alpha1.ScheduledMachine){"patch nodes": nodeWithoutMirror},
		check:   func(sm *v1alpha1.ScheduledMachine) { expectMade(sm, 2); expectTainted(sm); taintedOnce(sm, 2) },
	},
	{
		name:    "the ScheduledMachine is deleted",
		begin:   func(sm *v1alpha1.ScheduledMachine) { Expect(env.Client.Delete(ctx, sm)).To(Succeed()) },
		done:    isGone,
		crashes: []string{"delete machines", "patch scheduledmachines", "patch scheduledmachines/status"},
		check:   func(sm *v1alpha1.ScheduledMachine) { taintedOnce(sm, 2) },
	},
}

// nodeWithoutMirror is the gap between the Node's PATCH and the status write.
func nodeWithoutMirror(sm *v1alpha1.ScheduledMachine) {
	GinkgoHelper()
	n, err := node(sm)
	Expect(err).NotTo(HaveOccurred())
	Expect(n.Annotations).To(HaveKey(v1alpha1.AppliedTaintsAnnotation), "Node %s", sm.Name)
	Expect(get(sm)).To(BeTrue())
	Expect(sm.Status.AppliedNodeTaints).To(BeEmpty(), "the crash came after the mirror of Node %s was written", sm.Name)
}

func taintedOnce(sm *v1alpha1.ScheduledMachine, times int) {
	GinkgoHelper()
	Expect(nodeWrites(sm.Name)).To(HaveLen(times), "writes to Nodes %s", sm.Name)
}

// round are the ScheduledMachines of which the n-th crashes after write first+n.
func round(first int) ([]*v1alpha1.ScheduledMachine, map[string]int) {
	var sms []*v1alpha1.ScheduledMachine
	number := map[string]int{}
	for n := first; n < first+atOnce; n++ {
		for kind, change := range map[string]func(*v1alpha1.ScheduledMachine){
			"embedded": func(*v1alpha1.ScheduledMachine) {},
			"cloned":   fromTemplates,
		} {
			sm := environment.ScheduledMachine(clusterName, fmt.Sprintf("%s-%02d", kind, n), gracefully("1s"), change,
				environment.Taints("workload=batch:NoSchedule", "dedicated=ml:NoExecute"))
			sms = append(sms, sm)
			number[sm.Name] = n
		}
	}
	return sms, number
}

// fromTemplates makes a ScheduledMachine refer to templates of its own name.
func fromTemplates(sm *v1alpha1.ScheduledMachine) {
	const infrastructure, bootstrap = "infrastructure.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io"
	sm.Spec.InfrastructureSpec, sm.Spec.BootstrapSpec = nil, nil
	sm.Spec.InfrastructureRef = &v1alpha1.TemplateReference{APIGroup: infrastructure, Kind: "HostMachineTemplate", Name: sm.Name}
	sm.Spec.BootstrapRef = &v1alpha1.TemplateReference{APIGroup: bootstrap, Kind: "HostConfigTemplate", Name: sm.Name}
}

// createTemplates makes the templates that a ScheduledMachine refers to.
func createTemplates(sm *v1alpha1.ScheduledMachine) {
	GinkgoHelper()
	for _, ref := range []*v1alpha1.TemplateReference{sm.Spec.InfrastructureRef, sm.Spec.BootstrapRef} {
		if ref == nil {
			continue
		}
		template := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{}}}}}
		template.SetAPIVersion(ref.APIGroup + "/v1beta2")
		template.SetKind(ref.Kind)
		template.SetNamespace(sm.Namespace)
		template.SetName(ref.Name)
		Expect(env.Client.Create(ctx, template)).To(Succeed())
		DeferCleanup(func() { Expect(client.IgnoreNotFound(env.Client.Delete(ctx, template))).To(Succeed()) })
	}
}

func namesOf(sms []*v1alpha1.ScheduledMachine) []string {
	var names []string
	for _, sm := range sms {
		names = append(names, sm.Name)
	}
	return names
}

var _ = Describe("A manager killed between any two writes of a ScheduledMachine's life", func() {
	It("is followed by one that goes on: nothing doubled, nothing orphaned, no Error", func() {
		tried := make([]crashes, len(life))
		for first := 1; ; first += atOnce {
			sms, number := round(first)
			for _, sm := range sms {
				createTemplates(sm)
			}
			removeAfterwards(sms...)
			manager := startManager(toManagement)
			complete := true
			for i := range life {
				manager = life[i].run(manager, sms, number, &tried[i])
				complete = complete && tried[i].complete
			}
			Expect(manager.Stop()).To(Succeed())
			if complete {
				break
			}
		}
		for i := range life {
			AddReportEntry(life[i].name, tried[i].String())
			for _, write := range life[i].crashes {
				Expect(tried[i].after).To(HaveKey(write), "%s: no crash after it; those tried: %s", life[i].name, tried[i])
			}
		}
	})
})

// crashes are the places of a stage that were tried.
type crashes struct {
	// after counts the crashes by the write that they followed.
	after map[string]int
	// complete: some ScheduledMachine came to the end of the stage without a crash,
	// so there are no more writes to try.
	complete bool
	// longest is the longest sequence of writes.
	longest []string
}

func (c crashes) String() string {
	var parts []string
	for write, n := range c.after {
		parts = append(parts, fmt.Sprintf("%d after %s", n, write))
	}
	slices.Sort(parts)
	return fmt.Sprintf("%s; a life without a crash: %s", strings.Join(parts, ", "), strings.Join(c.longest, ", "))
}

// run takes all through the stage with one crash each and returns the manager that
// runs after the restart.
func (s stage) run(manager *process.Process, sms []*v1alpha1.ScheduledMachine, number map[string]int, tried *crashes) *process.Process {
	GinkgoHelper()
	By(s.name)
	g := setGate(namesOf(sms), afterWrite(number))
	for _, sm := range sms {
		s.begin(sm)
	}
	for _, sm := range sms {
		Eventually(func() bool { return g.stopped(sm) || s.done(sm)() }).Should(BeTrue(), func() string {
			return fmt.Sprintf("%s: %s is neither at its crash nor at the end after %s\n%s", s.name, sm.Name, g.made(sm), describe(sm))
		})
	}
	Eventually(g.quiet).WithArguments(2 * time.Second).Should(BeTrue())
	g.kill(manager)

	if tried.after == nil {
		tried.after = map[string]int{}
	}
	for _, sm := range sms {
		made := g.made(sm)
		if !g.stopped(sm) {
			tried.complete = true
			if len(made) > len(tried.longest) {
				tried.longest = made
			}
			continue
		}
		Expect(made).To(HaveLen(number[sm.Name]), "%s was not killed where it should", sm.Name)
		write := made[len(made)-1]
		tried.after[write]++
		if check := s.crashed[write]; check != nil {
			check(sm)
		}
	}

	By(s.name + ": restart")
	g.lift()
	manager = startManager(toManagement)
	for _, sm := range sms {
		Eventually(s.done(sm)).Should(BeTrue(), func() string {
			return fmt.Sprintf("%s: %s did not recover from a crash after %s\n%s", s.name, sm.Name, g.made(sm), describe(sm))
		})
	}
	for _, sm := range sms {
		expectNoError(sm)
		s.check(sm)
	}
	expectNoOrphans(sms...)
	return manager
}
