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
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

var (
	// ErrStale says that the Node has changed since it was read. Read it again, plan
	// again. It may turn out to be another Node of that name: the API server compares
	// the resourceVersion before the UID.
	ErrStale = errors.New("the Node has changed since it was read")
	// ErrNodeGone says that the Node that was read does not exist any more. Another one
	// may bear its name, on which nothing is ours.
	ErrNodeGone = errors.New("the Node that was read does not exist any more")
)

// Apply carries a plan out in one server-side apply and returns the Node as it is
// afterwards. node must be the Node that the plan was made for. A plan that is
// Empty sends nothing and returns node.
//
// The request is forced, because spec.taints is one atomic list and
// kube-controller-manager owns it on nearly every Node. What protects the taints of
// others is not field ownership but the resourceVersion of the Node read: the list
// holds theirs as of that version, and the API server refuses it for any other. The
// UID keeps the request from creating a Node where there is none any more and from
// tainting another one of the same name.
//
// The error is [ErrStale] or [ErrNodeGone] where the API server says that the Node
// read is not the one there, else what the API server answered.
func Apply(ctx context.Context, c client.Client, node *corev1.Node, p Plan) (*corev1.Node, error) {
	if p.Empty() {
		return node, nil
	}
	if node.UID == "" || node.ResourceVersion == "" {
		return nil, fmt.Errorf("applying taints to Node %s: it was not read from an API server: uid %q, resourceVersion %q",
			node.Name, node.UID, node.ResourceVersion)
	}

	request, err := requestFor(node, p)
	if err != nil {
		return nil, fmt.Errorf("applying taints to Node %s: %w", node.Name, err)
	}
	err = c.Apply(ctx, client.ApplyConfigurationFromUnstructured(request),
		client.ForceOwnership, client.FieldOwner(v1alpha1.NodeFieldManager))
	if err != nil {
		return nil, fmt.Errorf("applying taints to Node %s: %w", node.Name, classify(err))
	}

	result := &corev1.Node{}
	// A typed read leaves kind and apiVersion empty; so that the two can be compared,
	// this does too.
	request.SetGroupVersionKind(schema.GroupVersionKind{})
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(request.Object, result); err != nil {
		return nil, fmt.Errorf("reading Node %s as the API server returned it: %w", node.Name, err)
	}
	return result, nil
}

// requestFor builds the apply configuration. It is unstructured because the typed
// one leaves an empty list out, and a list that is left out is removed only if
// nobody else owns it.
//
// The annotation is always part of it, "[]" where nothing is owned any more, for
// the same reason: whoever has ever edited it owns it as well, leaving it out would
// then leave the old record in place, and we would try to mend that for ever.
func requestFor(node *corev1.Node, p Plan) (*unstructured.Unstructured, error) {
	list := make([]any, 0, len(p.Taints))
	for i := range p.Taints {
		taint, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&p.Taints[i])
		if err != nil {
			return nil, fmt.Errorf("converting taint %s: %w", Format(fromNode(p.Taints[i])), err)
		}
		list = append(list, taint)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "Node",
		"metadata": map[string]any{
			"name":            node.Name,
			"uid":             string(node.UID),
			"resourceVersion": node.ResourceVersion,
			"annotations": map[string]any{
				v1alpha1.AppliedTaintsAnnotation: EncodeRecord(p.Owned),
			},
		},
		"spec": map[string]any{
			"taints": list,
		},
	}}, nil
}

// classify tells apart what a kube-apiserver answers to the request:
//
//   - 409 Conflict where the resourceVersion is not current. It cannot be a conflict
//     between field managers, since the request is forced.
//   - 409 Conflict as well where there is no Node of that name (applyPatch in
//     k8s.io/apiserver, pkg/endpoints/handlers/patch.go). Nothing but the message
//     tells the two apart; were it to change, ErrStale makes the caller read again
//     and find no Node.
//   - 422 Invalid with the cause metadata.uid where the Node of that name is another
//     and has the same resourceVersion; an ordinary one is answered as not current.
func classify(err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: %w", ErrNodeGone, err)
	case apierrors.IsConflict(err) && strings.Contains(err.Error(), "uid mismatch"):
		return fmt.Errorf("%w: %w", ErrNodeGone, err)
	case apierrors.IsConflict(err):
		return fmt.Errorf("%w: %w", ErrStale, err)
	case apierrors.IsInvalid(err) && causedBy(err, "metadata.uid"):
		return fmt.Errorf("%w: %w", ErrNodeGone, err)
	default:
		return err
	}
}

func causedBy(err error, name string) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldValueInvalid && cause.Field == name {
			return true
		}
	}
	return false
}
