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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Reasons of a HostConfig's Ready condition.
const (
	// WaitingForControlPlaneReason says that there is no API server to join yet.
	WaitingForControlPlaneReason = "WaitingForControlPlane"
	// DataSecretAvailableReason says that the Secret is there.
	DataSecretAvailableReason = "DataSecretAvailable"
	// DataSecretNotOursReason says that another Secret bears the name.
	DataSecretNotOursReason = "DataSecretNotOurs"
)

// DataSecretKey is the key of the bootstrap data in its Secret, as the contract has it.
const DataSecretKey = "value"

// HostConfigSpec says what a Node registers with. As YAML it is the bootstrap data
// that a HostMachine's backend reads.
type HostConfigSpec struct {
	// nodeTaints are on the Node from its registration on, as a kubelet's
	// registerWithTaints. node.cluster.x-k8s.io/uninitialized:NoSchedule among them is
	// taken off by Cluster API once it has labelled the Node.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MaxItems=64
	NodeTaints []NodeTaint `json:"nodeTaints,omitempty"`

	// nodeLabels are on the Node from its registration on.
	// +optional
	NodeLabels map[string]string `json:"nodeLabels,omitempty"`
}

// NodeTaint is a taint that a Node registers with.
type NodeTaint struct {
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key"`
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Value string `json:"value,omitempty"`
	// +required
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect corev1.TaintEffect `json:"effect"`
}

// HostConfigStatus is what Cluster API reads of a HostConfig.
type HostConfigStatus struct {
	// conditions are Ready and Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization says how far the first provisioning has come.
	// +optional
	Initialization HostConfigInitializationStatus `json:"initialization,omitempty,omitzero"`

	// dataSecretName names the Secret with the bootstrap data, always the HostConfig's
	// own name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	DataSecretName string `json:"dataSecretName,omitempty"`
}

// HostConfigInitializationStatus says how far the first provisioning has come.
// +kubebuilder:validation:MinProperties=1
type HostConfigInitializationStatus struct {
	// dataSecretCreated is true once the Secret is there.
	// +optional
	DataSecretCreated *bool `json:"dataSecretCreated,omitempty"`
}

// HostConfig is the bootstrap configuration of a Machine.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:resource:path=hostconfigs,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels={"cluster.x-k8s.io/v1beta2=v1beta2","cluster.x-k8s.io/provider=bootstrap-host","clusterctl.cluster.x-k8s.io="}
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`
// +kubebuilder:printcolumn:name="Data",type=boolean,JSONPath=`.status.initialization.dataSecretCreated`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type HostConfig struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec HostConfigSpec `json:"spec,omitempty,omitzero"`
	// +optional
	Status HostConfigStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (c *HostConfig) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the conditions.
func (c *HostConfig) SetConditions(conditions []metav1.Condition) { c.Status.Conditions = conditions }

// HostConfigList is a list of HostConfigs.
//
// +kubebuilder:object:root=true
type HostConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []HostConfig `json:"items"`
}

// HostConfigTemplateSpec holds what HostConfigs are made from.
type HostConfigTemplateSpec struct {
	// +required
	Template HostConfigTemplateResource `json:"template"`
}

// HostConfigTemplateResource is a HostConfig to be.
type HostConfigTemplateResource struct {
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// +optional
	Spec HostConfigSpec `json:"spec,omitempty,omitzero"`
}

// HostConfigTemplate makes HostConfigs for sets of Machines.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=hostconfigtemplates,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels={"cluster.x-k8s.io/v1beta2=v1beta2","cluster.x-k8s.io/provider=bootstrap-host","clusterctl.cluster.x-k8s.io="}
type HostConfigTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec HostConfigTemplateSpec `json:"spec,omitempty,omitzero"`
}

// HostConfigTemplateList is a list of HostConfigTemplates.
//
// +kubebuilder:object:root=true
type HostConfigTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []HostConfigTemplate `json:"items"`
}

func init() {
	schemeBuilder.Register(&HostConfig{}, &HostConfigList{}, &HostConfigTemplate{}, &HostConfigTemplateList{})
}
