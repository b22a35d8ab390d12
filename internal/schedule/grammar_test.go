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
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// grammars are the parsers beside the patterns that say the same.
var grammars = []struct {
	name    string
	pattern *regexp.Regexp
	parse   func(string) error
	// narrower says that the parser knows more than the pattern can say.
	narrower bool
}{
	{"days", regexp.MustCompile(DayListPattern), func(s string) error { return parseDays(s, new(daySet)) }, false},
	{"hours", regexp.MustCompile(HourListPattern), func(s string) error { return parseHours(s, new(hourSet)) }, false},
	{"time of day", regexp.MustCompile(TimeOfDayPattern), func(s string) error { _, err := parseTimeOfDay(s); return err }, false},
	{"date", regexp.MustCompile(DatePattern), func(s string) error { _, err := parseDate(s); return err }, true},
	{"timezone", regexp.MustCompile(TimezonePattern), func(s string) error { _, err := loadZone(s); return err }, true},
}

// checkGrammars compares what each parser and its pattern say of an input.
func checkGrammars(t interface{ Fatalf(string, ...any) }, input string) {
	for _, g := range grammars {
		err := g.parse(input)
		matches := g.pattern.MatchString(input)
		if g.name == "timezone" && input == "" {
			continue // the default
		}
		if err == nil && !matches {
			t.Fatalf("%s: %q is accepted by the parser, but not by the pattern", g.name, input)
		}
		if err != nil && matches && !g.narrower {
			t.Fatalf("%s: %q is accepted by the pattern, but not by the parser: %v", g.name, input, err)
		}
		if err != nil && !strings.Contains(err.Error(), ": write ") && !strings.Contains(err.Error(), "or use windows") {
			t.Fatalf("%s: the error for %q does not say what to write: %v", g.name, input, err)
		}
	}
}

// genNearlyRight gives what a grammar accepts, with a character put in, taken out or
// replaced now and then.
func genNearlyRight() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		pattern := grammars[rapid.IntRange(0, len(grammars)-1).Draw(t, "grammar")].pattern.String()
		s := rapid.StringMatching(pattern).Draw(t, "right")
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			at := rapid.IntRange(0, len(s)).Draw(t, "at")
			end := min(len(s), at+rapid.IntRange(0, 1).Draw(t, "cut"))
			put := rapid.SampledFrom([]string{"", ",", "-", ":", "0", "2", "9", "a", "M", " ", "\n", "é", "\x00"}).Draw(t, "put")
			s = s[:at] + put + s[end:]
		}
		return s
	})
}

func TestPropertyPatternsSayWhatTheParsersDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkGrammars(t, genNearlyRight().Draw(t, "input"))
		checkGrammars(t, rapid.String().Draw(t, "anything"))
	})
}

// Dates are few enough to try a whole cycle of the calendar.
func TestDatesAreThoseOfTheCalendar(t *testing.T) {
	for day := time.Date(1998, 12, 31, 0, 0, 0, 0, time.UTC); day.Year() < 2101; day = day.AddDate(0, 0, 1) {
		s := day.Format(time.DateOnly)
		midnight, err := parseDate(s)
		if err != nil || midnight != day.Unix() || formatDate(midnight) != s {
			t.Fatalf("%s: got %d, %v, expected %d", s, midnight, err, day.Unix())
		}
	}
}

func TestPropertyRangesAreReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var days, gotDays daySet
		var hours, gotHours hourSet
		days[rapid.IntRange(0, daysInWeek-1).Draw(t, "at least")] = true
		hours[rapid.IntRange(0, hoursInDay-1).Draw(t, "at least")] = true
		for i := range days {
			days[i] = days[i] || rapid.Bool().Draw(t, "day")
		}
		for i := range hours {
			hours[i] = hours[i] || rapid.IntRange(0, 3).Draw(t, "hour") > 0
		}
		if err := parseDays(days.String(), &gotDays); err != nil || gotDays != days {
			t.Fatalf("%v is written %s and read %v, %v", days, days, gotDays, err)
		}
		if err := parseHours(hours.String(), &gotHours); err != nil || gotHours != hours {
			t.Fatalf("%v is written %s and read %v, %v", hours, hours, gotHours, err)
		}
	})
}

// FuzzParsers looks for input on which a parser panics, or differs from its pattern.
func FuzzParsers(f *testing.F) {
	for _, seed := range list("mon-fri", "fri-mon,wed", "monday", "9-17", "22-6,0", "9:30", "24:00", "00:00", "2026-12-24",
		"2026-02-30", "Europe/Berlin", "../x", "", ",", "-", "é") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) { checkGrammars(t, input) })
}
