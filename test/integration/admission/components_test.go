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

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

const manager = "system:serviceaccount:caap5spot-system:caap5spot-manager"

var _ = Describe("The components, applied to an empty cluster,", Ordered, func() {
	var (
		c       client.Client
		objects []*unstructured.Unstructured
	)

	apply := func(ctx context.Context, object *unstructured.Unstructured) *unstructured.Unstructured {
		GinkgoHelper()
		applied := object.DeepCopy()
		Expect(c.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("test"))).To(Succeed(), object.GetName())
		return applied
	}
	mayManager := func(ctx context.Context, verb, group, resource string) bool {
		GinkgoHelper()
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               manager,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource, Namespace: "default"},
		}}
		Expect(c.Create(ctx, review)).To(Succeed())
		return review.Status.Allowed
	}

	BeforeAll(func() {
		// The controller manager fills the aggregated role.
		c = clientFor(start(controlplane.Options{Name: "components", ControllerManager: true}).Config())
		rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../../config/default")
		Expect(err).NotTo(HaveOccurred())
		for _, resource := range rendered.Resources() {
			manifest, err := resource.AsYAML()
			Expect(err).NotTo(HaveOccurred())
			objects = append(objects, parse(string(manifest)))
		}
	})

	It("are taken by the API server, and do not change when applied again", func(ctx context.Context) {
		for _, object := range objects {
			first := apply(ctx, object)
			// Those that a controller writes to change by themselves.
			Expect(apply(ctx, object).GetGeneration()).To(Equal(first.GetGeneration()), object.GetName())
		}
	})

	It("let the manager do what it does", func(ctx context.Context) {
		for _, verb := range []string{"get", "list", "watch", "create", "delete"} {
			Eventually(mayManager).WithContext(ctx).WithArguments(verb, "infrastructure.cluster.x-k8s.io", "dockermachines").Should(BeTrue(), verb)
			Eventually(mayManager).WithContext(ctx).WithArguments(verb, "bootstrap.cluster.x-k8s.io", "kubeadmconfigs").Should(BeTrue(), verb)
			Eventually(mayManager).WithContext(ctx).WithArguments(verb, "cluster.x-k8s.io", "machines").Should(BeTrue(), verb)
		}
		for _, verb := range []string{"get", "patch"} {
			Eventually(mayManager).WithContext(ctx).WithArguments(verb, "infrastructure.cluster.x-k8s.io", "dockermachinetemplates").Should(BeTrue(), verb)
			Eventually(mayManager).WithContext(ctx).WithArguments(verb, "bootstrap.cluster.x-k8s.io", "kubeadmconfigtemplates").Should(BeTrue(), verb)
		}
		Eventually(mayManager).WithContext(ctx).WithArguments("watch", "5spot.finos.org", "scheduledmachines").Should(BeTrue())
		Eventually(mayManager).WithContext(ctx).WithArguments("patch", "5spot.finos.org", "scheduledmachines/status").Should(BeTrue())
		Eventually(mayManager).WithContext(ctx).WithArguments("watch", "cluster.x-k8s.io", "clusters").Should(BeTrue())
		Eventually(mayManager).WithContext(ctx).WithArguments("watch", "", "secrets").Should(BeTrue())
	})

	It("do not let the manager do anything else", func(ctx context.Context) {
		Expect(mayManager(ctx, "create", "", "secrets")).To(BeFalse())
		Expect(mayManager(ctx, "delete", "cluster.x-k8s.io", "clusters")).To(BeFalse())
		Expect(mayManager(ctx, "create", "rbac.authorization.k8s.io", "roles")).To(BeFalse())
		Expect(mayManager(ctx, "create", "apps", "deployments")).To(BeFalse())
		By("no wildcard: a kind of a provider's group that is none of ours")
		Expect(mayManager(ctx, "create", "infrastructure.cluster.x-k8s.io", "dockerclusters")).To(BeFalse())
	})

	It("let the manager use a provider's kinds where the provider lets Cluster API use them, and nothing of Cluster API's own role", func(ctx context.Context) {
		role := func(name, provider string, rule rbacv1.PolicyRule) *rbacv1.ClusterRole {
			return &rbacv1.ClusterRole{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
					"cluster.x-k8s.io/aggregate-to-manager": "true",
					"cluster.x-k8s.io/provider":             provider,
				}},
				Rules: []rbacv1.PolicyRule{rule},
			}
		}
		Expect(c.Create(ctx, role("capi-manager-role", "cluster-api", may("create", "", "secrets")))).To(Succeed())
		Expect(c.Create(ctx, role("provider-role", "infrastructure-example", may("create", "example.com", "machines")))).To(Succeed())
		labelled := role("labelled-role", "", may("create", "example.org", "machines"))
		labelled.Labels = map[string]string{"5spot.finos.org/aggregate-to-manager": "true"}
		Expect(c.Create(ctx, labelled)).To(Succeed())

		Eventually(mayManager).WithContext(ctx).WithArguments("create", "example.com", "machines").Should(BeTrue())
		Eventually(mayManager).WithContext(ctx).WithArguments("create", "example.org", "machines").Should(BeTrue())
		Expect(mayManager(ctx, "create", "", "secrets")).To(BeFalse())
	})

	It("refuse what the rules refuse", func(ctx context.Context) {
		Eventually(try).WithContext(ctx).WithArguments(c, with("{}")).Should(Succeed())
		Expect(try(ctx, c, with("{priority: 256}"))).To(MatchError(ContainSubstring("spec.priority")))
		Eventually(try).WithContext(ctx).WithArguments(c, with("{schedule: {timezone: Invalid/Timezone}}")).Should(MatchError(ContainSubstring("unknown time zone")))
	})
})
