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

import (
	"strings"
	"testing"
	"time"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

func accepted(t *testing.T, spec v1alpha1.Schedule) {
	t.Helper()
	if errs := Validate(spec, root); len(errs) > 0 {
		t.Errorf("%+v was refused: %v", spec, errs.ToAggregate())
	}
}

// refused expects exactly one error, at that field and with that advice, and no
// schedule.
func refused(t *testing.T, spec v1alpha1.Schedule, at, advice string) {
	t.Helper()
	errs := Validate(spec, root)
	if len(errs) != 1 {
		t.Fatalf("%+v: expected one error, got %v", spec, errs)
	}
	if errs[0].Field != at {
		t.Errorf("the error is at %s, expected %s: %v", errs[0].Field, at, errs[0])
	}
	if !strings.Contains(errs[0].Detail, advice) {
		t.Errorf("the advice %q lacks %q", errs[0].Detail, advice)
	}
	if spec.Enabled != nil && !*spec.Enabled {
		return
	}
	if s, errs := Compile(spec, root); s != nil || len(errs) != 1 {
		t.Errorf("Compile gave %v, %v", s, errs)
	}
}

const never = ""

func format(instant time.Time, ok bool) string {
	if !ok {
		return never
	}
	return instant.Format(time.RFC3339Nano)
}

func expectNext(t testing.TB, s *Schedule, after, expected string) {
	t.Helper()
	if got := format(s.Next(at(t, after))); got != expected {
		t.Errorf("Next(%s): got %q, expected %q", after, got, expected)
	}
}

func expectPrevious(t testing.TB, s *Schedule, upTo, expected string) {
	t.Helper()
	if got := format(s.Previous(at(t, upTo))); got != expected {
		t.Errorf("Previous(%s): got %q, expected %q", upTo, got, expected)
	}
}

func expectEdges(t testing.TB, s *Schedule, after, activation, cleanup string) {
	t.Helper()
	on, off := s.Edges(at(t, after))
	if gotOn, gotOff := format(on, !on.IsZero()), format(off, !off.IsZero()); gotOn != activation || gotOff != cleanup {
		t.Errorf("Edges(%s): got %q, %q, expected %q, %q", after, gotOn, gotOff, activation, cleanup)
	}
}

// expectNoEdges expects activity to be the same for ever, before and after.
func expectNoEdges(t testing.TB, s *Schedule, instant string) {
	t.Helper()
	expectNext(t, s, instant, never)
	expectPrevious(t, s, instant, never)
	expectEdges(t, s, instant, never, never)
}

// expectTimeline follows the edges from an instant on, forth and then back. The last
// may be never.
func expectTimeline(t testing.TB, s *Schedule, from string, edges ...string) {
	t.Helper()
	instant := at(t, from)
	for _, expected := range edges {
		next, ok := s.Next(instant)
		if got := format(next, ok); got != expected {
			t.Fatalf("Next(%s): got %q, expected %q", instant.Format(time.RFC3339), got, expected)
		}
		instant = next
	}
	if edges[len(edges)-1] == never {
		edges = edges[:len(edges)-1]
	}
	for i := len(edges) - 1; i > 0; i-- {
		expectPrevious(t, s, edges[i], edges[i])
		justBefore := at(t, edges[i]).Add(-time.Nanosecond).Format(time.RFC3339Nano)
		expectPrevious(t, s, justBefore, edges[i-1])
	}
}
