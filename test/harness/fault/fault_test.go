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

package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/fault"
)

var plane *controlplane.ControlPlane

func TestMain(m *testing.M) {
	var err error
	plane, err = controlplane.Start(context.Background(), controlplane.Options{Name: "fault", Audit: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := plane.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func start(t *testing.T) *fault.Proxy {
	t.Helper()
	proxy, err := fault.New(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	return proxy
}

func clientFor(t *testing.T, cfg *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func node(t *testing.T, name string) {
	t.Helper()
	nodes := clientFor(t, plane.Config()).CoreV1().Nodes()
	if _, err := nodes.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := nodes.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func label(ctx context.Context, client kubernetes.Interface, name, value string) error {
	_, err := client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"labels":{"seen":%q}}}`, value), metav1.PatchOptions{})
	return err
}

func labelOf(t *testing.T, name string) string {
	t.Helper()
	node, err := clientFor(t, plane.Config()).CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return node.Labels["seen"]
}

func isNodePatch(r *http.Request) bool {
	described := fault.Describe(r)
	return described.Verb == "patch" && described.Resource == "nodes"
}

func TestPassesWhatNoHookStops(t *testing.T) {
	g := NewWithT(t)
	proxy := start(t)
	data, err := proxy.Kubeconfig()
	g.Expect(err).NotTo(HaveOccurred())
	cfg, err := clientcmd.RESTConfigFromKubeConfig(data)
	g.Expect(err).NotTo(HaveOccurred())
	cfg.UserAgent = "through-the-proxy/v1"
	node(t, "passes")
	g.Expect(label(t.Context(), clientFor(t, cfg), "passes", "yes")).To(Succeed())
	g.Expect(labelOf(t, "passes")).To(Equal("yes"))

	events, err := plane.Audit(func(e controlplane.AuditEvent) bool { return e.Name == "passes" && e.Verb == "patch" })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(events).To(HaveLen(1))
	g.Expect(events[0].UserAgent).To(Equal("through-the-proxy/v1"))
	g.Expect(events[0].User).To(Equal("harness-admin"), "the target's credentials are used")
}

func TestWantsItsOwnToken(t *testing.T) {
	g := NewWithT(t)
	proxy := start(t)
	cfg := proxy.Config()
	cfg.BearerToken = "another"
	_, err := clientFor(t, cfg).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	g.Expect(apierrors.IsUnauthorized(err)).To(BeTrue(), "got %v", err)
}

func TestADroppedRequestNeverArrives(t *testing.T) {
	g := NewWithT(t)
	proxy := start(t)
	node(t, "request-dropped")
	remove := proxy.OnRequest(func(r *http.Request) fault.Action {
		if isNodePatch(r) {
			return fault.Drop
		}
		return fault.Pass
	})
	client := clientFor(t, proxy.Config())
	err := label(t.Context(), client, "request-dropped", "yes")
	g.Expect(err).To(MatchError(ContainSubstring("EOF")))
	g.Expect(labelOf(t, "request-dropped")).To(BeEmpty())

	remove()
	g.Expect(label(t.Context(), client, "request-dropped", "yes")).To(Succeed())
}

func TestADroppedAnswerIsDone(t *testing.T) {
	g := NewWithT(t)
	proxy := start(t)
	node(t, "answer-dropped")
	var seen atomic.Value
	var drops atomic.Int32
	remove := proxy.OnResponse(func(r *http.Request, _ int) fault.Action {
		if !isNodePatch(r) {
			return fault.Pass
		}
		drops.Add(1)
		seen.Store(labelOf(t, "answer-dropped"))
		return fault.Drop
	})
	client := clientFor(t, proxy.Config())
	err := label(t.Context(), client, "answer-dropped", "yes")
	g.Expect(err).To(MatchError(ContainSubstring("EOF")))
	g.Expect(seen.Load()).To(Equal("yes"), "the write was done when the hook ran")
	g.Expect(drops.Load()).To(BeEquivalentTo(1), "nobody repeats a patch")
	remove()
	g.Expect(label(t.Context(), client, "answer-dropped", "again")).To(Succeed())
}

func TestHooksReadBodiesAndAnswersAreStillWhole(t *testing.T) {
	g := NewWithT(t)
	proxy := start(t)
	node(t, "body")
	var before, after atomic.Value
	read := func(r *http.Request) string {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		return string(body)
	}
	proxy.OnRequest(func(r *http.Request) fault.Action {
		if isNodePatch(r) {
			before.Store(read(r))
		}
		return fault.Pass
	})
	proxy.OnRequest(func(r *http.Request) fault.Action {
		if isNodePatch(r) && read(r) != before.Load() {
			t.Error("the second hook got another body")
		}
		return fault.Pass
	})
	proxy.OnResponse(func(r *http.Request, code int) fault.Action {
		if isNodePatch(r) {
			after.Store(fmt.Sprint(code, " ", read(r)))
		}
		return fault.Pass
	})
	g.Expect(label(t.Context(), clientFor(t, proxy.Config()), "body", "yes")).To(Succeed())
	g.Expect(labelOf(t, "body")).To(Equal("yes"))
	g.Expect(before.Load()).To(Equal(`{"metadata":{"labels":{"seen":"yes"}}}`))
	g.Expect(after.Load()).To(Equal(`200 {"metadata":{"labels":{"seen":"yes"}}}`))
}

func TestFail(t *testing.T) {
	for _, where := range []string{"request", "response"} {
		t.Run(where, func(t *testing.T) {
			g := NewWithT(t)
			proxy := start(t)
			node(t, "fails")
			if where == "request" {
				proxy.OnRequest(func(r *http.Request) fault.Action {
					if isNodePatch(r) {
						return fault.Fail(http.StatusConflict)
					}
					return fault.Pass
				})
			} else {
				proxy.OnResponse(func(r *http.Request, _ int) fault.Action {
					if isNodePatch(r) {
						return fault.Fail(http.StatusConflict)
					}
					return fault.Pass
				})
			}
			err := label(t.Context(), clientFor(t, proxy.Config()), "fails", "yes")
			g.Expect(apierrors.IsConflict(err)).To(BeTrue(), "got %v", err)
			g.Expect(labelOf(t, "fails")).To(Equal(map[string]string{"request": "", "response": "yes"}[where]))
		})
	}
}

func TestTheFirstHookThatDoesNotPassCounts(t *testing.T) {
	g := NewWithT(t)
	proxy := start(t)
	proxy.OnRequest(func(*http.Request) fault.Action { return fault.Pass })
	proxy.OnRequest(func(*http.Request) fault.Action { return fault.Fail(http.StatusForbidden) })
	proxy.OnRequest(func(*http.Request) fault.Action { return fault.Drop })
	_, err := clientFor(t, proxy.Config()).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	g.Expect(apierrors.IsForbidden(err)).To(BeTrue(), "got %v", err)
}

func TestHoldAndDelay(t *testing.T) {
	g := NewWithT(t)
	proxy := start(t)
	node(t, "held")
	release := make(chan struct{})
	arrived := make(chan struct{}, 1)
	proxy.OnResponse(func(r *http.Request, _ int) fault.Action {
		if !isNodePatch(r) {
			return fault.Pass
		}
		arrived <- struct{}{}
		return fault.Hold(release)
	})
	client := clientFor(t, proxy.Config())
	done := make(chan error, 1)
	go func() { done <- label(t.Context(), client, "held", "yes") }()
	<-arrived
	_, err := client.CoreV1().Nodes().Get(t.Context(), "held", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred(), "other requests go on")
	g.Expect(done).NotTo(Receive())
	close(release)
	g.Eventually(done, "5s").Should(Receive(BeNil()))

	const pause = 200 * time.Millisecond
	proxy.OnRequest(func(*http.Request) fault.Action { return fault.Delay(pause) })
	began := time.Now()
	_, err = client.CoreV1().Nodes().Get(t.Context(), "held", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(time.Since(began)).To(BeNumerically(">=", pause))
}

func TestCloseLetsNobodyHang(t *testing.T) {
	g := NewWithT(t)
	proxy := start(t)
	arrived := make(chan struct{}, 1)
	proxy.OnRequest(func(*http.Request) fault.Action {
		arrived <- struct{}{}
		return fault.Hold(nil)
	})
	done := make(chan error, 1)
	client := clientFor(t, proxy.Config())
	go func() { done <- label(t.Context(), client, "nobody", "yes") }()
	<-arrived
	g.Expect(proxy.Close()).To(Succeed())
	g.Eventually(done, "5s").Should(Receive(HaveOccurred()))
	g.Expect(proxy.Close()).To(Succeed(), "closing again")
}

func TestStreamsAWatch(t *testing.T) {
	g := NewWithT(t)
	proxy := start(t)
	client := clientFor(t, proxy.Config())
	list, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	watching, err := client.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	g.Expect(err).NotTo(HaveOccurred())
	defer watching.Stop()
	node(t, "watched")
	for i := range 3 {
		if i > 0 {
			g.Expect(label(t.Context(), client, "watched", fmt.Sprint(i))).To(Succeed())
		}
		var event watch.Event
		g.Eventually(watching.ResultChan(), "5s").Should(Receive(&event), "event %d comes while the watch goes on", i)
		g.Expect(event.Type).To(Equal(map[bool]watch.EventType{true: watch.Added, false: watch.Modified}[i == 0]))
	}
	g.Expect(proxy.Close()).To(Succeed())
	g.Eventually(watching.ResultChan(), "5s").Should(BeClosed())
}

func TestManyAtOnce(t *testing.T) {
	g := NewWithT(t)
	proxy := start(t)
	node(t, "many")
	var patches, answers atomic.Int32
	proxy.OnRequest(func(r *http.Request) fault.Action {
		if isNodePatch(r) {
			patches.Add(1)
		}
		return fault.Pass
	})
	client := clientFor(t, proxy.Config())
	var group sync.WaitGroup
	errs := make([]error, 40)
	for i := range errs {
		group.Go(func() {
			remove := proxy.OnResponse(func(*http.Request, int) fault.Action {
				answers.Add(1)
				return fault.Pass
			})
			errs[i] = label(t.Context(), client, "many", fmt.Sprint(i))
			remove()
		})
	}
	group.Wait()
	g.Expect(errors.Join(errs...)).NotTo(HaveOccurred())
	g.Expect(patches.Load()).To(BeEquivalentTo(len(errs)))
	g.Expect(answers.Load()).To(BeNumerically(">=", len(errs)))
}

func TestAnUpstreamThatIsDownLooksLikeOne(t *testing.T) {
	g := NewWithT(t)
	target := plane.Config()
	target.Host = "https://127.0.0.1:1"
	proxy, err := fault.New(target)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(proxy.Close()).To(Succeed()) }()
	err = label(t.Context(), clientFor(t, proxy.Config()), "any", "yes")
	g.Expect(err).To(MatchError(ContainSubstring("EOF")))
}

func TestDescribe(t *testing.T) {
	for _, row := range []struct {
		method, path string
		want         fault.Request
		write        bool
	}{
		{"GET", "/api/v1/nodes", fault.Request{Verb: "list", Resource: "nodes"}, false},
		{"GET", "/api/v1/nodes?watch=true", fault.Request{Verb: "watch", Resource: "nodes"}, false},
		{"GET", "/api/v1/nodes/a", fault.Request{Verb: "get", Resource: "nodes", Name: "a"}, false},
		{"PATCH", "/api/v1/nodes/a?force=true", fault.Request{Verb: "patch", Resource: "nodes", Name: "a"}, true},
		{"PATCH", "/api/v1/nodes/a/status", fault.Request{Verb: "patch", Resource: "nodes", Name: "a", Subresource: "status"}, true},
		{
			"POST", "/apis/cluster.x-k8s.io/v1beta2/namespaces/n/machines",
			fault.Request{Verb: "create", Group: "cluster.x-k8s.io", Resource: "machines", Namespace: "n"}, true,
		},
		{
			"DELETE", "/apis/cluster.x-k8s.io/v1beta2/namespaces/n/machines",
			fault.Request{Verb: "deletecollection", Group: "cluster.x-k8s.io", Resource: "machines", Namespace: "n"}, true,
		},
		{"GET", "/apis", fault.Request{}, false},
		{"POST", "/nowhere", fault.Request{}, false},
	} {
		t.Run(row.method+strings.ReplaceAll(row.path, "/", "_"), func(t *testing.T) {
			g := NewWithT(t)
			r, err := http.NewRequest(row.method, "https://localhost"+row.path, http.NoBody)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(fault.Describe(r)).To(Equal(row.want))
			g.Expect(row.want.Write()).To(Equal(row.write))
		})
	}
}
