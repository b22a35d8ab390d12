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
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// The alphabets are small so that what is declared, present and recorded meets often.
func genTaint() *rapid.Generator[v1alpha1.NodeTaint] {
	return rapid.Custom(func(t *rapid.T) v1alpha1.NodeTaint {
		return v1alpha1.NodeTaint{
			Key:    rapid.SampledFrom([]string{"a", "b", "example.com/c", "d", "node.kubernetes.io/e"}).Draw(t, "key"),
			Value:  rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(t, "value"),
			Effect: rapid.SampledFrom(effects[:2]).Draw(t, "effect"),
		}
	})
}

func genTaints(most int) *rapid.Generator[[]v1alpha1.NodeTaint] {
	return rapid.SliceOfN(genTaint(), 0, most)
}

// distinct keeps the first taint for each key and effect.
func distinct(taints []v1alpha1.NodeTaint) []v1alpha1.NodeTaint {
	seen := map[identity]bool{}
	var kept []v1alpha1.NodeTaint
	for _, taint := range taints {
		if !seen[identityOf(taint)] {
			kept = append(kept, taint)
		}
		seen[identityOf(taint)] = true
	}
	return kept
}

func genNode() *rapid.Generator[*corev1.Node] {
	return rapid.Custom(func(t *rapid.T) *corev1.Node {
		node := nodeWith(nil, distinct(genTaints(6).Draw(t, "record")))
		for _, taint := range distinct(genTaints(8).Draw(t, "onNode")) {
			added := corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)}
			if second := rapid.Int64Range(0, 5).Draw(t, "timeAdded"); second > 0 {
				at := metav1.NewTime(time.Unix(second, 0))
				added.TimeAdded = &at
			}
			node.Spec.Taints = append(node.Spec.Taints, added)
		}
		claims := rapid.SampledFrom([]string{"", "", "nonsense", "a:NoSchedule,d:NoSchedule",
			"a:NoSchedule,a:PreferNoSchedule,b:NoSchedule,d:PreferNoSchedule,example.com/c:NoSchedule"}).Draw(t, "claims")
		if claims != "" {
			metav1.SetMetaDataAnnotation(&node.ObjectMeta, MachineTaintsAnnotation, claims)
		}
		if rapid.IntRange(0, 9).Draw(t, "spoilt") == 0 {
			metav1.SetMetaDataAnnotation(&node.ObjectMeta, v1alpha1.AppliedTaintsAnnotation, rapid.String().Draw(t, "annotation"))
		}
		return node
	})
}

func byIdentity(taints []corev1.Taint) map[identity]corev1.Taint {
	m := make(map[identity]corev1.Taint, len(taints))
	for _, taint := range taints {
		m[identityOf(fromNode(taint))] = taint
	}
	return m
}

func values(taints []v1alpha1.NodeTaint) map[identity]string {
	m := make(map[identity]string, len(taints))
	for _, taint := range taints {
		m[identityOf(taint)] = taint.Value
	}
	return m
}

// TestNothingForeignIsChanged: whatever the input, a taint on the Node is changed
// or removed only if the record has it with the very value that is there, nobody
// else claims it and its key is not reserved; all others stay as they are, in their
// order; what is added stands at the end.
func TestNothingForeignIsChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := genNode().Draw(t, "node")
		desired := genTaints(8).Draw(t, "desired")
		before := node.DeepCopy()
		p := For(node, desired)
		if !reflect.DeepEqual(node, before) {
			t.Fatal("the Node that was read has been changed")
		}

		record, err := DecodeRecord(node.Annotations[v1alpha1.AppliedTaintsAnnotation])
		if (err != nil) != (p.RecordError != nil) {
			t.Fatalf("record error %v, plan says %v", err, p.RecordError)
		}
		recorded, claims, wanted := values(record), machineClaims(node), values(distinct(desired))
		result := byIdentity(p.Taints)

		var kept []corev1.Taint
		for _, taint := range node.Spec.Taints {
			id := identityOf(fromNode(taint))
			value, inRecord := recorded[id]
			ours := inRecord && value == taint.Value && !claims[id] && !ReservedKey(id.key)
			now, stays := result[id]
			want, declared := wanted[id]
			switch {
			case !ours || (declared && want == taint.Value):
				if !stays || !reflect.DeepEqual(now, taint) {
					t.Fatalf("%v became %v (%v)", taint, now, stays)
				}
			case declared:
				if !stays || now.Value != want || !now.TimeAdded.Equal(taint.TimeAdded) {
					t.Fatalf("ours: %v became %v (%v), want value %q", taint, now, stays, want)
				}
			case stays:
				t.Fatalf("ours and not declared: %v stays", taint)
			}
			if stays {
				kept = append(kept, now)
			}
		}
		if len(p.Taints) != len(kept)+len(p.Added) || !reflect.DeepEqual(append([]corev1.Taint(nil), p.Taints[:len(kept)]...), kept) {
			t.Fatalf("order changed:\n%v\n%v", node.Spec.Taints, p.Taints)
		}
		for i, taint := range p.Taints[len(kept):] {
			if fromNode(taint) != p.Added[i] || taint.TimeAdded != nil {
				t.Fatalf("added %v stands as %v", p.Added[i], taint)
			}
		}
	})
}

func TestSecondRunIsEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := genNode().Draw(t, "node")
		desired := genTaints(8).Draw(t, "desired")
		first := For(node, desired)
		second := For(after(node, first), desired)
		if !second.Empty() {
			t.Fatalf("first %q, second %q", first.Summary(), second.Summary())
		}
		if !reflect.DeepEqual(first.Taints, second.Taints) || !slices.Equal(first.Owned, second.Owned) {
			t.Fatalf("an empty plan with other contents: %v %v, %v %v", first.Taints, second.Taints, first.Owned, second.Owned)
		}
		if first.Complete() != second.Complete() {
			t.Fatalf("complete: %v, then %v", first.Complete(), second.Complete())
		}
	})
}

// TestPlanIsConsistent: what the fields of a plan say agrees with what it sends.
func TestPlanIsConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := genNode().Draw(t, "node")
		desired := genTaints(8).Draw(t, "desired")
		p := For(node, desired)
		result := byIdentity(p.Taints)

		if len(result) != len(p.Taints) {
			t.Fatalf("duplicates in %v", p.Taints)
		}
		record, _ := DecodeRecord(node.Annotations[v1alpha1.AppliedTaintsAnnotation])
		same := reflect.DeepEqual(p.Taints, node.Spec.Taints) && maps.Equal(values(record), values(p.Owned))
		if p.Empty() != same || (p.Summary() == "") != same {
			t.Fatalf("empty is %v, but list and record the same is %v: %q", p.Empty(), same, p.Summary())
		}

		wanted := values(desired)
		claims := machineClaims(node)
		for _, taint := range p.Owned {
			id := identityOf(taint)
			if _, declared := wanted[id]; !declared {
				t.Fatalf("owns %v, which is not declared", taint)
			}
			if claims[id] || ReservedKey(id.key) {
				t.Fatalf("owns %v, which is somebody else's", taint)
			}
			present, there := result[id]
			if !there {
				t.Fatalf("owns %v, which is not on the Node", taint)
			}
			changed := slices.ContainsFunc(p.Conflicts, func(c Conflict) bool {
				return c.Key == id.key && c.Effect == id.effect && c.Reason == ChangedByOther
			})
			gaveWay := slices.Contains(p.Unchanged, fromNode(present))
			if present.Value != taint.Value && !changed && !gaveWay {
				t.Fatalf("records %v for %v", taint, present)
			}
		}
		if !slices.IsSortedFunc(p.Owned, compare) {
			t.Fatalf("record not sorted: %v", p.Owned)
		}

		complete := len(p.Refused) == 0
		for _, taint := range desired {
			present, there := result[identityOf(taint)]
			complete = complete && there && present.Value == taint.Value
		}
		if p.Complete() != complete {
			t.Fatalf("complete is %v, want %v: %v declared, %v", p.Complete(), complete, desired, p.Taints)
		}
		// Each declared taint is accounted for exactly once.
		accounted := len(p.Added) + len(p.Updated) + len(p.Unchanged) + len(p.Satisfied) + len(p.Refused)
		for _, c := range p.Conflicts {
			if !c.Undeclared() {
				accounted++
			}
		}
		if accounted != len(desired) {
			t.Fatalf("%d of %d declared taints accounted for: %+v", accounted, len(desired), p)
		}
	})
}

