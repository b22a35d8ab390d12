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

package norules_test

import (
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
)

type spec = v1alpha1.ScheduledMachineSpec

// badSpec is a good spec with one thing made wrong, and what the refusal must say:
// the field, and what to write.
type badSpec struct {
	what string
	make func(*spec)
	says []string
}

func hours(days, hours []string) func(*spec) {
	return func(s *spec) { s.Schedule = v1alpha1.Schedule{DaysOfWeek: days, HoursOfDay: hours} }
}

func window(w v1alpha1.Window) func(*spec) {
	return func(s *spec) { s.Schedule = v1alpha1.Schedule{Windows: []v1alpha1.Window{w}} }
}

func exception(from, to string) func(*spec) {
	return func(s *spec) {
		s.Schedule.Exceptions = []v1alpha1.Exception{{From: from, To: to, Active: ptr.To(true)}}
	}
}

func timezone(name string) func(*spec) { return func(s *spec) { s.Schedule.Timezone = name } }

func bootstrap(apiVersion, kind string) func(*spec) {
	return func(s *spec) { s.BootstrapSpec = environment.Embedded(apiVersion, kind, `{}`) }
}

func infrastructure(apiVersion, kind string) func(*spec) {
	return func(s *spec) { s.InfrastructureSpec = environment.Embedded(apiVersion, kind, `{}`) }
}

func infrastructureRef(apiGroup, kind, name string) func(*spec) {
	return func(s *spec) {
		s.InfrastructureSpec = nil
		s.InfrastructureRef = &v1alpha1.TemplateReference{APIGroup: apiGroup, Kind: kind, Name: name}
	}
}

func taints(all ...v1alpha1.NodeTaint) func(*spec) {
	return func(s *spec) { s.NodeTaints = all }
}

func taintKey(key string) func(*spec) {
	return taints(v1alpha1.NodeTaint{Key: key, Effect: "NoSchedule"})
}

func machineLabels(labels map[string]string) func(*spec) {
	return func(s *spec) { s.MachineTemplate = &v1alpha1.MachineTemplate{Labels: labels} }
}

const (
	durationRemedy = "write hours, minutes and seconds, such as 30s, 5m or 1h30m; at most 24h"
	reservedRemedy = "choose a prefix of your own"
	coreRemedy     = "kinds of Kubernetes itself are not allowed"
	taintRemedy    = "is reserved: use a key without a prefix"
)

