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

package config_test

import (
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/5spot/cluster-api-addon-provider-5spot/config"
)

// render is what `kustomize build config/default` gives.
func render(g Gomega) (resmap.ResMap, []*unstructured.Unstructured) {
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "default")
	g.Expect(err).NotTo(HaveOccurred())
	var objects []*unstructured.Unstructured
	for _, resource := range rendered.Resources() {
		content, err := resource.Map()
		g.Expect(err).NotTo(HaveOccurred())
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	return rendered, objects
}

func TestComponentsHaveTheNamesThatClusterctlExpects(t *testing.T) {
	g := NewWithT(t)
	_, objects := render(g)
	for _, object := range objects {
		id := object.GetKind() + "/" + object.GetName()
		g.Expect(object.GetLabels()).To(HaveKeyWithValue("cluster.x-k8s.io/provider", config.ProviderName), id)
		switch object.GetKind() {
		case "ServiceAccount", "Role", "RoleBinding", "Deployment":
			g.Expect(object.GetNamespace()).To(Equal(config.Namespace), id)
			g.Expect(object.GetName()).To(HavePrefix(config.NamePrefix), id)
		case "Namespace":
			g.Expect(object.GetName()).To(Equal(config.Namespace))
		case "CustomResourceDefinition":
			// Its name is its group's and plural's.
		case "ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
			g.Expect(object.GetNamespace()).To(BeEmpty(), id)
			g.Expect(object.GetName()).To(HavePrefix(config.Namespace+"-"), id)
		default:
			t.Errorf("%s: is it cluster-scoped? Say so here", id)
		}
	}
}

func TestCRDLabels(t *testing.T) {
	g := NewWithT(t)
	_, objects := render(g)
	var crds int
	for _, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		crds++
		g.Expect(object.GetLabels()).To(And(
			HaveKeyWithValue("cluster.x-k8s.io/v1beta2", "v1alpha1"),
			HaveKeyWithValue("clusterctl.cluster.x-k8s.io", ""),
		), object.GetName())
	}
	g.Expect(crds).To(BeNumerically(">", 0))
	g.Expect(config.CRDs()).To(HaveLen(crds))
}

func TestReferencesResolve(t *testing.T) {
	g := NewWithT(t)
	_, objects := render(g)
	defined := map[string]bool{}
	for _, object := range objects {
		defined[object.GetKind()+"/"+object.GetName()] = true
	}
	var references int
	refer := func(from *unstructured.Unstructured, kind, name string) {
		references++
		g.Expect(defined).To(HaveKey(kind+"/"+name), "%s %s refers to it", from.GetKind(), from.GetName())
	}
	for _, object := range objects {
		if name, ok, _ := unstructured.NestedString(object.Object, "roleRef", "name"); ok {
			kind, _, _ := unstructured.NestedString(object.Object, "roleRef", "kind")
			refer(object, kind, name)
		}
		subjects, _, _ := unstructured.NestedSlice(object.Object, "subjects")
		for _, subject := range subjects {
			g.Expect(subject).To(HaveKeyWithValue("namespace", config.Namespace))
			refer(object, subject.(map[string]any)["kind"].(string), subject.(map[string]any)["name"].(string))
		}
		if name, ok, _ := unstructured.NestedString(object.Object, "spec", "template", "spec", "serviceAccountName"); ok {
			refer(object, "ServiceAccount", name)
		}
		if name, ok, _ := unstructured.NestedString(object.Object, "spec", "policyName"); ok {
			refer(object, "ValidatingAdmissionPolicy", name)
		}
	}
	g.Expect(references).To(BeNumerically(">=", 9))
}

func TestManagerIsWhatClusterctlAndRestrictedNamespacesWant(t *testing.T) {
	g := NewWithT(t)
	_, objects := render(g)
	deployment := &appsv1.Deployment{}
	for _, object := range objects {
		if object.GetKind() == "Deployment" {
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, deployment, true)).To(Succeed())
		}
	}
	pod := deployment.Spec.Template
	g.Expect(pod.Spec.Containers).To(HaveLen(1))
	manager := pod.Spec.Containers[0]
	g.Expect(manager.Name).To(Equal("manager"))
	g.Expect(manager.Image).NotTo(HavePrefix("controller:"), "the placeholder is replaced")
	g.Expect(pod.Labels).To(And(
		HaveKeyWithValue("cluster.x-k8s.io/provider", config.ProviderName),
		HaveKeyWithValue("control-plane", "controller-manager")))
	g.Expect(deployment.Spec.Selector.MatchLabels).To(Equal(pod.Labels))

	g.Expect(*pod.Spec.SecurityContext.RunAsNonRoot).To(BeTrue())
	g.Expect(*manager.SecurityContext.AllowPrivilegeEscalation).To(BeFalse())
	g.Expect(*manager.SecurityContext.ReadOnlyRootFilesystem).To(BeTrue())
	g.Expect(manager.SecurityContext.Capabilities.Drop).To(ConsistOf(BeEquivalentTo("ALL")))

	ports := map[string]bool{}
	for _, port := range manager.Ports {
		ports[port.Name] = true
	}
	g.Expect(ports).To(HaveKey(manager.LivenessProbe.HTTPGet.Port.String()))
	g.Expect(ports).To(HaveKey(manager.ReadinessProbe.HTTPGet.Port.String()))
}

// clusterctl substitutes variables in the whole file, the regular expressions of the
// rules included.
func TestEveryDollarIsAVariableWithADefaultOrLiteral(t *testing.T) {
	g := NewWithT(t)
	rendered, _ := render(g)
	text, err := rendered.AsYaml()
	g.Expect(err).NotTo(HaveOccurred())
	withDefault := regexp.MustCompile(`^\$\{CAAP5SPOT_[A-Z_]+:=[^}]*\}`)
	var variables int
	for i, c := range string(text) {
		if c != '$' {
			continue
		}
		rest := string(text[i:])
		switch {
		case withDefault.MatchString(rest):
			variables++
		case strings.HasPrefix(rest, "${"), strings.HasPrefix(rest, "$$"):
			line, _, _ := strings.Cut(rest, "\n")
			t.Errorf("clusterctl would substitute this: %s", line)
		}
	}
	g.Expect(variables).To(BeNumerically(">", 0))
}

func TestEmbeddedObjectsAreThoseOfTheComponents(t *testing.T) {
	g := NewWithT(t)
	_, objects := render(g)
	rendered := map[string]*unstructured.Unstructured{}
	for _, object := range objects {
		switch object.GetKind() {
		case "CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
			rendered[object.GetKind()+"/"+object.GetName()] = object
		}
	}
	embedded := config.AdmissionPolicy()
	for _, crd := range config.CRDs() {
		embedded = append(embedded, crd)
	}
	g.Expect(embedded).To(HaveLen(len(rendered)))
	for _, object := range embedded {
		id := object.GetObjectKind().GroupVersionKind().Kind + "/" + object.GetName()
		g.Expect(rendered).To(HaveKey(id))
		g.Expect(object.GetLabels()).To(Equal(rendered[id].GetLabels()), id)
		twin := object.DeepCopyObject().(client.Object)
		g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(rendered[id].Object, twin, true)).To(Succeed())
		g.Expect(object).To(Equal(twin), id)
	}
}
