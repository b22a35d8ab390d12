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

package crds_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/crds"
)

func manifest(kind, plural string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[2]s.example.org
spec:
  group: example.org
  scope: Cluster
  names: {kind: %[1]s, plural: %[2]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
  - name: v0
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
`, kind, plural)
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "two.yaml"), "---\n"+manifest("One", "ones")+"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n---\n"+manifest("Two", "twos"))
	write(t, filepath.Join(dir, "notes.txt"), "not YAML: [")
	three := write(t, filepath.Join(t.TempDir(), "three.yaml"), manifest("Three", "threes"))

	g := NewWithT(t)
	found, err := crds.ReadFiles(dir, three)
	g.Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, crd := range found {
		names = append(names, crd.Name)
	}
	g.Expect(names).To(Equal([]string{"ones.example.org", "twos.example.org", "threes.example.org"}))

	_, err = crds.ReadFiles(filepath.Join(dir, "missing"))
	g.Expect(err).To(MatchError(os.ErrNotExist))
	_, err = crds.ReadFiles(t.TempDir())
	g.Expect(err).To(MatchError(ContainSubstring("there is none in")))
	misspelt := write(t, filepath.Join(t.TempDir(), "misspelt.yaml"), manifest("Four", "fours")+"  scoop: Cluster\n")
	_, err = crds.ReadFiles(misspelt)
	g.Expect(err).To(MatchError(And(ContainSubstring("misspelt.yaml"), ContainSubstring("scoop"))))
}

func TestInstall(t *testing.T) {
	g := NewWithT(t)
	cp, err := controlplane.Start(t.Context(), controlplane.Options{Name: "crds"})
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(cp.Stop()).To(Succeed()) }()
	path := write(t, filepath.Join(t.TempDir(), "one.yaml"), manifest("One", "ones"))
	g.Expect(crds.InstallFiles(t.Context(), cp.Config(), path)).To(Succeed())

	dynamicClient, err := dynamic.NewForConfig(cp.Config())
	g.Expect(err).NotTo(HaveOccurred())
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "One", "metadata": map[string]any{"name": "a"},
	}}
	_, err = dynamicClient.Resource(schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "ones"}).
		Create(t.Context(), object, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred(), "it can be used at once")

	changed, err := crds.ReadFiles(path)
	g.Expect(err).NotTo(HaveOccurred())
	changed[0].Labels = map[string]string{"changed": "yes"}
	g.Expect(crds.Install(t.Context(), cp.Config(), changed...)).To(Succeed())
	client, err := clientset.NewForConfig(cp.Config())
	g.Expect(err).NotTo(HaveOccurred())
	updated, err := client.ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), "ones.example.org", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(updated.Labels).To(HaveKeyWithValue("changed", "yes"))
	g.Expect(changed[0].ResourceVersion).To(BeEmpty(), "the caller's object is left alone")

	refused := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "wrong.example.org"}}
	g.Expect(crds.Install(t.Context(), cp.Config(), refused)).To(MatchError(ContainSubstring("installing CRD wrong.example.org")))

	// Its kind is taken, so its names are never accepted: that is said at once.
	clash, err := crds.ReadFiles(write(t, filepath.Join(t.TempDir(), "clash.yaml"), manifest("One", "others")))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(crds.Install(t.Context(), cp.Config(), clash...)).To(MatchError(ContainSubstring("its names are not accepted")))
}
