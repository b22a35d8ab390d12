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

package infrastructure

import (
	"embed"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed config/crd/*.yaml
var crds embed.FS

// CRDs returns the definitions of the provider's kinds.
func CRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	names, err := fs.Glob(crds, "config/crd/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing the host provider's CRDs: %w", err)
	}
	var definitions []*apiextensionsv1.CustomResourceDefinition
	for _, name := range names {
		data, err := crds.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading a CRD of the host provider: %w", err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, crd); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		definitions = append(definitions, crd)
	}
	return definitions, nil
}
