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
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

func TestStatusPatch(t *testing.T) {
	g := NewWithT(t)
	joined := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	turned, now := joined.Add(time.Minute), joined.Add(2*time.Minute)
	node := newNode("n", &settings{uid: "machine", providerID: "host://default/n", labels: map[string]string{"a": "b"}}, joined)
	node.UID = "u"
	node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: "Others", Status: corev1.ConditionTrue})
	ready, since := showsReady(node)
	g.Expect(ready).To(BeFalse())
	g.Expect(since).To(BeTemporally("==", joined))
	g.Expect(node.Labels).To(HaveKeyWithValue("a", "b"))

	before, err := json.Marshal(node)
	g.Expect(err).NotTo(HaveOccurred())
	merged, err := strategicpatch.StrategicMergePatch(before, statusPatch("u", nodeConditions(true, joined, turned, now)), corev1.Node{})
	g.Expect(err).NotTo(HaveOccurred())
	after := &corev1.Node{}
	g.Expect(json.Unmarshal(merged, after)).To(Succeed())
	ready, since = showsReady(after)
	g.Expect(ready).To(BeTrue())
	g.Expect(since).To(BeTemporally("==", turned))
	g.Expect(after.Status.Conditions).To(HaveLen(5))
	for _, c := range after.Status.Conditions {
		switch c.Type {
		case "Others":
			g.Expect(c.Status).To(Equal(corev1.ConditionTrue), "conditions of others stay")
		case corev1.NodeReady:
			g.Expect(c.LastHeartbeatTime.Time).To(BeTemporally("==", now))
		default:
			g.Expect(c.Status).To(Equal(corev1.ConditionFalse))
			g.Expect(c.LastHeartbeatTime.Time).To(BeTemporally("==", now))
			g.Expect(c.LastTransitionTime.Time).To(BeTemporally("==", joined))
		}
	}
	g.Expect(after.UID).To(Equal(node.UID))
	g.Expect(after.Spec).To(Equal(node.Spec))
	g.Expect(after.Status.Capacity).To(HaveLen(4))
}

func TestShowsReadyOfANodeWithoutConditions(t *testing.T) {
	ready, _ := showsReady(&corev1.Node{})
	NewWithT(t).Expect(ready).To(BeFalse())
}
