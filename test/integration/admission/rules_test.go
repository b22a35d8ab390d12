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
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// rule is a rule of the API with manifests on both sides of it, as patches of the spec.
type rule struct {
	name    string
	accepts []string
	refuses []refusal
}

// refusal is a manifest with what its refusal must say: the field, and what to write.
type refusal struct {
	spec    string
	message []string
}

func x(n int) string { return strings.Repeat("x", n) }

func many(n int, format string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(items, ", ")
}

const (
	clusterNameRemedy = "write the name of a Cluster: 1 to 63 letters, digits"
	daysRemedy        = "write weekdays in lower case (mon, tue, wed, thu, fri, sat, sun), ranges such as mon-fri"
	hoursRemedy       = "write hours from 0 to 23, ranges such as 9-17"
	durationRemedy    = "write hours, minutes and seconds, such as 30s, 5m or 1h30m; at most 24h"
	groupRemedy       = "write the group of a Cluster API provider and a version, such as bootstrap.cluster.x-k8s.io/v1beta2"
	refGroupRemedy    = "write the group of a Cluster API provider without a version, such as infrastructure.cluster.x-k8s.io"
	reservedRemedy    = "reserved: use a key without a prefix, or with a domain of your own, such as example.com/team"
	taintKeyRemedy    = "write a qualified name, such as workload or example.com/workload"
	taintRemedy       = "this prefix is reserved (5spot.finos.org, kubernetes.io and k8s.io with their subdomains, aether.io, node.cluster.x-k8s.io): use a key without a prefix"
	labelKeyRemedy    = `write at most 63 letters, digits, "-", "_" or ".", beginning and ending with a letter or digit, after an optional DNS name and a slash`
	labelValueRemedy  = `write at most 63 letters, digits, "-", "_" or ".", beginning and ending with a letter or digit`
)

// template replaces one of the embedded specs by a reference.
func template(of, apiGroup, kind, name string) string {
	return fmt.Sprintf("{%[1]sSpec: null, %[1]sRef: {apiGroup: %[2]q, kind: %[3]q, name: %[4]q}}", of, apiGroup, kind, name)
}

func embedded(of, apiVersion, kind string) string {
	return fmt.Sprintf("{%sSpec: {apiVersion: %q, kind: %q}}", of, apiVersion, kind)
}

