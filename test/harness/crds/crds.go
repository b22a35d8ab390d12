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

// Package crds installs CustomResourceDefinitions and waits until they can be used:
// their names accepted, every served version listed by discovery, which is what
// clients map kinds to resources with.
package crds

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"
)

const (
	pollInterval = 25 * time.Millisecond
	timeout      = time.Minute
)

// Install creates or updates crds, all at once, and returns when each can be used.
func Install(ctx context.Context, cfg *rest.Config, crds ...*apiextensionsv1.CustomResourceDefinition) error {
	client, err := clientset.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("installing CRDs: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, crd := range crds {
		group.Go(func() error {
			if err := apply(ctx, client, crd); err != nil {
				return fmt.Errorf("installing CRD %s: %w", crd.Name, err)
			}
			if err := usable(ctx, client, crd); err != nil {
				return fmt.Errorf("waiting for CRD %s: %w", crd.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// InstallFiles does the same for the CRDs that ReadFiles finds in paths.
func InstallFiles(ctx context.Context, cfg *rest.Config, paths ...string) error {
	crds, err := ReadFiles(paths...)
	if err != nil {
		return err
	}
	return Install(ctx, cfg, crds...)
}

// ReadFiles reads the CRDs in paths, YAML files or folders of them. Other kinds of
// object are passed over; to find no CRD at all is an error.
func ReadFiles(paths ...string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, path := range paths {
		files := []string{path}
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("reading CRDs: %w", err)
		}
		if info.IsDir() {
			if files, err = filepath.Glob(filepath.Join(path, "*.yaml")); err != nil {
				return nil, fmt.Errorf("reading CRDs: %w", err)
			}
		}
		for _, file := range files {
			found, err := readFile(file)
			if err != nil {
				return nil, fmt.Errorf("reading CRDs from %s: %w", file, err)
			}
			crds = append(crds, found...)
		}
	}
	if len(crds) == 0 {
		return nil, fmt.Errorf("reading CRDs: there is none in %v", paths)
	}
	return crds, nil
}

func readFile(path string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return crds, nil
		}
		if err != nil {
			return nil, err
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(document, &kind); err != nil {
			return nil, err
		}
		if kind.GroupVersionKind() != apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition") {
			continue
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(document, crd); err != nil {
			return nil, err
		}
		crds = append(crds, crd)
	}
}

// apply creates crd, or gives an existing one its metadata and spec.
func apply(ctx context.Context, client clientset.Interface, crd *apiextensionsv1.CustomResourceDefinition) error {
	api := client.ApiextensionsV1().CustomResourceDefinitions()
	_, err := api.Create(ctx, crd, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		existing, err := api.Get(ctx, crd.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		update := crd.DeepCopy()
		update.ResourceVersion = existing.ResourceVersion
		_, err = api.Update(ctx, update, metav1.UpdateOptions{})
		return err
	})
}

// usable waits until crd is established and discovery lists what it serves.
func usable(ctx context.Context, client clientset.Interface, crd *apiextensionsv1.CustomResourceDefinition) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		err := check(ctx, client, crd)
		if ctx.Err() == nil {
			last = err
		}
		if errors.Is(err, errNames) {
			return false, err
		}
		return err == nil, nil
	})
	if err != nil && !errors.Is(err, errNames) {
		return errors.Join(err, last)
	}
	return err
}

func check(ctx context.Context, client clientset.Interface, crd *apiextensionsv1.CustomResourceDefinition) error {
	if err := established(ctx, client, crd.Name); err != nil {
		return err
	}
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		if err := listed(client, crd.Spec.Group+"/"+version.Name, crd.Spec.Names.Plural); err != nil {
			return err
		}
	}
	return nil
}

// errNames does not go away by waiting.
var errNames = errors.New("its names are not accepted")

func established(ctx context.Context, client clientset.Interface, name string) error {
	crd, err := client.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.NamesAccepted && condition.Status == apiextensionsv1.ConditionFalse {
			return fmt.Errorf("%w: %s", errNames, condition.Message)
		}
		if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
			return nil
		}
	}
	return errors.New("it is not established")
}

func listed(client clientset.Interface, groupVersion, plural string) error {
	resources, err := client.Discovery().ServerResourcesForGroupVersion(groupVersion)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool { return r.Name == plural }) {
		return fmt.Errorf("discovery does not list %s in %s", plural, groupVersion)
	}
	return nil
}
