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
	"errors"
	"strconv"
	"strings"
)

const hoursInDay = 24

// hourSet holds the hours of a day, 0 to 23.
type hourSet [hoursInDay]bool

func (s hourSet) String() string {
	return formatRanges(s[:], strconv.Itoa)
}

func parseHour(s string) (int, bool) {
	if len(s) > 2 {
		return 0, false
	}
	return parseDigits(s, hoursInDay-1)
}

// parseHours adds the hours of one list to the set.
func parseHours(list string, set *hourSet) error {
	if parseRanges(list, parseHour, set[:]) {
		return nil
	}
	if strings.Contains(list, ":") {
		return errors.New("hours are whole numbers from 0 to 23: write 9-17 for 09:00 to 18:00, or use windows, which go to the minute")
	}
	if remedy := rewriteParts(list, guessHour); remedy != list && parseRanges(remedy, parseHour, new(hourSet)[:]) {
		return errors.New("hours are whole numbers from 0 to 23: write " + remedy)
	}
	return errors.New("hours are whole numbers from 0 to 23: write an hour such as 9, a range such as 9-17 (both ends included) or a list such as 0-6,22")
}

// guessHour drops zeros in front. It leaves 24 alone: as an end it means 23, as a
// start 0.
func guessHour(s string) string {
	if trimmed := strings.TrimLeft(s, "0"); trimmed != "" {
		return trimmed
	}
	return s
}

// parseDigits reads a number of ASCII digits, nothing else, that is at most most.
func parseDigits(s string, most int) (int, bool) {
	if s == "" {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		if n = n*10 + int(s[i]-'0'); n > most {
			return 0, false
		}
	}
	return n, true
}
