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

package scale_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

const (
	// fleet is how many windows open at once, and within how long all must be acted upon.
	fleet  = 500
	within = 10 * time.Second
	// workers is the manager's default concurrency: as many that became due first are
	// under way before the queue knows of the others.
	workers = 20
)

// priorities are those of the fleet, dealt out in turn.
var priorities = []int32{100, 0, 255, 50, 200}

var _ = Describe("Five hundred windows that open at the same instant", Ordered, ContinueOnFailure, func() {
	var (
		sms  []*v1alpha1.ScheduledMachine
		edge time.Time
		// before is what each process had used at the edge.
		before map[string]usage
	)

	BeforeAll(func() {
		started := time.Now()
		sms = named("fleet", fleet, environment.NeverOpen())
		create(sms)
		Eventually(planned(nil)).WithTimeout(3 * time.Minute).WithPolling(500 * time.Millisecond).Should(Equal(fleet))
		took := time.Since(started)
		AddReportEntry("created and looked at", fmt.Sprintf("%d in %s", fleet, took.Round(time.Millisecond)))

		// As long again suffices to tell them all when their windows open.
		edge = time.Now().Add(max(10*time.Second, took) + time.Minute).Truncate(time.Minute)
		open := environment.Window(edge, edge.Add(time.Hour))
		inParallel(sms, func(sm *v1alpha1.ScheduledMachine) error {
			return environment.Edit(ctx, env.Client, sm, func(sm *v1alpha1.ScheduledMachine) { sm.Spec.Schedule = open })
		})
		// Two more for each of the next minutes, one that opens and one that closes.
		create(edgeMachines(edge))
		Eventually(planned(&edge)).WithTimeout(time.Until(edge) - time.Second).WithPolling(500 * time.Millisecond).Should(Equal(fleet))
		Expect(machineCreations("fleet-")).To(BeEmpty(), "nothing starts before its window")
		Eventually(time.Now).WithTimeout(2 * time.Minute).Should(BeTemporally(">=", edge))
		before = usageByProcess()
	})

	It("has every Machine within ten seconds", func() {
		// Asking the audit log costs time that the managers need: not often.
		Eventually(func() (int, error) {
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("MachineList"))
			err := env.Client.List(ctx, list, client.InNamespace(environment.Namespace))
			return countIf(list.Items, func(m metav1.PartialObjectMetadata) bool { return strings.HasPrefix(m.Name, "fleet-") }), err
		}).WithTimeout(2 * time.Minute).WithPolling(500 * time.Millisecond).Should(Equal(fleet))

		created := machineCreations("fleet-")
		Expect(created).To(HaveLen(fleet))
		var after []time.Duration
		for _, e := range created {
			after = append(after, since(edge, e.Answered))
		}
		slices.Sort(after)
		AddReportEntry("Machines after the edge", fmt.Sprintf("first %s, half %s, all %s", after[0], after[fleet/2], after[fleet-1]))
		AddReportEntry("CPU time since the edge", cpuSince(before))
		AddReportEntry("requests until the last Machine", requests(edge, edge.Add(after[fleet-1])))
		Expect(after[0]).To(BeNumerically(">=", 0), "before the edge")
		Expect(after[0]).To(BeNumerically("<", time.Second))
		Expect(after[fleet-1]).To(BeNumerically("<", within))
	})

	It("made those of higher priority first", func() {
		created := machineCreations("fleet-")
		inOrder := slices.Clone(sms)
		slices.SortFunc(inOrder, func(a, b *v1alpha1.ScheduledMachine) int {
			return created[a.Name].Received.Compare(created[b.Name].Received)
		})
		// How many of lower priority came before each.
		seen, worst := map[int32]int{}, 0
		for _, sm := range inOrder {
			early := 0
			for priority, n := range seen {
				if priority < *sm.Spec.Priority {
					early += n
				}
			}
			worst = max(worst, early)
			seen[*sm.Spec.Priority]++
		}
		AddReportEntry("most that came before one of higher priority", worst)
		// Those that all workers took when the first timers fired, and as many again that
		// overtook one whose requests were slow.
		Expect(worst).To(BeNumerically("<=", 2*workers))
		byPriority := func(p int32) (first, last time.Time) {
			for _, sm := range sms {
				if at := created[sm.Name].Received; *sm.Spec.Priority == p {
					if first.IsZero() || at.Before(first) {
						first = at
					}
					if at.After(last) {
						last = at
					}
				}
			}
			return first, last
		}
		var halves []string
		for _, p := range slices.Sorted(slices.Values(priorities)) {
			first, last := byPriority(p)
			halves = append(halves, fmt.Sprintf("%d: %s to %s", p, since(edge, first), since(edge, last)))
		}
		AddReportEntry("Machines by priority", strings.Join(halves, "; "))
		_, lastOfHighest := byPriority(slices.Max(priorities))
		late := 0
		for _, sm := range sms {
			if *sm.Spec.Priority == slices.Min(priorities) && created[sm.Name].Received.After(lastOfHighest) {
				late++
			}
		}
		Expect(late).To(BeNumerically(">=", fleet/len(priorities)-workers), "the lowest wait for the highest, but for what the workers began with")
	})

	It("is tainted, all of it, and then nothing is written while its Nodes send heartbeats", func() {
		Eventually(func() (int, error) {
			list := &v1alpha1.ScheduledMachineList{}
			err := env.Client.List(ctx, list, client.InNamespace(environment.Namespace))
			return countIf(list.Items, func(sm v1alpha1.ScheduledMachine) bool {
				return strings.HasPrefix(sm.Name, "fleet-") && strings.HasPrefix(environment.Condition(&sm, v1alpha1.ReadyCondition), "True/")
			}), err
		}).WithTimeout(3 * time.Minute).WithPolling(time.Second).Should(Equal(fleet))
		AddReportEntry("all Ready with taints", time.Since(edge).Round(time.Millisecond).String()+" after the edge")

		written := func(from time.Time) func() []controlplane.AuditEvent {
			return func() []controlplane.AuditEvent {
				filter := func(e controlplane.AuditEvent) bool {
					return ours(e) && e.Write() && e.Answered.After(from) && !strings.HasPrefix(e.Name, "edge-")
				}
				nodes, err := workload.Audit(filter)
				Expect(err).NotTo(HaveOccurred())
				return append(management(filter), nodes...)
			}
		}
		// Cluster API's last conditions arrive after the Nodes.
		Eventually(func() []controlplane.AuditEvent { return written(time.Now().Add(-3 * time.Second))() }).
			WithTimeout(time.Minute).WithPolling(time.Second).Should(BeEmpty())

		from, rest := time.Now(), usageOf(manager.Pid())
		Consistently(written(from)).WithTimeout(time.Minute).WithPolling(5 * time.Second).Should(BeEmpty())
		after := usageOf(manager.Pid())
		AddReportEntry("the manager at rest", fmt.Sprintf("%.1f%% of a core, %d MiB resident, %d MiB at most",
			100*(after.cpu-rest.cpu).Seconds()/time.Since(from).Seconds(), after.resident>>20, after.peak>>20))

		heartbeats, err := workload.Audit(func(e controlplane.AuditEvent) bool {
			return e.Resource == "nodes" && e.Subresource == "status" && e.Received.After(from)
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(len(heartbeats)).To(BeNumerically(">", 4*fleet), "each Node should have had several")
	})

	It("leaves single ones that open and close meanwhile on time to the second", func() { edgesAreMet(edge) })
})

// planned counts those of the fleet whose status says when they open next: never
// where activation is nil.
func planned(activation *time.Time) func() (int, error) {
	return func() (int, error) {
		list := &v1alpha1.ScheduledMachineList{}
		err := env.Client.List(ctx, list, client.InNamespace(environment.Namespace))
		return countIf(list.Items, func(sm v1alpha1.ScheduledMachine) bool {
			if !strings.HasPrefix(sm.Name, "fleet-") || sm.Status.ObservedGeneration != sm.Generation {
				return false
			}
			next := sm.Status.NextActivation
			return activation == nil && next == nil || activation != nil && next != nil && next.Time.Equal(*activation)
		}), err
	}
}

func countIf[T any](items []T, is func(T) bool) int {
	n := 0
	for i := range items {
		if is(items[i]) {
			n++
		}
	}
	return n
}

// requests tells who sent how many requests to the management cluster, and ours by kind.
func requests(from, to time.Time) string {
	who, what := map[string]int{}, map[string]int{}
	for _, e := range management(func(e controlplane.AuditEvent) bool { return !e.Received.Before(from) && e.Received.Before(to) }) {
		who[strings.SplitN(e.UserAgent, "/", 2)[0]]++
		if ours(e) {
			what[strings.TrimSuffix(e.Verb+" "+e.Resource+"/"+e.Subresource, "/")]++
		}
	}
	return fmt.Sprint("by client: ", who, "; ours: ", what)
}
