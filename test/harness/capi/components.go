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

package capi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/binaries"
)

// components are the parts of Cluster API's kustomization that are installed here:
// not the Deployment and what only it needs.
type components struct {
	crds       []*apiextensionsv1.CustomResourceDefinition
	mutating   []*admissionregistrationv1.MutatingWebhookConfiguration
	validating []*admissionregistrationv1.ValidatingWebhookConfiguration
}

// loadComponents returns a copy of what render found, to be changed at will.
func loadComponents() (*components, error) {
	rendered, err := render()
	if err != nil {
		return nil, err
	}
	c := &components{}
	for _, crd := range rendered.crds {
		c.crds = append(c.crds, crd.DeepCopy())
	}
	for _, configuration := range rendered.mutating {
		c.mutating = append(c.mutating, configuration.DeepCopy())
	}
	for _, configuration := range rendered.validating {
		c.validating = append(c.validating, configuration.DeepCopy())
	}
	return c, nil
}

// render builds core/config/default of the pinned Cluster API module, once: it takes
// a second, and a suite may run several managers.
var render = sync.OnceValues(func() (*components, error) {
	dir, err := moduleDir()
	if err != nil {
		return nil, err
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).
		Run(filesys.MakeFsOnDisk(), filepath.Join(dir, "core", "config", "default"))
	if err != nil {
		return nil, fmt.Errorf("rendering Cluster API's kustomization: %w", err)
	}
	c := &components{}
	for _, found := range resources.Resources() {
		var err error
		switch found.GetKind() {
		case "CustomResourceDefinition":
			c.crds, err = appendObject(c.crds, found)
		case "MutatingWebhookConfiguration":
			c.mutating, err = appendObject(c.mutating, found)
		case "ValidatingWebhookConfiguration":
			c.validating, err = appendObject(c.validating, found)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s %s of Cluster API: %w", found.GetKind(), found.GetName(), err)
		}
	}
	if len(c.crds) == 0 || len(c.mutating) == 0 || len(c.validating) == 0 {
		return nil, fmt.Errorf("rendering Cluster API's kustomization in %s: CRDs or webhooks are missing", dir)
	}
	return c, nil
})

func appendObject[T any](objects []*T, source *resource.Resource) ([]*T, error) {
	data, err := source.MarshalJSON()
	if err != nil {
		return nil, err
	}
	object := new(T)
	if err := json.Unmarshal(data, object); err != nil {
		return nil, err
	}
	return append(objects, object), nil
}

// moduleDir is the folder of the Cluster API module that the harness's binaries are
// built from, in the module cache.
func moduleDir() (string, error) {
	pins, err := binaries.ModuleDir()
	if err != nil {
		return "", err
	}
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api")
	list.Dir = pins
	output, err := list.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("finding the Cluster API module: %w", err)
	}
	dir := strings.TrimSpace(string(output))
	if dir == "" {
		return "", errors.New("finding the Cluster API module: it is not in the module cache; run `go -C hack/binaries mod download sigs.k8s.io/cluster-api`")
	}
	return dir, nil
}

// pointTo replaces the Service that webhooks are reached through by a URL.
func (c *components) pointTo(base string, caBundle []byte) {
	for _, crd := range c.crds {
		if conversion := crd.Spec.Conversion; conversion != nil && conversion.Webhook != nil {
			path := ptr.Deref(conversion.Webhook.ClientConfig.Service.Path, "")
			conversion.Webhook.ClientConfig = &apiextensionsv1.WebhookClientConfig{URL: ptr.To(base + path), CABundle: caBundle}
		}
	}
	at := func(config admissionregistrationv1.WebhookClientConfig) admissionregistrationv1.WebhookClientConfig {
		path := ptr.Deref(config.Service.Path, "")
		return admissionregistrationv1.WebhookClientConfig{URL: ptr.To(base + path), CABundle: caBundle}
	}
	for _, configuration := range c.mutating {
		for i := range configuration.Webhooks {
			configuration.Webhooks[i].ClientConfig = at(configuration.Webhooks[i].ClientConfig)
		}
	}
	for _, configuration := range c.validating {
		for i := range configuration.Webhooks {
			configuration.Webhooks[i].ClientConfig = at(configuration.Webhooks[i].ClientConfig)
		}
	}
}

// withoutConversion makes the CRDs usable where no manager converts.
func (c *components) withoutConversion() {
	for _, crd := range c.crds {
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	}
}

func newClient(cfg *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{admissionregistrationv1.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	cfg = rest.CopyConfig(cfg)
	// That v1beta1 is deprecated is known to those who test with it.
	cfg.WarningHandler = rest.NoWarnings{}
	return client.New(cfg, client.Options{Scheme: scheme})
}

func (c *components) applyWebhooks(ctx context.Context, api client.Client) error {
	for _, configuration := range c.mutating {
		if err := createOrReplace(ctx, api, configuration); err != nil {
			return err
		}
	}
	for _, configuration := range c.validating {
		if err := createOrReplace(ctx, api, configuration); err != nil {
			return err
		}
	}
	return nil
}

// createOrReplace takes over what an earlier manager on the same control plane left.
func createOrReplace(ctx context.Context, api client.Client, object client.Object) error {
	err := api.Create(ctx, object)
	if apierrors.IsAlreadyExists(err) {
		existing := object.DeepCopyObject().(client.Object)
		if err := api.Get(ctx, client.ObjectKeyFromObject(object), existing); err != nil {
			return fmt.Errorf("reading %s: %w", object.GetName(), err)
		}
		object.SetResourceVersion(existing.GetResourceVersion())
		err = api.Update(ctx, object)
	}
	if err != nil {
		return fmt.Errorf("installing %s: %w", object.GetName(), err)
	}
	return nil
}

// dryRun has a Cluster admitted, which its webhooks see, and an object of the old
// version, which the conversion webhook sees. The latter is not a Cluster, because
// an old Cluster is given back with the version of its infrastructure, which is
// looked up in a CRD that does not exist yet.
func dryRun(ctx context.Context, api client.Client) error {
	const namespace, name = metav1.NamespaceDefault, "harness-probe"
	cluster := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{
			APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "ProbeCluster", Name: name,
		}},
	}
	if err := api.Create(ctx, cluster, client.DryRunAll); err != nil {
		return fmt.Errorf("dry run of a v1beta2 Cluster: %w", err)
	}
	rule := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta1",
		"kind":       "MachineDrainRule",
		"metadata":   map[string]any{"namespace": namespace, "name": name},
		"spec":       map[string]any{"drain": map[string]any{"behavior": "Skip"}},
	}}
	if err := api.Create(ctx, rule, client.DryRunAll); err != nil {
		return fmt.Errorf("dry run of a v1beta1 MachineDrainRule: %w", err)
	}
	return nil
}
