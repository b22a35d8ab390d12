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

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ScheduledMachineSpec says when a Machine exists and which taints its Node carries.
// +kubebuilder:validation:XValidation:rule=`has(self.bootstrapSpec) != has(self.bootstrapRef)`,message=`set exactly one of bootstrapSpec and bootstrapRef`,fieldPath=.bootstrapSpec
// +kubebuilder:validation:XValidation:rule=`has(self.infrastructureSpec) != has(self.infrastructureRef)`,message=`set exactly one of infrastructureSpec and infrastructureRef`,fieldPath=.infrastructureSpec
type ScheduledMachineSpec struct {
	// clusterName is the name of the Cluster, in the same namespace, that the
	// Machine belongs to. It cannot be changed.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[A-Za-z0-9][A-Za-z0-9._-]*$')`,message=`write the name of a Cluster: 1 to 63 letters, digits, '.', '_' or '-', beginning with a letter or digit`
	// +kubebuilder:validation:XValidation:rule=`self == oldSelf`,message=`clusterName cannot be changed: delete this ScheduledMachine and create another for the other Cluster`
	ClusterName string `json:"clusterName"`

	// schedule says when the Machine exists.
	// +required
	Schedule Schedule `json:"schedule,omitzero"`

	// bootstrapSpec is the bootstrap object to create with each Machine.
	// Exactly one of bootstrapSpec and bootstrapRef must be set.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`!has(self.apiVersion) || !self.apiVersion.startsWith('infrastructure.')`,message=`this is the group of infrastructure providers: name a bootstrap provider's group, such as bootstrap.cluster.x-k8s.io/v1beta2`,fieldPath=.apiVersion
	BootstrapSpec *EmbeddedObject `json:"bootstrapSpec,omitempty"`

	// bootstrapRef names a bootstrap template to clone for each Machine.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`!has(self.apiGroup) || !self.apiGroup.startsWith('infrastructure.')`,message=`this is the group of infrastructure providers: name a bootstrap provider's group, such as bootstrap.cluster.x-k8s.io`,fieldPath=.apiGroup
	BootstrapRef *TemplateReference `json:"bootstrapRef,omitempty"`

	// infrastructureSpec is the infrastructure object to create with each Machine.
	// Exactly one of infrastructureSpec and infrastructureRef must be set.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`!has(self.apiVersion) || !self.apiVersion.startsWith('bootstrap.')`,message=`this is the group of bootstrap providers: name an infrastructure provider's group, such as infrastructure.cluster.x-k8s.io/v1beta2`,fieldPath=.apiVersion
	InfrastructureSpec *EmbeddedObject `json:"infrastructureSpec,omitempty"`

	// infrastructureRef names an infrastructure template to clone for each Machine.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`!has(self.apiGroup) || !self.apiGroup.startsWith('bootstrap.')`,message=`this is the group of bootstrap providers: name an infrastructure provider's group, such as infrastructure.cluster.x-k8s.io`,fieldPath=.apiGroup
	InfrastructureRef *TemplateReference `json:"infrastructureRef,omitempty"`

	// version is the Kubernetes version of the Machine, such as v1.36.3. A change
	// takes effect with the next Machine.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$')`,message=`write a Kubernetes version, such as v1.36.3`
	Version string `json:"version,omitempty"`

	// machineTemplate holds labels and annotations for the Machine.
	// +optional
	// +nullable
	MachineTemplate *MachineTemplate `json:"machineTemplate,omitempty"`

	// priority orders ScheduledMachines that become due at the same instant: the
	// higher goes first.
	// +optional
	// +default=50
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	Priority *int32 `json:"priority,omitempty"`

	// gracefulShutdownTimeout is the time between the end of the window and the
	// deletion of the Machine, such as 30s, 5m or 1h30m; at most 24h. A window
	// that opens again in that time keeps the Machine.
	// +optional
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?$') && self != '' && duration(self) <= duration('24h')`,message=`write hours, minutes and seconds, such as 30s, 5m or 1h30m; at most 24h`
	GracefulShutdownTimeout string `json:"gracefulShutdownTimeout,omitempty"`

	// nodeDrainTimeout is how long Cluster API may drain the Node, such as 30s, 5m
	// or 1h30m; at most 24h. It becomes the Machine's own drain timeout; 0s gives
	// up draining at once.
	// +optional
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?$') && self != '' && duration(self) <= duration('24h')`,message=`write hours, minutes and seconds, such as 30s, 5m or 1h30m; at most 24h`
	NodeDrainTimeout string `json:"nodeDrainTimeout,omitempty"`

	// killSwitch, when true, deletes the Machine at once, without grace, and keeps
	// it away until it is false again.
	// +optional
	// +kubebuilder:default=false
	KillSwitch bool `json:"killSwitch,omitempty"`

	// nodeTaints are kept on the Machine's Node while it is Ready. A taint is
	// identified by key and effect; its value may change. Taints that somebody
	// else set are never touched.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:rule=`self.all(t, !has(t.key) || !has(t.effect) || self.exists_one(u, has(u.key) && has(u.effect) && u.key == t.key && u.effect == t.effect))`,message=`a Node has at most one taint for each key and effect: keep one of the entries, or use another effect`
	// +kubebuilder:validation:items:XValidation:rule=`!has(self.key) || self.key.matches(r'^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') && self.key.indexOf('/') <= 253`,message=`write a qualified name, such as workload or example.com/workload: an optional DNS name of at most 253 characters and a slash, then at most 63 letters, digits, '-', '_' or '.', beginning and ending with a letter or digit`,fieldPath=.key
	// +kubebuilder:validation:items:XValidation:rule=`!has(self.key) || !self.key.matches(r'^(5spot\.finos\.org|aether\.io|node\.cluster\.x-k8s\.io|([^/]*\.)?(kubernetes\.io|k8s\.io))/')`,message=`this prefix is reserved (5spot.finos.org, kubernetes.io and k8s.io with their subdomains, aether.io, node.cluster.x-k8s.io): use a key without a prefix, or with a domain of your own, such as example.com/workload`,fieldPath=.key
	// +kubebuilder:validation:items:XValidation:rule=`!has(self.value) || self.value.matches(r'^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')`,message=`write a label value, such as batch, or leave it out: at most 63 letters, digits, '-', '_' or '.', beginning and ending with a letter or digit`,fieldPath=.value
	NodeTaints []NodeTaint `json:"nodeTaints,omitempty"`
}

