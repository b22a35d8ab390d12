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
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

func TestDecodeRecord(t *testing.T) {
	for _, tc := range []struct {
		name, annotation string
		want             []v1alpha1.NodeTaint
		err              string
	}{
		{name: "no annotation"},
		{name: "null", annotation: `null`},
		{name: "empty", annotation: `[]`},
		{name: "one", annotation: `[{"key":"w","value":"batch","effect":"NoSchedule"}]`, want: list("w=batch:NoSchedule")},
		{name: "same key, two effects", annotation: `[{"key":"w","value":"a","effect":"NoSchedule"},{"key":"w","value":"b","effect":"NoExecute"}]`,
			want: list("w=a:NoSchedule", "w=b:NoExecute")},
		{name: "an older controller's entry without a value", annotation: `[{"key":"w","effect":"NoSchedule"}]`, want: list("w:NoSchedule")},
		{name: "null as value", annotation: `[{"key":"w","value":null,"effect":"NoSchedule"}]`, want: list("w:NoSchedule")},
		{name: "a later controller's member", annotation: `[{"key":"w","value":"a","effect":"NoSchedule","since":"2026-01-01"}]`, want: list("w=a:NoSchedule")},
		{name: "twice the same", annotation: `[{"key":"w","effect":"NoSchedule"},{"key":"w","value":"","effect":"NoSchedule"}]`, want: list("w:NoSchedule")},
		{name: "white space", annotation: " [ ] \n"},

		{name: "not JSON", annotation: `w=batch:NoSchedule`, err: "as a JSON array of taints"},
		{name: "cut off", annotation: `[{"key":"w","value":"batch","eff`, err: "as a JSON array of taints"},
		{name: "more after the array", annotation: `[] []`, err: "as a JSON array of taints"},
		{name: "an object", annotation: `{"key":"w"}`, err: "as a JSON array of taints"},
		{name: "strings", annotation: `["w:NoSchedule"]`, err: "as a JSON array of taints"},
		{name: "a number as value", annotation: `[{"key":"w","value":1,"effect":"NoSchedule"}]`, err: "as a JSON array of taints"},
		{name: "no key", annotation: `[{"effect":"NoSchedule"}]`, err: "entry 0"},
		{name: "no effect", annotation: `[{"key":"w","effect":"NoSchedule"},{"key":"w"}]`, err: "entry 1"},
		{name: "null entry", annotation: `[null]`, err: "entry 0"},
		{name: "unknown effect", annotation: `[{"key":"w","effect":"Never"}]`, err: `"w:Never"`},
		{name: "two values", annotation: `[{"key":"w","value":"a","effect":"NoSchedule"},{"key":"w","value":"b","effect":"NoSchedule"}]`,
			err: `w:NoSchedule is recorded with two values, "a" and "b"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := DecodeRecord(tc.annotation)
			if tc.err == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(got).To(Equal(tc.want))
				return
			}
			g.Expect(err).To(MatchError(And(ContainSubstring(tc.err), ContainSubstring("5spot.finos.org/applied-taints"))))
			g.Expect(got).To(BeNil())
		})
	}
}

func TestEncodeRecord(t *testing.T) {
	g := NewWithT(t)
	g.Expect(EncodeRecord(nil)).To(Equal(`[]`))
	g.Expect(EncodeRecord(list("w=b:NoSchedule", "a:NoSchedule", "w=c:NoExecute"))).To(Equal(
		`[{"key":"a","value":"","effect":"NoSchedule"},{"key":"w","value":"c","effect":"NoExecute"},{"key":"w","value":"b","effect":"NoSchedule"}]`))
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := distinct(genTaints(10).Draw(t, "record"))
		shuffled := rapid.Permutation(record).Draw(t, "shuffled")
		text := EncodeRecord(shuffled)
		if again := EncodeRecord(record); again != text {
			t.Fatalf("the order of the list changes the text:\n%s\n%s", text, again)
		}
		decoded, err := DecodeRecord(text)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(record, compare)
		if !slices.Equal(decoded, record) {
			t.Fatalf("decoded %v, want %v", decoded, record)
		}
	})
}
