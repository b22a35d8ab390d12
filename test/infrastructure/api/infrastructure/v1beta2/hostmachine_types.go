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

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// MachineFinalizer keeps a HostMachine until its machine has stopped.
const MachineFinalizer = "infrastructure.cluster.x-k8s.io/hostmachine"

// Reasons of a HostMachine's Ready condition.
const (
	// WaitingForClusterInfrastructureReason says that the Cluster's infrastructure is
	// not provisioned yet.
	WaitingForClusterInfrastructureReason = "WaitingForClusterInfrastructure"
	// WaitingForBootstrapDataReason says that the Machine has no bootstrap data yet.
	WaitingForBootstrapDataReason = "WaitingForBootstrapData"
	// ProvisionedReason says that the machine runs.
	ProvisionedReason = "Provisioned"
	// ProvisioningFailedReason says that the backend could not make the machine.
	ProvisioningFailedReason = "ProvisioningFailed"
)

// BackendType says what a HostMachine's machine is.
// +kubebuilder:validation:Enum=simulated
type BackendType string

// SimulatedBackend is a Node object that is kept alive, with no machine behind it.
const SimulatedBackend BackendType = "simulated"

// HostMachineSpec says what a machine is.
type HostMachineSpec struct {
	// providerID is host://NAMESPACE/NAME of the HostMachine, set when the machine is
	// made. The Node carries the same.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`

	// backend says what the machine is.
	// +optional
	// +kubebuilder:default=simulated
	Backend BackendType `json:"backend,omitempty"`

	// simulated holds the settings of the backend simulated.
	// +optional
	Simulated SimulatedMachine `json:"simulated,omitempty,omitzero"`
}

// SimulatedMachine holds the settings of the backend simulated.
// +kubebuilder:validation:MinProperties=1
type SimulatedMachine struct {
	// nodeName is the Node's name, by default that of the HostMachine.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	NodeName string `json:"nodeName,omitempty"`

	// joinAfter is the time from provisioning until the Node object appears, such as
	// 500ms, by default none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^0$|^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	JoinAfter *metav1.Duration `json:"joinAfter,omitempty"`

	// readyAfter is the time from the Node's appearance until it turns Ready, by
	// default none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^0$|^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	ReadyAfter *metav1.Duration `json:"readyAfter,omitempty"`

	// heartbeatInterval is the time between two heartbeats of the Node, by default 10s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^0$|^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	HeartbeatInterval *metav1.Duration `json:"heartbeatInterval,omitempty"`
}

// HostMachineStatus is what Cluster API reads of a HostMachine.
type HostMachineStatus struct {
	// conditions are Ready and Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization says how far the first provisioning has come.
	// +optional
	Initialization HostMachineInitializationStatus `json:"initialization,omitempty,omitzero"`

	// addresses are the machine's.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Addresses []clusterv1.MachineAddress `json:"addresses,omitempty"`

	// startTime is when the machine was made; joinAfter counts from it.
	// +optional
	StartTime metav1.MicroTime `json:"startTime,omitempty,omitzero"`
}

// HostMachineInitializationStatus says how far the first provisioning has come.
// +kubebuilder:validation:MinProperties=1
type HostMachineInitializationStatus struct {
	// provisioned is true once the machine was made; its Node joins later.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
}

// HostMachine is the infrastructure of a Machine.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:resource:path=hostmachines,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels={"cluster.x-k8s.io/v1beta2=v1beta2","cluster.x-k8s.io/provider=infrastructure-host","clusterctl.cluster.x-k8s.io="}
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`
// +kubebuilder:printcolumn:name="ProviderID",type=string,JSONPath=`.spec.providerID`
// +kubebuilder:printcolumn:name="Provisioned",type=boolean,JSONPath=`.status.initialization.provisioned`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type HostMachine struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec HostMachineSpec `json:"spec,omitempty,omitzero"`
	// +optional
	Status HostMachineStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (m *HostMachine) GetConditions() []metav1.Condition { return m.Status.Conditions }

// SetConditions replaces the conditions.
func (m *HostMachine) SetConditions(conditions []metav1.Condition) { m.Status.Conditions = conditions }

// HostMachineList is a list of HostMachines.
//
// +kubebuilder:object:root=true
type HostMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []HostMachine `json:"items"`
}

// HostMachineTemplateSpec holds what HostMachines are made from.
type HostMachineTemplateSpec struct {
	// +required
	Template HostMachineTemplateResource `json:"template"`
}

// HostMachineTemplateResource is a HostMachine to be.
type HostMachineTemplateResource struct {
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// +optional
	Spec HostMachineSpec `json:"spec,omitempty,omitzero"`
}

// HostMachineTemplate makes HostMachines for sets of Machines.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=hostmachinetemplates,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels={"cluster.x-k8s.io/v1beta2=v1beta2","cluster.x-k8s.io/provider=infrastructure-host","clusterctl.cluster.x-k8s.io="}
type HostMachineTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec HostMachineTemplateSpec `json:"spec,omitempty,omitzero"`
}

// HostMachineTemplateList is a list of HostMachineTemplates.
//
// +kubebuilder:object:root=true
type HostMachineTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []HostMachineTemplate `json:"items"`
}

func init() {
	schemeBuilder.Register(&HostMachine{}, &HostMachineList{}, &HostMachineTemplate{}, &HostMachineTemplateList{})
}
