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

// WaitingForControlPlaneEndpointReason says that neither the HostCluster nor its
// Cluster names the API server.
const WaitingForControlPlaneEndpointReason = "WaitingForControlPlaneEndpoint"

// HostClusterSpec says where the cluster's API server is.
type HostClusterSpec struct {
	// controlPlaneEndpoint is where the API server is reached. Whoever creates the
	// cluster sets it, here or in the Cluster.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`
}

// APIEndpoint is where an API server is reached.
// +kubebuilder:validation:MinProperties=1
type APIEndpoint struct {
	// host is a name or an address.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Host string `json:"host,omitempty"`

	// port is the TCP port.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// IsZero reports whether nothing is set.
func (e APIEndpoint) IsZero() bool { return e == APIEndpoint{} }

// IsValid reports whether both parts are set.
func (e APIEndpoint) IsValid() bool { return e.Host != "" && e.Port != 0 }

// HostClusterStatus is what Cluster API reads of a HostCluster.
type HostClusterStatus struct {
	// conditions are Ready and Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization says how far the first provisioning has come.
	// +optional
	Initialization HostClusterInitializationStatus `json:"initialization,omitempty,omitzero"`
}

// HostClusterInitializationStatus says how far the first provisioning has come.
// +kubebuilder:validation:MinProperties=1
type HostClusterInitializationStatus struct {
	// provisioned is true once the endpoint is known.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
}

// HostCluster is the infrastructure of a cluster whose API server runs already.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:resource:path=hostclusters,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels={"cluster.x-k8s.io/v1beta2=v1beta2","cluster.x-k8s.io/provider=infrastructure-host","clusterctl.cluster.x-k8s.io="}
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.spec.controlPlaneEndpoint.host`
// +kubebuilder:printcolumn:name="Provisioned",type=boolean,JSONPath=`.status.initialization.provisioned`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type HostCluster struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec HostClusterSpec `json:"spec,omitempty,omitzero"`
	// +optional
	Status HostClusterStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (c *HostCluster) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the conditions.
func (c *HostCluster) SetConditions(conditions []metav1.Condition) { c.Status.Conditions = conditions }

// HostClusterList is a list of HostClusters.
//
// +kubebuilder:object:root=true
type HostClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []HostCluster `json:"items"`
}

// HostClusterTemplateSpec holds what HostClusters are made from.
type HostClusterTemplateSpec struct {
	// +required
	Template HostClusterTemplateResource `json:"template"`
}

// HostClusterTemplateResource is a HostCluster to be.
type HostClusterTemplateResource struct {
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// +optional
	Spec HostClusterSpec `json:"spec,omitempty,omitzero"`
}

// HostClusterTemplate makes HostClusters for a ClusterClass.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=hostclustertemplates,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels={"cluster.x-k8s.io/v1beta2=v1beta2","cluster.x-k8s.io/provider=infrastructure-host","clusterctl.cluster.x-k8s.io="}
type HostClusterTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec HostClusterTemplateSpec `json:"spec,omitempty,omitzero"`
}

// HostClusterTemplateList is a list of HostClusterTemplates.
//
// +kubebuilder:object:root=true
type HostClusterTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []HostClusterTemplate `json:"items"`
}

func init() {
	schemeBuilder.Register(&HostCluster{}, &HostClusterList{}, &HostClusterTemplate{}, &HostClusterTemplateList{})
}
