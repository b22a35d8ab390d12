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
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

var nodeTaints = field.NewPath("spec", "nodeTaints")

// taint reads a taint as Format writes it.
func taint(text string) v1alpha1.NodeTaint {
	rest, effect, _ := cutLast(text, ":")
	key, value, _ := strings.Cut(rest, "=")
	return v1alpha1.NodeTaint{Key: key, Value: value, Effect: v1alpha1.TaintEffect(effect)}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func list(texts ...string) []v1alpha1.NodeTaint {
	var taints []v1alpha1.NodeTaint
	for _, text := range texts {
		taints = append(taints, taint(text))
	}
	return taints
}

func TestValidate(t *testing.T) {
	long63, long64 := strings.Repeat("a", 63), strings.Repeat("a", 64)
	prefix253 := strings.Repeat(strings.Repeat("a", 62)+".", 4) + "b"
	for _, tc := range []struct {
		name   string
		taints []v1alpha1.NodeTaint
		want   []string // each a part of one message, in order
	}{
		{"none", nil, nil},
		{"with and without a value", list("workload=batch:NoSchedule", "dedicated:NoExecute", "soft=1:PreferNoSchedule"), nil},
		{"a domain of one's own", list("example.com/workload=batch:NoSchedule"), nil},
		{"case 15: same key, another effect", list("workload=batch:NoSchedule", "workload=batch:NoExecute"), nil},
		{"case 15: duplicate with another value", list("workload=a:NoSchedule", "workload=b:NoSchedule"),
			[]string{"spec.nodeTaints[1]: Duplicate value: \"workload=b:NoSchedule\": a Node has at most one taint for each key and effect, and spec.nodeTaints[0] has these already"}},
		{"exact duplicate", list("a:NoSchedule", "b:NoSchedule", "a:NoSchedule"), []string{"spec.nodeTaints[2]: Duplicate value"}},
		{"case 16: key -a", list("-a:NoSchedule"), []string{"spec.nodeTaints[0].key: Invalid value: \"-a\": write a qualified name"}},
		{"case 16: key a-", list("a-:NoSchedule"), []string{"spec.nodeTaints[0].key: Invalid value: \"a-\""}},
		{"name of 63", list(long63 + "=" + long63 + ":NoSchedule"), nil},
		{"case 16: name of 64", list(long64 + ":NoSchedule"), []string{"spec.nodeTaints[0].key: Invalid value"}},
		{"prefix of 253", list(prefix253 + "/a:NoSchedule"), nil},
		{"prefix of 254", list("b" + prefix253 + "/a:NoSchedule"), []string{"spec.nodeTaints[0].key: Invalid value"}},
		{"case 16: value of 64", list("a=" + long64 + ":NoSchedule"), []string{"spec.nodeTaints[0].value: Invalid value"}},
		{"value with a space", list("a=b c:NoSchedule"), []string{"spec.nodeTaints[0].value: Invalid value: \"b c\": write a label value, such as batch, or leave it out"}},
		{"no key", list("=b:NoSchedule"), []string{"spec.nodeTaints[0].key: Required value: write a taint key"}},
		{"no effect", list("a=b:"), []string{"spec.nodeTaints[0].effect: Required value: write NoSchedule, PreferNoSchedule or NoExecute"}},
		{"effect in lower case", list("a=b:noschedule"), []string{`spec.nodeTaints[0].effect: Unsupported value: "noschedule": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`}},
		{"case 16: reserved key", list("node.kubernetes.io/not-ready:NoExecute"),
			[]string{`spec.nodeTaints[0].key: Forbidden: "node.kubernetes.io/not-ready" has the prefix node.kubernetes.io/, which is reserved: use a key without a prefix or with a domain of your own, such as example.com/workload`}},
		{"every mistake at once", list("-a=b c:Never", "a:NoSchedule"), []string{"[0].key", "[0].value", "[0].effect"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			errs := Validate(tc.taints, nodeTaints)
			g.Expect(errs).To(HaveLen(len(tc.want)), "%v", errs)
			for i, want := range tc.want {
				g.Expect(errs[i].Error()).To(ContainSubstring(want))
			}
		})
	}
}

func TestValidateCount(t *testing.T) {
	g := NewWithT(t)
	var taints []v1alpha1.NodeTaint
	for i := range MaxTaints {
		taints = append(taints, taint(fmt.Sprintf("key-%d:NoSchedule", i)))
	}
	g.Expect(Validate(taints, nodeTaints)).To(BeEmpty())
	errs := Validate(append(taints, taint("one-more:NoSchedule")), nodeTaints)
	g.Expect(errs).To(HaveLen(1))
	g.Expect(errs[0].Error()).To(Equal("spec.nodeTaints: Invalid value: 51: there are too many taints: declare at most 50"))
}

func TestReservedKey(t *testing.T) {
	for key, reserved := range map[string]bool{
		"5spot.finos.org/applied":               true,
		"kubernetes.io/arch":                    true,
		"k8s.io/x":                              true,
		"node.kubernetes.io/not-ready":          true,
		"node-role.kubernetes.io/control-plane": true,
		"a.b.k8s.io/x":                          true,
		"aether.io/agent-not-ready":             true,
		"node.cluster.x-k8s.io/uninitialized":   true,

		"":                            false,
		"workload":                    false,
		"kubernetes.io":               false, // no prefix, a name
		"example.com/kubernetes.io":   false,
		"notkubernetes.io/x":          false,
		"myk8s.io/x":                  false,
		"cluster.x-k8s.io/x":          false,
		"sub.aether.io/x":             false,
		"sub.5spot.finos.org/x":       false,
		"sub.node.cluster.x-k8s.io/x": false,
		"kubernetes.io.example.com/x": false,
	} {
		if got := ReservedKey(key); got != reserved {
			t.Errorf("ReservedKey(%q) = %v, want %v", key, got, reserved)
		}
	}
}

func TestReservedKeysAreRefused(t *testing.T) {
	for _, prefix := range []string{"5spot.finos.org", "kubernetes.io", "k8s.io", "node.kubernetes.io", "node-role.kubernetes.io",
		"sub.k8s.io", "aether.io", "node.cluster.x-k8s.io"} {
		errs := Validate(list(prefix+"/x:NoSchedule"), nodeTaints)
		if len(errs) != 1 || errs[0].Type != field.ErrorTypeForbidden || errs[0].Field != "spec.nodeTaints[0].key" {
			t.Errorf("prefix %s: got %v, want one Forbidden error for the key", prefix, errs)
		}
	}
}
