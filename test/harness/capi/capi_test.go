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

package capi_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1" //nolint:staticcheck // That the old version still works is what is tested.
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/capi"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/crds"
)

func startControlPlane(t *testing.T, options controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	cp, err := controlplane.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cp
}

func startCore(t *testing.T, cp *controlplane.ControlPlane, options capi.Options) *capi.Core {
	t.Helper()
	started := time.Now()
	core, err := capi.Start(t.Context(), cp, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("core ready in %s", time.Since(started))
	t.Cleanup(func() {
		if err := core.Stop(); err != nil {
			t.Error(err)
		}
	})
	return core
}

func newClient(t *testing.T, cp *controlplane.ControlPlane) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1.AddToScheme, clusterv1beta1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	cfg := cp.Config()
	cfg.WarningHandler = rest.NoWarnings{}
	api, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// hostClusters is a CRD that obeys as much of the infrastructure contract as Cluster
// API needs to convert references to it: the label that names its version.
func hostClusters() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{
			Name:   "hostclusters.infrastructure.cluster.x-k8s.io",
			Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1alpha1"},
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "infrastructure.cluster.x-k8s.io",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "HostCluster", ListKind: "HostClusterList", Plural: "hostclusters", Singular: "hostcluster"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}

func TestClustersOfBothVersionsPassTheWebhooks(t *testing.T) {
	g := NewWithT(t)
	cp := startControlPlane(t, controlplane.Options{Name: "capi", Audit: true})
	core := startCore(t, cp, capi.Options{})
	api := newClient(t, cp)
	g.Expect(crds.Install(t.Context(), cp.Config(), hostClusters())).To(Succeed())

	current := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "current"},
		Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{
			APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "HostCluster", Name: "current",
		}},
	}
	g.Expect(api.Create(t.Context(), current)).To(Succeed())
	old := &clusterv1beta1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "old"},
		Spec: clusterv1beta1.ClusterSpec{Paused: true, InfrastructureRef: &corev1.ObjectReference{
			APIVersion: "infrastructure.cluster.x-k8s.io/v1alpha1", Kind: "HostCluster", Namespace: "default", Name: "old",
		}},
	}
	g.Expect(api.Create(t.Context(), old)).To(Succeed())

	readAsOld := &clusterv1beta1.Cluster{}
	g.Expect(api.Get(t.Context(), client.ObjectKeyFromObject(current), readAsOld)).To(Succeed())
	g.Expect(readAsOld.Spec.InfrastructureRef.APIVersion).To(Equal("infrastructure.cluster.x-k8s.io/v1alpha1"), "the conversion adds the version")
	readAsNew := &clusterv1.Cluster{}
	g.Expect(api.Get(t.Context(), client.ObjectKeyFromObject(old), readAsNew)).To(Succeed())
	g.Expect(readAsNew.Spec.Paused).To(Equal(ptr.To(true)))

	g.Eventually(func() ([]string, error) {
		err := api.Get(t.Context(), client.ObjectKeyFromObject(current), current)
		return current.Finalizers, err
	}, "30s").Should(ContainElement(clusterv1.ClusterFinalizer), "the manager reconciles")
	events, err := cp.Audit(func(e controlplane.AuditEvent) bool { return e.User == capi.User && e.Write() })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(events).NotTo(BeEmpty())
	g.Expect(events[0].UserAgent).To(HavePrefix("capi-core/v1.14.2"), "the version is stamped")

	refused := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "refused"}, Spec: clusterv1.ClusterSpec{
		Topology: clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: "v1.36.3"},
	}}
	g.Expect(api.Create(t.Context(), refused)).To(MatchError(ContainSubstring("admission webhook")), "the gate ClusterTopology is off")

	response, err := http.Get(core.MetricsURL())
	g.Expect(err).NotTo(HaveOccurred())
	metrics, err := io.ReadAll(response.Body)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(response.Body.Close()).To(Succeed())
	g.Expect(string(metrics)).To(ContainSubstring("controller_runtime_reconcile_total"))
}

func TestFeatureGatesAndASecondManager(t *testing.T) {
	g := NewWithT(t)
	cp := startControlPlane(t, controlplane.Options{Name: "capi-again"})
	first := startCore(t, cp, capi.Options{})
	api := newClient(t, cp)
	machine := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tainted"},
		Spec: clusterv1.MachineSpec{
			ClusterName: "none",
			Bootstrap:   clusterv1.Bootstrap{DataSecretName: ptr.To("data")},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "HostMachine", Name: "tainted",
			},
			Taints: []clusterv1.MachineTaint{{
				Key: "workload", Value: "batch", Effect: "NoSchedule", Propagation: clusterv1.MachineTaintPropagationAlways,
			}},
		},
	}
	g.Expect(api.Create(t.Context(), machine.DeepCopy(), client.DryRunAll)).To(MatchError(ContainSubstring("MachineTaintPropagation")))

	pid := first.Process().Pid()
	g.Expect(first.Stop()).To(Succeed())
	g.Expect(first.Stop()).To(Succeed(), "stopping again")
	g.Expect(errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)).To(BeTrue(), "pid %d is there", pid)
	g.Expect(api.Create(t.Context(), machine.DeepCopy(), client.DryRunAll)).To(MatchError(ContainSubstring("connection refused")),
		"the webhooks of a manager that is down refuse")

	startCore(t, cp, capi.Options{FeatureGates: map[string]bool{"MachineTaintPropagation": true}})
	g.Expect(api.Create(t.Context(), machine.DeepCopy(), client.DryRunAll)).To(Succeed())
}

func TestCRDsAlone(t *testing.T) {
	g := NewWithT(t)
	cp := startControlPlane(t, controlplane.Options{Name: "capi-crds"})
	for round := range 2 {
		started := time.Now()
		g.Expect(capi.Install(t.Context(), cp.Config())).To(Succeed(), "round %d", round)
		t.Logf("round %d: installed in %s", round, time.Since(started))
	}
	api := newClient(t, cp)
	for _, plural := range []string{"clusters", "machines"} {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		g.Expect(api.Get(t.Context(), client.ObjectKey{Name: plural + ".cluster.x-k8s.io"}, crd)).To(Succeed())
		g.Expect(crd.Labels).To(HaveKeyWithValue("cluster.x-k8s.io/provider", "cluster-api"))
	}
	g.Expect(api.Create(t.Context(), &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"},
		Spec:       clusterv1.ClusterSpec{Paused: ptr.To(true)},
	})).To(Succeed())
	err := api.Create(t.Context(), &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m"}})
	g.Expect(apierrors.IsInvalid(err)).To(BeTrue(), fmt.Sprint(err))
}

func TestAManagerThatCannotStartSaysWhy(t *testing.T) {
	g := NewWithT(t)
	cp := startControlPlane(t, controlplane.Options{Name: "capi-broken"})
	_, err := capi.Start(t.Context(), cp, capi.Options{ExtraArgs: []string{"--no-such-flag"}})
	g.Expect(err).To(MatchError(And(ContainSubstring("on capi-broken"), ContainSubstring("unknown flag: --no-such-flag"))))
}
