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

package controllers

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// object is a kind of this provider that has a status.
type object interface {
	client.Object
	conditions.Setter
}

// writeStatus writes what changed in an object's status since before, in one request
// and none where nothing did. The status has no other writer.
func writeStatus(ctx context.Context, c client.Client, before, after client.Object) error {
	patch := client.MergeFrom(before)
	data, err := patch.Data(after)
	if err != nil {
		return fmt.Errorf("comparing the status: %w", err)
	}
	if string(data) == "{}" {
		return nil
	}
	if err := c.Status().Patch(ctx, after, client.RawPatch(patch.Type(), data)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}

// setCondition sets a condition of the object's present generation.
func setCondition(o object, conditionType string, status bool, reason, message string) {
	condition := metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, Reason: reason, Message: message, ObservedGeneration: o.GetGeneration()}
	if status {
		condition.Status = metav1.ConditionTrue
	}
	conditions.Set(o, condition)
}

// paused sets the Paused condition and reports whether the object is to be left alone.
// CAPI's helper for this writes it in a request of its own.
func paused(cluster *clusterv1.Cluster, o object) bool {
	var because []string
	if cluster != nil && ptr.Deref(cluster.Spec.Paused, false) {
		because = append(because, "Cluster spec.paused is set to true")
	}
	if annotations.HasPaused(o) {
		because = append(because, "the object has the annotation "+clusterv1.PausedAnnotation)
	}
	reason := clusterv1.NotPausedReason
	if because != nil {
		reason = clusterv1.PausedReason
	}
	setCondition(o, clusterv1.PausedCondition, because != nil, reason, strings.Join(because, ", "))
	return because != nil
}