// Schedule says when the Machine exists, in wall-clock time of one time zone.
// Either daysOfWeek and hoursOfDay together, or windows; exceptions override both.
// +kubebuilder:validation:XValidation:rule=`!(has(self.daysOfWeek) && size(self.daysOfWeek) > 0) || (has(self.hoursOfDay) && size(self.hoursOfDay) > 0)`,message=`daysOfWeek is set, so hoursOfDay must be too: write 0-23 for the whole day`,fieldPath=.hoursOfDay
// +kubebuilder:validation:XValidation:rule=`!(has(self.hoursOfDay) && size(self.hoursOfDay) > 0) || (has(self.daysOfWeek) && size(self.daysOfWeek) > 0)`,message=`hoursOfDay is set, so daysOfWeek must be too: write mon-sun for every day`,fieldPath=.daysOfWeek
// +kubebuilder:validation:XValidation:rule=`(!has(self.windows) || size(self.windows) == 0) || ((!has(self.daysOfWeek) || size(self.daysOfWeek) == 0) && (!has(self.hoursOfDay) || size(self.hoursOfDay) == 0))`,message=`write either windows or daysOfWeek with hoursOfDay, not both`,fieldPath=.windows
// +kubebuilder:validation:XValidation:rule=`(has(self.enabled) && !self.enabled) || (has(self.daysOfWeek) && size(self.daysOfWeek) > 0) || (has(self.hoursOfDay) && size(self.hoursOfDay) > 0) || (has(self.windows) && size(self.windows) > 0) || (has(self.exceptions) && size(self.exceptions) > 0)`,message=`this schedule is never active: write daysOfWeek with hoursOfDay, or windows, or exceptions; or set enabled to false`
type Schedule struct {
	// daysOfWeek are weekdays (mon … sun), ranges (mon-fri, also over the weekend:
	// fri-mon) and comma lists (mon-wed,fri).
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:items:XValidation:rule=`self.matches(r'^(mon|tue|wed|thu|fri|sat|sun)(-(mon|tue|wed|thu|fri|sat|sun))?(,(mon|tue|wed|thu|fri|sat|sun)(-(mon|tue|wed|thu|fri|sat|sun))?)*$')`,message=`write weekdays in lower case (mon, tue, wed, thu, fri, sat, sun), ranges such as mon-fri, or comma lists such as mon-wed,fri`
	// +nullable
	DaysOfWeek []string `json:"daysOfWeek,omitempty"`

	// hoursOfDay are hours (0 … 23), ranges inclusive at both ends (9-17 is 09:00
	// to 18:00, 22-6 passes midnight) and comma lists. An instant is in the
	// schedule when its weekday is among the days and its hour among the hours.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:items:XValidation:rule=`self.matches(r'^([01]?[0-9]|2[0-3])(-([01]?[0-9]|2[0-3]))?(,([01]?[0-9]|2[0-3])(-([01]?[0-9]|2[0-3]))?)*$')`,message=`write hours from 0 to 23, ranges such as 9-17 (both ends included), or comma lists such as 0-9,18-23`
	// +nullable
	HoursOfDay []string `json:"hoursOfDay,omitempty"`

	// windows are spans to the minute. They exclude daysOfWeek and hoursOfDay.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Windows []Window `json:"windows,omitempty"`

	// exceptions force whole days on or off, in local time. Where two cover the
	// same day the later in the list counts.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	Exceptions []Exception `json:"exceptions,omitempty"`

	// timezone is an IANA name, such as Europe/Berlin.
	// +optional
	// +kubebuilder:default="UTC"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$')`,message=`write an IANA time zone, such as UTC or Europe/Berlin`
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'^(Local|localtime|posixrules|(posix|right)/.*)$')`,message=`this name means another zone on another host: write an IANA time zone, such as UTC or Europe/Berlin`
	Timezone string `json:"timezone,omitempty"`

	// enabled, when false, leaves what runs as it is and starts nothing new.
	// +optional
	// +default=true
	// +kubebuilder:default=true
	Enabled *bool `json:"enabled,omitempty"`
}

// Window is a span of wall-clock time on each of its days.
type Window struct {
	// days on which the window starts, written as in daysOfWeek.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=7
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:items:XValidation:rule=`self.matches(r'^(mon|tue|wed|thu|fri|sat|sun)(-(mon|tue|wed|thu|fri|sat|sun))?(,(mon|tue|wed|thu|fri|sat|sun)(-(mon|tue|wed|thu|fri|sat|sun))?)*$')`,message=`write weekdays in lower case (mon, tue, wed, thu, fri, sat, sun), ranges such as mon-fri, or comma lists such as mon-wed,fri`
	Days []string `json:"days,omitempty"`

	// start is the first minute, as HH:MM.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^([01][0-9]|2[0-3]):[0-5][0-9]$')`,message=`write a time of day as HH:MM, from 00:00 to 23:59; midnight is 00:00`
	Start string `json:"start,omitempty"`

	// end is the minute after the last, as HH:MM. Where it is not later than start
	// the window runs past midnight and belongs to the day it starts on.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^([01][0-9]|2[0-3]):[0-5][0-9]$')`,message=`write a time of day as HH:MM, from 00:00 to 23:59; midnight is 00:00`
	End string `json:"end,omitempty"`
}

