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

package environment

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// ScheduledMachine returns one for a cluster, with a host machine that is Ready as
// soon as it joins and a window that is always open; each change makes it what the
// caller needs.
func ScheduledMachine(cluster, name string, changes ...func(*v1alpha1.ScheduledMachine)) *v1alpha1.ScheduledMachine {
	sm := &v1alpha1.ScheduledMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name},
		Spec: v1alpha1.ScheduledMachineSpec{
			ClusterName:             cluster,
			Schedule:                AlwaysOpen(),
			BootstrapSpec:           Embedded("bootstrap.cluster.x-k8s.io/v1beta2", "HostConfig", `{}`),
			InfrastructureSpec:      Embedded("infrastructure.cluster.x-k8s.io/v1beta2", "HostMachine", `{}`),
			Version:                 "v1.36.3",
			GracefulShutdownTimeout: "0s",
			NodeDrainTimeout:        "30s",
		},
	}
	for _, change := range changes {
		change(sm)
	}
	return sm
}

// Embedded is an embedded object.
func Embedded(apiVersion, kind, spec string) *v1alpha1.EmbeddedObject {
	return &v1alpha1.EmbeddedObject{APIVersion: apiVersion, Kind: kind, Spec: runtime.RawExtension{Raw: []byte(spec)}}
}

// Taints declares nodeTaints, each written as kubectl does: key=value:Effect.
func Taints(texts ...string) func(*v1alpha1.ScheduledMachine) {
	return func(sm *v1alpha1.ScheduledMachine) { sm.Spec.NodeTaints = ParseTaints(texts...) }
}

// AlwaysOpen is a schedule whose window never closes.
func AlwaysOpen() v1alpha1.Schedule {
	return v1alpha1.Schedule{Windows: []v1alpha1.Window{{Days: []string{"mon-sun"}, Start: "00:00", End: "00:00"}}}
}

// NeverOpen is a schedule whose window is closed for as long as a test may run.
func NeverOpen() v1alpha1.Schedule {
	return v1alpha1.Schedule{Exceptions: []v1alpha1.Exception{{From: "2000-01-01", To: "2000-01-01", Active: ptr.To(true)}}}
}

// Window is a schedule that is open daily from one instant to another, both on a
// full minute, in UTC.
func Window(from, to time.Time) v1alpha1.Schedule {
	return v1alpha1.Schedule{Windows: []v1alpha1.Window{{
		Days: []string{"mon-sun"}, Start: from.UTC().Format("15:04"), End: to.UTC().Format("15:04"),
	}}}
}

// ParseTaints reads key=value:Effect and key:Effect.
func ParseTaints(texts ...string) []v1alpha1.NodeTaint {
	taints := make([]v1alpha1.NodeTaint, 0, len(texts))
	for _, text := range texts {
		taint := ParseTaint(text)
		taints = append(taints, v1alpha1.NodeTaint{Key: taint.Key, Value: taint.Value, Effect: v1alpha1.TaintEffect(taint.Effect)})
	}
	return taints
}

// ParseTaint reads key=value:Effect and key:Effect.
func ParseTaint(text string) corev1.Taint {
	pair, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(pair, "=")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}

// Edit changes an object as a person would, again where it changed meanwhile.
func Edit[T client.Object](ctx context.Context, c client.Client, o T, change func(T)) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		change(o)
		return c.Update(ctx, o)
	})
}

// Condition says a condition of the ScheduledMachine as Status/Reason, or nothing
// where it does not speak of the present generation.
func Condition(sm *v1alpha1.ScheduledMachine, conditionType string) string {
	c := conditions.Get(sm, conditionType)
	if c == nil || c.ObservedGeneration != sm.Generation {
		return ""
	}
	return fmt.Sprintf("%s/%s", c.Status, c.Reason)
}

// TaintTexts are a Node's taints as kubectl writes them, in their order.
func TaintTexts(node *corev1.Node) []string {
	texts := make([]string, 0, len(node.Spec.Taints))
	for i := range node.Spec.Taints {
		texts = append(texts, node.Spec.Taints[i].ToString())
	}
	return texts
}
