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

// Reasons of a HostControlPlane's Available condition.
const (
	// WaitingForKubeconfigReason says that the Secret CLUSTER-kubeconfig is missing or
	// has no key value.
	WaitingForKubeconfigReason = "WaitingForKubeconfig"
	// AvailableReason says that the API server can be reached as the Secret says.
	AvailableReason = "KubeconfigAvailable"
)

// HostControlPlaneSpec describes a control plane that runs already.
type HostControlPlaneSpec struct {
	// version is the Kubernetes version that it runs, such as v1.36.3. A ClusterClass
	// sets it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`
}

// HostControlPlaneStatus is what Cluster API reads of a HostControlPlane.
type HostControlPlaneStatus struct {
	// conditions are Available and Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization says how far the first provisioning has come.
	// +optional
	Initialization HostControlPlaneInitializationStatus `json:"initialization,omitempty,omitzero"`

	// externalManagedControlPlane is always true: no Machine or Node stands for the
	// control plane. Without it Cluster API drains no Node and deletes none, for want
	// of control plane Machines.
	// +optional
	ExternalManagedControlPlane *bool `json:"externalManagedControlPlane,omitempty"`

	// versions holds the one version that runs.
	// +optional
	// +listType=map
	// +listMapKey=version
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Versions []clusterv1.StatusVersion `json:"versions,omitempty"`

	// version is the same, for readers of the contract's older field.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`
}

// HostControlPlaneInitializationStatus says how far the first provisioning has come.
// +kubebuilder:validation:MinProperties=1
type HostControlPlaneInitializationStatus struct {
	// controlPlaneInitialized is true once the cluster's kubeconfig Secret was seen.
	// +optional
	ControlPlaneInitialized *bool `json:"controlPlaneInitialized,omitempty"`
}

// HostControlPlane is a control plane that runs already, and that somebody else runs.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:resource:path=hostcontrolplanes,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels={"cluster.x-k8s.io/v1beta2=v1beta2","cluster.x-k8s.io/provider=control-plane-host","clusterctl.cluster.x-k8s.io="}
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`
// +kubebuilder:printcolumn:name="Initialized",type=boolean,JSONPath=`.status.initialization.controlPlaneInitialized`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type HostControlPlane struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec HostControlPlaneSpec `json:"spec,omitempty,omitzero"`
	// +optional
	Status HostControlPlaneStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (c *HostControlPlane) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the conditions.
func (c *HostControlPlane) SetConditions(conditions []metav1.Condition) {
	c.Status.Conditions = conditions
}

// HostControlPlaneList is a list of HostControlPlanes.
//
// +kubebuilder:object:root=true
type HostControlPlaneList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []HostControlPlane `json:"items"`
}

// HostControlPlaneTemplateSpec holds what HostControlPlanes are made from.
type HostControlPlaneTemplateSpec struct {
	// +required
	Template HostControlPlaneTemplateResource `json:"template"`
}

// HostControlPlaneTemplateResource is a HostControlPlane to be.
type HostControlPlaneTemplateResource struct {
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// +optional
	Spec HostControlPlaneTemplateResourceSpec `json:"spec,omitempty,omitzero"`
}

// HostControlPlaneTemplateResourceSpec is empty: the version, which is all that a
// HostControlPlane says, comes from the Cluster.
type HostControlPlaneTemplateResourceSpec struct{}

// HostControlPlaneTemplate makes HostControlPlanes for a ClusterClass.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=hostcontrolplanetemplates,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels={"cluster.x-k8s.io/v1beta2=v1beta2","cluster.x-k8s.io/provider=control-plane-host","clusterctl.cluster.x-k8s.io="}
type HostControlPlaneTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec HostControlPlaneTemplateSpec `json:"spec,omitempty,omitzero"`
}

// HostControlPlaneTemplateList is a list of HostControlPlaneTemplates.
//
// +kubebuilder:object:root=true
type HostControlPlaneTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []HostControlPlaneTemplate `json:"items"`
}

func init() {
	schemeBuilder.Register(&HostControlPlane{}, &HostControlPlaneList{}, &HostControlPlaneTemplate{}, &HostControlPlaneTemplateList{})
}