// Exception forces the days from … to (both inclusive) on or off.
// +kubebuilder:validation:XValidation:rule=`!has(self.from) || !has(self.to) || size(self.from) != 10 || size(self.to) != 10 || self.from <= self.to`,message=`to is before from: write the same day or a later one`,fieldPath=.to
type Exception struct {
	// from is the first day, as YYYY-MM-DD.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))$') || self.matches(r'^([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29$')`,message=`write a date of the calendar as YYYY-MM-DD, such as 2026-12-24`
	From string `json:"from,omitempty"`

	// to is the last day, as YYYY-MM-DD.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))$') || self.matches(r'^([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29$')`,message=`write a date of the calendar as YYYY-MM-DD, such as 2026-12-24`
	To string `json:"to,omitempty"`

	// active is true to force the days on, false to force them off.
	// +required
	Active *bool `json:"active,omitempty"`
}

// EmbeddedObject is an object to create in the ScheduledMachine's namespace.
type EmbeddedObject struct {
	// apiVersion of the object, such as bootstrap.cluster.x-k8s.io/v1beta2.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+/[a-z]([-a-z0-9]*[a-z0-9])?$')`,message=`write the group of a Cluster API provider and a version, such as bootstrap.cluster.x-k8s.io/v1beta2; kinds of Kubernetes itself (v1, apps/v1) are not allowed`
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'^([^/]*\.)?k8s\.io/')`,message=`kinds of Kubernetes itself (groups that end in .k8s.io) are not allowed: name the group of a Cluster API provider, such as bootstrap.cluster.x-k8s.io/v1beta2`
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'^(cluster\.x-k8s\.io|5spot\.finos\.org)/')`,message=`this group holds no provider's kinds: name the group of a Cluster API provider, such as bootstrap.cluster.x-k8s.io/v1beta2`
	APIVersion string `json:"apiVersion,omitempty"`

	// kind of the object, such as KubeadmConfig.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[A-Z][A-Za-z0-9]*$')`,message=`write the kind in CamelCase, such as KubeadmConfig`
	Kind string `json:"kind,omitempty"`

	// metadata holds labels and annotations for the object; its name and
	// namespace are the ScheduledMachine's.
	// +optional
	Metadata *EmbeddedMetadata `json:"metadata,omitempty"`

	// spec of the object, as its provider defines it.
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Spec runtime.RawExtension `json:"spec,omitzero"`
}

