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

// forced is a span of whole days, in wall seconds [from, to), that an exception
// turns on or off.
type forced struct {
	from, to int64
	active   bool
	// index is the exception's place in the spec.
	index int
}

// overlay puts span over spans, which are sorted and do not overlap; nor do those
// that it returns.
func overlay(spans []forced, span forced) []forced {
	if n := len(spans); n == 0 || spans[n-1].to <= span.from {
		return append(spans, span)
	}
	result := make([]forced, 0, len(spans)+2)
	placed := false
	for _, s := range spans {
		if s.from < span.from {
			left := s
			left.to = min(s.to, span.from)
			result = append(result, left)
		}
		if !placed && s.to > span.from {
			result = append(result, span)
			placed = true
		}
		if s.to > span.to {
			right := s
			right.from = max(s.from, span.to)
			result = append(result, right)
		}
	}
	if !placed {
		result = append(result, span)
	}
	return result
}
