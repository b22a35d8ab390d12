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
	"fmt"
)

const minutesInDay = 24 * 60

// parseTimeOfDay gives the minutes since midnight.
func parseTimeOfDay(s string) (int, error) {
	if minute, ok := timeOfDay(s); ok {
		return minute, nil
	}
	if s == "24:00" {
		return 0, errors.New("a day ends at 23:59: write 00:00 for midnight")
	}
	for _, remedy := range []string{"0" + s, s + ":00", "0" + s + ":00"} {
		if _, ok := timeOfDay(remedy); ok {
			return 0, errors.New("a time is HH:MM: write " + remedy)
		}
	}
	return 0, errors.New("a time is HH:MM from 00:00 to 23:59: write it such as 09:00 or 17:30")
}

func timeOfDay(s string) (int, bool) {
	if len(s) != len("HH:MM") || s[2] != ':' {
		return 0, false
	}
	hour, ok := parseDigits(s[:2], 23)
	if !ok {
		return 0, false
	}
	minute, ok := parseDigits(s[3:], 59)
	return hour*60 + minute, ok
}

func formatTimeOfDay(minute int) string {
	return fmt.Sprintf("%02d:%02d", minute/60, minute%60)
}
