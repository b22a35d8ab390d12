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
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

var _ = Describe("Heartbeats", func() {
	key := func() client.ObjectKey { return client.ObjectKeyFromObject(cluster) }

	It("renew the Node's status and its Lease, and can be paused", func() {
		ready(create(newSet(cluster, "beats", simulation(infrav1.SimulatedMachine{HeartbeatInterval: after(200 * time.Millisecond)}))))
		renewed := func() (time.Time, error) {
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: "beats"}}
			err := nodes.Get(ctx, client.ObjectKeyFromObject(lease), lease)
			if err != nil || lease.Spec.RenewTime == nil {
				return time.Time{}, err
			}
			return lease.Spec.RenewTime.Time, nil
		}
		for range 3 {
			n, err := node("beats")
			Expect(err).NotTo(HaveOccurred())
			before, err := renewed()
			Expect(err).NotTo(HaveOccurred())
			Eventually(renewed).Should(BeTemporally(">", before))
			Eventually(func() (string, error) { n, err := node("beats"); return n.ResourceVersion, err }).ShouldNot(Equal(n.ResourceVersion))
		}
		By("paused")
		Expect(backend.PauseHeartbeats(key(), "beats", true)).To(Succeed())
		paused := len(writes("beats"))
		Consistently(func() int { return len(writes("beats")) }).WithPolling(audited).WithTimeout(time.Second).Should(Equal(paused))
		By("a change of readiness is written all the same")
		Expect(backend.SetReady(key(), "beats", false)).To(Succeed())
		Expect(readiness("beats")()).To(Equal("False"))
		By("resumed")
		Expect(backend.PauseHeartbeats(key(), "beats", false)).To(Succeed())
		Eventually(func() int { return len(writes("beats")) }).WithPolling(audited).Should(BeNumerically(">", paused+3))
		Expect(readiness("beats")()).To(Equal("False"), "what SetReady says lasts")
		Expect(backend.SetReady(key(), "beats", true)).To(Succeed())
		Expect(readiness("beats")()).To(Equal("True"))
	})

	It("come at the interval and not more often", func() {
		ready(create(newSet(cluster, "calm", simulation(infrav1.SimulatedMachine{HeartbeatInterval: after(2 * time.Second)}))))
		before := len(writes("calm"))
		Eventually(func() int { return len(writes("calm")) }).WithPolling(audited).Should(BeNumerically(">=", before+3))
		beats := writes("calm")[before:]
		for i := range len(beats) - 1 {
			// The one may have been slower on its way than the other.
			Expect(beats[i+1].Received.Sub(beats[i].Received)).To(BeNumerically(">", time.Second))
		}
	})

	It("are settable before the Node joins", func() {
		create(newSet(cluster, "set-early", simulation(infrav1.SimulatedMachine{JoinAfter: after(time.Second)})))
		Eventually(func() error { return backend.SetReady(key(), "set-early", false) }).Should(Succeed())
		Eventually(readiness("set-early")).Should(Equal("False"))
		Consistently(readiness("set-early")).WithTimeout(500 * time.Millisecond).Should(Equal("False"))
		Expect(backend.SetReady(key(), "nobody", true)).To(MatchError(ContainSubstring("no simulated machine with Node nobody")))
	})

	It("go on after an outage of the workload cluster, and with another kubeconfig", func() {
		other := startControlPlane(controlplane.Options{Name: "outage", SharedEtcd: management})
		otherNodes := newClient(other.Config())
		c := register("outage", other.Config())
		s := create(newSet(c, "survives", simulation(infrav1.SimulatedMachine{HeartbeatInterval: after(200 * time.Millisecond)})))
		beats := func() (string, error) {
			n := &corev1.Node{}
			err := otherNodes.Get(ctx, client.ObjectKey{Name: "survives"}, n)
			return n.ResourceVersion, client.IgnoreNotFound(err)
		}
		Eventually(beats).ShouldNot(BeEmpty())

		Expect(other.StopAPIServer()).To(Succeed())
		Expect(backend.SetReady(client.ObjectKeyFromObject(c), "survives", false)).NotTo(Succeed())
		Expect(other.StartAPIServer(ctx)).To(Succeed())
		before, err := beats()
		Expect(err).NotTo(HaveOccurred())
		Eventually(beats).ShouldNot(Equal(before))

		By("credentials that are refused are replaced by those of the Secret")
		revoked, err := other.ServiceAccountKubeconfig(ctx, "machines")
		Expect(err).NotTo(HaveOccurred())
		valid := kubeconfigOf(c, revoked)
		// The admin's certificate goes on working, so the machine comes to use the token
		// only when it has reason to read the Secret.
		Expect(other.StopAPIServer()).To(Succeed())
		Eventually(func() error { return backend.SetReady(client.ObjectKeyFromObject(c), "survives", true) }).ShouldNot(Succeed())
		Expect(other.StartAPIServer(ctx)).To(Succeed())
		before, err = beats()
		Expect(err).NotTo(HaveOccurred())
		Eventually(beats).ShouldNot(Equal(before))
		Expect(other.DeleteServiceAccount(ctx, "machines")).To(Succeed())
		Eventually(func() error { return backend.SetReady(client.ObjectKeyFromObject(c), "survives", true) }).WithTimeout(time.Minute).
			Should(MatchError(ContainSubstring("Unauthorized")))
		kubeconfigOf(c, valid)
		Eventually(func() error { return backend.SetReady(client.ObjectKeyFromObject(c), "survives", true) }).Should(Succeed())
		remove(s)
	})
})
