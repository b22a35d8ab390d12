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
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/config"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

var _ = Describe("A stored ScheduledMachine", func() {
	It("keeps its clusterName", func(ctx context.Context) {
		object := with("{}")
		object.SetName("immutable")
		Expect(admin.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(admin.Delete(ctx, object)).To(Succeed()) })

		Expect(wouldTake(ctx, admin, object, `{"spec":{"clusterName":"other"}}`)).To(MatchError(ContainSubstring(
			`spec.clusterName: Invalid value: "other": clusterName cannot be changed: delete this ScheduledMachine and create another for the other Cluster`)))
		Expect(wouldTake(ctx, admin, object, `{"spec":{"clusterName":"production","priority":51}}`)).To(Succeed())
	})
})

// wouldTake asks the API server whether it would take a merge patch, and stores nothing.
func wouldTake(ctx context.Context, c client.Client, object *unstructured.Unstructured, patch string) error {
	return c.Patch(ctx, object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)), client.DryRunAll)
}

// Whoever installs the rules over objects that break them must not be left with objects
// that can be neither mended nor deleted.
var _ = Describe("A ScheduledMachine that was stored before there were rules", Ordered, func() {
	var (
		c               client.Client
		object, unknown *unstructured.Unstructured
	)

	BeforeAll(func(ctx context.Context) {
		c = clientFor(start(controlplane.Options{Name: "before-rules"}).Config())
		for _, crd := range config.CRDs() {
			Expect(c.Create(ctx, WithoutRules(crd))).To(Succeed())
		}
		object = with(`{
			clusterName: "a b", priority: 256, gracefulShutdownTimeout: 5d, version: latest,
			machineTemplate: {labels: {cluster.x-k8s.io/cluster-name: other, "a b": "c d"}},
			schedule: {daysOfWeek: [monday], hoursOfDay: null, timezone: Local, windows: [{}], exceptions: [{from: 2026-02-30}]},
			bootstrapSpec: {apiVersion: null, kind: Pod, spec: null}, infrastructureSpec: null, infrastructureRef: {name: a},
			nodeTaints: [{key: kubernetes.io/a, effect: Never}, {key: kubernetes.io/a, effect: Never}]}`)
		object.SetName("broken")
		object.SetFinalizers([]string{"example.com/wait"})
		unknown = with("{schedule: {timezone: Invalid/Timezone}}")
		unknown.SetName("unknown")
		for _, o := range []*unstructured.Unstructured{object, unknown} {
			Eventually(func() error { return c.Create(ctx, o.DeepCopy(), client.FieldValidation("Strict")) }).WithContext(ctx).Should(Succeed())
		}

		for _, crd := range config.CRDs() {
			bare := &apiextensionsv1.CustomResourceDefinition{}
			Expect(c.Get(ctx, client.ObjectKeyFromObject(crd), bare)).To(Succeed())
			bare.Spec = crd.Spec
			Expect(c.Update(ctx, bare)).To(Succeed())
		}
		for _, policy := range config.AdmissionPolicy() {
			Expect(c.Create(ctx, policy)).To(Succeed())
		}
		Eventually(try).WithContext(ctx).WithArguments(c, with("{priority: 256}")).Should(MatchError(ContainSubstring("spec.priority")))
		Eventually(try).WithContext(ctx).WithArguments(c, with("{schedule: {timezone: Invalid/Timezone}}")).Should(MatchError(ContainSubstring("unknown time zone")))
	})

	It("had broken many rules, and would be refused now", func(ctx context.Context) {
		Expect(try(ctx, c, object)).To(MatchError(And(
			ContainSubstring("spec.priority"), ContainSubstring("spec.nodeTaints[1]"), ContainSubstring("spec.schedule.exceptions[0].to"))))
	})

	It("can have other metadata and another status", func(ctx context.Context) {
		for _, o := range []*unstructured.Unstructured{object, unknown} {
			Expect(wouldTake(ctx, c, o, `{"metadata":{"labels":{"a":"b"}}}`)).To(Succeed())
			Expect(c.Status().Patch(ctx, o.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Error"}}`)))).To(Succeed())
		}
	})

	It("can be stopped", func(ctx context.Context) {
		Expect(wouldTake(ctx, c, object, `{"spec":{"killSwitch":true}}`)).To(Succeed())
		Expect(wouldTake(ctx, c, unknown, `{"spec":{"killSwitch":true,"schedule":{"enabled":false}}}`)).To(Succeed())
	})

	It("can be mended", func(ctx context.Context) {
		Expect(wouldTake(ctx, c, unknown, `{"spec":{"schedule":{"timezone":"Europe/Berlin"}}}`)).To(Succeed())
		Expect(wouldTake(ctx, c, object, `{"spec":{"priority":255,"gracefulShutdownTimeout":"5m"}}`)).To(Succeed())
	})

	It("cannot be made worse", func(ctx context.Context) {
		Expect(wouldTake(ctx, c, object, `{"spec":{"nodeDrainTimeout":"5d"}}`)).To(MatchError(ContainSubstring("spec.nodeDrainTimeout")))
		Expect(wouldTake(ctx, c, unknown, `{"spec":{"schedule":{"timezone":"Another/Timezone"}}}`)).To(MatchError(ContainSubstring("unknown time zone Another/Timezone")))
	})

	It("can be deleted, and its finalizer removed", func(ctx context.Context) {
		Expect(c.Delete(ctx, object.DeepCopy())).To(Succeed())
		Expect(c.Patch(ctx, object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))).To(Succeed())
	})
})
