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

package infrastructure_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
	hostbackend "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend/simulated"
)

const (
	// atOnce is how many Machines the suite makes together, and many how many simulated
	// machines without Cluster API, which takes its time.
	atOnce = 100
	many   = 500
)

var _ = Describe("Many Machines at once", func() {
	It("all join, and all go", func() {
		labelled := client.MatchingLabels{"example.com/suite": "scale"}
		started := time.Now()
		var sets []*set
		var group sync.WaitGroup
		for i := range atOnce {
			s := newSet(cluster, fmt.Sprintf("scale-%03d", i), simulation(infrav1.SimulatedMachine{ReadyAfter: after(time.Second)}), func(s *set) {
				s.config.Spec.NodeLabels = labelled
			})
			sets = append(sets, s)
			group.Go(func() {
				defer GinkgoRecover()
				for _, o := range []client.Object{s.config, s.hostMachine, s.machine} {
					Expect(mgmt.Create(ctx, o)).To(Succeed())
				}
			})
		}
		group.Wait()
		created := time.Since(started)
		Eventually(joined(labelled, true)).WithTimeout(5 * time.Minute).WithPolling(100 * time.Millisecond).Should(Equal(atOnce))
		AddReportEntry("machines", fmt.Sprintf("%d created in %s, all Nodes Ready after %s", atOnce, created, time.Since(started)))

		started = time.Now()
		for _, s := range sets {
			group.Go(func() {
				defer GinkgoRecover()
				Expect(mgmt.Delete(ctx, s.machine)).To(Succeed())
			})
		}
		group.Wait()
		Eventually(joined(labelled, false)).WithTimeout(5 * time.Minute).WithPolling(100 * time.Millisecond).Should(BeZero())
		for _, s := range sets {
			Eventually(exists(mgmt, s.machine)).WithTimeout(time.Minute).Should(BeFalse())
		}
		AddReportEntry("machines", fmt.Sprintf("all gone after %s", time.Since(started)))
	})
})

var _ = Describe("Many simulated machines at once", func() {
	It("all join, send heartbeats and go", func() {
		alone := simulated.New()
		running, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- alone.Run(running) }()
		DeferCleanup(func() {
			stop()
			Expect(<-ended).To(Succeed())
		})
		kubeconfig, err := management.Kubeconfig(workload.Config())
		Expect(err).NotTo(HaveOccurred())
		labelled := client.MatchingLabels{"example.com/suite": "many"}
		machine := func(i int) hostbackend.Machine {
			name := fmt.Sprintf("many-%03d", i)
			return hostbackend.Machine{
				Cluster: client.ObjectKey{Namespace: namespace, Name: "alone"}, Name: client.ObjectKey{Namespace: namespace, Name: name},
				UID: types.UID(name), ProviderID: "host://alone/" + name, Version: version,
				Kubeconfig:    func(context.Context) ([]byte, error) { return kubeconfig, nil },
				BootstrapData: func(context.Context) ([]byte, error) { return []byte("nodeLabels: {example.com/suite: many}"), nil },
			}
		}
		started := time.Now()
		for i := range many {
			Eventually(func() error { _, err := alone.Ensure(ctx, machine(i)); return err }).Should(Succeed())
		}
		Eventually(joined(labelled, true)).WithTimeout(time.Minute).WithPolling(100 * time.Millisecond).Should(Equal(many))
		AddReportEntry("simulated machines", fmt.Sprintf("%d Nodes Ready after %s", many, time.Since(started)))

		By("each of them renews its Lease")
		Eventually(func() (int, error) {
			list := &coordinationv1.LeaseList{}
			err := nodes.List(ctx, list, client.InNamespace(corev1.NamespaceNodeLease))
			renewed := 0
			for _, lease := range list.Items {
				if strings.HasPrefix(lease.Name, "many-") && lease.Spec.RenewTime.After(lease.CreationTimestamp.Add(time.Second)) {
					renewed++
				}
			}
			return renewed, err
		}).WithTimeout(time.Minute).WithPolling(500 * time.Millisecond).Should(Equal(many))

		started = time.Now()
		var group sync.WaitGroup
		limit := make(chan struct{}, 20)
		for i := range many {
			group.Go(func() {
				defer GinkgoRecover()
				limit <- struct{}{}
				defer func() { <-limit }()
				Expect(alone.Remove(ctx, machine(i), hostbackend.DeleteNode)).To(Succeed())
			})
		}
		group.Wait()
		Expect(joined(labelled, false)()).To(BeZero())
		AddReportEntry("simulated machines", fmt.Sprintf("all gone after %s", time.Since(started)))
	})
})

// joined counts the Nodes with some labels, all or those that are Ready.
func joined(labelled client.MatchingLabels, ready bool) func() (int, error) {
	return func() (int, error) {
		list := &corev1.NodeList{}
		err := nodes.List(ctx, list, labelled)
		count := 0
		for i := range list.Items {
			if !ready || isReady(&list.Items[i]) {
				count++
			}
		}
		return count, err
	}
}

func isReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
