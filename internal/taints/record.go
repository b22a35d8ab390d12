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
	"encoding/json"
	"fmt"
	"slices"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// recordEntry is one element of the record. It differs from v1alpha1.NodeTaint in
// that an empty value is written out: the record states a value for each taint.
type recordEntry struct {
	Key    string               `json:"key"`
	Value  string               `json:"value"`
	Effect v1alpha1.TaintEffect `json:"effect"`
}

// DecodeRecord reads the value of v1alpha1.AppliedTaintsAnnotation. No annotation
// ("") and null are an empty record. It is an error if the text is no JSON array,
// if an entry lacks a key or a known effect, or if two entries for one key and
// effect give different values; then nothing is known about what we own. Members
// that it does not know are ignored.
//
// An entry without a value means the empty value. Older controllers wrote such
// entries, some because they left empty values out and some because they recorded
// no values at all, and the two look alike. Taking "no value" to mean "whatever is
// there" would let us overwrite or remove a value that somebody has set since. The
// empty value never does: a taint that has a value then counts as changed by
// somebody else, so that the worst case is one that is kept, and reported, when it
// could have been removed.
func DecodeRecord(annotation string) ([]v1alpha1.NodeTaint, error) {
	if annotation == "" {
		return nil, nil
	}
	var entries []recordEntry
	if err := json.Unmarshal([]byte(annotation), &entries); err != nil {
		return nil, fmt.Errorf("reading annotation %s as a JSON array of taints: %w", v1alpha1.AppliedTaintsAnnotation, err)
	}

	values := make(map[identity]string, len(entries))
	var record []v1alpha1.NodeTaint
	for i, entry := range entries {
		taint := v1alpha1.NodeTaint(entry)
		if taint.Key == "" || !knownEffect(taint.Effect) {
			return nil, fmt.Errorf("reading annotation %s: entry %d (%q) needs a key and an effect NoSchedule, PreferNoSchedule or NoExecute",
				v1alpha1.AppliedTaintsAnnotation, i, Format(taint))
		}
		value, seen := values[identityOf(taint)]
		switch {
		case !seen:
			values[identityOf(taint)] = taint.Value
			record = append(record, taint)
		case value != taint.Value:
			return nil, fmt.Errorf("reading annotation %s: %s:%s is recorded with two values, %q and %q",
				v1alpha1.AppliedTaintsAnnotation, taint.Key, taint.Effect, value, taint.Value)
		}
	}
	return record, nil
}

// EncodeRecord writes the value of v1alpha1.AppliedTaintsAnnotation, sorted by key
// and effect, so that equal records are equal texts. An empty record is "[]".
func EncodeRecord(list []v1alpha1.NodeTaint) string {
	entries := make([]recordEntry, 0, len(list))
	for _, taint := range slices.SortedStableFunc(slices.Values(list), compare) {
		entries = append(entries, recordEntry(taint))
	}
	text, err := json.Marshal(entries)
	if err != nil {
		// Strings always marshal: encoding/json replaces what is not UTF-8.
		panic(err)
	}
	return string(text)
}
