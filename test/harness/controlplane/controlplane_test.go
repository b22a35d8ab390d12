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

package controlplane_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/binaries"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

func TestMain(m *testing.M) {
	if os.Getenv(parentVariable) != "" {
		parent()
	}
	// Built before any test, so that no test's time contains a build.
	if _, err := binaries.Ensure(context.Background(), os.Stderr,
		binaries.Etcd, binaries.KubeAPIServer, binaries.KubeControllerManager, binaries.KubeScheduler); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func start(t *testing.T, options controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	cp, err := controlplane.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cp
}

func clientFor(t *testing.T, cfg *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func folders(t *testing.T, name string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "5spot-harness-"+name+"-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestStartAndStopTwiceLeavesNothing(t *testing.T) {
	g := NewWithT(t)
	for round := range 2 {
		started := time.Now()
		cp := start(t, controlplane.Options{Name: "twice", ControllerManager: true, Scheduler: true})
		t.Logf("round %d: ready in %s", round, time.Since(started))
		_, err := clientFor(t, cp.Config()).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())

		pids := cp.Pids()
		g.Expect(pids).To(HaveLen(4))
		g.Expect(folders(t, "twice")).NotTo(BeEmpty())
		started = time.Now()
		g.Expect(cp.Stop()).To(Succeed())
		t.Logf("round %d: stopped in %s", round, time.Since(started))
		g.Expect(cp.Stop()).To(Succeed(), "stopping again")
		for _, pid := range pids {
			g.Expect(alive(pid)).To(BeFalse(), "pid %d", pid)
		}
		g.Expect(cp.Pids()).To(BeEmpty())
		g.Expect(folders(t, "twice")).To(BeEmpty())
		g.Expect(cp.StartAPIServer(t.Context())).To(MatchError(ContainSubstring("has stopped")))
	}
}

func TestEndsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	cp, err := controlplane.Start(ctx, controlplane.Options{Name: "context"})
	g.Expect(err).NotTo(HaveOccurred())
	pids := cp.Pids()
	g.Expect(pids).To(HaveLen(2))
	cancel()
	for _, pid := range pids {
		g.Eventually(func() bool { return alive(pid) }, "10s").Should(BeFalse(), "pid %d", pid)
	}
	g.Eventually(func() []string { return folders(t, "context") }, "10s").Should(BeEmpty())

	_, err = controlplane.Start(ctx, controlplane.Options{Name: "context"})
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(folders(t, "context")).To(BeEmpty())
}

func TestTwoInParallelAreApart(t *testing.T) {
	g := NewWithT(t)
	planes := make([]*controlplane.ControlPlane, 2)
	errs := make([]error, 2)
	var group sync.WaitGroup
	for i := range planes {
		group.Go(func() { planes[i], errs[i] = controlplane.Start(t.Context(), controlplane.Options{Name: "parallel"}) })
	}
	group.Wait()
	g.Expect(errors.Join(errs...)).NotTo(HaveOccurred())
	createNode(t, planes[0].Config(), "only-in-the-first")
	_, err := clientFor(t, planes[1].Config()).CoreV1().Nodes().Get(t.Context(), "only-in-the-first", metav1.GetOptions{})
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "got %v", err)

	crossed := planes[0].Config()
	crossed.Host = planes[1].Config().Host
	_, err = clientFor(t, crossed).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	g.Expect(err).To(MatchError(ContainSubstring("certificate")), "each has an authority of its own")
	for _, cp := range planes {
		g.Expect(cp.Stop()).To(Succeed())
	}
}

