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
	"regexp"
	"time"
)

const secondsInDay = 24 * 60 * 60

var dateShape = regexp.MustCompile(DatePattern)

// parseDate gives the midnight at which the day begins, in wall seconds.
func parseDate(s string) (int64, error) {
	midnight, err := time.Parse(time.DateOnly, s)
	switch {
	case err == nil:
		return midnight.Unix(), nil
	case dateShape.MatchString(s):
		return 0, errors.New("the month has no such day: write a day that exists")
	}
	for _, layout := range []string{"2006-1-2", time.RFC3339, time.DateTime, "2006/1/2"} {
		if meant, err := time.Parse(layout, s); err == nil {
			return 0, errors.New("a date is YYYY-MM-DD: write " + meant.Format(time.DateOnly))
		}
	}
	return 0, errors.New("a date is YYYY-MM-DD: write it such as 2026-12-24")
}

func formatDate(midnight int64) string {
	return time.Unix(midnight, 0).UTC().Format(time.DateOnly)
}
