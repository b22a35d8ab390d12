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

// Package scale_test shows that the edge of a schedule is met: by five hundred
// ScheduledMachines at once, in the order of their priorities, and by a single one to
// the second; and that in between nothing is written.
package scale_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	"k8s.io/utils/ptr"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
)

var (
	env      *environment.Environment
	workload *environment.Workload
	manager  *process.Process
	ctx      context.Context
)

func TestScale(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Scale")
}

var _ = BeforeSuite(func() {
	var cancel context.CancelFunc
	ctx, cancel = context.WithCancel(context.Background())
	DeferCleanup(cancel)

	var err error
	env, err = environment.Start(ctx, environment.Options{Out: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
	workload, err = env.AddWorkload(ctx, "scale", controlplane.Options{Audit: true})
	Expect(err).NotTo(HaveOccurred())
	// The binary that users run, with its defaults, and no race detector.
	manager, err = env.StartManagerProcess(ctx, env.Management.Config())
	Expect(err).NotTo(HaveOccurred())
})

// create makes ScheduledMachines.
func create(sms []*v1alpha1.ScheduledMachine) {
	GinkgoHelper()
	inParallel(sms, func(sm *v1alpha1.ScheduledMachine) error { return env.Client.Create(ctx, sm) })
}

// inParallel does something to each, to many at a time.
func inParallel(sms []*v1alpha1.ScheduledMachine, do func(*v1alpha1.ScheduledMachine) error) {
	GinkgoHelper()
	group, _ := errgroup.WithContext(ctx)
	group.SetLimit(20)
	for _, sm := range sms {
		group.Go(func() error { return do(sm) })
	}
	Expect(group.Wait()).To(Succeed())
}

// named returns n ScheduledMachines PREFIX-000, PREFIX-001, … with priorities dealt
// out evenly, and neighbours of different priority.
func named(prefix string, n int, s v1alpha1.Schedule) []*v1alpha1.ScheduledMachine {
	sms := make([]*v1alpha1.ScheduledMachine, n)
	for i := range sms {
		sms[i] = environment.ScheduledMachine("scale", fmt.Sprintf("%s-%03d", prefix, i), environment.Taints("workload=batch:NoSchedule"))
		sms[i].Spec.Schedule = s
		sms[i].Spec.Priority = ptr.To(priorities[i%len(priorities)])
	}
	return sms
}

// ours selects what the manager sent to an API server.
func ours(e controlplane.AuditEvent) bool {
	return strings.Contains(e.UserAgent, "cluster-api-addon-provider-5spot-manager")
}

// management selects requests to the management cluster.
func management(filter func(controlplane.AuditEvent) bool) []controlplane.AuditEvent {
	GinkgoHelper()
	events, err := env.Management.Audit(filter)
	Expect(err).NotTo(HaveOccurred())
	return events
}

// machineCreations are the creations of Machines that succeeded, by name.
func machineCreations(prefix string) map[string]controlplane.AuditEvent {
	GinkgoHelper()
	created := map[string]controlplane.AuditEvent{}
	for _, e := range management(func(e controlplane.AuditEvent) bool {
		return ours(e) && e.Verb == "create" && e.Resource == "machines" && e.Code == 201 && strings.HasPrefix(e.Name, prefix)
	}) {
		created[e.Name] = e
	}
	return created
}

func since(edge time.Time, t time.Time) time.Duration { return t.Sub(edge).Round(time.Millisecond) }
