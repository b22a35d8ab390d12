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

// Package taints_test shows on real API servers what internal/taints relies on:
// what they answer, who owns which field, and that no version of a Node ever lacks
// a taint that somebody set.
package taints_test

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

// cluster is an API server without controllers: nobody writes to its Nodes but the
// specs.
var cluster *controlplane.ControlPlane

func TestTaints(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Node taints on real API servers")
}

var _ = BeforeSuite(func() {
	cluster = start(controlplane.Options{Name: "taints", Audit: true})
})

// start starts a control plane that lives as long as the suite or the spec that it
// is started in.
func start(options controlplane.Options) *controlplane.ControlPlane {
	GinkgoHelper()
	options.Out = GinkgoWriter
	// Not the context of the node, which ends with it.
	cp, err := controlplane.Start(context.Background(), options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(cp.Stop)
	return cp
}
