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

package scheduledmachine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/cluster-api/util/labels/format"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// child is the bootstrap or the infrastructure object of a ScheduledMachine: it
// bears the ScheduledMachine's name, and comes from an embedded spec or a template.
type child struct {
	field    string // of spec, for messages
	other    string // sort of provider
	embedded *v1alpha1.EmbeddedObject
	template *v1alpha1.TemplateReference
}

// childrenOf lists the two children, infrastructure first, as Cluster API's own
// MachineSet creates them.
func childrenOf(spec v1alpha1.ScheduledMachineSpec) [2]child {
	return [2]child{
		{field: "infrastructure", other: "bootstrap", embedded: spec.InfrastructureSpec, template: spec.InfrastructureRef},
		{field: "bootstrap", other: "infrastructure", embedded: spec.BootstrapSpec, template: spec.BootstrapRef},
	}
}

// specField is the field of spec that says what the child is.
func (c child) specField() string {
	if c.template != nil {
		return c.field + "Ref"
	}
	return c.field + "Spec"
}

// hash identifies what the child is made from.
func (c child) hash() string {
	source, err := json.Marshal([]any{c.embedded, c.template})
	if err != nil {
		return "" // What cannot be marshalled came from no API server.
	}
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:8])
}

// groupKind of the object itself, also where it is cloned from a template.
func (c child) groupKind() schema.GroupKind {
	switch {
	case c.embedded != nil:
		return schema.FromAPIVersionAndKind(c.embedded.APIVersion, c.embedded.Kind).GroupKind()
	case c.template != nil:
		return schema.GroupKind{Group: c.template.APIGroup, Kind: strings.TrimSuffix(c.template.Kind, clusterv1.TemplateSuffix)}
	default:
		return schema.GroupKind{}
	}
}

// ensureChild returns the child, made if it is not there. It returns nil where
// the step has to wait or a person has to act; the scope then says why.
func (r *Reconciler) ensureChild(ctx context.Context, s *scope, c child) (*unstructured.Unstructured, error) {
	gk := c.groupKind()
	if err := r.checkContract(ctx, c, gk); err != nil {
		return nil, err
	}
	obj, err := r.getChild(ctx, gk, s.sm)
	if err != nil {
		return nil, err
	}
	if obj == nil {
		obj, err = r.createChild(ctx, s, c)
		if err != nil || obj == nil {
			return nil, err
		}
	}
	switch {
	case !s.owns(obj):
		r.nameTaken(s, obj)
		return nil, nil
	case !obj.GetDeletionTimestamp().IsZero():
		s.wait(v1alpha1.WaitingForPreviousReason, "Waiting for the previous %s %s to be gone", obj.GetKind(), obj.GetName())
		return nil, nil
	case s.machine == nil && obj.GetAnnotations()[v1alpha1.SourceHashAnnotation] != c.hash():
		// The spec was corrected between this object's creation and the Machine's.
		_, err := r.removeChildren(ctx, s, sets.New(gk))
		return nil, err
	}
	return obj, nil
}

// createChild creates the child and returns what is there afterwards, which may
// be somebody else's. It returns nil where a template is missing.
func (r *Reconciler) createChild(ctx context.Context, s *scope, c child) (*unstructured.Unstructured, error) {
	var obj *unstructured.Unstructured
	var err error
	if c.embedded != nil {
		obj, err = fromEmbedded(c.embedded)
	} else {
		obj, err = r.fromTemplate(ctx, s, c)
	}
	if err != nil || obj == nil {
		return nil, err
	}
	obj.SetName(s.sm.Name)
	obj.SetNamespace(s.sm.Namespace)
	obj.SetLabels(s.ownLabels(obj.GetLabels()))
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1alpha1.SourceHashAnnotation] = c.hash()
	obj.SetAnnotations(annotations)
	// Not the controller: Cluster API's Machine controller becomes that one.
	obj.SetOwnerReferences([]metav1.OwnerReference{s.ownerReference()})

	err = r.Client.Create(ctx, obj, client.FieldOwner(v1alpha1.FieldManager))
	switch {
	case apierrors.IsAlreadyExists(err):
		// Made by us a moment ago or before a crash, or by somebody else: look, live.
		return r.getLive(ctx, c.groupKind(), s.sm)
	case err != nil:
		return nil, fmt.Errorf("creating %s %s from spec.%s: %w", obj.GetKind(), s.sm.Name, c.specField(), err)
	}
	ctrl.LoggerFrom(ctx).Info("Created object", "kind", obj.GetKind(), "name", obj.GetName())
	return obj, nil
}

