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

package schedule

import "strings"

// parseRanges reads a list such as a-c,e and marks what it names. The set is a
// circle: a range whose end lies before its start passes the last element.
func parseRanges(list string, parse func(string) (int, bool), set []bool) bool {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, ok := parse(first)
		if !ok {
			return false
		}
		to := from
		if isRange {
			if to, ok = parse(last); !ok {
				return false
			}
		}
		for i := from; ; i = (i + 1) % len(set) {
			set[i] = true
			if i == to {
				break
			}
		}
	}
	return true
}

// formatRanges writes a set in the grammar that parseRanges reads, in as few parts
// as possible.
func formatRanges(set []bool, name func(int) string) string {
	n := len(set)
	var parts []string
	for i := range n {
		if !set[i] || set[(i+n-1)%n] {
			continue
		}
		last := i
		for set[(last+1)%n] {
			last = (last + 1) % n
		}
		if last == i {
			parts = append(parts, name(i))
		} else {
			parts = append(parts, name(i)+"-"+name(last))
		}
	}
	if len(parts) == 0 && set[0] {
		return name(0) + "-" + name(n-1)
	}
	return strings.Join(parts, ",")
}

// rewriteParts drops white space and puts every element of a list through rewrite.
func rewriteParts(list string, rewrite func(string) string) string {
	parts := strings.Split(strings.Join(strings.Fields(list), ""), ",")
	for i, part := range parts {
		elements := strings.Split(part, "-")
		for j, element := range elements {
			elements[j] = rewrite(element)
		}
		parts[i] = strings.Join(elements, "-")
	}
	return strings.Join(parts, ",")
}
