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

// Package config holds the kustomize sources of what clusterctl installs, and gives
// those of them that a bare API server needs for the ScheduledMachine API, its CRDs and
// admission policies, to tests and tools: the same files, the same names.
package config

import (
	"bufio"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	// Namespace is where config/default puts the namespaced objects.
	Namespace = "caap5spot-system"
	// NamePrefix is what config/default puts before the names.
	NamePrefix = "caap5spot-"
	// ProviderName is the value of the label cluster.x-k8s.io/provider on every object.
	ProviderName = "addon-5spot"
)

//go:embed crd/bases/*.yaml admission/authorization.yaml admission/validation.yaml
var sources embed.FS

// CRDs returns the CustomResourceDefinitions of the API as config/default renders
// them, new objects at each call.
func CRDs() []*apiextensionsv1.CustomResourceDefinition {
	var crds []*apiextensionsv1.CustomResourceDefinition
	each("crd/bases/*.yaml", func(document []byte) error {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(document, crd); err != nil {
			return err
		}
		label(crd)
		crds = append(crds, crd)
		return nil
	})
	return crds
}

// AdmissionPolicy returns the ValidatingAdmissionPolicies of the API and their
// bindings as config/default renders them, new objects at each call. They take effect
// on an API server a moment after they were created there.
func AdmissionPolicy() []client.Object {
	var objects []client.Object
	each("admission/*.yaml", func(document []byte) error {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(document, &kind); err != nil {
			return err
		}
		switch kind.Kind {
		case "ValidatingAdmissionPolicy":
			policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
			if err := yaml.UnmarshalStrict(document, policy); err != nil {
				return err
			}
			policy.Name = NamePrefix + policy.Name
			objects = append(objects, policy)
		case "ValidatingAdmissionPolicyBinding":
			binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
			if err := yaml.UnmarshalStrict(document, binding); err != nil {
				return err
			}
			binding.Name = NamePrefix + binding.Name
			binding.Spec.PolicyName = NamePrefix + binding.Spec.PolicyName
			objects = append(objects, binding)
		default:
			return fmt.Errorf("unexpected kind %q", kind.Kind)
		}
		label(objects[len(objects)-1])
		return nil
	})
	return objects
}

func label(object client.Object) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[clusterv1.ProviderNameLabel] = ProviderName
	object.SetLabels(labels)
}

// each calls do with every YAML document of the embedded files. These are part of the
// program and rendered by its tests, so an error in one is a bug and panics.
func each(pattern string, do func(document []byte) error) {
	names, err := fs.Glob(sources, pattern)
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		data, err := sources.ReadFile(name)
		if err != nil {
			panic(err)
		}
		reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
		for {
			document, err := reader.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = do(document)
			}
			if err != nil {
				panic(fmt.Errorf("config/%s: %w", name, err))
			}
		}
	}
}