var rules = []rule{
	{
		name:    "clusterName names a Cluster in 1 to 63 characters",
		accepts: []string{"{clusterName: a}", "{clusterName: " + x(63) + "}", "{clusterName: 9.Prod_eu-1}"},
		refuses: []refusal{
			{"{clusterName: null}", []string{"spec.clusterName: Required value"}},
			{"{clusterName: ''}", []string{"spec.clusterName", "at least 1 chars long"}},
			{"{clusterName: " + x(64) + "}", []string{"spec.clusterName: Too long: may not be more than 63 bytes"}},
			{`{clusterName: "a\n"}`, []string{"spec.clusterName", clusterNameRemedy}},
			{`{clusterName: "a\nb"}`, []string{"spec.clusterName", clusterNameRemedy}},
			{"{clusterName: zürich}", []string{"spec.clusterName", clusterNameRemedy}},
			{"{clusterName: -a}", []string{"spec.clusterName", clusterNameRemedy}},
			{"{clusterName: a/b}", []string{"spec.clusterName", clusterNameRemedy}},
		},
	},
	{
		name:    "spec, schedule and what it takes to make a Machine are required",
		accepts: []string{"{}"},
		refuses: []refusal{
			{"null", []string{"spec: Required value"}},
			{"{schedule: null}", []string{"spec.schedule: Required value"}},
			{"{bootstrapSpec: {apiVersion: null}}", []string{"spec.bootstrapSpec.apiVersion: Required value"}},
			{"{bootstrapSpec: {kind: null}}", []string{"spec.bootstrapSpec.kind: Required value"}},
			{"{bootstrapSpec: {spec: null}}", []string{"spec.bootstrapSpec.spec: Required value"}},
			{"{bootstrapSpec: {spec: []}}", []string{"spec.bootstrapSpec.spec", "must be of type object"}},
		},
	},
	{
		name: "daysOfWeek are weekdays, ranges and comma lists",
		accepts: []string{
			"{schedule: {daysOfWeek: [mon]}}", "{schedule: {daysOfWeek: [fri-mon]}}",
			"{schedule: {daysOfWeek: ['mon-wed,fri-sun']}}", "{schedule: {daysOfWeek: [mon, 'wed,fri', sat-sun]}}",
		},
		refuses: []refusal{
			{"{schedule: {daysOfWeek: [monday]}}", []string{"spec.schedule.daysOfWeek[0]", daysRemedy}},
			{"{schedule: {daysOfWeek: [mon, Mon]}}", []string{"spec.schedule.daysOfWeek[1]", daysRemedy}},
			{"{schedule: {daysOfWeek: [mon-tuesday]}}", []string{"spec.schedule.daysOfWeek[0]", daysRemedy}},
			{"{schedule: {daysOfWeek: ['mon-']}}", []string{"spec.schedule.daysOfWeek[0]", daysRemedy}},
			{"{schedule: {daysOfWeek: ['']}}", []string{"spec.schedule.daysOfWeek[0]", daysRemedy}},
			{"{schedule: {daysOfWeek: [" + many(51, "mon") + "]}}", []string{"spec.schedule.daysOfWeek: Too many", "at most 50 items"}},
		},
	},
	{
		name: "hoursOfDay are hours from 0 to 23, ranges and comma lists",
		accepts: []string{
			"{schedule: {hoursOfDay: ['0']}}", "{schedule: {hoursOfDay: ['23']}}", "{schedule: {hoursOfDay: ['09-17']}}",
			"{schedule: {hoursOfDay: ['22-6']}}", "{schedule: {hoursOfDay: ['0-9,18-23', '12']}}",
		},
		refuses: []refusal{
			{"{schedule: {hoursOfDay: ['24']}}", []string{"spec.schedule.hoursOfDay[0]", hoursRemedy}},
			{"{schedule: {hoursOfDay: ['9-25']}}", []string{"spec.schedule.hoursOfDay[0]", hoursRemedy}},
			{"{schedule: {hoursOfDay: ['-1']}}", []string{"spec.schedule.hoursOfDay[0]", hoursRemedy}},
			{"{schedule: {hoursOfDay: ['9', '9-']}}", []string{"spec.schedule.hoursOfDay[1]", hoursRemedy}},
			{"{schedule: {hoursOfDay: ['9:30']}}", []string{"spec.schedule.hoursOfDay[0]", hoursRemedy}},
			{"{schedule: {hoursOfDay: ['']}}", []string{"spec.schedule.hoursOfDay[0]", hoursRemedy}},
			{"{schedule: {hoursOfDay: [9]}}", []string{"spec.schedule.hoursOfDay[0]", "must be of type string"}},
		},
	},
	{
		name:    "daysOfWeek and hoursOfDay come together",
		accepts: []string{"{schedule: {daysOfWeek: [mon-sun], hoursOfDay: ['0-23']}}"},
		refuses: []refusal{
			{"{schedule: {hoursOfDay: null}}", []string{"spec.schedule.hoursOfDay", "daysOfWeek is set, so hoursOfDay must be too: write 0-23 for the whole day"}},
			{"{schedule: {hoursOfDay: []}}", []string{"spec.schedule.hoursOfDay", "write 0-23 for the whole day"}},
			{"{schedule: {daysOfWeek: null}}", []string{"spec.schedule.daysOfWeek", "hoursOfDay is set, so daysOfWeek must be too: write mon-sun for every day"}},
			{"{schedule: {hoursOfDay: null, enabled: false}}", []string{"spec.schedule.hoursOfDay", "write 0-23 for the whole day"}},
		},
	},
	{
		name:    "windows exclude daysOfWeek and hoursOfDay",
		accepts: []string{"{schedule: {daysOfWeek: null, hoursOfDay: null, windows: [{days: [mon-fri], start: '22:00', end: '07:00'}]}}"},
		refuses: []refusal{
			{"{schedule: {windows: [{days: [mon-fri], start: '22:00', end: '07:00'}]}}", []string{"spec.schedule.windows", "write either windows or daysOfWeek with hoursOfDay, not both"}},
		},
	},
	{
		name: "a window has days, a start and an end as HH:MM",
		accepts: []string{
			"{schedule: {daysOfWeek: null, hoursOfDay: null, windows: [{days: ['mon,wed', sat-sun], start: '00:00', end: '23:59'}]}}",
			"{schedule: {daysOfWeek: null, hoursOfDay: null, windows: [{days: [mon], start: '09:30', end: '09:30'}]}}",
		},
		refuses: []refusal{
			{"{schedule: {daysOfWeek: null, hoursOfDay: null, windows: [{days: [mon], start: '9:00', end: '10:00'}]}}", []string{"spec.schedule.windows[0].start", "write a time of day as HH:MM, from 00:00 to 23:59"}},
			{"{schedule: {daysOfWeek: null, hoursOfDay: null, windows: [{days: [mon], start: '09:00', end: '24:00'}]}}", []string{"spec.schedule.windows[0].end", "midnight is 00:00"}},
			{"{schedule: {daysOfWeek: null, hoursOfDay: null, windows: [{days: [mon], start: '09:60', end: '10:00'}]}}", []string{"spec.schedule.windows[0].start", "write a time of day as HH:MM"}},
			{"{schedule: {daysOfWeek: null, hoursOfDay: null, windows: [{days: [mon], start: '09:00:00', end: '10:00'}]}}", []string{"spec.schedule.windows[0].start", "write a time of day as HH:MM"}},
			{"{schedule: {daysOfWeek: null, hoursOfDay: null, windows: [{days: [mon], start: '09:00'}]}}", []string{"spec.schedule.windows[0].end: Required value"}},
			{"{schedule: {daysOfWeek: null, hoursOfDay: null, windows: [{days: [], start: '09:00', end: '10:00'}]}}", []string{"spec.schedule.windows[0].days", "at least 1 items"}},
			{"{schedule: {daysOfWeek: null, hoursOfDay: null, windows: [{days: [Monday], start: '09:00', end: '10:00'}]}}", []string{"spec.schedule.windows[0].days[0]", daysRemedy}},
		},
	},
	{
		name: "exceptions are spans of real dates",
		accepts: []string{
			"{schedule: {exceptions: [{from: '2026-12-24', to: '2027-01-01', active: false}]}}",
			"{schedule: {exceptions: [{from: '2028-02-29', to: '2028-02-29', active: true}]}}",
			"{schedule: {exceptions: [{from: '2000-02-29', to: '9999-12-31', active: true}]}}",
			"{schedule: {daysOfWeek: null, hoursOfDay: null, exceptions: [{from: '2026-12-24', to: '2026-12-24', active: true}]}}",
		},
		refuses: []refusal{
			{"{schedule: {exceptions: [{from: '2026-2-1', to: '2026-12-24', active: true}]}}", []string{"spec.schedule.exceptions[0].from", "write a date of the calendar as YYYY-MM-DD, such as 2026-12-24"}},
			{"{schedule: {exceptions: [{from: '2026-12-24T00:00:00Z', to: '2026-12-24', active: true}]}}", []string{"spec.schedule.exceptions[0].from", "write a date of the calendar"}},
			{"{schedule: {exceptions: [{from: '2026-04-01', to: '2026-04-31', active: true}]}}", []string{"spec.schedule.exceptions[0].to", "write a date of the calendar"}},
			{"{schedule: {exceptions: [{from: '2026-02-29', to: '2026-03-01', active: true}]}}", []string{"spec.schedule.exceptions[0].from", "write a date of the calendar"}},
			{"{schedule: {exceptions: [{from: '2100-02-29', to: '2100-03-01', active: true}]}}", []string{"spec.schedule.exceptions[0].from", "write a date of the calendar"}},
			{"{schedule: {exceptions: [{from: '2026-13-01', to: '2026-13-01', active: true}]}}", []string{"spec.schedule.exceptions[0].from", "write a date of the calendar"}},
			{"{schedule: {exceptions: [{from: '2026-12-24', to: '2026-12-23', active: true}]}}", []string{"spec.schedule.exceptions[0].to", "to is before from: write the same day or a later one"}},
			{"{schedule: {exceptions: [{from: '2026-12-24', to: '2026-12-24'}]}}", []string{"spec.schedule.exceptions[0].active: Required value"}},
		},
	},
	{
		name: "a schedule that is enabled is active at some time",
		accepts: []string{
			"{schedule: {daysOfWeek: null, hoursOfDay: null, enabled: false}}",
			"{schedule: {daysOfWeek: [], hoursOfDay: [], enabled: false}}",
		},
		refuses: []refusal{
			{"{schedule: {daysOfWeek: null, hoursOfDay: null}}", []string{"spec.schedule", "this schedule is never active: write daysOfWeek with hoursOfDay, or windows, or exceptions; or set enabled to false"}},
			{"{schedule: {daysOfWeek: [], hoursOfDay: [], windows: [], exceptions: [], enabled: true}}", []string{"spec.schedule", "this schedule is never active"}},
		},
	},
	{
		name: "timezone is a name of the IANA database",
		accepts: []string{
			"{schedule: {timezone: UTC}}", "{schedule: {timezone: Europe/Berlin}}", "{schedule: {timezone: America/Argentina/Buenos_Aires}}",
			"{schedule: {timezone: America/Port-au-Prince}}", "{schedule: {timezone: Etc/GMT+5}}",
		},
		refuses: []refusal{
			{"{schedule: {timezone: ''}}", []string{"spec.schedule.timezone", "write an IANA time zone, such as UTC or Europe/Berlin"}},
			{"{schedule: {timezone: '+02:00'}}", []string{"spec.schedule.timezone", "write an IANA time zone, such as UTC or Europe/Berlin"}},
			{"{schedule: {timezone: ../../etc/passwd}}", []string{"spec.schedule.timezone", "write an IANA time zone, such as UTC or Europe/Berlin"}},
			{"{schedule: {timezone: Europe//Berlin}}", []string{"spec.schedule.timezone", "write an IANA time zone, such as UTC or Europe/Berlin"}},
			{"{schedule: {timezone: Local}}", []string{"spec.schedule.timezone", "this name means another zone on another host: write an IANA time zone"}},
			{"{schedule: {timezone: " + x(65) + "}}", []string{"spec.schedule.timezone: Too long: may not be more than 64 bytes"}},
			{"{schedule: {timezone: Invalid/Timezone}}", []string{
				"spec.schedule.timezone: write an IANA time zone that the API server knows, such as UTC or Europe/Berlin",
				"unknown time zone Invalid/Timezone",
			}},
			{"{schedule: {timezone: europe/berlin}}", []string{"spec.schedule.timezone: write an IANA time zone", "unknown time zone europe/berlin"}},
		},
	},
	durations("gracefulShutdownTimeout"),
	durations("nodeDrainTimeout"),
	oneOf("bootstrap", "KubeadmConfigTemplate"),
	oneOf("infrastructure", "HostMachineTemplate"),
	{
		name: "an embedded object is of a provider's group",
		accepts: []string{
			embedded("bootstrap", "bootstrap.cluster.x-k8s.io/v1beta1", "K0sWorkerConfig"),
			embedded("infrastructure", "infrastructure.cluster.x-k8s.io/v1alpha3", "RemoteMachine"),
			embedded("infrastructure", "k0smotron.io/v1beta1", "RemoteMachine"),
			embedded("infrastructure", "example.x-k8s.io/v1", "RemoteMachine"),
		},
		refuses: append(groups(embedded, ".apiVersion", "/v1", map[string]string{
			"apps":                       groupRemedy,
			"batch":                      groupRemedy,
			"policy":                     groupRemedy,
			"Bootstrap.cluster.x-k8s.io": groupRemedy,
			"autoscaling":                groupRemedy,
			"extensions":                 groupRemedy,
			"k8s.io":                     "kinds of Kubernetes itself (groups that end in .k8s.io) are not allowed: name the group of a Cluster API provider",
			"rbac.authorization.k8s.io":  "kinds of Kubernetes itself (groups that end in .k8s.io) are not allowed: name the group of a Cluster API provider",
			"networking.k8s.io":          "kinds of Kubernetes itself (groups that end in .k8s.io) are not allowed: name the group of a Cluster API provider",
			"cluster.x-k8s.io":           "this group holds no provider's kinds: name the group of a Cluster API provider",
			"5spot.finos.org":            "this group holds no provider's kinds: name the group of a Cluster API provider",
		}), []refusal{
			{embedded("bootstrap", "v1", "Pod"), []string{"spec.bootstrapSpec.apiVersion", groupRemedy, "kinds of Kubernetes itself (v1, apps/v1) are not allowed"}},
			{embedded("bootstrap", "bootstrap.cluster.x-k8s.io", "KubeadmConfig"), []string{"spec.bootstrapSpec.apiVersion", groupRemedy}},
			{embedded("bootstrap", "bootstrap.cluster.x-k8s.io/v1/v2", "KubeadmConfig"), []string{"spec.bootstrapSpec.apiVersion", groupRemedy}},
			{embedded("bootstrap", "bootstrap.cluster.x-k8s.io/", "KubeadmConfig"), []string{"spec.bootstrapSpec.apiVersion", groupRemedy}},
			{embedded("bootstrap", "infrastructure.cluster.x-k8s.io/v1beta2", "HostMachine"), []string{"spec.bootstrapSpec.apiVersion", "this is the group of infrastructure providers: name a bootstrap provider's group, such as bootstrap.cluster.x-k8s.io/v1beta2"}},
			{embedded("infrastructure", "bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig"), []string{"spec.infrastructureSpec.apiVersion", "this is the group of bootstrap providers: name an infrastructure provider's group, such as infrastructure.cluster.x-k8s.io/v1beta2"}},
		}...),
	},
	{
		name: "an embedded object's kind is in CamelCase",
		accepts: []string{
			embedded("bootstrap", "bootstrap.cluster.x-k8s.io/v1beta2", "RKE2Config"),
			embedded("infrastructure", "infrastructure.cluster.x-k8s.io/v1beta2", "M"),
		},
		refuses: []refusal{
			{embedded("bootstrap", "bootstrap.cluster.x-k8s.io/v1beta2", "kubeadmConfig"), []string{"spec.bootstrapSpec.kind", "write the kind in CamelCase, such as KubeadmConfig"}},
			{embedded("bootstrap", "bootstrap.cluster.x-k8s.io/v1beta2", "kubeadmconfigs"), []string{"spec.bootstrapSpec.kind", "write the kind in CamelCase"}},
			{embedded("infrastructure", "infrastructure.cluster.x-k8s.io/v1beta2", "Host-Machine"), []string{"spec.infrastructureSpec.kind", "write the kind in CamelCase"}},
			{embedded("infrastructure", "infrastructure.cluster.x-k8s.io/v1beta2", "M"+x(63)), []string{"spec.infrastructureSpec.kind: Too long: may not be more than 63 bytes"}},
		},
	},
	{
		name: "a reference is to a template of a provider's group",
		accepts: []string{
			template("bootstrap", "bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate", "workers"),
			template("infrastructure", "infrastructure.cluster.x-k8s.io", "HostMachineTemplate", "workers.v2"),
			template("infrastructure", "k0smotron.io", "RemoteMachineTemplate", "workers"),
		},
		refuses: append(groups(func(of, apiGroup, kind string) string { return template(of, apiGroup, kind+"Template", "workers") }, ".apiGroup", "", map[string]string{
			"apps": refGroupRemedy,
			"infrastructure.cluster.x-k8s.io/v1beta2": refGroupRemedy,
			"k8s.io":           "kinds of Kubernetes itself (groups that end in .k8s.io) are not allowed: name the group of a Cluster API provider",
			"storage.k8s.io":   "kinds of Kubernetes itself (groups that end in .k8s.io) are not allowed: name the group of a Cluster API provider",
			"cluster.x-k8s.io": "this group holds no provider's templates: name the group of a Cluster API provider",
			"5spot.finos.org":  "this group holds no provider's templates: name the group of a Cluster API provider",
		}), []refusal{
			{template("bootstrap", "infrastructure.cluster.x-k8s.io", "HostMachineTemplate", "workers"), []string{"spec.bootstrapRef.apiGroup", "this is the group of infrastructure providers: name a bootstrap provider's group, such as bootstrap.cluster.x-k8s.io"}},
			{template("infrastructure", "bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate", "workers"), []string{"spec.infrastructureRef.apiGroup", "this is the group of bootstrap providers: name an infrastructure provider's group, such as infrastructure.cluster.x-k8s.io"}},
			{template("bootstrap", "bootstrap.cluster.x-k8s.io", "KubeadmConfig", "workers"), []string{"spec.bootstrapRef.kind", "write the kind of a template in CamelCase: it ends in Template"}},
			{template("bootstrap", "bootstrap.cluster.x-k8s.io", "Template", "workers"), []string{"spec.bootstrapRef.kind", "it ends in Template"}},
			{template("bootstrap", "bootstrap.cluster.x-k8s.io", "kubeadmConfigTemplate", "workers"), []string{"spec.bootstrapRef.kind", "in CamelCase"}},
			{template("infrastructure", "infrastructure.cluster.x-k8s.io", "HostMachine", "workers"), []string{"spec.infrastructureRef.kind", "it ends in Template"}},
			{template("bootstrap", "bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate", "my workers"), []string{"spec.bootstrapRef.name", "write the name of a template in this namespace: lower case letters"}},
			{template("infrastructure", "infrastructure.cluster.x-k8s.io", "HostMachineTemplate", "Workers"), []string{"spec.infrastructureRef.name", "write the name of a template in this namespace: lower case letters"}},
			{template("infrastructure", "infrastructure.cluster.x-k8s.io", "HostMachineTemplate", ""), []string{"spec.infrastructureRef.name", "at least 1 chars long"}},
			{template("infrastructure", "infrastructure.cluster.x-k8s.io", "HostMachineTemplate", x(254)), []string{"spec.infrastructureRef.name: Too long: may not be more than 253 bytes"}},
		}...),
	},
	metadata("machineTemplate", func(m string) string { return "{machineTemplate: " + m + "}" }),
	metadata("bootstrapSpec.metadata", func(m string) string { return "{bootstrapSpec: {metadata: " + m + "}}" }),
	metadata("infrastructureSpec.metadata", func(m string) string { return "{infrastructureSpec: {metadata: " + m + "}}" }),
	{
		name:    "version is a Kubernetes version",
		accepts: []string{"{version: v1.36.3}", "{version: 1.36.3}", "{version: v1.30.0+k0s.0}", "{version: v1.36.0-rc.1+build.2}"},
		refuses: []refusal{
			{"{version: v1.36}", []string{"spec.version", "write a Kubernetes version, such as v1.36.3"}},
			{"{version: latest}", []string{"spec.version", "write a Kubernetes version, such as v1.36.3"}},
			{"{version: v1.036.3}", []string{"spec.version", "write a Kubernetes version, such as v1.36.3"}},
		},
	},
	{
		name:    "priority is a number from 0 to 255",
		accepts: []string{"{priority: 0}", "{priority: 255}"},
		refuses: []refusal{
			{"{priority: -1}", []string{"spec.priority", "greater than or equal to 0"}},
			{"{priority: 256}", []string{"spec.priority", "less than or equal to 255"}},
			{"{priority: high}", []string{"spec.priority", "must be of type integer"}},
		},
	},
	{
		name: "a taint's key is a qualified name",
		accepts: []string{
			taint("workload"), taint("example.com/workload"), taint("Work_load.1"), taint(x(63)),
			taint(strings.Repeat("a.", 126) + "b/" + x(63)),
		},
		refuses: []refusal{
			{taint(""), []string{"spec.nodeTaints[0].key", "at least 1 chars long"}},
			{taint("-a"), []string{"spec.nodeTaints[0].key", taintKeyRemedy}},
			{taint("a-"), []string{"spec.nodeTaints[0].key", taintKeyRemedy}},
			{taint("a b"), []string{"spec.nodeTaints[0].key", taintKeyRemedy}},
			{taint("Example.com/a"), []string{"spec.nodeTaints[0].key", taintKeyRemedy}},
			{taint("a/b/c"), []string{"spec.nodeTaints[0].key", taintKeyRemedy}},
			{taint("/a"), []string{"spec.nodeTaints[0].key", taintKeyRemedy}},
			{taint("example.com/"), []string{"spec.nodeTaints[0].key", taintKeyRemedy}},
			{taint(x(64)), []string{"spec.nodeTaints[0].key", taintKeyRemedy, "at most 63"}},
			{taint("example.com/" + x(64)), []string{"spec.nodeTaints[0].key", taintKeyRemedy}},
			{taint(strings.Repeat("a.", 127) + "b/a"), []string{"spec.nodeTaints[0].key", taintKeyRemedy, "at most 253"}},
			{taint(x(318)), []string{"spec.nodeTaints[0].key: Too long: may not be more than 317 bytes"}},
		},
	},
	{
		name: "a taint's key has no reserved prefix",
		accepts: []string{
			taint("kubernetes.io"), taint("aether.io"), taint("k8s.io.example.com/a"), taint("mykubernetes.io/a"), taint("node.example.com/a"),
			taint("cluster.x-k8s.io/a"), taint("agent.aether.io/a"),
		},
		refuses: []refusal{
			{taint("5spot.finos.org/a"), []string{"spec.nodeTaints[0].key", taintRemedy}},
			{taint("kubernetes.io/a"), []string{"spec.nodeTaints[0].key", taintRemedy}},
			{taint("node.kubernetes.io/not-ready"), []string{"spec.nodeTaints[0].key", taintRemedy}},
			{taint("node-role.kubernetes.io/control-plane"), []string{"spec.nodeTaints[0].key", taintRemedy}},
			{taint("a.b.kubernetes.io/a"), []string{"spec.nodeTaints[0].key", taintRemedy}},
			{taint("k8s.io/a"), []string{"spec.nodeTaints[0].key", taintRemedy}},
			{taint("storage.k8s.io/a"), []string{"spec.nodeTaints[0].key", taintRemedy}},
			{taint("aether.io/agent-not-ready"), []string{"spec.nodeTaints[0].key", taintRemedy}},
			{taint("node.cluster.x-k8s.io/uninitialized"), []string{"spec.nodeTaints[0].key", taintRemedy}},
		},
	},
	{
		name: "a taint's value is a label value",
		accepts: []string{
			"{nodeTaints: [{key: a, effect: NoSchedule}]}", "{nodeTaints: [{key: a, value: '', effect: NoSchedule}]}",
			"{nodeTaints: [{key: a, value: B_a-t.ch1, effect: NoSchedule}]}", "{nodeTaints: [{key: a, value: " + x(63) + ", effect: NoSchedule}]}",
		},
		refuses: []refusal{
			{"{nodeTaints: [{key: a, value: " + x(64) + ", effect: NoSchedule}]}", []string{"spec.nodeTaints[0].value: Too long: may not be more than 63 bytes"}},
			{"{nodeTaints: [{key: a, value: '-a', effect: NoSchedule}]}", []string{"spec.nodeTaints[0].value", "write a label value, such as batch, or leave it out"}},
			{"{nodeTaints: [{key: a, value: 'a/b', effect: NoSchedule}]}", []string{"spec.nodeTaints[0].value", "write a label value, such as batch, or leave it out"}},
			{"{nodeTaints: [{key: a, value: true, effect: NoSchedule}]}", []string{"spec.nodeTaints[0].value", "must be of type string"}},
		},
	},
	{
		name: "a taint's effect is one of three",
		accepts: []string{
			"{nodeTaints: [{key: a, effect: NoSchedule}, {key: b, effect: PreferNoSchedule}, {key: c, effect: NoExecute}]}",
		},
		refuses: []refusal{
			{"{nodeTaints: [{key: a, effect: noSchedule}]}", []string{"spec.nodeTaints[0].effect: Unsupported value", `supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`}},
			{"{nodeTaints: [{key: a}]}", []string{"spec.nodeTaints[0].effect: Required value"}},
		},
	},
	{
		name: "a taint is named once by key and effect",
		accepts: []string{
			"{nodeTaints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}, {key: b, effect: NoSchedule}]}",
			"{nodeTaints: [" + many(50, "{key: k%d, effect: NoSchedule}") + "]}",
		},
		refuses: []refusal{
			{"{nodeTaints: [{key: a, value: x, effect: NoSchedule}, {key: a, value: z, effect: NoSchedule}]}", []string{
				"spec.nodeTaints[1]: Duplicate value",
				"spec.nodeTaints: Invalid value: a Node has at most one taint for each key and effect: keep one of the entries, or use another effect",
			}},
			{"{nodeTaints: [" + many(51, "{key: k%d, effect: NoSchedule}") + "]}", []string{"spec.nodeTaints: Too many", "at most 50 items"}},
		},
	},
}

