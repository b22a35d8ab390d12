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
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

var root = field.NewPath("spec", "schedule")

func list(items ...string) []string { return items }

// daysAndHours is a schedule in the New York zone, which most cases here use.
func daysAndHours(days, hours string) v1alpha1.Schedule {
	return v1alpha1.Schedule{DaysOfWeek: list(days), HoursOfDay: list(hours), Timezone: "America/New_York"}
}

func windowOn(days, start, end string) v1alpha1.Schedule {
	return v1alpha1.Schedule{
		Windows:  []v1alpha1.Window{{Days: list(days), Start: start, End: end}},
		Timezone: "America/New_York",
	}
}

func compiled(t testing.TB, spec v1alpha1.Schedule) *Schedule {
	t.Helper()
	s, errs := Compile(spec, root)
	if len(errs) > 0 {
		t.Fatalf("Compile(%+v): %v", spec, errs.ToAggregate())
	}
	return s
}

func at(t testing.TB, instant string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func localTime(t testing.TB, zone, wall string) time.Time {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := time.ParseInLocation("2006-01-02 15:04", wall, loc)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestCase1DaysAccepted(t *testing.T) {
	for input, expected := range map[string]string{
		"mon-fri":         "mon tue wed thu fri",
		"fri-mon":         "mon fri sat sun",
		"mon-wed,fri-sun": "mon tue wed fri sat sun",
		"sun":             "sun",
		"mon-mon":         "mon",
		"tue-mon":         "mon tue wed thu fri sat sun",
		"wed,wed,tue-wed": "tue wed",
		"sat-sun,mon,thu": "mon thu sat sun",
		"mon-sun":         "mon tue wed thu fri sat sun",
	} {
		t.Run(input, func(t *testing.T) {
			var set daySet
			if err := parseDays(input, &set); err != nil {
				t.Fatal(err)
			}
			var days []string
			for i, on := range set {
				if on {
					days = append(days, dayNames[i])
				}
			}
			if got := strings.Join(days, " "); got != expected {
				t.Errorf("got %s, expected %s", got, expected)
			}
		})
	}
}

func TestCase1SeveralItemsAddUp(t *testing.T) {
	s := compiled(t, v1alpha1.Schedule{DaysOfWeek: list("mon", "wed-thu", "sun"), HoursOfDay: list("8", "10-11")})
	for instant, expected := range map[string]bool{
		"2026-01-05T08:59:59Z": true,  // Mon
		"2026-01-05T09:00:00Z": false, // Mon, between the hours
		"2026-01-06T10:00:00Z": false, // Tue
		"2026-01-08T11:59:59Z": true,  // Thu
		"2026-01-09T10:00:00Z": false, // Fri
		"2026-01-11T10:00:00Z": true,  // Sun
	} {
		if got := s.At(at(t, instant)).Active; got != expected {
			t.Errorf("%s: got %t, expected %t", instant, got, expected)
		}
	}
}

func TestCase2DaysRefused(t *testing.T) {
	for input, advice := range map[string]string{
		"monday":           "write mon",
		"Mon":              "write mon",
		"MON-FRI":          "write mon-fri",
		"mon-tuesday":      "write mon-tue",
		"mon, wed":         "write mon,wed",
		" mon":             "write mon",
		"mon\n":            "write mon",
		"Friday - Sunday":  "write fri-sun",
		"mon-":             "such as mon-fri",
		"-mon":             "such as mon-fri",
		"":                 "such as mon-fri",
		",":                "such as mon-fri",
		"mon,":             "such as mon-fri",
		",mon":             "such as mon-fri",
		"mon--fri":         "such as mon-fri",
		"mon-wed-fri":      "such as mon-fri",
		"mon,,wed":         "such as mon-fri",
		"mon;wed":          "such as mon-fri",
		"Thurs,SAT":        "write thu,sat",
		"month":            "such as mon-fri",
		"1":                "such as mon-fri",
		"mo":               "such as mon-fri",
		"*":                "such as mon-fri",
		"mon–fri":          "such as mon-fri", // a dash, not a hyphen
		"lundi":            "such as mon-fri",
		"ｍｏｎ":              "such as mon-fri", // full-width letters
		"mon-fri,saturday": "write mon-fri,sat",
	} {
		t.Run(input, func(t *testing.T) {
			spec := daysAndHours("mon", "9")
			spec.DaysOfWeek = list("tue", input)
			refused(t, spec, "spec.schedule.daysOfWeek[1]", advice)
		})
	}
}

func TestCase3HoursAccepted(t *testing.T) {
	span := func(from, to int) (hours []int) {
		for h := from; h <= to; h++ {
			hours = append(hours, h)
		}
		return hours
	}
	for input, expected := range map[string][]int{
		"9-17":      span(9, 17),
		"22-6":      append(span(0, 6), 22, 23),
		"0-9,18-23": append(span(0, 9), span(18, 23)...),
		"0":         {0},
		"23":        {23},
		"00":        {0},
		"09-01":     append([]int{0, 1}, span(9, 23)...),
		"7-7":       {7},
		"0-23":      span(0, 23),
		"1-0":       span(0, 23),
		"23-0":      {0, 23},
		"5,5,4-6":   {4, 5, 6},
	} {
		t.Run(input, func(t *testing.T) {
			var set hourSet
			if err := parseHours(input, &set); err != nil {
				t.Fatal(err)
			}
			var hours []int
			for i, on := range set {
				if on {
					hours = append(hours, i)
				}
			}
			if !slices.Equal(hours, expected) {
				t.Errorf("got %v, expected %v", hours, expected)
			}
		})
	}
}

func TestCase4HoursRefused(t *testing.T) {
	for input, advice := range map[string]string{
		"24":                   "0 to 23",
		"9-25":                 "0 to 23",
		"-1":                   "such as 9-17",
		"9-":                   "such as 9-17",
		"9:30":                 "use windows",
		"9:00-17:00":           "use windows",
		"":                     "such as 9-17",
		",":                    "such as 9-17",
		"9,":                   "such as 9-17",
		"9-12-17":              "such as 9-17",
		"9 - 17":               "write 9-17",
		" 9":                   "write 9",
		"9\n":                  "write 9",
		"009":                  "write 9",
		"+9":                   "such as 9-17",
		"9.5":                  "such as 9-17",
		"1e1":                  "such as 9-17",
		"0x9":                  "such as 9-17",
		"9am":                  "such as 9-17",
		"99999999999999999999": "such as 9-17",
		"٩":                    "such as 9-17", // ARABIC-INDIC DIGIT NINE
		"*":                    "such as 9-17",
	} {
		t.Run(input, func(t *testing.T) {
			spec := daysAndHours("mon", "9")
			spec.HoursOfDay = list("8", input)
			refused(t, spec, "spec.schedule.hoursOfDay[1]", advice)
		})
	}
	for _, input := range list("0", "23") {
		accepted(t, daysAndHours("mon", input))
	}
}

func TestCase5NewYorkOfficeHours(t *testing.T) {
	s := compiled(t, daysAndHours("mon-fri", "9-17"))
	for _, row := range []struct {
		instant string
		active  bool
	}{
		{"2026-01-05T13:59:59.999999999Z", false},
		{"2026-01-05T14:00:00Z", true},
		{"2026-01-05T22:59:59Z", true},
		{"2026-01-05T22:59:59.999999999Z", true},
		{"2026-01-05T23:00:00Z", false},
		{"2026-01-10T15:00:00Z", false}, // Sat
	} {
		if got := s.At(at(t, row.instant)).Active; got != row.active {
			t.Errorf("%s: got %t, expected %t", row.instant, got, row.active)
		}
	}
	for _, instant := range list("2026-01-05T14:00:00Z", "2026-01-05T22:59:59.5Z", "2026-01-05T23:00:00Z", "2026-01-06T13:59:59.9Z") {
		activation, _ := s.Edges(at(t, instant))
		if expected := at(t, "2026-01-06T14:00:00Z"); !activation.Equal(expected) {
			t.Errorf("next activation after %s: got %s, expected %s", instant, activation, expected)
		}
	}
	if _, cleanup := s.Edges(at(t, "2026-01-05T23:00:00Z")); !cleanup.Equal(at(t, "2026-01-06T23:00:00Z")) {
		t.Errorf("next cleanup: got %s", cleanup)
	}
}

func TestCase6SkippedHourNeverFires(t *testing.T) {
	s := compiled(t, daysAndHours("sun", "2"))
	for instant := localTime(t, "America/New_York", "2026-03-08 00:00"); instant.Day() == 8; instant = instant.Add(time.Second) {
		if s.At(instant).Active {
			t.Fatalf("active at %s", instant)
		}
	}
	// From the Sunday before straight to the one after.
	expectEdges(t, s, "2026-03-01T07:00:00Z", "2026-03-15T06:00:00Z", "2026-03-01T08:00:00Z")
	expectPrevious(t, s, "2026-03-15T05:59:59Z", "2026-03-01T08:00:00Z")
}

func TestCase7NightHoursAndNightWindow(t *testing.T) {
	hours, window := compiled(t, daysAndHours("mon-fri", "22-6")), compiled(t, windowOn("mon-fri", "22:00", "07:00"))
	for _, row := range []struct {
		wall          string
		hours, window bool
	}{
		{"2026-01-05 03:00", true, false}, // Mon: its hour counts; the night began on Sunday
		{"2026-01-05 12:00", false, false},
		{"2026-01-05 22:00", true, true},
		{"2026-01-06 06:59", true, true},
		{"2026-01-06 07:00", false, false},
		{"2026-01-09 23:59", true, true},  // Fri
		{"2026-01-10 00:00", false, true}, // Sat: the night that began on Friday
		{"2026-01-10 03:00", false, true},
		{"2026-01-10 07:00", false, false},
		{"2026-01-10 22:00", false, false},
	} {
		instant := localTime(t, "America/New_York", row.wall)
		if got := hours.At(instant).Active; got != row.hours {
			t.Errorf("hours 22-6 at %s: got %t, expected %t", row.wall, got, row.hours)
		}
		if got := window.At(instant).Active; got != row.window {
			t.Errorf("window 22:00 to 07:00 at %s: got %t, expected %t", row.wall, got, row.window)
		}
	}
}

func TestCase8DisabledIsOffWhateverElseIsWrong(t *testing.T) {
	no := false
	for name, spec := range map[string]v1alpha1.Schedule{
		"right":        daysAndHours("mon-sun", "0-23"),
		"empty":        {},
		"wrong days":   daysAndHours("monday", "0-23"),
		"wrong zone":   {Timezone: "Invalid/Timezone"},
		"wrong window": windowOn("mon", "24:00", "x"),
		"both ways":    {DaysOfWeek: list("mon"), Windows: windowOn("mon", "01:00", "02:00").Windows},
		"forced on":    {Exceptions: []v1alpha1.Exception{{From: "2000-01-01", To: "2999-12-31", Active: new(true)}}},
	} {
		t.Run(name, func(t *testing.T) {
			spec.Enabled = &no
			s := compiled(t, spec)
			state := s.At(at(t, "2026-01-05T14:00:00Z"))
			if state.Active || state.Reason != v1alpha1.DisabledReason || state.Message == "" {
				t.Errorf("got %+v", state)
			}
			expectNoEdges(t, s, "2026-01-05T14:00:00Z")
		})
	}
}

func TestCase9UnknownZone(t *testing.T) {
	spec := daysAndHours("mon", "9")
	spec.Timezone = "Invalid/Timezone"
	refused(t, spec, "spec.schedule.timezone", "such as Europe/Berlin")
}
