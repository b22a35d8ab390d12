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

// rules are the parts of a spec, parsed. They make the line, and say afterwards
// which of them decided.
type rules struct {
	days  daySet
	hours hourSet
	// windows are in the order of the spec, so that a place names the field.
	windows    []window
	exceptions []forced
}

// window is active from start to end, in minutes since midnight, on each of its days.
// Where end is not later than start it is the next day's.
type window struct {
	days       daySet
	start, end int
}

func (w window) length() int {
	if w.end <= w.start {
		return minutesInDay - w.start + w.end
	}
	return w.end - w.start
}

// covers says whether a minute of the week, from Monday 00:00, is in the window.
func (w window) covers(minute int) bool {
	for day, on := range w.days {
		if on && (minute-day*minutesInDay-w.start+2*minutesInWeek)%minutesInWeek < w.length() {
			return true
		}
	}
	return false
}

func (r *rules) line() line {
	var minutes [minutesInWeek]bool
	for day, on := range r.days {
		for hour, also := range r.hours {
			if on && also {
				mark(&minutes, day*minutesInDay+hour*60, 60)
			}
		}
	}
	for _, w := range r.windows {
		for day, on := range w.days {
			if on {
				mark(&minutes, day*minutesInDay+w.start, w.length())
			}
		}
	}
	l := line{week: newWeek(&minutes)}
	for _, e := range r.exceptions {
		l.forced = overlay(l.forced, e)
	}
	return l
}

func mark(minutes *[minutesInWeek]bool, start, length int) {
	for i := start; i < start+length; i++ {
		minutes[i%minutesInWeek] = true
	}
}