func taint(key string) string {
	return fmt.Sprintf("{nodeTaints: [{key: %q, effect: NoSchedule}]}", key)
}

func durations(field string) rule {
	r := rule{name: field + " is a duration of at most 24h"}
	for _, ok := range []string{"30s", "2h", "24h", "1h30m", "5m", "0s", "1440m", "86400s", "1h0m1s"} {
		r.accepts = append(r.accepts, fmt.Sprintf("{%s: %s}", field, ok))
	}
	for _, bad := range []string{"25h", "24h0m1s", "5d", "5", "m", "5M", "-5m", "", "5m1h", "1.5h", "500ms", " 5m", "999999h999999m", "9999999999h"} {
		r.refuses = append(r.refuses, refusal{fmt.Sprintf("{%s: %q}", field, bad), []string{"spec." + field, durationRemedy}})
	}
	r.refuses = append(r.refuses, refusal{fmt.Sprintf("{%s: 300}", field), []string{"spec." + field, "must be of type string"}})
	return r
}

func oneOf(child, templateKind string) rule {
	group := child + ".cluster.x-k8s.io"
	return rule{
		name:    "exactly one of " + child + "Spec and " + child + "Ref",
		accepts: []string{template(child, group, templateKind, "workers")},
		refuses: []refusal{
			{fmt.Sprintf("{%sSpec: null}", child), []string{fmt.Sprintf("spec.%sSpec", child), fmt.Sprintf("set exactly one of %[1]sSpec and %[1]sRef", child)}},
			{fmt.Sprintf("{%sRef: {apiGroup: %s, kind: %s, name: workers}}", child, group, templateKind), []string{fmt.Sprintf("spec.%sSpec", child), fmt.Sprintf("set exactly one of %[1]sSpec and %[1]sRef", child)}},
		},
	}
}

