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

package infrastructure_test

import (
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/cluster-api/util/contract"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure"
)

func TestCRDsKeepTheContract(t *testing.T) {
	g := NewWithT(t)
	definitions, err := infrastructure.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(definitions).To(HaveLen(8))
	for _, crd := range definitions {
		// Cluster API does not look a CRD up: it computes the name.
		g.Expect(crd.Name).To(Equal(contract.CalculateCRDName(crd.Spec.Group, crd.Spec.Names.Kind)))
		g.Expect(crd.Labels).To(And(
			HaveKeyWithValue("cluster.x-k8s.io/v1beta2", "v1beta2"),
			HaveKeyWithValue("cluster.x-k8s.io/provider", HaveSuffix("-host")),
			HaveKeyWithValue("clusterctl.cluster.x-k8s.io", ""),
		), crd.Name)
		g.Expect(crd.Spec.Scope).To(BeEquivalentTo("Namespaced"), crd.Name)
	}
}
