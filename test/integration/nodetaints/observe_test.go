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

package nodetaints_test

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/internal/taints"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

// node reads a Node of the workload cluster.
func node(name string) (*corev1.Node, error) {
	n := &corev1.Node{}
	return n, workload.Client.Get(ctx, client.ObjectKey{Name: name}, n)
}

func uidOf(name string) func() types.UID {
	return func() types.UID {
		n, err := node(name)
		if err != nil {
			return ""
		}
		return n.UID
	}
}

// taintsOf reads a Node's taints as kubectl writes them, less those of Kubernetes.
func taintsOf(name string) func() []string {
	return func() []string {
		n, err := node(name)
		if err != nil {
			return []string{err.Error()}
		}
		return slices.DeleteFunc(environment.TaintTexts(n), kubernetesOwn)
	}
}

func kubernetesOwn(taint string) bool { return strings.Contains(taint, "kubernetes.io/") }

// recordOf reads what the Node itself says is ours.
func recordOf(name string) func() []string {
	return func() []string {
		n, err := node(name)
		if err != nil {
			return []string{err.Error()}
		}
		record, err := taints.DecodeRecord(n.Annotations[v1alpha1.AppliedTaintsAnnotation])
		if err != nil {
			return []string{err.Error()}
		}
		return texts(record)
	}
}

// texts writes taints as kubectl does.
func texts(list []v1alpha1.NodeTaint) []string {
	all := []string{}
	for _, taint := range list {
		core := corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)}
		all = append(all, core.ToString())
	}
	return all
}

// taintAsAdmin changes a Node's taints, again where the Node has changed meanwhile.
func taintAsAdmin(name string, change func([]corev1.Taint) []corev1.Taint) {
	GinkgoHelper()
	n := &corev1.Node{}
	n.Name = name
	Expect(environment.Edit(ctx, workload.Client, n, func(n *corev1.Node) { n.Spec.Taints = change(n.Spec.Taints) })).To(Succeed())
}

// set puts a taint on, or gives it another value where it is.
func set(text string) func([]corev1.Taint) []corev1.Taint {
	taint := environment.ParseTaint(text)
	return func(list []corev1.Taint) []corev1.Taint {
		for i := range list {
			if list[i].MatchTaint(&taint) {
				list[i].Value = taint.Value
				return list
			}
		}
		return append(list, taint)
	}
}

// take takes taints off.
func take(all ...string) func([]corev1.Taint) []corev1.Taint {
	return func(list []corev1.Taint) []corev1.Taint {
		return slices.DeleteFunc(list, func(t corev1.Taint) bool { return slices.Contains(all, t.ToString()) })
	}
}

// ourRequests are all requests that name a Node and come from this provider.
func ourRequests(name string) []controlplane.AuditEvent {
	GinkgoHelper()
	events, err := workload.Audit(func(e controlplane.AuditEvent) bool {
		return e.Resource == "nodes" && e.Name == name && !e.DryRun &&
			(strings.Contains(e.UserAgent, "5spot-in-process") || e.FieldManager == v1alpha1.NodeFieldManager)
	})
	Expect(err).NotTo(HaveOccurred())
	return events
}

// ourWrites are those of our requests that changed the Node; a patch that was refused
// because the Node had changed since is none.
func ourWrites(name string) []controlplane.AuditEvent {
	GinkgoHelper()
	return slices.DeleteFunc(ourRequests(name), func(e controlplane.AuditEvent) bool { return !e.Write() || e.Code >= 300 })
}

// refused are those of our writes that the API server answered with an error.
func refused(name string) []controlplane.AuditEvent {
	GinkgoHelper()
	return slices.DeleteFunc(ourRequests(name), func(e controlplane.AuditEvent) bool { return !e.Write() || e.Code < 300 })
}

// writesOf are all writes to a ScheduledMachine, its status included.
func writesOf(sm *v1alpha1.ScheduledMachine) []controlplane.AuditEvent {
	GinkgoHelper()
	events, err := env.Management.Audit(func(e controlplane.AuditEvent) bool {
		return e.Write() && e.Resource == "scheduledmachines" && e.Name == sm.Name
	})
	Expect(err).NotTo(HaveOccurred())
	return events
}

// eventsOf are the messages of a ScheduledMachine's Events of a reason, oldest first.
func eventsOf(sm *v1alpha1.ScheduledMachine, reason string) func() []string {
	return func() []string {
		list := &corev1.EventList{}
		if err := env.Client.List(ctx, list, client.InNamespace(sm.Namespace)); err != nil {
			return []string{err.Error()}
		}
		events := slices.DeleteFunc(list.Items, func(e corev1.Event) bool { return e.InvolvedObject.UID != sm.UID || e.Reason != reason })
		slices.SortStableFunc(events, func(a, b corev1.Event) int { return strings.Compare(a.Name, b.Name) })
		messages := []string{}
		for _, e := range events {
			for range max(e.Count, 1) {
				messages = append(messages, e.Message)
			}
		}
		return messages
	}
}

func appliedEvents(sm *v1alpha1.ScheduledMachine) func() []string {
	return eventsOf(sm, v1alpha1.NodeTaintsAppliedEvent)
}