func TestSharedEtcd(t *testing.T) {
	g := NewWithT(t)
	owner := start(t, controlplane.Options{Name: "owner"})
	guest := start(t, controlplane.Options{Name: "guest", SharedEtcd: owner})
	createNode(t, owner.Config(), "of-the-owner")
	nodes, err := clientFor(t, guest.Config()).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(nodes.Items).To(BeEmpty())

	g.Expect(owner.Stop()).To(Succeed())
	createNode(t, guest.Config(), "of-the-guest")
	g.Expect(guest.Stop()).To(Succeed())
	g.Expect(guest.Pids()).To(BeEmpty())
	g.Expect(folders(t, "owner")).To(BeEmpty())

	_, err = controlplane.Start(t.Context(), controlplane.Options{Name: "late", SharedEtcd: owner})
	g.Expect(err).To(MatchError(ContainSubstring("the etcd to share has stopped")))
}

func TestAuditShowsAPatchAndItsUserAgent(t *testing.T) {
	g := NewWithT(t)
	cp := start(t, controlplane.Options{Name: "audit", Audit: true})
	createNode(t, cp.Config(), "node-1")

	cfg, err := cp.ConfigFor("somebody", "system:masters")
	g.Expect(err).NotTo(HaveOccurred())
	cfg.UserAgent = "audit-test/v1"
	client := clientFor(t, cfg)
	before := time.Now()
	_, err = client.CoreV1().Nodes().Patch(t.Context(), "node-1", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`),
		metav1.PatchOptions{FieldManager: "a-manager"})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = client.CoreV1().Nodes().Patch(t.Context(), "nowhere", types.MergePatchType, []byte(`{}`),
		metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, "status")
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "got %v", err)
	_, err = client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	events, err := cp.Audit(func(e controlplane.AuditEvent) bool { return e.User == "somebody" })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(events).To(HaveLen(2), "ConfigMaps are not logged")
	g.Expect(events[0].Received).To(BeTemporally("~", before, time.Minute))
	g.Expect(events[0].Answered).To(BeTemporally(">=", events[0].Received))
	for i := range events {
		events[i].Received, events[i].Answered = time.Time{}, time.Time{}
	}
	g.Expect(events).To(Equal([]controlplane.AuditEvent{
		{
			Verb: "patch", Resource: "nodes", Name: "node-1", User: "somebody", UserAgent: "audit-test/v1",
			FieldManager: "a-manager", Code: http.StatusOK, RequestURI: "/api/v1/nodes/node-1?fieldManager=a-manager",
		}, {
			Verb: "patch", Resource: "nodes", Subresource: "status", Name: "nowhere", User: "somebody", UserAgent: "audit-test/v1",
			DryRun: true, Code: http.StatusNotFound, RequestURI: "/api/v1/nodes/nowhere/status?dryRun=All",
		},
	}))
	g.Expect([]bool{events[0].Write(), events[1].Write()}).To(Equal([]bool{true, false}))
}

func TestAuditHasEveryAnsweredRequest(t *testing.T) {
	g := NewWithT(t)
	cp := start(t, controlplane.Options{Name: "audit-all", Audit: true})
	client := clientFor(t, cp.Config())
	for i := range 50 {
		createNode(t, cp.Config(), fmt.Sprintf("node-%d", i))
		_, err := client.CoreV1().Nodes().Get(t.Context(), fmt.Sprintf("node-%d", i), metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		created, err := cp.Audit(func(e controlplane.AuditEvent) bool { return e.Verb == "create" && e.Resource == "nodes" })
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(created).To(HaveLen(i + 1))
	}
	g.Expect(cp.StopAPIServer()).To(Succeed())
	created, err := cp.Audit(func(e controlplane.AuditEvent) bool { return e.Verb == "create" && e.Resource == "nodes" })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(created).To(HaveLen(50), "the log can be read while the API server is stopped")
}

func TestAuditWithoutTheOption(t *testing.T) {
	cp := start(t, controlplane.Options{Name: "unaudited"})
	_, err := cp.Audit(nil)
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("Options.Audit")))
}

func TestOutage(t *testing.T) {
	g := NewWithT(t)
	cp := start(t, controlplane.Options{Name: "outage", ControllerManager: true})
	createNode(t, cp.Config(), "survivor")
	client := clientFor(t, cp.Config())

	g.Expect(cp.StopAPIServer()).To(Succeed())
	g.Expect(cp.StopAPIServer()).To(Succeed(), "stopping again")
	_, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")))

	started := time.Now()
	g.Expect(cp.StartAPIServer(t.Context())).To(Succeed())
	t.Logf("ready again in %s", time.Since(started))
	g.Expect(cp.StartAPIServer(t.Context())).To(Succeed(), "starting again")
	_, err = client.CoreV1().Nodes().Get(t.Context(), "survivor", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred(), "the same client works against the same data")

	_, err = client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "later"}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() error {
		_, err := client.CoreV1().ServiceAccounts("later").Get(t.Context(), "default", metav1.GetOptions{})
		return err
	}, "60s", "100ms").Should(Succeed(), "the controller manager works on")
}

func TestUsersHaveWhatRBACGivesThem(t *testing.T) {
	g := NewWithT(t)
	cp := start(t, controlplane.Options{Name: "rbac"})
	cfg, err := cp.ConfigFor("nobody-special", "some-group")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = clientFor(t, cfg).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	g.Expect(apierrors.IsForbidden(err)).To(BeTrue(), "got %v", err)
	g.Expect(err.Error()).To(ContainSubstring(`User "nobody-special"`))
}

func TestADeletedServiceAccountIsUnauthorized(t *testing.T) {
	g := NewWithT(t)
	cp := start(t, controlplane.Options{Name: "accounts"})
	data, err := cp.ServiceAccountKubeconfig(t.Context(), "short-lived")
	g.Expect(err).NotTo(HaveOccurred())
	cfg, err := clientcmd.RESTConfigFromKubeConfig(data)
	g.Expect(err).NotTo(HaveOccurred())
	list := func() error {
		_, err := clientFor(t, cfg).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		return err
	}
	g.Eventually(list, "5s").Should(Succeed())

	g.Expect(cp.DeleteServiceAccount(t.Context(), "short-lived")).To(Succeed())
	g.Eventually(func() bool { return apierrors.IsUnauthorized(list()) }, "20s", "100ms").Should(BeTrue())

	again, err := cp.ServiceAccountKubeconfig(t.Context(), "short-lived")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).NotTo(Equal(data))
	g.Expect(list()).To(MatchError(apierrors.IsUnauthorized, "unauthorized"), "an account made anew does not revive an old token")
}

func TestKubeconfigOfACertificate(t *testing.T) {
	g := NewWithT(t)
	cp := start(t, controlplane.Options{Name: "kubeconfig"})
	path, err := cp.WriteKubeconfig("admin.kubeconfig", cp.Config())
	g.Expect(err).NotTo(HaveOccurred())
	cfg, err := clientcmd.BuildConfigFromFlags("", path)
	g.Expect(err).NotTo(HaveOccurred())
	version, err := clientFor(t, cfg).Discovery().ServerVersion()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(version.GitVersion).To(HavePrefix("v1."))
}

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	g := NewWithT(t)
	_, err := controlplane.Start(t.Context(), controlplane.Options{Name: "broken", ExtraArgs: []string{"--no-such-flag"}})
	g.Expect(err).To(MatchError(And(ContainSubstring("control plane broken"), ContainSubstring("unknown flag: --no-such-flag"))))
	g.Expect(folders(t, "broken")).To(BeEmpty())
}

func createNode(t *testing.T, cfg *rest.Config, name string) {
	t.Helper()
	_, err := clientFor(t, cfg).CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// parentVariable makes this test binary a parent that starts a control plane, prints
// its pids and waits to be killed.
const parentVariable = "HARNESS_TEST_PARENT"

func parent() {
	cp, err := controlplane.Start(context.Background(), controlplane.Options{Name: "orphan", ControllerManager: true, Scheduler: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(strings.Trim(fmt.Sprint(cp.Pids()), "[]"))
	select {}
}
