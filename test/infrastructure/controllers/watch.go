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

package controllers

import (
	"context"
	"fmt"
	"reflect"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// changedByOthers passes what somebody else than the controller changed: the spec and
// the metadata. The controller's own status writes wake nobody.
func changedByOthers() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld, e.ObjectNew
		return before.GetGeneration() != after.GetGeneration() ||
			before.GetUID() != after.GetUID() ||
			!before.GetDeletionTimestamp().Equal(after.GetDeletionTimestamp()) ||
			!reflect.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences()) ||
			!reflect.DeepEqual(before.GetLabels(), after.GetLabels()) ||
			!reflect.DeepEqual(before.GetAnnotations(), after.GetAnnotations()) ||
			!reflect.DeepEqual(before.GetFinalizers(), after.GetFinalizers())
	}}
}

// clusterTurned passes changes of a Cluster that its machines wait for.
func clusterTurned() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*clusterv1.Cluster)
		after, ok2 := e.ObjectNew.(*clusterv1.Cluster)
		return ok && ok2 && (before.Generation != after.Generation ||
			!before.DeletionTimestamp.Equal(after.DeletionTimestamp) ||
			!reflect.DeepEqual(before.Status.Initialization, after.Status.Initialization))
	}}
}

// ofCluster maps a Cluster, and whatever bears a Cluster's name in the label for it, to
// the objects of a kind that bear the same.
func ofCluster(c client.Client, list client.ObjectList) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		name := o.GetLabels()[clusterv1.ClusterNameLabel]
		if cluster, ok := o.(*clusterv1.Cluster); ok {
			name = cluster.Name
		}
		if name == "" {
			return nil
		}
		found, ok := list.DeepCopyObject().(client.ObjectList)
		if !ok {
			return nil
		}
		if err := c.List(ctx, found, client.InNamespace(o.GetNamespace()), client.MatchingLabels{clusterv1.ClusterNameLabel: name}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Listing the objects of a Cluster", "Cluster", name)
			return nil
		}
		var requests []reconcile.Request
		_ = apimeta.EachListItem(found, func(item runtime.Object) error { // The function returns no error.
			if one, ok := item.(client.Object); ok {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(one)})
			}
			return nil
		})
		return requests
	}
}

// owner returns the name of the owner of that kind of Cluster API's, empty for none.
func owner(o client.Object, kind string) string {
	for _, ref := range o.GetOwnerReferences() {
		if gv, err := schema.ParseGroupVersion(ref.APIVersion); err == nil && gv.Group == clusterv1.GroupVersion.Group && ref.Kind == kind {
			return ref.Name
		}
	}
	return ""
}

// read gets an object of the namespace, nil where there is none.
func read[T any, P interface {
	*T
	client.Object
}](ctx context.Context, c client.Reader, namespace, name string) (P, error) {
	if name == "" {
		return nil, nil
	}
	o := P(new(T))
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return o, nil
}

// owners returns the Machine that owns o and its Cluster, nil for what is not there.
func owners(ctx context.Context, c client.Reader, o client.Object) (*clusterv1.Machine, *clusterv1.Cluster, error) {
	machine, err := read[clusterv1.Machine](ctx, c, o.GetNamespace(), owner(o, "Machine"))
	if err != nil {
		return nil, nil, fmt.Errorf("getting the owner Machine: %w", err)
	}
	name := o.GetLabels()[clusterv1.ClusterNameLabel]
	if machine != nil {
		name = machine.Spec.ClusterName
	}
	cluster, err := read[clusterv1.Cluster](ctx, c, o.GetNamespace(), name)
	if err != nil {
		return nil, nil, fmt.Errorf("getting the Cluster: %w", err)
	}
	return machine, cluster, nil
}
