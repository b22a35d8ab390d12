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

import "sort"

// line is activity along the wall clock: what repeats each week, and the days that
// exceptions force.
type line struct {
	week week
	// forced is sorted and does not overlap.
	forced []forced
}

// run is a longest span [start, end) of wall seconds over which activity is the
// same. One without a start or an end has -forever or forever there.
type run struct {
	active     bool
	start, end int64
}

// forcedAt gives the exception that covers wall.
func (l *line) forcedAt(wall int64) (forced, bool) {
	i := sort.Search(len(l.forced), func(i int) bool { return l.forced[i].to > wall })
	if i < len(l.forced) && l.forced[i].from <= wall {
		return l.forced[i], true
	}
	return forced{}, false
}

func (l *line) active(wall int64) bool {
	if f, ok := l.forcedAt(wall); ok {
		return f.active
	}
	return l.week.active(wall)
}

// runAt gives the run around wall.
func (l *line) runAt(wall int64) run {
	active := l.active(wall)
	return run{active: active, start: l.runStart(wall, active), end: l.runEnd(wall, active)}
}

// runEnd gives the first wall second later than wall that is not active (or, where
// active is false, that is).
func (l *line) runEnd(wall int64, active bool) int64 {
	for {
		i := sort.Search(len(l.forced), func(i int) bool { return l.forced[i].to > wall })
		if i < len(l.forced) && l.forced[i].from <= wall {
			if l.forced[i].active != active {
				return wall
			}
			wall = l.forced[i].to
			continue
		}
		if l.week.active(wall) != active {
			return wall
		}
		free := forever
		if i < len(l.forced) {
			free = l.forced[i].from
		}
		if edge := l.week.after(wall); edge < free || free == forever {
			return edge
		}
		wall = free
	}
}

// runStart is the mirror of runEnd: the first wall second of the run around wall.
func (l *line) runStart(wall int64, active bool) int64 {
	start := wall + 1
	for {
		i := sort.Search(len(l.forced), func(i int) bool { return l.forced[i].from >= start }) - 1
		if i >= 0 && l.forced[i].to >= start {
			if l.forced[i].active != active {
				return start
			}
			start = l.forced[i].from
			continue
		}
		if l.week.active(start-1) != active {
			return start
		}
		free := -forever
		if i >= 0 {
			free = l.forced[i].to
		}
		if edge := l.week.upTo(start - 1); edge > free || free == -forever {
			return edge
		}
		start = free
	}
}
