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

package simulated

import (
	"encoding/json"
	"maps"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// newNode is the Node that a machine registers, status and all, as a kubelet does
// (pkg/kubelet/kubelet_node_status.go in Kubernetes).
func newNode(name string, s *settings, now time.Time) *corev1.Node {
	labels := map[string]string{
		corev1.LabelHostname:   name,
		corev1.LabelOSStable:   "linux",
		corev1.LabelArchStable: runtime.GOARCH,
	}
	maps.Copy(labels, s.labels)
	resources := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("4"),
		corev1.ResourceMemory:           resource.MustParse("8Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.NodeSpec{ProviderID: s.providerID, Taints: s.taints},
		Status: corev1.NodeStatus{
			Addresses:   []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: name}},
			Capacity:    resources,
			Allocatable: resources,
			Conditions:  nodeConditions(false, now, now, now),
			NodeInfo: corev1.NodeSystemInfo{
				MachineID:               string(s.uid),
				SystemUUID:              string(s.uid),
				BootID:                  string(uuid.NewUUID()),
				KernelVersion:           "simulated",
				OSImage:                 "simulated",
				ContainerRuntimeVersion: "simulated://1",
				KubeletVersion:          s.version,
				OperatingSystem:         "linux",
				Architecture:            runtime.GOARCH,
			},
		},
	}
}

// nodeConditions are those that a kubelet keeps, in its words.
func nodeConditions(ready bool, joined, turned, now time.Time) []corev1.NodeCondition {
	fine := func(t corev1.NodeConditionType, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{
			Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message,
			LastHeartbeatTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(joined),
		}
	}
	condition := corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", Message: "the simulated machine is not ready",
		LastHeartbeatTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(turned),
	}
	if ready {
		condition.Status, condition.Reason, condition.Message = corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"
	}
	return []corev1.NodeCondition{
		fine(corev1.NodeMemoryPressure, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		fine(corev1.NodeDiskPressure, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		fine(corev1.NodePIDPressure, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		condition,
	}
}

// statusPatch is a strategic merge patch of the status of the Node with that UID. A
// Node of the name with another UID refuses it.
func statusPatch(node types.UID, conditions []corev1.NodeCondition) []byte {
	var patch struct {
		Metadata struct {
			UID types.UID `json:"uid"`
		} `json:"metadata"`
		Status struct {
			Conditions []corev1.NodeCondition `json:"conditions"`
		} `json:"status"`
	}
	patch.Metadata.UID = node
	patch.Status.Conditions = conditions
	data, err := json.Marshal(patch)
	if err != nil {
		panic(err) // Plain data, which always has a JSON form.
	}
	return data
}

// showsReady reads whether the Node is Ready, and since when it is or is not.
func showsReady(node *corev1.Node) (ready bool, since time.Time) {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time
		}
	}
	return false, node.CreationTimestamp.Time
}
