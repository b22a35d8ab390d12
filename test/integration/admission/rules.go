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

// Package admission shows on a real API server which ScheduledMachines it accepts and
// which it refuses, rule by rule, and with what message.
package admission

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

// WithoutRules returns a copy of the CRD that validates nothing but types: no CEL, no
// enum, pattern, length, range or required field, no unique list. Defaults stay. With it
// an API server is what the controllers meet where somebody installed an old CRD, and
// specs that no rule has seen reach them.
func WithoutRules(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	for i := range crd.Spec.Versions {
		if schema := crd.Spec.Versions[i].Schema; schema != nil && schema.OpenAPIV3Schema != nil {
			*schema.OpenAPIV3Schema = withoutRules(*schema.OpenAPIV3Schema)
		}
	}
	return crd
}

func withoutRules(s apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	bare := apiextensionsv1.JSONSchemaProps{
		Description:            s.Description,
		Type:                   s.Type,
		Nullable:               s.Nullable,
		Default:                s.Default,
		XPreserveUnknownFields: s.XPreserveUnknownFields,
		XEmbeddedResource:      s.XEmbeddedResource,
		XIntOrString:           s.XIntOrString,
	}
	if s.Type == "array" {
		// Items of a list-map must be unique; those of an atomic list need not.
		bare.XListType = ptr.To("atomic")
	}
	if s.Items != nil && s.Items.Schema != nil {
		bare.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: ptr.To(withoutRules(*s.Items.Schema))}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		bare.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{
			Allows: s.AdditionalProperties.Allows,
			Schema: ptr.To(withoutRules(*s.AdditionalProperties.Schema)),
		}
	}
	if s.Properties != nil {
		bare.Properties = make(map[string]apiextensionsv1.JSONSchemaProps, len(s.Properties))
		for name, property := range s.Properties {
			bare.Properties[name] = withoutRules(property)
		}
	}
	return bare
}