func fromEmbedded(e *v1alpha1.EmbeddedObject) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	if len(e.Spec.Raw) > 0 {
		spec := map[string]any{}
		if err := json.Unmarshal(e.Spec.Raw, &spec); err != nil {
			return nil, fmt.Errorf("reading the embedded spec of %s: %w", e.Kind, err)
		}
		obj.Object["spec"] = spec
	}
	obj.SetAPIVersion(e.APIVersion)
	obj.SetKind(e.Kind)
	if e.Metadata != nil {
		obj.SetLabels(e.Metadata.Labels)
		obj.SetAnnotations(e.Metadata.Annotations)
	}
	return obj, nil
}

// fromTemplate clones the template as MachineDeployments do. It returns nil, and
// the scope says why, where the template is not there.
func (r *Reconciler) fromTemplate(ctx context.Context, s *scope, c child) (*unstructured.Unstructured, error) {
	template, err := external.GetObjectFromContractVersionedRef(ctx, r.APIReader, clusterv1.ContractVersionedObjectReference{
		APIGroup: c.template.APIGroup, Kind: c.template.Kind, Name: c.template.Name,
	}, s.sm.Namespace)
	if err != nil {
		if !apierrors.IsForbidden(err) {
			s.fail(v1alpha1.TemplateNotFoundReason, "spec.%s: %s %s in namespace %s: %v; create it or name another",
				c.specField(), c.template.Kind, c.template.Name, s.sm.Namespace, err)
		}
		return nil, fmt.Errorf("reading %s %s: %w", c.template.Kind, c.template.Name, err)
	}
	if err := r.ownTemplate(ctx, s, template); err != nil {
		return nil, err
	}
	return external.GenerateTemplate(&external.GenerateTemplateInput{
		Template:    template,
		TemplateRef: &corev1.ObjectReference{APIVersion: template.GetAPIVersion(), Kind: template.GetKind(), Name: template.GetName()},
		Namespace:   s.sm.Namespace,
		Name:        s.sm.Name,
		ClusterName: s.sm.Spec.ClusterName,
	})
}

// ownTemplate makes the Cluster an owner of the template, as Cluster API does for
// MachineDeployments: without one `clusterctl move` would leave it behind.
func (r *Reconciler) ownTemplate(ctx context.Context, s *scope, template *unstructured.Unstructured) error {
	owner := clusterOwner(s.cluster)
	if util.HasExactOwnerRef(template.GetOwnerReferences(), owner) {
		return nil
	}
	original := template.DeepCopy()
	template.SetOwnerReferences(util.EnsureOwnerRef(template.GetOwnerReferences(), owner))
	if err := r.Client.Patch(ctx, template, client.MergeFromWithOptions(original, client.MergeFromWithOptimisticLock{}), client.FieldOwner(v1alpha1.FieldManager)); err != nil {
		return fmt.Errorf("adding the Cluster as an owner of %s %s: %w", template.GetKind(), template.GetName(), err)
	}
	return nil
}

// checkContract refuses a kind that may not be a child: its CRD must say that it
// obeys a Cluster API contract. Without that check a ScheduledMachine could make
// objects of any kind that the manager may create.
func (r *Reconciler) checkContract(ctx context.Context, c child, gk schema.GroupKind) error {
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	name := contract.CalculateCRDName(gk.Group, gk.Kind)
	err := r.Client.Get(ctx, client.ObjectKey{Name: name}, crd)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("spec.%s names kind %s, but there is no CustomResourceDefinition %s: install its provider", c.specField(), gk, name)
	case err != nil:
		return fmt.Errorf("reading CustomResourceDefinition %s: %w", name, err)
	}
	for label := range crd.Labels {
		if strings.HasPrefix(label, clusterv1.GroupVersion.Group+"/v1beta") {
			return nil
		}
	}
	return fmt.Errorf("spec.%s names kind %s, whose CustomResourceDefinition %s carries no label %s/v1beta*: "+
		"it is not a Cluster API provider's kind; name one that is", c.specField(), gk, name, clusterv1.GroupVersion.Group)
}