var badSpecs = []badSpec{
	{"clusterName empty", func(s *spec) { s.ClusterName = "" }, []string{"spec.clusterName", "write the name of a Cluster"}},
	{"clusterName too long", func(s *spec) { s.ClusterName = strings.Repeat("a", 64) }, []string{"spec.clusterName", "1 to 63 letters"}},
	{"clusterName with a newline", func(s *spec) { s.ClusterName = "norules\n" }, []string{"spec.clusterName"}},

	{"day monday", hours([]string{"monday"}, []string{"9"}), []string{"spec.schedule.daysOfWeek[0]", "monday", "write"}},
	{"day Mon", hours([]string{"fri", "Mon"}, []string{"9"}), []string{"spec.schedule.daysOfWeek[1]"}},
	{"hour 24", hours([]string{"mon"}, []string{"24"}), []string{"spec.schedule.hoursOfDay[0]", "24"}},
	{"hour 9:30", hours([]string{"mon"}, []string{"9:30"}), []string{"spec.schedule.hoursOfDay[0]"}},
	{"days without hours", hours([]string{"mon"}, nil), []string{"spec.schedule.hoursOfDay"}},
	{"hours without days", hours(nil, []string{"9"}), []string{"spec.schedule.daysOfWeek"}},
	{"windows and days", func(s *spec) {
		s.Schedule.DaysOfWeek, s.Schedule.HoursOfDay = []string{"mon"}, []string{"9"}
	}, []string{"spec.schedule.windows"}},
	{"nothing to be active by", func(s *spec) { s.Schedule = v1alpha1.Schedule{} }, []string{"spec.schedule"}},
	{"window without days", window(v1alpha1.Window{Start: "09:00", End: "10:00"}), []string{"spec.schedule.windows[0].days"}},
	{"window from 9:00", window(v1alpha1.Window{Days: []string{"mon"}, Start: "9:00", End: "10:00"}), []string{"spec.schedule.windows[0].start"}},
	{"window to 24:00", window(v1alpha1.Window{Days: []string{"mon"}, Start: "09:00", End: "24:00"}), []string{"spec.schedule.windows[0].end"}},
	{"exception on no day", exception("2026-02-29", "2026-03-01"), []string{"spec.schedule.exceptions[0].from"}},
	{"exception backwards", exception("2026-03-01", "2026-02-01"), []string{"spec.schedule.exceptions[0].to"}},
	{"exception neither on nor off", func(s *spec) {
		s.Schedule.Exceptions = []v1alpha1.Exception{{From: "2026-03-01", To: "2026-03-01"}}
	}, []string{"spec.schedule.exceptions[0].active"}},
	{"timezone unknown", timezone("Invalid/Timezone"), []string{"spec.schedule.timezone", "Invalid/Timezone"}},
	{"timezone Local", timezone("Local"), []string{"spec.schedule.timezone"}},
	{"timezone outside the database", timezone("../../etc/passwd"), []string{"spec.schedule.timezone"}},

	{"no bootstrap", func(s *spec) { s.BootstrapSpec = nil }, []string{"spec.bootstrapSpec", "set exactly one of bootstrapSpec and bootstrapRef"}},
	{"no infrastructure", func(s *spec) { s.InfrastructureSpec = nil }, []string{"spec.infrastructureSpec", "set exactly one of"}},
	{"bootstrap Spec and Ref", func(s *spec) {
		s.BootstrapRef = &v1alpha1.TemplateReference{APIGroup: "bootstrap.cluster.x-k8s.io", Kind: "HostConfigTemplate", Name: "t"}
	}, []string{"spec.bootstrapRef", "set exactly one of"}},
	{"infrastructure Spec and Ref", func(s *spec) {
		s.InfrastructureRef = &v1alpha1.TemplateReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "HostMachineTemplate", Name: "t"}
	}, []string{"spec.infrastructureRef", "set exactly one of"}},
	{"a Secret", bootstrap("v1", "Secret"), []string{"spec.bootstrapSpec.apiVersion", coreRemedy}},
	{"a ConfigMap", infrastructure("v1", "ConfigMap"), []string{"spec.infrastructureSpec.apiVersion", coreRemedy}},
	{"a Deployment", bootstrap("apps/v1", "Deployment"), []string{"spec.bootstrapSpec.apiVersion", coreRemedy}},
	{"a ClusterRole", infrastructure("rbac.authorization.k8s.io/v1", "ClusterRole"), []string{"spec.infrastructureSpec.apiVersion", coreRemedy}},
	{"a Machine", infrastructure("cluster.x-k8s.io/v1beta2", "Machine"), []string{"spec.infrastructureSpec.apiVersion", "no provider's kinds"}},
	{"a ScheduledMachine", bootstrap("5spot.finos.org/v1alpha1", "ScheduledMachine"), []string{"spec.bootstrapSpec.apiVersion", "no provider's kinds"}},
	{"infrastructure for bootstrap", bootstrap("infrastructure.cluster.x-k8s.io/v1beta2", "HostMachine"), []string{"spec.bootstrapSpec.apiVersion", "infrastructure providers"}},
	{"bootstrap for infrastructure", infrastructure("bootstrap.cluster.x-k8s.io/v1beta2", "HostConfig"), []string{"spec.infrastructureSpec.apiVersion", "bootstrap providers"}},
	{"apiVersion of three parts", bootstrap("a.b/c/d", "HostConfig"), []string{"spec.bootstrapSpec.apiVersion"}},
	{"apiVersion empty", infrastructure("", "HostMachine"), []string{"spec.infrastructureSpec.apiVersion"}},
	{"kind in lower case", infrastructure("infrastructure.cluster.x-k8s.io/v1beta2", "hostmachine"), []string{"spec.infrastructureSpec.kind", "CamelCase"}},
	{"template of Kubernetes itself", infrastructureRef("apps", "PodTemplate", "t"), []string{"spec.infrastructureRef.apiGroup", coreRemedy}},
	{"template that is none", infrastructureRef("infrastructure.cluster.x-k8s.io", "HostMachine", "t"), []string{"spec.infrastructureRef.kind", "Template"}},
	{"template without a name", infrastructureRef("infrastructure.cluster.x-k8s.io", "HostMachineTemplate", ""), []string{"spec.infrastructureRef.name"}},
	{"template with a name that none can have", infrastructureRef("infrastructure.cluster.x-k8s.io", "HostMachineTemplate", "../Up"), []string{"spec.infrastructureRef.name"}},

	{"version", func(s *spec) { s.Version = "latest" }, []string{"spec.version", "write a Kubernetes version, such as v1.36.3"}},
	{"priority", func(s *spec) { s.Priority = ptr.To[int32](256) }, []string{"spec.priority", "0 to 255"}},
	{"gracefulShutdownTimeout of 25h", func(s *spec) { s.GracefulShutdownTimeout = "25h" }, []string{"spec.gracefulShutdownTimeout", durationRemedy}},
	{"gracefulShutdownTimeout without a unit", func(s *spec) { s.GracefulShutdownTimeout = "5" }, []string{"spec.gracefulShutdownTimeout", durationRemedy}},
	{"nodeDrainTimeout below zero", func(s *spec) { s.NodeDrainTimeout = "-5m" }, []string{"spec.nodeDrainTimeout", durationRemedy}},
	{"nodeDrainTimeout in days", func(s *spec) { s.NodeDrainTimeout = "5d" }, []string{"spec.nodeDrainTimeout", durationRemedy}},

	{"reserved label on the Machine", machineLabels(map[string]string{"cluster.x-k8s.io/cluster-name": "other"}),
		[]string{"spec.machineTemplate.labels[cluster.x-k8s.io/cluster-name]", reservedRemedy}},
	{"reserved annotation on the Machine", func(s *spec) {
		s.MachineTemplate = &v1alpha1.MachineTemplate{Annotations: map[string]string{"5spot.finos.org/x": "y"}}
	}, []string{"spec.machineTemplate.annotations[5spot.finos.org/x]", reservedRemedy}},
	{"reserved label on an embedded object", func(s *spec) {
		s.InfrastructureSpec.Metadata = &v1alpha1.EmbeddedMetadata{Labels: map[string]string{"k8s.io/x": "y"}}
	}, []string{"spec.infrastructureSpec.metadata.labels[k8s.io/x]", reservedRemedy}},
	{"label value", machineLabels(map[string]string{"team": "not a value"}), []string{"spec.machineTemplate.labels", "not a value"}},
	{"label key", machineLabels(map[string]string{"-a": "b"}), []string{"spec.machineTemplate.labels", "-a"}},

	{"taint of Kubernetes", taintKey("node.kubernetes.io/unreachable"), []string{"spec.nodeTaints[0].key", taintRemedy}},
	{"taint of k8s.io", taintKey("storage.k8s.io/x"), []string{"spec.nodeTaints[0].key", taintRemedy}},
	{"taint of Aether", taintKey("aether.io/agent-not-ready"), []string{"spec.nodeTaints[0].key", taintRemedy}},
	{"taint of Cluster API", taintKey("node.cluster.x-k8s.io/uninitialized"), []string{"spec.nodeTaints[0].key", taintRemedy}},
	{"taint of 5-Spot", taintKey("5spot.finos.org/x"), []string{"spec.nodeTaints[0].key", taintRemedy}},
	{"taint without a key", taintKey(""), []string{"spec.nodeTaints[0].key"}},
	{"taint key -a", taintKey("-a"), []string{"spec.nodeTaints[0].key", "qualified name"}},
	{"taint name of 64", taintKey("example.com/" + strings.Repeat("a", 64)), []string{"spec.nodeTaints[0].key", "63"}},
	{"taint value of 64", taints(v1alpha1.NodeTaint{Key: "a", Value: strings.Repeat("a", 64), Effect: "NoSchedule"}), []string{"spec.nodeTaints[0].value"}},
	{"taint effect", taints(v1alpha1.NodeTaint{Key: "a", Effect: "Sometimes"}), []string{"spec.nodeTaints[0].effect", "NoExecute"}},
	{"taint without an effect", taints(v1alpha1.NodeTaint{Key: "a"}), []string{"spec.nodeTaints[0].effect"}},
	{"taint twice", taints(v1alpha1.NodeTaint{Key: "a", Value: "x", Effect: "NoSchedule"}, v1alpha1.NodeTaint{Key: "b", Effect: "NoSchedule"},
		v1alpha1.NodeTaint{Key: "a", Value: "y", Effect: "NoSchedule"}), []string{"spec.nodeTaints[2]", "use another effect"}},
	{"51 taints", func(s *spec) {
		for i := range 51 {
			s.NodeTaints = append(s.NodeTaints, v1alpha1.NodeTaint{Key: fmt.Sprintf("k%d", i), Effect: "NoSchedule"})
		}
	}, []string{"spec.nodeTaints", "50"}},
}