// groups are refused in the bootstrap place and in the infrastructure place.
func groups(manifest func(of, group, kind string) string, field, suffix string, remedies map[string]string) []refusal {
	var all []refusal
	for group, remedy := range remedies {
		for _, of := range []string{"bootstrap", "infrastructure"} {
			at := "spec." + of + "Spec" + field
			if field == ".apiGroup" {
				at = "spec." + of + "Ref" + field
			}
			all = append(all, refusal{manifest(of, group+suffix, "Thing"), []string{at, remedy}})
		}
	}
	return all
}

func metadata(field string, in func(string) string) rule {
	at := "spec." + field
	r := rule{
		name: field + " holds labels and annotations of one's own",
		accepts: []string{
			in("{labels: {team: '', example.com/team: A_1.b}, annotations: {team: any thing, Example.com/Team: ''}}"),
			// 5-Spot's own example: the reserved prefixes are no domains whose subdomains are reserved too.
			in("{labels: {node-role.kubernetes.io/worker: '', topology.kubernetes.io/zone: zone-a}}"),
			in("{labels: {" + x(63) + ": " + x(63) + "}}"),
			in("{labels: {" + many(64, "l%d: a") + "}, annotations: {" + many(64, "a%d: b") + "}}"),
		},
		refuses: []refusal{
			{in("{labels: {" + many(65, "l%d: a") + "}}"), []string{at + ".labels: Too many", "at most 64"}},
			{in("{annotations: {" + many(65, "l%d: a") + "}}"), []string{at + ".annotations: Too many", "at most 64"}},
			{in("{labels: {a: " + x(64) + "}}"), []string{at + ".labels['a']", labelValueRemedy}},
			{in("{labels: {a: a b}}"), []string{at + ".labels['a']: 'a b'", labelValueRemedy}},
		},
	}
	for _, m := range []string{"labels", "annotations"} {
		for _, key := range []string{"kubernetes.io/a", "k8s.io/a", "cluster.x-k8s.io/cluster-name", "5spot.finos.org/scheduled-machine"} {
			r.refuses = append(r.refuses, refusal{in(fmt.Sprintf("{%s: {a: b, %s: c}}", m, key)), []string{at + "." + m, key + ": keys that begin with", reservedRemedy}})
		}
		for _, key := range []string{"", "-a", "a-", "a b", "a/b/c", "/a", x(64), strings.Repeat("a.", 127) + "b/a"} {
			r.refuses = append(r.refuses, refusal{in(fmt.Sprintf("{%s: {%q: b}}", m, key)), []string{at + "." + m + ": '" + key + "'", labelKeyRemedy}})
		}
	}
	r.refuses = append(r.refuses, refusal{in("{labels: {Example.com/team: b}}"), []string{at + ".labels: 'Example.com/team'", labelKeyRemedy}})
	return r
}

var _ = Describe("The API server", func() {
	for _, rule := range rules {
		Describe(rule.name, func() {
			for _, spec := range rule.accepts {
				It("accepts "+short(spec), func(ctx context.Context) {
					Expect(try(ctx, admin, with(spec))).To(Succeed())
				})
			}
			for _, bad := range rule.refuses {
				It("refuses "+short(bad.spec), func(ctx context.Context) {
					err := try(ctx, admin, with(bad.spec))
					Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
					for _, part := range bad.message {
						Expect(err).To(MatchError(ContainSubstring(part)))
					}
				})
			}
		})
	}
})

func short(s string) string {
	if len(s) > 100 {
		return s[:100] + fmt.Sprintf("… (%d characters)", len(s))
	}
	return s
}
