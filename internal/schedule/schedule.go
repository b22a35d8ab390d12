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

import "time"

// Schedule is a compiled schedule. It does not change and is safe for concurrent use.
type Schedule struct {
	disabled bool
	zone     *time.Location
	line     line
	rules    rules
}

// The instants that RFC 3339, and with it status and kubectl, can write: years 0 to
// 9999. An edge outside them, such as the end of an exception until 9999-12-31 in
// UTC, counts as none.
const (
	firstUnix int64 = -62167219200 // 0000-01-01T00:00:00Z
	lastUnix  int64 = 253402300799 // 9999-12-31T23:59:59Z
)

// Next gives the first instant after t at which activity changes, in UTC and to the
// second. It gives false where there is none in the years 0 to 9999.
func (s *Schedule) Next(t time.Time) (time.Time, bool) {
	if s.disabled {
		return time.Time{}, false
	}
	return instant(s.next(max(t.Unix(), firstUnix-1)))
}

// Previous gives the latest instant, not later than t, at which activity changed to
// what it is at t, in UTC and to the second. It gives false where there is none in
// the years 0 to 9999.
func (s *Schedule) Previous(t time.Time) (time.Time, bool) {
	if s.disabled {
		return time.Time{}, false
	}
	return instant(s.previous(min(t.Unix(), lastUnix)))
}

// Edges gives the first instant after t at which the schedule turns on and the first
// at which it turns off, in UTC. One that never comes is zero.
func (s *Schedule) Edges(t time.Time) (activation, cleanup time.Time) {
	first, ok := s.Next(t)
	if !ok {
		return time.Time{}, time.Time{}
	}
	second, _ := s.Next(first)
	if s.activeAt(first.Unix()) {
		return first, second
	}
	return second, first
}

func instant(unix int64) (time.Time, bool) {
	if unix < firstUnix || unix > lastUnix {
		return time.Time{}, false
	}
	return time.Unix(unix, 0).UTC(), true
}

// activeAt says whether the schedule is active in that second. Activity changes at
// whole seconds only: windows go to the minute, and offsets of zones to the second.
func (s *Schedule) activeAt(unix int64) bool {
	return !s.disabled && s.line.active(s.wall(unix))
}

func (s *Schedule) wall(unix int64) int64 {
	_, offset := time.Unix(unix, 0).In(s.zone).Zone()
	return unix + int64(offset)
}

// next gives the first second after unix at which activity changes, or forever.
func (s *Schedule) next(unix int64) int64 {
	seg := zoneBounds(s.zone, unix)
	current := s.line.runAt(unix + seg.offset)
	for unix <= lastUnix {
		// Inside the segment the wall clock only goes forward, so the run ends
		// where the clock reads its end.
		if end := current.end - seg.offset; end < seg.end {
			return end
		}
		if seg.end == forever {
			break
		}
		// At the end of the segment the clock jumps, maybe into another run, maybe
		// over one, maybe back to the start of this one.
		unix = seg.end
		// Wherever it jumps, it stays in this run while UTC is further from the
		// run's ends than any offset.
		if current.start+maxOffset <= unix {
			if current.end == forever {
				break
			}
			unix = max(unix, current.end-maxOffset)
		}
		seg = zoneBounds(s.zone, unix)
		there := s.line.runAt(unix + seg.offset)
		if there.active != current.active {
			return unix
		}
		current = there
	}
	return forever
}

// previous gives the latest second up to unix at which activity changed to what it
// is at unix, or -forever. It is the mirror of next.
func (s *Schedule) previous(unix int64) int64 {
	seg := segmentAt(s.zone, unix)
	current := s.line.runAt(unix + seg.offset)
	for unix >= firstUnix {
		if start := current.start - seg.offset; start > seg.start {
			return start
		}
		if seg.start == -forever {
			break
		}
		// The second before the shift.
		before := seg.start - 1
		if before+maxOffset < current.end {
			if current.start == -forever {
				break
			}
			before = min(before, current.start+maxOffset)
		}
		seg = segmentAt(s.zone, before)
		there := s.line.runAt(before + seg.offset)
		if there.active != current.active {
			return before + 1
		}
		unix, current = before, there
	}
	return -forever
}
