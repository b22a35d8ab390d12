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

package nodetaints

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/conditions"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/taints"
)

// ownedConditions are those that this controller alone writes.
var ownedConditions = []string{v1alpha1.NodeTaintedCondition, v1alpha1.TaintOwnershipConflictCondition}

// maxMessage keeps a condition's message, which may list any number of conflicts,
// well below the API's limit of 32 KiB.
const maxMessage = 4096

func (s *scope) set(conditionType string, status metav1.ConditionStatus, reason, message string) {
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + " …"
	}
	conditions.Set(s.sm, metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: message, ObservedGeneration: s.sm.Generation,
	})
}

// noNode: there is no Node to taint, or it is to be left alone.
func (s *scope) noNode(why string) {
	s.sm.Status.NodeRef, s.sm.Status.AppliedNodeTaints = nil, nil
	if s.machine != nil && s.machine.Status.NodeRef.IsDefined() && s.machine.DeletionTimestamp.IsZero() {
		s.sm.Status.NodeRef = nodeReference(s.machine.Status.NodeRef.Name, "")
	}
	s.set(v1alpha1.NodeTaintedCondition, metav1.ConditionUnknown, v1alpha1.NoNodeYetReason, why)
	s.set(v1alpha1.TaintOwnershipConflictCondition, metav1.ConditionFalse, v1alpha1.NoConflictReason, "")
}

// unreachable: what status says of the Node was true when last seen, and stays.
func (s *scope) unreachable(why string) {
	s.set(v1alpha1.NodeTaintedCondition, metav1.ConditionUnknown, v1alpha1.ClusterUnreachableReason,
		fmt.Sprintf("Workload cluster %s cannot be reached: %s", s.cluster.Name, why))
}

func (s *scope) invalid(errs field.ErrorList) {
	s.set(v1alpha1.NodeTaintedCondition, metav1.ConditionFalse, v1alpha1.InvalidTaintsReason, errs.ToAggregate().Error())
}

func (s *scope) patchFailed(err error) {
	s.set(v1alpha1.NodeTaintedCondition, metav1.ConditionFalse, v1alpha1.PatchFailedReason,
		fmt.Sprintf("The workload cluster refused: %v", err))
}

// see mirrors what stands on a Node, whether or not the plan can be applied.
func (s *scope) see(node *corev1.Node, plan taints.Plan) {
	st := &s.sm.Status
	st.NodeRef = nodeReference(node.Name, string(node.UID))
	st.AppliedNodeTaints = mirrored(node)
	if len(plan.Conflicts) == 0 {
		s.set(v1alpha1.TaintOwnershipConflictCondition, metav1.ConditionFalse, v1alpha1.NoConflictReason, "")
	} else {
		s.set(v1alpha1.TaintOwnershipConflictCondition, metav1.ConditionTrue, v1alpha1.TaintOwnershipConflictReason, join(plan.Conflicts))
	}
}

// mirrored is the record on a Node, less what cannot have been applied by us: anybody
// who may annotate the Node can write anything there, and the API refuses a status
// with an entry that is no taint.
func mirrored(node *corev1.Node) []v1alpha1.NodeTaint {
	record, err := taints.DecodeRecord(node.Annotations[v1alpha1.AppliedTaintsAnnotation])
	if err != nil {
		return nil
	}
	var list []v1alpha1.NodeTaint
	for _, taint := range record {
		if len(list) < taints.MaxTaints && len(taints.Validate([]v1alpha1.NodeTaint{taint}, nil)) == 0 {
			list = append(list, taint)
		}
	}
	return list
}

// report mirrors a Node and its plan, which is applied or has nothing to apply.
func (s *scope) report(node *corev1.Node, plan taints.Plan) {
	if !node.DeletionTimestamp.IsZero() {
		s.noNode(fmt.Sprintf("Node %s is being deleted", node.Name))
		return
	}
	s.see(node, plan)
	switch {
	case !nodeReady(node):
		s.set(v1alpha1.NodeTaintedCondition, metav1.ConditionFalse, v1alpha1.NodeNotReadyReason,
			fmt.Sprintf("Node %s is not Ready; taints are applied once it is", node.Name))
	case plan.Complete():
		s.set(v1alpha1.NodeTaintedCondition, metav1.ConditionTrue, v1alpha1.TaintsAppliedReason, recordProblem(node))
	default:
		message := join(plan.Conflicts)
		if problem := recordProblem(node); problem != "" {
			message += "; " + problem
		}
		s.set(v1alpha1.NodeTaintedCondition, metav1.ConditionFalse, v1alpha1.TaintOwnershipConflictReason, message)
	}
}

// recordProblem says that the Node's record cannot be read, and what follows; it is
// empty where the record is in order.
func recordProblem(node *corev1.Node) string {
	_, err := taints.DecodeRecord(node.Annotations[v1alpha1.AppliedTaintsAnnotation])
	if err == nil {
		return ""
	}
	return fmt.Sprintf("No taint on Node %s counts as ours until its record is mended or the next change replaces it: %v", node.Name, err)
}

func nodeReference(name, uid string) *v1alpha1.NodeReference {
	return &v1alpha1.NodeReference{APIVersion: "v1", Kind: "Node", Name: name, UID: uid}
}
