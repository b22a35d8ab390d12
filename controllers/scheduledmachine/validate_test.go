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

package scheduledmachine

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

func validSpec() v1alpha1.ScheduledMachineSpec {
	return v1alpha1.ScheduledMachineSpec{
		ClusterName: "workload",
		Schedule:    v1alpha1.Schedule{DaysOfWeek: []string{"mon-fri"}, HoursOfDay: []string{"9-17"}},
		BootstrapSpec: &v1alpha1.EmbeddedObject{
			APIVersion: "bootstrap.cluster.x-k8s.io/v1beta2", Kind: "KubeadmConfig", Spec: runtime.RawExtension{Raw: []byte(`{}`)},
		},
		InfrastructureRef: &v1alpha1.TemplateReference{
			APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DockerMachineTemplate", Name: "t",
		},
	}
}

// Each row makes one thing wrong; the error names its field and says what to write.
func TestValidate(t *testing.T) {
	type spec = v1alpha1.ScheduledMachineSpec
	for _, row := range []struct {
		name   string
		change func(*spec)
		want   []string // all in the one error; none: valid
	}{
		{"as it is", func(*spec) {}, nil},
		{"clusterName of 63", func(s *spec) { s.ClusterName = strings.Repeat("a", 63) }, nil},
		{"clusterName of 64", func(s *spec) { s.ClusterName = strings.Repeat("a", 64) }, []string{"spec.clusterName", "1 to 63"}},
		{"clusterName with a newline", func(s *spec) { s.ClusterName = "a\nb" }, []string{"spec.clusterName"}},
		{"clusterName not ASCII", func(s *spec) { s.ClusterName = "clüster" }, []string{"spec.clusterName"}},
		{"day", func(s *spec) { s.Schedule.DaysOfWeek = []string{"monday"} }, []string{"spec.schedule.daysOfWeek[0]"}},
		{"no bootstrap", func(s *spec) { s.BootstrapSpec = nil }, []string{"spec.bootstrapSpec", "exactly one"}},
		{"two infrastructures", func(s *spec) {
			s.InfrastructureSpec = &v1alpha1.EmbeddedObject{}
		}, []string{"spec.infrastructureRef", "exactly one"}},
		{"core kind", func(s *spec) { s.BootstrapSpec.APIVersion = "v1" }, []string{"spec.bootstrapSpec.apiVersion", "Kubernetes itself"}},
		{"apps", func(s *spec) { s.BootstrapSpec.APIVersion = "apps/v1" }, []string{"spec.bootstrapSpec.apiVersion", "Kubernetes itself"}},
		{"RBAC", func(s *spec) {
			s.BootstrapSpec.APIVersion = "rbac.authorization.k8s.io/v1"
		}, []string{"spec.bootstrapSpec.apiVersion", "Kubernetes itself"}},
		{"Cluster API's own kinds", func(s *spec) {
			s.BootstrapSpec.APIVersion = "cluster.x-k8s.io/v1beta2"
		}, []string{"spec.bootstrapSpec.apiVersion", "no provider's kinds"}},
		{"infrastructure as bootstrap", func(s *spec) {
			s.BootstrapSpec.APIVersion = "infrastructure.cluster.x-k8s.io/v1beta2"
		}, []string{"spec.bootstrapSpec.apiVersion", "infrastructure providers"}},
		{"bootstrap as infrastructure", func(s *spec) {
			s.InfrastructureRef.APIGroup = "bootstrap.cluster.x-k8s.io"
		}, []string{"spec.infrastructureRef.apiGroup", "bootstrap providers"}},
		{"a provider of another group", func(s *spec) { s.BootstrapSpec.APIVersion = "k0smotron.io/v1beta1" }, nil},
		{"no version", func(s *spec) { s.BootstrapSpec.APIVersion = "bootstrap.cluster.x-k8s.io/" }, []string{"spec.bootstrapSpec.apiVersion"}},
		{"kind", func(s *spec) { s.BootstrapSpec.Kind = "kubeadm config" }, []string{"spec.bootstrapSpec.kind", "CamelCase"}},
		{"not a template", func(s *spec) { s.InfrastructureRef.Kind = "DockerMachine" }, []string{"spec.infrastructureRef.kind", "Template"}},
		{"no template name", func(s *spec) { s.InfrastructureRef.Name = "" }, []string{"spec.infrastructureRef.name"}},
		{"embedded spec is no object", func(s *spec) { s.BootstrapSpec.Spec.Raw = []byte(`[]`) }, []string{"spec.bootstrapSpec.spec", "object"}},
		{"reserved label", func(s *spec) {
			s.MachineTemplate = &v1alpha1.MachineTemplate{Labels: map[string]string{"cluster.x-k8s.io/cluster-name": "x"}}
		}, []string{"spec.machineTemplate.labels[cluster.x-k8s.io/cluster-name]", "reserved"}},
		{"reserved annotation of an embedded object", func(s *spec) {
			s.BootstrapSpec.Metadata = &v1alpha1.EmbeddedMetadata{Annotations: map[string]string{"5spot.finos.org/x": ""}}
		}, []string{"spec.bootstrapSpec.metadata.annotations[5spot.finos.org/x]", "reserved"}},
		{"a role label is the user's", func(s *spec) {
			s.MachineTemplate = &v1alpha1.MachineTemplate{Labels: map[string]string{"node-role.kubernetes.io/worker": ""}}
		}, nil},
		{"label value", func(s *spec) {
			s.MachineTemplate = &v1alpha1.MachineTemplate{Labels: map[string]string{"a": "b c"}}
		}, []string{"spec.machineTemplate.labels"}},
		{"a template's name", func(s *spec) { s.InfrastructureRef.Name = "../Up" }, []string{"spec.infrastructureRef.name", "lower case"}},
		{"version", func(s *spec) { s.Version = "v1.36" }, []string{"spec.version", "such as v1.36.3"}},
		{"version with a build", func(s *spec) { s.Version = "v1.36.0-rc.1+k0s.0" }, nil},
		{"priority", func(s *spec) { s.Priority = ptr.To[int32](256) }, []string{"spec.priority", "0 to 255"}},
		{"taint", func(s *spec) {
			s.NodeTaints = []v1alpha1.NodeTaint{{Key: "aether.io/x", Effect: "NoSchedule"}}
		}, []string{"spec.nodeTaints[0].key"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := NewWithT(t)
			sm := &v1alpha1.ScheduledMachine{Spec: validSpec()}
			row.change(&sm.Spec)
			errs := validate(sm)
			if row.want == nil {
				g.Expect(errs).To(BeEmpty())
				return
			}
			g.Expect(errs).To(HaveLen(1))
			for _, part := range row.want {
				g.Expect(errs[0].Error()).To(ContainSubstring(part))
			}
		})
	}
}

// Case 11.
func TestDurations(t *testing.T) {
	for value, good := range map[string]bool{
		"30s": true, "2h": true, "24h": true, "1h30m": true, "0s": true,
		"25h": false, "24h1s": false, "5d": false, "5": false, "m": false, "5M": false, "-5m": false,
		"5m ": false, "1.5h": false, "500ms": false, "999999h": false, "+5m": false,
	} {
		t.Run(value, func(t *testing.T) {
			g := NewWithT(t)
			sm := &v1alpha1.ScheduledMachine{Spec: validSpec()}
			sm.Spec.GracefulShutdownTimeout = value
			sm.Spec.NodeDrainTimeout = value
			if good {
				g.Expect(validate(sm)).To(BeEmpty())
			} else {
				g.Expect(validate(sm)).To(HaveLen(2))
			}
		})
	}
}

func TestDrainTimeoutIsNeverForEver(t *testing.T) {
	for value, want := range map[string]int32{"": 300, "0s": 1, "1s": 1, "90s": 90, "24h": 86400} {
		NewWithT(t).Expect(drainTimeoutSeconds(v1alpha1.ScheduledMachineSpec{NodeDrainTimeout: value})).To(HaveValue(Equal(want)), value)
	}
}
