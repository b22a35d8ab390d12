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

package taints

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// Plan is what has to happen to a Node's taints, and what the Node looks like
// afterwards.
type Plan struct {
	// Added, Updated (with the new value) and Removed are the changes to the list.
	Added, Updated, Removed []v1alpha1.NodeTaint
	// Forgotten leave the record because they are neither declared nor on the Node.
	Forgotten []v1alpha1.NodeTaint
	// GivenUp leave the record because they are somebody else's now: changed, or
	// claimed by Cluster API. They stay on the Node.
	GivenUp []v1alpha1.NodeTaint

	// Unchanged and Satisfied are declared and on the Node already: the former ours,
	// the latter set by somebody else, so that they will never be removed by us.
	Unchanged, Satisfied []v1alpha1.NodeTaint
	// Conflicts are left as they are and do not keep the other taints back.
	Conflicts []Conflict
	// Refused are declared taints that were not considered, because the key is
	// reserved or because an earlier one has the same key and effect. [Validate]
	// says so in words.
	Refused []v1alpha1.NodeTaint

	// Taints is the whole list for the Node: what was there in its order and with
	// its timeAdded, then what was added in the order of declaration.
	//
	// What is added has no timeAdded. Nobody reads it: taint eviction counts
	// tolerationSeconds from when it notices the taint (k8s.io/kubernetes v1.36,
	// pkg/controller/tainteviction, handleNodeUpdate), and kubectl sets none either.
	Taints []corev1.Taint
	// Owned is the whole record, sorted by key and effect.
	Owned []v1alpha1.NodeTaint

	// RecordError says why the record could not be read. Nothing is owned then, so
	// everything on the Node is left as it is. The next write for another reason
	// replaces the record; there is none for this reason alone, so that a person
	// can still see, and mend, what is there.
	RecordError error
}

// For plans what has to happen on a Node so that it carries the desired taints. It
// reads the Node's taints and annotations, changes nothing, and has an answer for
// any input, also for what Validate refuses.
func For(node *corev1.Node, desired []v1alpha1.NodeTaint) Plan {
	var p Plan
	record, err := DecodeRecord(node.Annotations[v1alpha1.AppliedTaintsAnnotation])
	p.RecordError = err

	claims := machineClaims(node)
	applied := p.applied(record, claims)
	declared, order := p.declared(desired)

	p.walkNode(node, declared, applied, claims)
	p.walkAbsent(node, order, record, declared, applied, claims)
	slices.SortFunc(p.Owned, compare)
	return p
}

// applied is the part of the record that counts, as value by identity. What
// Cluster API claims is given up. So is what has a reserved key: it cannot have
// been applied by us, and the annotation can be written by the kubelet, which may
// not change the taints of its own Node (admission plugin NodeRestriction) and must
// not be able to have us do it.
func (p *Plan) applied(record []v1alpha1.NodeTaint, claims map[identity]bool) map[identity]string {
	applied := make(map[identity]string, len(record))
	for _, taint := range record {
		if claims[identityOf(taint)] || ReservedKey(taint.Key) {
			p.GivenUp = append(p.GivenUp, taint)
			continue
		}
		applied[identityOf(taint)] = taint.Value
	}
	return applied
}

// declared is what is desired, as value by identity and in order.
func (p *Plan) declared(desired []v1alpha1.NodeTaint) (map[identity]string, []v1alpha1.NodeTaint) {
	values := make(map[identity]string, len(desired))
	var order []v1alpha1.NodeTaint
	for _, taint := range desired {
		if _, seen := values[identityOf(taint)]; seen || ReservedKey(taint.Key) {
			p.Refused = append(p.Refused, taint)
			continue
		}
		values[identityOf(taint)] = taint.Value
		order = append(order, taint)
	}
	return values, order
}

