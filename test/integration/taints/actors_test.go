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

package taints_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/taints"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

// actor is a client of its own, with a user agent that tells who it is and a count
// of the writes that it sent.
type actor struct {
	client.Client
	writes atomic.Int32
}

func newActor(name string) *actor {
	GinkgoHelper()
	return newActorOf(cluster, name)
}

func newActorOf(cp *controlplane.ControlPlane, name string) *actor {
	GinkgoHelper()
	a := &actor{}
	config := cp.Config()
	config.UserAgent = name
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodGet {
				a.writes.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	var err error
	a.Client, err = client.New(config, client.Options{})
	Expect(err).NotTo(HaveOccurred())
	return a
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// sent runs f and returns how many writes it sent.
func (a *actor) sent(f func()) int32 {
	before := a.writes.Load()
	f()
	return a.writes.Load() - before
}

func (a *actor) node(ctx context.Context, name string) *corev1.Node {
	GinkgoHelper()
	node := &corev1.Node{}
	Expect(a.Get(ctx, types.NamespacedName{Name: name}, node)).To(Succeed())
	return node
}

// setTaints writes the whole list as an update, as kubectl taint and the
// controllers of Kubernetes do.
func (a *actor) setTaints(ctx context.Context, name, manager string, list ...corev1.Taint) {
	GinkgoHelper()
	node := a.node(ctx, name)
	node.Spec.Taints = list
	Expect(a.Update(ctx, node, client.FieldOwner(manager))).To(Succeed())
}

// reconcile is what a controller does: read, plan, apply, and again where the Node
// has changed in between.
func (a *actor) reconcile(ctx context.Context, name string, desired []v1alpha1.NodeTaint) (taints.Plan, *corev1.Node) {
	GinkgoHelper()
	for {
		node := a.node(ctx, name)
		plan := taints.For(node, desired)
		result, err := taints.Apply(ctx, a.Client, node, plan)
		if err == nil {
			return plan, result
		}
		Expect(err).To(MatchError(taints.ErrStale))
	}
}

var serial atomic.Int32

// newNode makes a Node with exactly these taints (admission puts the not-ready
// taint on every new one) and removes it with the test.
func newNode(ctx context.Context, list ...corev1.Taint) *corev1.Node {
	GinkgoHelper()
	return newNodeNamed(ctx, fmt.Sprintf("node-%d", serial.Add(1)), list...)
}

func newNodeNamed(ctx context.Context, name string, list ...corev1.Taint) *corev1.Node {
	GinkgoHelper()
	a := newActor("kubelet")
	// Without any field of its creator's the API server would not keep track of who
	// owns which from the start.
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
	Expect(a.Create(ctx, node, client.FieldOwner("kubelet"))).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		err := a.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		Expect(client.IgnoreNotFound(err)).To(Succeed())
	})
	a.setTaints(ctx, name, "kubelet", list...)
	return a.node(ctx, name)
}

func beAbsent(ctx context.Context, a *actor, name string) {
	GinkgoHelper()
	err := a.Get(ctx, types.NamespacedName{Name: name}, &corev1.Node{})
	Expect(apierrors.IsNotFound(err)).To(BeTrue(), "Node %s: %v", name, err)
}

// taint reads key=value:Effect.
func taint(text string) corev1.Taint {
	rest, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(rest, "=")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}

func on(texts ...string) []corev1.Taint {
	var list []corev1.Taint
	for _, text := range texts {
		list = append(list, taint(text))
	}
	return list
}

func declare(texts ...string) []v1alpha1.NodeTaint {
	var list []v1alpha1.NodeTaint
	for _, t := range on(texts...) {
		list = append(list, v1alpha1.NodeTaint{Key: t.Key, Value: t.Value, Effect: v1alpha1.TaintEffect(t.Effect)})
	}
	return list
}

// show writes the taints of a Node as key=value:Effect.
func show(node *corev1.Node) []string {
	var texts []string
	for _, t := range node.Spec.Taints {
		texts = append(texts, taints.Format(v1alpha1.NodeTaint{Key: t.Key, Value: t.Value, Effect: v1alpha1.TaintEffect(t.Effect)}))
	}
	return texts
}

func record(node *corev1.Node) []v1alpha1.NodeTaint {
	GinkgoHelper()
	list, err := taints.DecodeRecord(node.Annotations[v1alpha1.AppliedTaintsAnnotation])
	Expect(err).NotTo(HaveOccurred())
	return list
}
