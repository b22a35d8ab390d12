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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// A manifest for the 5-Spot controller's v1alpha1 that uses every field of it that is
// part of this API.
const fiveSpot = `
apiVersion: 5spot.finos.org/v1alpha1
kind: ScheduledMachine
metadata:
  name: business-hours-worker
  namespace: default
spec:
  clusterName: my-k0s-cluster
  schedule:
    daysOfWeek:
    - mon-fri
    hoursOfDay:
    - "9-17"
    timezone: America/New_York
    enabled: true
  bootstrapSpec:
    apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
    kind: K0sWorkerConfig
    metadata:
      labels:
        team: batch
      annotations:
        example.com/note: from 5-Spot
    spec:
      version: v1.30.0+k0s.0
  infrastructureSpec:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: RemoteMachine
    spec:
      address: 192.168.1.100
      port: 22
      user: admin
      useSudo: true
  machineTemplate:
    labels:
      node-role.kubernetes.io/worker: ""
      topology.kubernetes.io/zone: zone-a
    annotations:
      example.com/scheduled-by: business-hours-worker
  nodeTaints:
  - key: workload
    value: batch
    effect: NoSchedule
  - key: workload
    effect: NoExecute
  priority: 50
  gracefulShutdownTimeout: 5m
  nodeDrainTimeout: 5m
  killSwitch: false
`

// The same with an explicit null wherever 5-Spot's schema takes one: where it says
// nullable, and where it has a default.
const fiveSpotNulls = `
apiVersion: 5spot.finos.org/v1alpha1
kind: ScheduledMachine
metadata:
  name: nulls
  namespace: default
spec:
  clusterName: my-k0s-cluster
  schedule:
    daysOfWeek: null
    hoursOfDay: null
    timezone: null
    enabled: false
  bootstrapSpec:
    apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
    kind: K0sWorkerConfig
    spec:
      version: null
  infrastructureSpec:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: RemoteMachine
    spec: {}
  machineTemplate: null
  nodeTaints:
  - key: workload
    value: null
    effect: NoSchedule
  priority: null
  gracefulShutdownTimeout: null
  nodeDrainTimeout: null
  killSwitch: null
`

const fiveSpotNullMaps = `
apiVersion: 5spot.finos.org/v1alpha1
kind: ScheduledMachine
metadata:
  name: null-maps
  namespace: default
spec:
  clusterName: my-k0s-cluster
  schedule:
    daysOfWeek: [mon]
    hoursOfDay: ["9"]
    enabled: null
  bootstrapSpec:
    apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
    kind: K0sWorkerConfig
    spec: {}
  infrastructureSpec:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: RemoteMachine
    spec: {}
  machineTemplate:
    labels: null
    annotations: null
`

var _ = Describe("A manifest for 5-Spot's v1alpha1", func() {
	for name, manifest := range map[string]string{"in full": fiveSpot, "with nulls": fiveSpotNulls, "with null maps": fiveSpotNullMaps} {
		It(name+" is created, applied and applied again", func(ctx context.Context) {
			Expect(try(ctx, admin, parse(manifest))).To(Succeed())

			object := parse(manifest)
			apply := func() *unstructured.Unstructured {
				applied := object.DeepCopy()
				Expect(admin.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("user"))).To(Succeed())
				return applied
			}
			first := apply()
			DeferCleanup(func(ctx context.Context) { Expect(admin.Delete(ctx, object)).To(Succeed()) })
			Expect(apply().GetGeneration()).To(Equal(first.GetGeneration()), "a second apply changes nothing")

			Expect(admin.Get(ctx, client.ObjectKeyFromObject(object), &v1alpha1.ScheduledMachine{})).To(Succeed(), "and the controller can read it")
		})
	}

	It("has 5-Spot's defaults", func(ctx context.Context) {
		object := parse(fiveSpotNulls)
		Expect(admin.Create(ctx, object, client.DryRunAll)).To(Succeed())
		spec := object.Object["spec"].(map[string]any)
		Expect(spec).To(HaveKeyWithValue("priority", BeNumerically("==", 50)))
		Expect(spec).To(HaveKeyWithValue("gracefulShutdownTimeout", "5m"))
		Expect(spec).To(HaveKeyWithValue("nodeDrainTimeout", "5m"))
		Expect(spec).To(HaveKeyWithValue("killSwitch", false))
		Expect(spec["schedule"]).To(HaveKeyWithValue("timezone", "UTC"))

		object = parse(fiveSpotNullMaps)
		Expect(admin.Create(ctx, object, client.DryRunAll)).To(Succeed())
		Expect(object.Object["spec"].(map[string]any)["schedule"]).To(HaveKeyWithValue("enabled", true))
	})
})