// EmbeddedMetadata holds the metadata that a user may give an embedded object.
type EmbeddedMetadata struct {
	// labels to put on the object.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule=`self.all(k, !(k.startsWith('kubernetes.io/') || k.startsWith('k8s.io/') || k.startsWith('cluster.x-k8s.io/') || k.startsWith('5spot.finos.org/')))`,message=`keys that begin with kubernetes.io/, k8s.io/, cluster.x-k8s.io/ or 5spot.finos.org/ are reserved: use a key without a prefix, or with a domain of your own, such as example.com/team`,messageExpression=`self.filter(k, k.startsWith('kubernetes.io/') || k.startsWith('k8s.io/') || k.startsWith('cluster.x-k8s.io/') || k.startsWith('5spot.finos.org/'))[0] + ': keys that begin with kubernetes.io/, k8s.io/, cluster.x-k8s.io/ or 5spot.finos.org/ are reserved: use a key without a prefix, or with a domain of your own, such as example.com/team'`
	Labels map[string]string `json:"labels,omitempty"`

	// annotations to put on the object.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule=`self.all(k, !(k.startsWith('kubernetes.io/') || k.startsWith('k8s.io/') || k.startsWith('cluster.x-k8s.io/') || k.startsWith('5spot.finos.org/')))`,message=`keys that begin with kubernetes.io/, k8s.io/, cluster.x-k8s.io/ or 5spot.finos.org/ are reserved: use a key without a prefix, or with a domain of your own, such as example.com/team`,messageExpression=`self.filter(k, k.startsWith('kubernetes.io/') || k.startsWith('k8s.io/') || k.startsWith('cluster.x-k8s.io/') || k.startsWith('5spot.finos.org/'))[0] + ': keys that begin with kubernetes.io/, k8s.io/, cluster.x-k8s.io/ or 5spot.finos.org/ are reserved: use a key without a prefix, or with a domain of your own, such as example.com/team'`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// TemplateReference names a template in the ScheduledMachine's namespace.
type TemplateReference struct {
	// apiGroup of the template, such as infrastructure.cluster.x-k8s.io.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$')`,message=`write the group of a Cluster API provider without a version, such as infrastructure.cluster.x-k8s.io; kinds of Kubernetes itself (apps, batch) are not allowed`
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'^(.*\.)?k8s\.io$')`,message=`kinds of Kubernetes itself (groups that end in .k8s.io) are not allowed: name the group of a Cluster API provider, such as infrastructure.cluster.x-k8s.io`
	// +kubebuilder:validation:XValidation:rule=`self != 'cluster.x-k8s.io' && self != '5spot.finos.org'`,message=`this group holds no provider's templates: name the group of a Cluster API provider, such as infrastructure.cluster.x-k8s.io`
	APIGroup string `json:"apiGroup,omitempty"`

	// kind of the template; it ends in Template.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[A-Z][A-Za-z0-9]*Template$')`,message=`write the kind of a template in CamelCase: it ends in Template, such as KubeadmConfigTemplate`
	Kind string `json:"kind,omitempty"`

	// name of the template.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,message=`write the name of a template in this namespace: lower case letters, digits, '-' or '.', beginning and ending with a letter or digit`
	Name string `json:"name,omitempty"`
}

