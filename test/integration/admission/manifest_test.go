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

package admission

import (
	"context"

	jsonpatch "github.com/evanphx/json-patch/v5"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// valid breaks no rule and uses nothing but what is required. What follows from a change
// to it follows from that change.
const valid = `
apiVersion: 5spot.finos.org/v1alpha1
kind: ScheduledMachine
metadata:
  name: worker
  namespace: default
spec:
  clusterName: production
  schedule:
    daysOfWeek: [mon-fri]
    hoursOfDay: ["9-17"]
  bootstrapSpec:
    apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
    kind: KubeadmConfig
    spec: {}
  infrastructureSpec:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    kind: HostMachine
    spec: {}
`

// with is the valid manifest after a JSON merge patch (RFC 7396) of its spec, written in
// YAML: lists are replaced, null takes a field away.
func with(specPatch string) *unstructured.Unstructured {
	GinkgoHelper()
	base, err := yaml.YAMLToJSON([]byte(valid))
	Expect(err).NotTo(HaveOccurred())
	spec, err := yaml.YAMLToJSON([]byte(specPatch))
	Expect(err).NotTo(HaveOccurred())
	merged, err := jsonpatch.MergePatch(base, []byte(`{"spec":`+string(spec)+`}`))
	Expect(err).NotTo(HaveOccurred())
	return parse(string(merged))
}

// parse reads a manifest as it is, explicit nulls included.
func parse(manifest string) *unstructured.Unstructured {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(manifest), &object.Object)).To(Succeed())
	return object
}

// try asks the API server whether it would take the object, and stores nothing.
func try(ctx context.Context, c client.Client, object client.Object) error {
	return c.Create(ctx, object.DeepCopyObject().(client.Object), client.DryRunAll, client.FieldValidation("Strict"))
}
