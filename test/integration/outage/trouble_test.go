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

package outage_test

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure"
)

const (
	applies     = "True/Applied"
	unreachable = "Unknown/ClusterUnreachable"
)

// All that can be wrong with a workload cluster, at once, so that each kind of
// trouble also shows that it does not spread.
var _ = Describe("Workload clusters in trouble", Ordered, ContinueOnFailure, func() {
	var (
		healthy                                []*v1alpha1.ScheduledMachine
		down, downQuiet, hanging, hangingQuiet []*v1alpha1.ScheduledMachine
		rotated, blind, powerless, broken      []*v1alpha1.ScheduledMachine
		began, ended                           time.Time
	)

	BeforeAll(func() {
		for _, w := range []*environment.Workload{well, dead, hung} {
			data, err := w.Kubeconfig(w.Config())
			Expect(err).NotTo(HaveOccurred())
			remember(data)
		}
		for _, name := range []string{"rotated", "blind", "powerless"} {
			register(name, serviceAccount(name+"-1"))
		}
		register("broken", []byte("apiVersion: v1\nkind: Config\nusers:\n- name: x\n  user:\n    token: "+brokenToken+"\n  - not yaml"))
		secrets = append(secrets, brokenToken)

		healthy = create("well", "healthy", 2)
		down, downQuiet = create("dead", "down", many), create("dead", "down-quiet", 1)
		hanging, hangingQuiet = create("hung", "hanging", many), create("hung", "hanging-quiet", 1)
		rotated, blind, powerless = create("rotated", "rotated", 2), create("blind", "blind", many), create("powerless", "powerless", 2)
		broken = create("broken", "broken", 1)
		for _, sms := range [][]*v1alpha1.ScheduledMachine{healthy, down, downQuiet, hanging, hangingQuiet, rotated, blind, powerless} {
			Eventually(tainted(sms...)).Should(ConsistOf(applies), "%s", sms[0].Name)
		}

		// Trouble begins. Credentials first: the API server knows a good token for 10 s.
		for _, name := range []string{"rotated", "blind", "powerless"} {
			Expect(well.DeleteServiceAccount(ctx, name+"-1")).To(Succeed())
		}
		write("rotated", serviceAccount("rotated-2"))
		// May find out that the server lives, but not what Nodes there are.
		write("blind", limited("blind"))
		// May see Nodes, but not change them.
		write("powerless", limited("powerless", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch"}}))
		Eventually(refused("blind-1", "powerless-1", "rotated-1")).WithTimeout(30 * time.Second).Should(BeTrue())
		change("after", rotated[0])
		Expect(dead.StopAPIServer()).To(Succeed())
		DeferCleanup(func() { Expect(dead.StartAPIServer(ctx)).To(Succeed()) })
		suspend(hung)
		began = time.Now()
		for _, sms := range [][]*v1alpha1.ScheduledMachine{hanging, blind, down, powerless} {
			change("after", sms...)
		}
	})

	It("do not delay others", func() {
		const changes = 15
		for i := range changes {
			value := fmt.Sprint("v", i)
			change(value, healthy[0])
			Eventually(applied(well, value, healthy[0])).WithPolling(20*time.Millisecond).Should(BeTrue(), "change %d", i)
			// Changes come about once a second: they meet every stage of the trouble.
			Eventually(time.Since).WithArguments(began).Should(BeNumerically(">", time.Duration(i)*time.Second))
		}
		AddReportEntry("from a change of the spec to the Node's PATCH being answered", fmt.Sprint(lags(healthy[0].Name, changes)))
		Expect(lags(healthy[0].Name, changes)).To(HaveEach(BeNumerically("<", 2*time.Second)))
	})

	It("apply with a rotated kubeconfig at the next call", func() {
		// rotated[0] was changed when the old token had just been refused for the first time.
		Expect(applied(well, "after", rotated[0])()).To(BeTrue())
		Expect(lags(rotated[0].Name, 1)).To(HaveEach(BeNumerically("<", 2*time.Second)))
		Eventually(tainted(rotated...)).Should(ConsistOf(applies))
	})

	It("say so within 35 seconds when they are down or hang", func() {
		for _, sms := range [][]*v1alpha1.ScheduledMachine{down, downQuiet, hanging, hangingQuiet} {
			Eventually(tainted(sms...)).Should(ConsistOf(unreachable), "%s", sms[0].Name)
			AddReportEntry(sms[0].Name+" says ClusterUnreachable", time.Since(began).String())
		}
		Expect(time.Since(began)).To(BeNumerically("<", 35*time.Second))
		Expect(message(downQuiet[0])()).To(ContainSubstring("Workload cluster dead"))
	})

	It("say what is wrong with the credentials", func() {
		Eventually(tainted(blind...)).Should(ConsistOf(unreachable))
		Eventually(message(blind[0])).Should(And(ContainSubstring("blind-kubeconfig"), ContainSubstring("may not list Nodes")))
		Eventually(tainted(powerless...)).Should(ConsistOf("False/PatchFailed"))
		Eventually(message(powerless[0])).Should(And(ContainSubstring("forbidden"), ContainSubstring("cannot patch")))
		Eventually(tainted(broken...)).Should(ConsistOf(unreachable))
		Eventually(message(broken[0])).Should(And(ContainSubstring("broken-kubeconfig"), ContainSubstring("not a kubeconfig")))
	})

	It("write no status while nothing changes", func() {
		writes := func() int {
			events, err := env.Management.Audit(func(e controlplane.AuditEvent) bool {
				return e.Write() && e.Resource == "scheduledmachines" && e.Subresource == "status" && strings.Contains(e.UserAgent, "5spot")
			})
			Expect(err).NotTo(HaveOccurred())
			return len(events)
		}
		before := writes()
		Consistently(writes).WithTimeout(10 * time.Second).WithPolling(time.Second).Should(Equal(before))
	})

	It("apply what was pending once they are well again, without a restart", func() {
		Eventually(time.Since).WithArguments(began).WithTimeout(2 * time.Minute).Should(BeNumerically(">=", time.Minute))
		Expect(dead.StartAPIServer(ctx)).To(Succeed())
		resume(hung)
		// The rights that were missing; and a kubeconfig where there was none.
		grant("blind", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch", "patch", "delete"}})
		grant("powerless", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"patch", "delete"}})
		write("broken", serviceAccount("broken-1"))
		ended = time.Now()

		type recovery struct {
			cluster string
			server  *environment.Workload
			sms     []*v1alpha1.ScheduledMachine
			took    time.Duration
		}
		recoveries := []*recovery{
			{cluster: "dead", server: dead, sms: down},
			{cluster: "hung", server: hung, sms: hanging},
			{cluster: "blind", server: well, sms: blind},
			{cluster: "powerless", server: well, sms: powerless},
		}
		Eventually(func(g Gomega) {
			for _, r := range recoveries {
				if r.took != 0 {
					continue
				}
				if done, err := applied(r.server, "after", r.sms...)(); err == nil && done {
					r.took = time.Since(ended)
				}
			}
			for _, r := range recoveries {
				g.Expect(r.took).NotTo(BeZero(), r.cluster)
			}
		}).WithTimeout(90 * time.Second).Should(Succeed())
		for _, r := range recoveries {
			AddReportEntry("recovery of "+r.cluster, r.took.String())
			// Cluster API's ClusterCache connects again every 30 s; errors are retried as often.
			Expect(r.took).To(BeNumerically("<", 45*time.Second), r.cluster)
		}
		for _, sms := range [][]*v1alpha1.ScheduledMachine{down, downQuiet, hanging, hangingQuiet, blind, powerless, broken} {
			Eventually(tainted(sms...)).WithTimeout(90*time.Second).Should(ConsistOf(applies), "%s", sms[0].Name)
		}
		Expect(manager.Done()).NotTo(BeClosed(), "the manager should run on")
	})

	It("leave no credential in the manager's log", func() {
		text := managerLog()
		Expect(strings.Count(text, "\n")).To(BeNumerically(">", 100), "the log of a talkative manager")
		Expect(len(secrets)).To(BeNumerically(">", 12))
		for i, value := range secrets {
			Expect(strings.Contains(text, value)).To(BeFalse(), "secret %d of %d", i, len(secrets))
		}
	})
})

// brokenToken stands in a Secret that is no kubeconfig.
const brokenToken = "c2VjcmV0LW9mLWEtYnJva2VuLWt1YmVjb25maWc"

// serviceAccount makes a kubeconfig that can be taken back, for the healthy server.
func serviceAccount(name string) []byte {
	GinkgoHelper()
	data, err := well.ServiceAccountKubeconfig(ctx, name)
	Expect(err).NotTo(HaveOccurred())
	remember(data)
	tokens[name] = data
	return data
}

// limited makes a kubeconfig for a user who may see that the healthy server lives,
// and what the rules allow.
func limited(user string, rules ...rbacv1.PolicyRule) []byte {
	GinkgoHelper()
	grant(user, append(rules, rbacv1.PolicyRule{NonResourceURLs: []string{"/"}, Verbs: []string{"get"}})...)
	cfg, err := well.ConfigFor(user)
	Expect(err).NotTo(HaveOccurred())
	data, err := well.Kubeconfig(cfg)
	Expect(err).NotTo(HaveOccurred())
	remember(data)
	return data
}

// grant gives a user of the healthy server rights beside those he has.
func grant(user string, rules ...rbacv1.PolicyRule) {
	GinkgoHelper()
	meta := metav1.ObjectMeta{GenerateName: user + "-"}
	role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}
	Expect(well.Client.Create(ctx, role)).To(Succeed())
	Expect(well.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})).To(Succeed())
}