// MachineTemplate holds metadata for the Machine. Changes reach a Machine that exists.
type MachineTemplate struct {
	// labels to put on the Machine.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule=`self.all(k, !(k.startsWith('kubernetes.io/') || k.startsWith('k8s.io/') || k.startsWith('cluster.x-k8s.io/') || k.startsWith('5spot.finos.org/')))`,message=`keys that begin with kubernetes.io/, k8s.io/, cluster.x-k8s.io/ or 5spot.finos.org/ are reserved: use a key without a prefix, or with a domain of your own, such as example.com/team`,messageExpression=`self.filter(k, k.startsWith('kubernetes.io/') || k.startsWith('k8s.io/') || k.startsWith('cluster.x-k8s.io/') || k.startsWith('5spot.finos.org/'))[0] + ': keys that begin with kubernetes.io/, k8s.io/, cluster.x-k8s.io/ or 5spot.finos.org/ are reserved: use a key without a prefix, or with a domain of your own, such as example.com/team'`
	// +nullable
	Labels map[string]string `json:"labels,omitempty"`

	// annotations to put on the Machine.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule=`self.all(k, !(k.startsWith('kubernetes.io/') || k.startsWith('k8s.io/') || k.startsWith('cluster.x-k8s.io/') || k.startsWith('5spot.finos.org/')))`,message=`keys that begin with kubernetes.io/, k8s.io/, cluster.x-k8s.io/ or 5spot.finos.org/ are reserved: use a key without a prefix, or with a domain of your own, such as example.com/team`,messageExpression=`self.filter(k, k.startsWith('kubernetes.io/') || k.startsWith('k8s.io/') || k.startsWith('cluster.x-k8s.io/') || k.startsWith('5spot.finos.org/'))[0] + ': keys that begin with kubernetes.io/, k8s.io/, cluster.x-k8s.io/ or 5spot.finos.org/ are reserved: use a key without a prefix, or with a domain of your own, such as example.com/team'`
	// +nullable
	Annotations map[string]string `json:"annotations,omitempty"`
}

// TaintEffect is what a taint does to pods that do not tolerate it.
// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
type TaintEffect string

// NodeTaint is a taint, identified by key and effect.
type NodeTaint struct {
	// key is a qualified name: an optional DNS prefix and a slash, then a name of
	// at most 63 characters. Prefixes of Kubernetes, Cluster API, Aether and
	// 5-Spot itself are reserved.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key,omitempty"`

	// value is a label value of at most 63 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +nullable
	Value string `json:"value,omitempty"`

	// effect is NoSchedule, PreferNoSchedule or NoExecute.
	// +required
	Effect TaintEffect `json:"effect,omitempty"`
}

// Phase is where a ScheduledMachine is in its life.
// +kubebuilder:validation:Enum=Pending;Active;ShuttingDown;Inactive;Disabled;Terminated;Error
type Phase string

const (
	// PhasePending says that the Machine is being made, or that nothing is decided yet.
	PhasePending Phase = "Pending"
	// PhaseActive says that the window is open and the Machine exists.
	PhaseActive Phase = "Active"
	// PhaseShuttingDown says that the window closed; the grace runs or the Machine is going.
	PhaseShuttingDown Phase = "ShuttingDown"
	// PhaseInactive says that the window is closed and there is no Machine.
	PhaseInactive Phase = "Inactive"
	// PhaseDisabled says that schedule.enabled is false; what runs stays.
	PhaseDisabled Phase = "Disabled"
	// PhaseTerminated says that killSwitch is true; the Machine is gone or going.
	PhaseTerminated Phase = "Terminated"
	// PhaseError says that something has to be mended by a person; left by itself once it is.
	PhaseError Phase = "Error"
)

