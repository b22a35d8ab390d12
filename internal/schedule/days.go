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
	"fmt"
	"strings"
)

const daysInWeek = 7

var dayNames = [daysInWeek]string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// daySet holds the weekdays from Monday, 0, to Sunday, 6.
type daySet [daysInWeek]bool

func (s daySet) String() string {
	return formatRanges(s[:], func(i int) string { return dayNames[i] })
}

func parseDay(s string) (int, bool) {
	for i, name := range dayNames {
		if s == name {
			return i, true
		}
	}
	return 0, false
}

// parseDays adds the days of one list to the set.
func parseDays(list string, set *daySet) error {
	if parseRanges(list, parseDay, set[:]) {
		return nil
	}
	if remedy := rewriteParts(list, guessDay); remedy != list && parseRanges(remedy, parseDay, new(daySet)[:]) {
		return fmt.Errorf("days are mon, tue, wed, thu, fri, sat and sun: write %s", remedy)
	}
	return fmt.Errorf("days are mon, tue, wed, thu, fri, sat and sun: write a day such as mon, a range such as mon-fri or a list such as mon-wed,fri")
}

var fullDayNames = [daysInWeek]string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// guessDay gives the day that a longer or capitalised English name means.
func guessDay(s string) string {
	lower := strings.ToLower(s)
	for i, name := range dayNames {
		if strings.HasPrefix(lower, name) && strings.HasPrefix(fullDayNames[i], lower) {
			return name
		}
	}
	return s
}
