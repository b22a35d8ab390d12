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

// Package v1alpha1 holds the 5spot.finos.org/v1alpha1 API: the ScheduledMachine,
// which says when a Machine of a Cluster API cluster exists and which taints its
// Node carries. Manifests written for the 5-Spot controller's v1alpha1 apply
// unchanged.
//
// +kubebuilder:object:generate=true
// +groupName=5spot.finos.org
package v1alpha1