// TestLifeOfANode lets an admin and us write in turn and keeps a ledger, apart from
// the record, of who set each value. Whatever an admin set stays until an admin
// changes it.
func TestLifeOfANode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := nodeWith(nil, nil)
		theirs := map[identity]string{} // what an admin set, and is there
		ours := map[identity]string{}   // what we set, and still claim
		var desired []v1alpha1.NodeTaint

		t.Repeat(map[string]func(*rapid.T){
			"admin sets": func(t *rapid.T) {
				taint := genTaint().Draw(t, "taint")
				id := identityOf(taint)
				i := slices.IndexFunc(node.Spec.Taints, func(c corev1.Taint) bool { return identityOf(fromNode(c)) == id })
				if i < 0 {
					node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: id.key, Effect: corev1.TaintEffect(id.effect)})
					i = len(node.Spec.Taints) - 1
				}
				node.Spec.Taints[i].Value = taint.Value
				// Putting our value back is how an admin gives way.
				if value, claimed := ours[id]; claimed && value == taint.Value {
					delete(theirs, id)
				} else {
					theirs[id] = taint.Value
				}
			},
			"admin removes": func(t *rapid.T) {
				if len(node.Spec.Taints) == 0 {
					t.Skip("nothing there")
				}
				i := rapid.IntRange(0, len(node.Spec.Taints)-1).Draw(t, "index")
				delete(theirs, identityOf(fromNode(node.Spec.Taints[i])))
				node.Spec.Taints = slices.Delete(node.Spec.Taints, i, i+1)
			},
			"spec changes": func(t *rapid.T) {
				desired = genTaints(5).Draw(t, "desired")
			},
			"we apply": func(t *rapid.T) {
				p := For(node, desired)
				node = after(node, p)
				wanted := values(desired)
				maps.DeleteFunc(ours, func(id identity, _ string) bool { _, declared := wanted[id]; return !declared })
				for _, taint := range slices.Concat(p.Added, p.Updated) {
					if value, set := theirs[identityOf(taint)]; set {
						t.Fatalf("overwrote an admin's %v=%q with %v", identityOf(taint), value, taint)
					}
					ours[identityOf(taint)] = taint.Value
				}
			},
			"": func(t *rapid.T) {
				present := byIdentity(node.Spec.Taints)
				for id, value := range theirs {
					if got, there := present[id]; !there || got.Value != value {
						t.Fatalf("an admin set %v=%q, and there is %v (%v)", id, value, got, there)
					}
				}
				record, err := DecodeRecord(node.Annotations[v1alpha1.AppliedTaintsAnnotation])
				if err != nil {
					t.Fatal(err)
				}
				if !maps.Equal(values(record), ours) {
					t.Fatalf("record %v, ledger %v", record, ours)
				}
			},
		})
	})
}

// TestTotal: any strings anywhere, duplicates on the Node included.
func TestTotal(t *testing.T) {
	anything := rapid.Custom(func(t *rapid.T) v1alpha1.NodeTaint {
		return v1alpha1.NodeTaint{
			Key:    rapid.OneOf(rapid.String(), rapid.Just("a"), rapid.Just("")).Draw(t, "key"),
			Value:  rapid.String().Draw(t, "value"),
			Effect: v1alpha1.TaintEffect(rapid.OneOf(rapid.String(), rapid.Just("NoSchedule")).Draw(t, "effect")),
		}
	})
	annotation := rapid.OneOf(rapid.String(), rapid.Just("[{}]"), rapid.Just(`[null,1]`), rapid.Just(`[{"key":"a","effect":"NoSchedule"}]`))
	rapid.Check(t, func(t *rapid.T) {
		node := &corev1.Node{}
		for _, taint := range rapid.SliceOf(anything).Draw(t, "onNode") {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)})
		}
		if rapid.Bool().Draw(t, "annotated") {
			node.Annotations = map[string]string{
				v1alpha1.AppliedTaintsAnnotation: annotation.Draw(t, "record"),
				MachineTaintsAnnotation:          rapid.String().Draw(t, "claims"),
			}
		}
		desired := rapid.SliceOf(anything).Draw(t, "desired")
		p := For(node, desired)
		_, _, _ = p.Summary(), p.Complete(), EncodeRecord(p.Owned)
		for _, c := range p.Conflicts {
			_ = c.String()
		}
		_ = Validate(desired, nodeTaints)
	})
}
