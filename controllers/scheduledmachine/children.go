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
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/cluster-api/util/labels/format"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// child is the bootstrap or the infrastructure object of a ScheduledMachine: it
// bears the ScheduledMachine's name, and comes from an embedded spec or a template.
type child struct {
	field    string // of spec, for messages
	embedded *v1alpha1.EmbeddedObject
	template *v1alpha1.TemplateReference
}

// childrenOf lists the two children, infrastructure first, as Cluster API's own
// MachineSet creates them.
func childrenOf(spec v1alpha1.ScheduledMachineSpec) [2]child {
	return [2]child{
		{field: "infrastructure", embedded: spec.InfrastructureSpec, template: spec.InfrastructureRef},
		{field: "bootstrap", embedded: spec.BootstrapSpec, template: spec.BootstrapRef},
	}
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
	if problem, err := r.checkContract(ctx, c, gk); err != nil || problem != "" {
		if problem != "" {
			s.fail(v1alpha1.CreateFailedReason, "%s", problem)
		}
		return nil, err
	}
	obj, err := r.getChild(ctx, r.Client, gk, s.sm)
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
		s.waiting = fmt.Sprintf("Waiting for the previous %s %s to be gone", obj.GetKind(), obj.GetName())
		return nil, nil
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
	// Not the controller: Cluster API's Machine controller becomes that one.
	obj.SetOwnerReferences([]metav1.OwnerReference{s.ownerReference()})

	err = r.Client.Create(ctx, obj, client.FieldOwner(v1alpha1.FieldManager))
	switch {
	case apierrors.IsAlreadyExists(err):
		// Made by us a moment ago or before a crash, or by somebody else: look, live.
		return r.getChild(ctx, r.APIReader, c.groupKind(), s.sm)
	case apierrors.IsForbidden(err):
		s.fail(v1alpha1.CreateFailedReason, "Creating %s %s: %v. Where the provider's kinds are not among those that the manager knows, "+
			"grant them with a ClusterRole labelled 5spot.finos.org/aggregate-to-manager: \"true\"", obj.GetKind(), s.sm.Name, err)
		return nil, fmt.Errorf("creating %s %s: %w", obj.GetKind(), s.sm.Name, err)
	case err != nil:
		s.fail(v1alpha1.CreateFailedReason, "Creating %s %s, spec.%s: %v", obj.GetKind(), s.sm.Name, c.field, err)
		return nil, fmt.Errorf("creating %s %s: %w", obj.GetKind(), s.sm.Name, err)
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
	template, err := external.GetObjectFromContractVersionedRef(ctx, r.Client, clusterv1.ContractVersionedObjectReference{
		APIGroup: c.template.APIGroup, Kind: c.template.Kind, Name: c.template.Name,
	}, s.sm.Namespace)
	if err != nil {
		s.fail(v1alpha1.TemplateNotFoundReason, "spec.%sRef: %s %s in namespace %s: %v; create it or name another",
			c.field, c.template.Kind, c.template.Name, s.sm.Namespace, err)
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

// checkContract returns what is wrong with a kind as a child, or nothing: its CRD
// must say that it obeys a Cluster API contract. Without that check a
// ScheduledMachine could make objects of any kind that the manager may create.
func (r *Reconciler) checkContract(ctx context.Context, c child, gk schema.GroupKind) (string, error) {
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	name := contract.CalculateCRDName(gk.Group, gk.Kind)
	err := r.Client.Get(ctx, client.ObjectKey{Name: name}, crd)
	switch {
	case apierrors.IsNotFound(err):
		return "", fmt.Errorf("spec.%s names kind %s, but there is no CustomResourceDefinition %s: install its provider", c.field, gk, name)
	case err != nil:
		return "", fmt.Errorf("reading CustomResourceDefinition %s: %w", name, err)
	}
	for label := range crd.Labels {
		if strings.HasPrefix(label, clusterv1.GroupVersion.Group+"/v1beta") {
			return "", nil
		}
	}
	return fmt.Sprintf("spec.%s names kind %s, whose CustomResourceDefinition %s carries no label %s/v1beta*: "+
		"it is not a Cluster API provider's kind; name one that is", c.field, gk, name, clusterv1.GroupVersion.Group), nil
}

// getChild returns the object of that kind and the ScheduledMachine's name, or
// nil. It also watches the kind from then on.
func (r *Reconciler) getChild(ctx context.Context, reader client.Reader, gk schema.GroupKind, sm *v1alpha1.ScheduledMachine) (*unstructured.Unstructured, error) {
	mapping, err := r.Client.RESTMapper().RESTMapping(gk)
	if err != nil {
		return nil, fmt.Errorf("finding the API of kind %s: %w", gk, err)
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(mapping.GroupVersionKind)
	if err := r.children.Watch(ctrl.LoggerFrom(ctx), obj,
		ownerOrNamesake(r.Client.Scheme(), r.Client.RESTMapper()),
		predicates.ResourceIsChanged(r.Client.Scheme(), *r.children.PredicateLogger)); err != nil {
		return nil, fmt.Errorf("watching kind %s: %w", gk, err)
	}
	if err := reader.Get(ctx, client.ObjectKeyFromObject(sm), obj); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("reading %s %s: %w", gk.Kind, sm.Name, err)
	}
	return obj, nil
}

// owns tells whether the ScheduledMachine is among an object's owners. A name
// alone is nothing: what merely bears it is never touched.
func (s *scope) owns(o metav1.Object) bool {
	return util.IsOwnedByObject(o, s.sm, v1alpha1.GroupVersion.WithKind("ScheduledMachine").GroupKind())
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
	return all
}
