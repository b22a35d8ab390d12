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
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

// edges is at how many of the minutes after the fleet's edge a window of a single
// ScheduledMachine opens and another's closes.
const edges = 2

// edgeMachines are those, edge-opens-N and edge-closes-N. Their windows open and
// close while the fleet runs.
func edgeMachines(fleetEdge time.Time) []*v1alpha1.ScheduledMachine {
	var sms []*v1alpha1.ScheduledMachine
	for n := 1; n <= edges; n++ {
		edge := fleetEdge.Add(time.Duration(n) * time.Minute)
		opens := environment.ScheduledMachine("scale", fmt.Sprintf("edge-opens-%d", n))
		opens.Spec.Schedule = environment.Window(edge, edge.Add(time.Hour))
		closes := environment.ScheduledMachine("scale", fmt.Sprintf("edge-closes-%d", n))
		closes.Spec.Schedule = environment.Window(edge.Add(-time.Hour), edge)
		sms = append(sms, opens, closes)
	}
	return sms
}

// After the fleet has its Machines: see edgeMachines.
func edgesAreMet(fleetEdge time.Time) {
	GinkgoHelper()
	for n := 1; n <= edges; n++ {
		edge := fleetEdge.Add(time.Duration(n) * time.Minute)
		for name, verb := range map[string]string{fmt.Sprintf("edge-opens-%d", n): "create", fmt.Sprintf("edge-closes-%d", n): "delete"} {
			acted := func() []controlplane.AuditEvent {
				return management(func(e controlplane.AuditEvent) bool {
					return ours(e) && e.Verb == verb && e.Resource == "machines" && e.Name == name && e.Code < 300
				})
			}
			Eventually(acted).WithTimeout(time.Until(edge) + 10*time.Second).WithPolling(time.Second).Should(HaveLen(1))
			late := since(edge, acted()[0].Received)
			AddReportEntry(fmt.Sprintf("%s: %s after the edge", name, verb), late.String())
			Expect(late).To(And(BeNumerically(">=", 0), BeNumerically("<", time.Second)), name)
		}
	}
}