// register makes a Cluster that is reached with a kubeconfig of the healthy server.
func register(name string, kubeconfig []byte) {
	GinkgoHelper()
	_, err := infrastructure.NewCluster(ctx, env.Client, infrastructure.ClusterOptions{
		Namespace: environment.Namespace, Name: name, Version: "v1.36.3", Kubeconfig: kubeconfig,
		Endpoint: clusterv1.APIEndpoint{Host: "127.0.0.1", Port: 6443},
	})
	Expect(err).NotTo(HaveOccurred())
}

// write puts another kubeconfig into a Cluster's Secret.
func write(cluster string, kubeconfig []byte) {
	GinkgoHelper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: environment.Namespace, Name: secret.Name(cluster, secret.Kubeconfig)}}
	Expect(environment.Edit(ctx, env.Client, s, func(s *corev1.Secret) { s.Data[secret.KubeconfigDataName] = kubeconfig })).To(Succeed())
}

// tokens are the kubeconfigs of ServiceAccounts, by name.
var tokens = map[string][]byte{}

// refused tells whether the healthy server answers the tokens of ServiceAccounts
// that were deleted with 401.
func refused(accounts ...string) func() (bool, error) {
	return func() (bool, error) {
		for _, account := range accounts {
			cfg, err := clientcmd.RESTConfigFromKubeConfig(tokens[account])
			if err != nil {
				return false, err
			}
			c, err := client.New(cfg, client.Options{})
			if err != nil {
				return false, client.IgnoreNotFound(err)
			}
			if err := c.List(ctx, &corev1.NamespaceList{}); !apierrors.IsUnauthorized(err) {
				return false, nil //nolint:nilerr // Any other answer is not the one waited for.
			}
		}
		return true, nil
	}
}

