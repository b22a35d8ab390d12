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

// Package index holds the manager's field indexes and the mappings built on them.
package index

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// clusterName indexes ScheduledMachines by spec.clusterName.
const clusterName = "spec.clusterName"

// Add adds the indexes to the manager's cache; once, before any controller.
func Add(ctx context.Context, mgr ctrl.Manager) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.ScheduledMachine{}, clusterName, func(o client.Object) []string {
		return []string{o.(*v1alpha1.ScheduledMachine).Spec.ClusterName}
	}); err != nil {
		return fmt.Errorf("indexing ScheduledMachines by %s: %w", clusterName, err)
	}
	return nil
}

// ScheduledMachinesOf maps a Cluster to its ScheduledMachines.
func ScheduledMachinesOf(c client.Reader) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		cluster, ok := o.(*clusterv1.Cluster)
		if !ok {
			return nil
		}
		list := &v1alpha1.ScheduledMachineList{}
		if err := c.List(ctx, list, client.InNamespace(cluster.Namespace), client.MatchingFields{clusterName: cluster.Name}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Listing the ScheduledMachines of a Cluster", "Cluster", client.ObjectKeyFromObject(cluster))
			return nil
		}
		requests := make([]reconcile.Request, 0, len(list.Items))
		for i := range list.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
		return requests
	}
}