// walkNode deals with each taint that is on the Node.
func (p *Plan) walkNode(node *corev1.Node, declared, applied map[identity]string, claims map[identity]bool) {
	for i := range node.Spec.Taints {
		taint := node.Spec.Taints[i].DeepCopy()
		present := fromNode(*taint)
		id := identityOf(present)
		want, ours := lookup(declared, id), lookup(applied, id)

		result := decide(want, &present.Value, ours)
		conflict := Conflict{Key: id.key, Effect: id.effect, Present: present.Value}
		if want != nil {
			conflict.Declared = *want
		}
		if ours != nil {
			conflict.Applied = *ours
		}

		switch result {
		case unchanged:
			p.Unchanged = append(p.Unchanged, present)
			p.own(id, *ours)
		case satisfied:
			p.Satisfied = append(p.Satisfied, present)
		case update:
			taint.Value = *want
			p.Updated = append(p.Updated, fromNode(*taint))
			p.own(id, *want)
		case conflictChanged:
			p.conflict(conflict, ChangedByOther)
			p.own(id, *ours)
		case conflictHeld:
			reason := HeldByOther
			if claims[id] {
				reason = HeldByMachine
			}
			p.conflict(conflict, reason)
		case remove:
			p.Removed = append(p.Removed, present)
			continue
		case giveUp:
			p.conflict(conflict, ChangedUndeclared)
			p.GivenUp = append(p.GivenUp, v1alpha1.NodeTaint{Key: id.key, Value: *ours, Effect: id.effect})
		}
		p.Taints = append(p.Taints, *taint)
	}
}

// walkAbsent deals with what is declared or recorded and not on the Node.
func (p *Plan) walkAbsent(node *corev1.Node, order, record []v1alpha1.NodeTaint, declared, applied map[identity]string, claims map[identity]bool) {
	onNode := make(map[identity]bool, len(node.Spec.Taints))
	for _, taint := range node.Spec.Taints {
		onNode[identityOf(fromNode(taint))] = true
	}
	for _, taint := range order {
		id := identityOf(taint)
		switch {
		case onNode[id]:
		case claims[id]:
			p.conflict(Conflict{Key: id.key, Effect: id.effect, Declared: taint.Value}, ClaimedByMachine)
		default:
			p.Added = append(p.Added, taint)
			p.Taints = append(p.Taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)})
			p.own(id, taint.Value)
		}
	}
	for _, taint := range record {
		id := identityOf(taint)
		if !onNode[id] && decide(lookup(declared, id), nil, lookup(applied, id)) == forget {
			p.Forgotten = append(p.Forgotten, taint)
		}
	}
}

func (p *Plan) own(id identity, value string) {
	p.Owned = append(p.Owned, v1alpha1.NodeTaint{Key: id.key, Value: value, Effect: id.effect})
}

func (p *Plan) conflict(c Conflict, reason ConflictReason) {
	c.Reason = reason
	p.Conflicts = append(p.Conflicts, c)
}

func lookup(values map[identity]string, id identity) *string {
	if value, found := values[id]; found {
		return &value
	}
	return nil
}

// Empty says that there is nothing to write: neither the Node's taints nor the
// record would change.
func (p Plan) Empty() bool {
	return len(p.Added) == 0 && len(p.Updated) == 0 && len(p.Removed) == 0 && len(p.Forgotten) == 0 && len(p.GivenUp) == 0
}

// Complete says that, once the plan is applied, every declared taint is on the Node
// with its declared value.
func (p Plan) Complete() bool {
	return len(p.Refused) == 0 && !slices.ContainsFunc(p.Conflicts, func(c Conflict) bool { return !c.Undeclared() })
}

// Summary lists what the plan writes, as key=value:Effect, for an Event or a log
// line. It is empty where the plan is.
func (p Plan) Summary() string {
	var parts []string
	for _, change := range []struct {
		verb string
		list []v1alpha1.NodeTaint
	}{
		{"added", p.Added},
		{"updated", p.Updated},
		{"removed", p.Removed},
		{"forgot", p.Forgotten},
		{"gave up", p.GivenUp},
	} {
		if len(change.list) == 0 {
			continue
		}
		names := make([]string, 0, len(change.list))
		for _, taint := range change.list {
			names = append(names, Format(taint))
		}
		parts = append(parts, change.verb+" "+strings.Join(names, ", "))
	}
	return strings.Join(parts, "; ")
}