// getChild returns the object of that kind and the ScheduledMachine's name, or
// nil. It also watches the kind from then on. Until the watch has delivered what is
// there it reads from the API server: where a kind may not be listed, that answers
// at once, and the cache never would.
func (r *Reconciler) getChild(ctx context.Context, gk schema.GroupKind, sm *v1alpha1.ScheduledMachine) (*unstructured.Unstructured, error) {
	obj, err := r.emptyChild(gk)
	if err != nil {
		return nil, err
	}
	if err := r.children.Watch(ctrl.LoggerFrom(ctx), obj,
		ownerOrNamesake(r.Client.Scheme(), r.Client.RESTMapper()),
		predicates.ResourceIsChanged(r.Client.Scheme(), *r.children.PredicateLogger)); err != nil {
		return nil, fmt.Errorf("watching kind %s: %w", gk, err)
	}
	informer, err := r.Cache.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watching kind %s: %w", gk, err)
	}
	if !informer.HasSynced() {
		return r.getLive(ctx, gk, sm)
	}
	return read(ctx, r.Client, obj, sm)
}

// getLive is getChild without the cache.
func (r *Reconciler) getLive(ctx context.Context, gk schema.GroupKind, sm *v1alpha1.ScheduledMachine) (*unstructured.Unstructured, error) {
	obj, err := r.emptyChild(gk)
	if err != nil {
		return nil, err
	}
	return read(ctx, r.APIReader, obj, sm)
}

func read(ctx context.Context, reader client.Reader, obj *unstructured.Unstructured, sm *v1alpha1.ScheduledMachine) (*unstructured.Unstructured, error) {
	if err := reader.Get(ctx, client.ObjectKeyFromObject(sm), obj); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("reading %s %s: %w", obj.GetKind(), sm.Name, err)
	}
	return obj, nil
}

// emptyChild is an object of the kind, in the version that the API server prefers.
func (r *Reconciler) emptyChild(gk schema.GroupKind) (*unstructured.Unstructured, error) {
	mapping, err := r.Client.RESTMapper().RESTMapping(gk)
	if err != nil {
		return nil, fmt.Errorf("finding the API of kind %s: %w", gk, err)
	}
	// The right to create something in a namespace must not become one to create it
	// for the whole cluster.
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return nil, fmt.Errorf("kind %s is cluster-scoped and cannot be made for a ScheduledMachine; name a namespaced kind", gk)
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(mapping.GroupVersionKind)
	return obj, nil
}

// owns tells whether this very ScheduledMachine is among an object's owners. A name
// alone is nothing: what merely bears it, or belongs to an earlier ScheduledMachine
// of our name, is never touched.
func (s *scope) owns(o metav1.Object) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == s.sm.UID })
}

func (s *scope) ownerReference() metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion.String(),
		Kind:       "ScheduledMachine",
		Name:       s.sm.Name,
		UID:        s.sm.UID,
	}
}

// ownLabels adds the labels that everything we make carries.
func (s *scope) ownLabels(labels map[string]string) map[string]string {
	all := map[string]string{}
	for k, v := range labels {
		all[k] = v
	}
	all[clusterv1.ClusterNameLabel] = s.sm.Spec.ClusterName
	all[v1alpha1.ScheduledMachineLabel] = format.MustFormatValue(s.sm.Name)
	// Managers started with --watch-filter, Cluster API's among them, see only what
	// carries the label.
	if value, ok := s.sm.Labels[clusterv1.WatchLabel]; ok {
		all[clusterv1.WatchLabel] = value
	}
	return all
}