// suspend stops a server's process, not its socket: requests get no answer.
func suspend(w *environment.Workload) {
	GinkgoHelper()
	Expect(syscall.Kill(w.Pids()[0], syscall.SIGSTOP)).To(Succeed())
	DeferCleanup(func() { resume(w) })
}

func resume(w *environment.Workload) {
	GinkgoHelper()
	Expect(syscall.Kill(w.Pids()[0], syscall.SIGCONT)).To(Succeed())
}

// node reads a Node of a workload cluster.
func node(w *environment.Workload, name string) (*corev1.Node, error) {
	n := &corev1.Node{}
	return n, w.Client.Get(ctx, client.ObjectKey{Name: name}, n)
}

// lags are the times from an edit of a ScheduledMachine reaching the API server until
// the healthy server answered the PATCH of its Node, for the last edits.
func lags(name string, edits int) []time.Duration {
	GinkgoHelper()
	edited, err := env.Management.Audit(func(e controlplane.AuditEvent) bool {
		return e.Verb == "update" && e.Resource == "scheduledmachines" && e.Name == name && e.Code == 200
	})
	Expect(err).NotTo(HaveOccurred())
	patched, err := well.Audit(func(e controlplane.AuditEvent) bool {
		return e.Verb == "patch" && e.Resource == "nodes" && e.Name == name && e.Code == 200 && e.FieldManager == v1alpha1.NodeFieldManager
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(edited).To(HaveLen(edits))
	Expect(patched).To(HaveLen(edits+1), "one for each edit, and the first")
	lags := make([]time.Duration, edits)
	for i := range lags {
		lags[i] = patched[i+1].Answered.Sub(edited[i].Received).Round(time.Millisecond)
	}
	return lags
}
