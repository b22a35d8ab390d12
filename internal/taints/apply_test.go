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

package taints

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// recorder is a client that takes applies and can do nothing else.
type recorder struct {
	client.Client
	requests []string
	options  []client.ApplyOptions
	answer   error
}

func (r *recorder) Apply(_ context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	text, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	var options client.ApplyOptions
	options.ApplyOptions(opts)
	r.requests, r.options = append(r.requests, string(text)), append(r.options, options)
	return r.answer
}

func TestApplySendsOneRequest(t *testing.T) {
	g := NewWithT(t)
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	current := on("admin:NoExecute", "old=1:NoSchedule")
	current[0].TimeAdded = &at
	node := nodeWith(current, list("old=1:NoSchedule"))
	c := &recorder{}

	result, err := Apply(t.Context(), c, node, For(node, list("w=batch:NoSchedule")))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.requests).To(HaveLen(1))
	g.Expect(c.requests[0]).To(MatchJSON(`{
		"apiVersion": "v1", "kind": "Node",
		"metadata": {"name": "node-1", "uid": "uid-1", "resourceVersion": "1", "annotations": {
			"5spot.finos.org/applied-taints": "[{\"key\":\"w\",\"value\":\"batch\",\"effect\":\"NoSchedule\"}]"}},
		"spec": {"taints": [
			{"key": "admin", "effect": "NoExecute", "timeAdded": "2026-01-02T03:04:05Z"},
			{"key": "w", "value": "batch", "effect": "NoSchedule"}]}}`))
	g.Expect(c.options[0].FieldManager).To(Equal("5spot-controller"))
	g.Expect(c.options[0].Force).To(HaveValue(BeTrue()))
	g.Expect(result.Spec.Taints).To(HaveLen(2))
}

func TestApplySendsAnEmptyList(t *testing.T) {
	g := NewWithT(t)
	node := nodeWith(on("w=a:NoSchedule"), list("w=a:NoSchedule"))
	c := &recorder{}
	_, err := Apply(t.Context(), c, node, For(node, nil))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.requests).To(ConsistOf(MatchJSON(`{
		"apiVersion": "v1", "kind": "Node",
		"metadata": {"name": "node-1", "uid": "uid-1", "resourceVersion": "1", "annotations": {"5spot.finos.org/applied-taints": "[]"}},
		"spec": {"taints": []}}`)))
}

func TestApplySendsNothingForAnEmptyPlan(t *testing.T) {
	g := NewWithT(t)
	node := nodeWith(on("w=x:NoSchedule"), nil)
	c := &recorder{}
	result, err := Apply(t.Context(), c, node, For(node, list("w=a:NoSchedule")))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(result).To(BeIdenticalTo(node))
	g.Expect(c.requests).To(BeEmpty())
}

func TestApplyWantsANodeThatWasRead(t *testing.T) {
	for name, spoil := range map[string]func(*corev1.Node){
		"no uid":             func(n *corev1.Node) { n.UID = "" },
		"no resourceVersion": func(n *corev1.Node) { n.ResourceVersion = "" },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			node := nodeWith(nil, nil)
			spoil(node)
			c := &recorder{}
			_, err := Apply(t.Context(), c, node, For(node, list("w=a:NoSchedule")))
			g.Expect(err).To(MatchError(ContainSubstring("was not read from an API server")))
			g.Expect(c.requests).To(BeEmpty())
		})
	}
}

func TestApplyTellsAnswersApart(t *testing.T) {
	nodes := schema.GroupResource{Resource: "nodes"}
	kind := schema.GroupKind{Kind: "Node"}
	invalid := func(path ...string) error {
		return apierrors.NewInvalid(kind, "node-1", field.ErrorList{field.Invalid(field.NewPath(path[0], path[1:]...), "x", "field is immutable")})
	}
	for _, tc := range []struct {
		name   string
		answer error
		want   error
		is     func(error) bool
	}{
		{"another version", apierrors.NewConflict(nodes, "node-1", errors.New("the object has been modified; please apply your changes to the latest version and try again")),
			ErrStale, apierrors.IsConflict},
		{"no such Node", apierrors.NewConflict(nodes, "node-1", errors.New("uid mismatch: the provided object specified uid uid-1, and no existing object was found")),
			ErrNodeGone, apierrors.IsConflict},
		{"another Node", invalid("metadata", "uid"), ErrNodeGone, apierrors.IsInvalid},
		{"not found", apierrors.NewNotFound(nodes, "node-1"), ErrNodeGone, apierrors.IsNotFound},
		{"something else immutable", invalid("spec", "providerID"), nil, apierrors.IsInvalid},
		{"forbidden", apierrors.NewForbidden(nodes, "node-1", errors.New("no")), nil, apierrors.IsForbidden},
		{"busy", apierrors.NewTooManyRequests("busy", 1), nil, apierrors.IsTooManyRequests},
		{"no API server", http.ErrHandlerTimeout, nil, func(err error) bool { return errors.Is(err, http.ErrHandlerTimeout) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			node := nodeWith(nil, nil)
			_, err := Apply(t.Context(), &recorder{answer: tc.answer}, node, For(node, list("w=a:NoSchedule")))
			g.Expect(err).To(MatchError(ContainSubstring("applying taints to Node node-1")))
			for _, sentinel := range []error{ErrStale, ErrNodeGone} {
				g.Expect(errors.Is(err, sentinel)).To(Equal(errors.Is(tc.want, sentinel)), "%v", sentinel)
			}
			g.Expect(tc.is(err)).To(BeTrue(), "the API server's answer is lost: %v", err)
		})
	}
}