// ScheduledMachineStatus is what the controllers saw and did.
type ScheduledMachineStatus struct {
	// conditions tell the state in detail: Ready, ScheduleActive, ScheduleValid,
	// MachineReady, NodeTainted, TaintOwnershipConflict, Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// phase sums the state up in a word.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// inSchedule says whether the schedule asks for the Machine now.
	// +optional
	InSchedule *bool `json:"inSchedule,omitempty"`

	// nextActivation is the next instant at which the schedule turns on.
	// +optional
	NextActivation *metav1.Time `json:"nextActivation,omitempty"`

	// nextCleanup is the next instant at which the schedule turns off.
	// +optional
	NextCleanup *metav1.Time `json:"nextCleanup,omitempty"`

	// nextChange is the earlier of nextActivation and nextCleanup.
	// +optional
	NextChange *metav1.Time `json:"nextChange,omitempty"`

	// lastScheduledTime is when the last Machine was created.
	// +optional
	LastScheduledTime *metav1.Time `json:"lastScheduledTime,omitempty"`

	// machineRef names the Machine, while it exists.
	// +optional
	MachineRef *ObjectReference `json:"machineRef,omitempty"`

	// bootstrapRef names the bootstrap object, while it exists.
	// +optional
	BootstrapRef *ObjectReference `json:"bootstrapRef,omitempty"`

	// infrastructureRef names the infrastructure object, while it exists.
	// +optional
	InfrastructureRef *ObjectReference `json:"infrastructureRef,omitempty"`

	// nodeRef names the Node, once the Machine has one.
	// +optional
	NodeRef *NodeReference `json:"nodeRef,omitempty"`

	// providerID is the Machine's identifier at its provider.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`

	// appliedNodeTaints mirrors the record on the Node: the taints that this
	// provider applied there.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	AppliedNodeTaints []NodeTaint `json:"appliedNodeTaints,omitempty"`

	// observedGeneration is the spec's generation that the status speaks of.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// ObjectReference names an object in the ScheduledMachine's namespace.
type ObjectReference struct {
	// apiVersion of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion,omitempty"`
	// kind of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`
	// name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// namespace of the object.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// NodeReference names a Node of the workload cluster.
type NodeReference struct {
	// apiVersion of the Node, v1.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion,omitempty"`
	// kind of the Node, Node.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`
	// name of the Node.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// uid of the Node: a Node of the same name with another uid is another Node.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`
}

// ScheduledMachine says when a Machine of a Cluster API cluster exists and which
// taints its Node carries.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=scheduledmachines,shortName=sm,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1alpha1"
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="In Schedule",type=boolean,JSONPath=".status.inSchedule"
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=".spec.clusterName"
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=".status.nodeRef.name"
// +kubebuilder:printcolumn:name="Tainted",type=string,JSONPath=".status.conditions[?(@.type==\"NodeTainted\")].status"
// +kubebuilder:printcolumn:name="Next Change",type=string,JSONPath=".status.nextChange"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Ready",type=string,priority=1,JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Why",type=string,priority=1,JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
type ScheduledMachine struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the user asks for.
	// +required
	Spec ScheduledMachineSpec `json:"spec,omitzero"`
	// status is what the controllers saw and did.
	// +optional
	Status ScheduledMachineStatus `json:"status,omitzero"`
}

// GetConditions returns the conditions of the ScheduledMachine.
func (m *ScheduledMachine) GetConditions() []metav1.Condition {
	return m.Status.Conditions
}

// SetConditions replaces the conditions of the ScheduledMachine.
func (m *ScheduledMachine) SetConditions(conditions []metav1.Condition) {
	m.Status.Conditions = conditions
}

// ScheduledMachineList is a list of ScheduledMachines.
//
// +kubebuilder:object:root=true
type ScheduledMachineList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list's metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the ScheduledMachines.
	Items []ScheduledMachine `json:"items"`
}

func init() {
	schemeBuilder.Register(&ScheduledMachine{}, &ScheduledMachineList{})
}
