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

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
)

// story is the demo's plot: a ScheduledMachine called batch-worker.
type story struct {
	*timeline
	env      *environment.Environment
	workload *environment.Workload
	manager  *process.Process
	kubectl  string
	// management and cluster are kubeconfig files.
	management, cluster string
}

const name = "batch-worker"

var key = client.ObjectKey{Namespace: environment.Namespace, Name: name}

func (s *story) writeKubeconfigs() (err error) {
	if s.management, err = s.env.Management.WriteKubeconfig("management.kubeconfig", s.env.Management.Config()); err != nil {
		return err
	}
	s.cluster, err = s.workload.WriteKubeconfig("workload-1.kubeconfig", s.workload.Config())
	return err
}

func (s *story) tell(ctx context.Context) error {
	for _, chapter := range []struct {
		title string
		tell  func(context.Context) error
	}{
		{"The window is open", s.windowOpens},
		{"An admin has taints as well", s.adminTaints},
		{"The spec changes", s.specChanges},
		{"The window closes", s.windowCloses},
	} {
		s.chapter(chapter.title)
		if err := chapter.tell(ctx); err != nil {
			return fmt.Errorf("in %q: %w", chapter.title, err)
		}
	}
	return nil
}

func (s *story) windowOpens(ctx context.Context) error {
	if err := s.env.Client.Create(ctx, scheduledMachine()); err != nil {
		return fmt.Errorf("creating the ScheduledMachine: %w", err)
	}
	s.say("ScheduledMachine %s created: open all day, taints workload=batch:NoSchedule and dedicated=ml:NoExecute", name)
	machine := &clusterv1.Machine{}
	if err := s.until(ctx, "the Machine to be created", func() (bool, error) {
		return found(s.env.Client.Get(ctx, key, machine))
	}); err != nil {
		return err
	}
	s.say("Machine created, with HostMachine and HostConfig of the same name")
	node := &corev1.Node{}
	if err := s.until(ctx, "the Node to join", func() (bool, error) { return found(s.node(ctx, node)) }); err != nil {
		return err
	}
	s.say("Node joined, providerID %s", node.Spec.ProviderID)
	if err := s.until(ctx, "the taints", func() (bool, error) {
		return s.has("workload=batch:NoSchedule", "dedicated=ml:NoExecute")(s.node(ctx, node), node)
	}); err != nil {
		return err
	}
	s.say("Node Ready, taints applied: %s", ours(node))
	if err := s.untilCondition(ctx, v1alpha1.ReadyCondition, metav1.ConditionTrue); err != nil {
		return err
	}
	return s.show(ctx, s.management, "get", "scheduledmachines")
}

func (s *story) adminTaints(ctx context.Context) error {
	node := &corev1.Node{}
	if err := s.show(ctx, s.cluster, "taint", "nodes", name, "maintenance=tonight:NoSchedule"); err != nil {
		return err
	}
	if err := s.show(ctx, s.cluster, "taint", "nodes", name, "tier=admin:NoSchedule"); err != nil {
		return err
	}
	s.say("an admin set two taints of their own; now the spec declares one of them with another value: tier=gold:NoSchedule")
	if err := s.edit(ctx, func(sm *v1alpha1.ScheduledMachine) {
		sm.Spec.NodeTaints = append(sm.Spec.NodeTaints, v1alpha1.NodeTaint{Key: "tier", Value: "gold", Effect: "NoSchedule"})
	}); err != nil {
		return err
	}
	if err := s.untilCondition(ctx, v1alpha1.TaintOwnershipConflictCondition, metav1.ConditionTrue); err != nil {
		return err
	}
	sm := &v1alpha1.ScheduledMachine{}
	if err := s.env.Client.Get(ctx, key, sm); err != nil {
		return err
	}
	s.say("reported as a conflict, not fought over: %s", conditions.GetMessage(sm, v1alpha1.TaintOwnershipConflictCondition))
	if ok, err := s.has("maintenance=tonight:NoSchedule", "tier=admin:NoSchedule", "workload=batch:NoSchedule", "dedicated=ml:NoExecute")(s.node(ctx, node), node); err != nil || !ok {
		return fmt.Errorf("the Node should carry the admin's two taints and ours, but has %s: %w", all(node), err)
	}
	s.say("the admin's own taint is left alone: %s", all(node))
	return nil
}

