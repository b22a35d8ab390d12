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
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/config"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/crds"
)

var (
	// cluster has the CRDs and the admission policies.
	cluster *controlplane.ControlPlane
	// admin may do anything in it.
	admin client.Client
)

func TestAdmission(t *testing.T) {
	RegisterFailHandler(Fail)
	// Without this an Eventually that has a context waits for ever.
	EnforceDefaultTimeoutsWhenUsingContexts()
	// Policies and changed CRDs take effect within a second or so of their creation.
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	RunSpecs(t, "Admission")
}

var _ = BeforeSuite(func(ctx context.Context) {
	cluster = start(controlplane.Options{Name: "admission"})
	admin = clientFor(cluster.Config())
	Expect(crds.Install(ctx, cluster.Config(), config.CRDs()...)).To(Succeed())
	for _, object := range config.AdmissionPolicy() {
		Expect(admin.Create(ctx, object)).To(Succeed())
	}
	// Each policy is in force once it refuses what it alone refuses.
	Expect(try(ctx, admin, with("{}"))).To(Succeed())
	Eventually(try).WithContext(ctx).WithArguments(admin, with("{schedule: {timezone: Invalid/Timezone}}")).Should(MatchError(ContainSubstring("unknown time zone")))
	Eventually(try).WithContext(ctx).WithArguments(user(ctx, "early"), with("{}")).Should(refusedBecause("user early may not create"))
})

// start starts a control plane that lives as long as the specs that it was started for.
func start(options controlplane.Options) *controlplane.ControlPlane {
	GinkgoHelper()
	options.Out = GinkgoWriter
	// The context of a setup node ends with the node.
	started, err := controlplane.Start(context.Background(), options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(started.Stop)
	return started
}

func clientFor(cfg *rest.Config) client.Client {
	GinkgoHelper()
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	return c
}
