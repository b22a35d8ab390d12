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

package environment

import (
	"context"
	"fmt"
	"path/filepath"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/5spot/cluster-api-addon-provider-5spot/config"
)

// ManagerConfig installs the manager's ServiceAccount and its rights as users
// install them, and returns a configuration that has these rights and no other.
// The management cluster needs its controller manager: it fills aggregated roles.
func (e *Environment) ManagerConfig(ctx context.Context) (*rest.Config, error) {
	if !e.options.ControllerManager {
		return nil, fmt.Errorf("the management cluster has no controller manager to aggregate the manager's roles")
	}
	root, err := repository()
	if err != nil {
		return nil, err
	}
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(root, "config", "default"))
	if err != nil {
		return nil, fmt.Errorf("rendering config/default: %w", err)
	}
	for _, r := range rendered.Resources() {
		object := &unstructured.Unstructured{}
		if object.Object, err = r.Map(); err != nil {
			return nil, fmt.Errorf("reading %s %s: %w", r.GetKind(), r.GetName(), err)
		}
		if group := object.GroupVersionKind().Group; group != rbacv1.GroupName && r.GetKind() != "ServiceAccount" {
			continue
		}
		if err := e.Client.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("installing %s %s: %w", r.GetKind(), r.GetName(), err)
		}
	}
	if err := e.Client.Create(ctx, hostRole()); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("granting the host provider's kinds: %w", err)
	}
	const account = config.NamePrefix + "manager"
	return e.Management.ConfigFor("system:serviceaccount:"+config.Namespace+":"+account,
		"system:serviceaccounts", "system:serviceaccounts:"+config.Namespace, "system:authenticated")
}

// hostRole grants the host provider's kinds as the documentation tells the users of
// a provider that this one does not know to do.
func hostRole() *rbacv1.ClusterRole {
	made := []string{"get", "list", "watch", "create", "delete"}
	cloned := []string{"get", "patch"}
	rule := func(group string, verbs []string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group + ".cluster.x-k8s.io"}, Resources: resources, Verbs: verbs}
	}
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "host-provider", Labels: map[string]string{"5spot.finos.org/aggregate-to-manager": "true"}},
		Rules: []rbacv1.PolicyRule{
			rule("infrastructure", made, "hostmachines"),
			rule("bootstrap", made, "hostconfigs"),
			rule("infrastructure", cloned, "hostmachinetemplates"),
			rule("bootstrap", cloned, "hostconfigtemplates"),
		},
	}
}
