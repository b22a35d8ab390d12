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

const (
	secondsInMinute = 60
	secondsInHour   = 60 * secondsInMinute
	secondsInWeek   = daysInWeek * secondsInDay
	minutesInWeek   = daysInWeek * minutesInDay

	// 1970-01-01, wall second 0, was a Thursday; the week here begins on Monday.
	wallZeroInWeek = 3 * secondsInDay
)

// forever is beyond every wall second that counts, and far enough from the ends of
// int64 that offsets can be added to it.
const forever = int64(1) << 60

// week is what repeats each week. Its instants are wall seconds: what the wall clock
// reads, as the seconds since it read 1970-01-01 00:00.
type week struct {
	// edges are the seconds since Monday 00:00 at which activity changes, sorted.
	// Their number is even; without any the week is constant.
	edges []int64
	// last is the activity of the week's last minute: the one before edges[0].
	last bool
}

func newWeek(minutes *[minutesInWeek]bool) week {
	w := week{last: minutes[minutesInWeek-1]}
	active := w.last
	for i, next := range minutes {
		if next != active {
			w.edges = append(w.edges, int64(i)*secondsInMinute)
			active = next
		}
	}
	return w
}

// secondOfWeek gives the seconds since Monday 00:00.
func secondOfWeek(wall int64) int64 {
	second := (wall + wallZeroInWeek) % secondsInWeek
	if second < 0 {
		second += secondsInWeek
	}
	return second
}

// position gives the second of the week and the number of edges up to it.
func (w *week) position(wall int64) (second int64, passed int) {
	second = secondOfWeek(wall)
	passed = sort.Search(len(w.edges), func(i int) bool { return w.edges[i] > second })
	return second, passed
}

func (w *week) active(wall int64) bool {
	_, passed := w.position(wall)
	return w.last != (passed%2 == 1)
}

// after gives the first edge later than wall.
func (w *week) after(wall int64) int64 {
	if len(w.edges) == 0 {
		return forever
	}
	second, passed := w.position(wall)
	if passed == len(w.edges) {
		return wall - second + secondsInWeek + w.edges[0]
	}
	return wall - second + w.edges[passed]
}

// upTo gives the latest edge that is not later than wall.
func (w *week) upTo(wall int64) int64 {
	if len(w.edges) == 0 {
		return -forever
	}
	second, passed := w.position(wall)
	if passed == 0 {
		return wall - second - secondsInWeek + w.edges[len(w.edges)-1]
	}
	return wall - second + w.edges[passed-1]
}