func (s *story) specChanges(ctx context.Context) error {
	if err := s.edit(ctx, func(sm *v1alpha1.ScheduledMachine) {
		sm.Spec.NodeTaints = sm.Spec.NodeTaints[:1]
	}); err != nil {
		return err
	}
	s.say("dropped dedicated=ml:NoExecute and tier=gold:NoSchedule from the spec")
	node := &corev1.Node{}
	if err := s.until(ctx, "the dropped taint to be removed", func() (bool, error) {
		if err := s.node(ctx, node); err != nil {
			return false, err
		}
		return !strings.Contains(all(node), "dedicated"), nil
	}); err != nil {
		return err
	}
	if ok, err := s.has("maintenance=tonight:NoSchedule", "tier=admin:NoSchedule", "workload=batch:NoSchedule")(nil, node); !ok {
		return fmt.Errorf("only dedicated=ml:NoExecute should be gone, but the Node has %s: %w", all(node), err)
	}
	s.say("the dropped taint is removed from the Node, the admin's stay: %s", all(node))
	if err := s.untilCondition(ctx, v1alpha1.TaintOwnershipConflictCondition, metav1.ConditionFalse); err != nil {
		return err
	}
	s.say("the conflict cleared by itself")
	return s.events(ctx)
}

func (s *story) windowCloses(ctx context.Context) error {
	// Windows are exact to the minute: close at the next one that leaves time to see it open.
	end := time.Now().UTC().Add(10 * time.Second).Truncate(time.Minute).Add(time.Minute)
	if err := s.edit(ctx, func(sm *v1alpha1.ScheduledMachine) {
		sm.Spec.Schedule.Windows[0].End = end.Format("15:04")
	}); err != nil {
		return err
	}
	s.say("the window now ends at %s UTC, in %.0f seconds; the grace is 3s", end.Format("15:04:05"), time.Until(end).Seconds())
	if err := s.untilPhase(ctx, v1alpha1.PhaseShuttingDown); err != nil {
		return err
	}
	s.say("the window closed: phase ShuttingDown, %d ms after the edge", max(time.Since(end).Milliseconds(), 0))
	machine := &clusterv1.Machine{}
	if err := s.until(ctx, "the Machine to be deleted", func() (bool, error) {
		err := s.env.Client.Get(ctx, key, machine)
		return apierrors.IsNotFound(err) || (err == nil && !machine.DeletionTimestamp.IsZero()), client.IgnoreNotFound(err)
	}); err != nil {
		return err
	}
	s.say("the grace is over: Machine deleted; Cluster API drains its Node")
	if err := s.until(ctx, "the Machine to be gone", func() (bool, error) { return isGone(s.env.Client.Get(ctx, key, machine)) }); err != nil {
		return err
	}
	s.say("Machine gone, with HostMachine and HostConfig")
	if err := s.until(ctx, "the Node to be gone", func() (bool, error) { return isGone(s.node(ctx, &corev1.Node{})) }); err != nil {
		return err
	}
	s.say("Node gone")
	if err := s.untilPhase(ctx, v1alpha1.PhaseInactive); err != nil {
		return err
	}
	return s.show(ctx, s.management, "get", "scheduledmachines")
}

func (s *story) node(ctx context.Context, node *corev1.Node) error {
	return s.workload.Client.Get(ctx, client.ObjectKey{Name: name}, node)
}

func (s *story) edit(ctx context.Context, change func(*v1alpha1.ScheduledMachine)) error {
	sm := &v1alpha1.ScheduledMachine{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if err := environment.Edit(ctx, s.env.Client, sm, change); err != nil {
		return fmt.Errorf("editing the ScheduledMachine: %w", err)
	}
	return nil
}

// has tells whether the Node that was just read carries the taints.
func (s *story) has(wanted ...string) func(error, *corev1.Node) (bool, error) {
	return func(err error, node *corev1.Node) (bool, error) {
		if err != nil {
			return false, err
		}
		present := all(node)
		for _, taint := range wanted {
			if !strings.Contains(present, taint) {
				return false, nil
			}
		}
		return true, nil
	}
}

// ours are the taints less those of Kubernetes itself.
func ours(node *corev1.Node) string {
	texts := slices.DeleteFunc(environment.TaintTexts(node), func(text string) bool { return strings.Contains(text, "kubernetes.io/") })
	return strings.Join(texts, " ")
}

func scheduledMachine() *v1alpha1.ScheduledMachine {
	return environment.ScheduledMachine("workload-1", name,
		environment.Taints("workload=batch:NoSchedule", "dedicated=ml:NoExecute"),
		func(sm *v1alpha1.ScheduledMachine) {
			sm.Spec.InfrastructureSpec = environment.Embedded("infrastructure.cluster.x-k8s.io/v1beta2", "HostMachine", `{"simulated":{"readyAfter":"2s"}}`)
			sm.Spec.GracefulShutdownTimeout = "3s"
		})
}

func all(node *corev1.Node) string { return strings.Join(environment.TaintTexts(node), " ") }
