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
	"testing"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

func TestExceptions(t *testing.T) {
	office := func(exceptions ...v1alpha1.Exception) v1alpha1.Schedule {
		spec := daysAndHours("mon-fri", "9-17")
		spec.Exceptions = exceptions
		return spec
	}
	alone := func(exceptions ...v1alpha1.Exception) v1alpha1.Schedule {
		return v1alpha1.Schedule{Timezone: "America/New_York", Exceptions: exceptions}
	}
	for _, row := range []struct {
		name  string
		spec  v1alpha1.Schedule
		from  string
		edges []string
	}{
		{"a day off",
			office(exception("2026-01-06", "2026-01-06", false)), "2026-01-05T12:00:00Z",
			[]string{"2026-01-05T14:00:00Z", "2026-01-05T23:00:00Z", "2026-01-07T14:00:00Z"}},
		{"a day on begins and ends at local midnight",
			office(exception("2026-01-10", "2026-01-10", true)), "2026-01-09T22:00:00Z",
			[]string{"2026-01-09T23:00:00Z", "2026-01-10T05:00:00Z", "2026-01-11T05:00:00Z", "2026-01-12T14:00:00Z"}},
		{"days on, from and to inclusive",
			alone(exception("2026-12-24", "2026-12-26", true)), "2026-01-01T00:00:00Z",
			[]string{"2026-12-24T05:00:00Z", "2026-12-27T05:00:00Z", never}},
		{"the later in the list counts",
			alone(exception("2026-12-24", "2026-12-30", true), exception("2026-12-26", "2026-12-27", false)), "2026-01-01T00:00:00Z",
			[]string{"2026-12-24T05:00:00Z", "2026-12-26T05:00:00Z", "2026-12-28T05:00:00Z", "2026-12-31T05:00:00Z", never}},
		{"and covers the earlier whole",
			alone(exception("2026-12-26", "2026-12-27", false), exception("2026-12-24", "2026-12-30", true)), "2026-01-01T00:00:00Z",
			[]string{"2026-12-24T05:00:00Z", "2026-12-31T05:00:00Z", never}},
		{"days on that touch are one run",
			alone(exception("2026-12-26", "2026-12-26", true), exception("2026-12-24", "2026-12-25", true)), "2026-01-01T00:00:00Z",
			[]string{"2026-12-24T05:00:00Z", "2026-12-27T05:00:00Z", never}},
		{"a day off that is off anyway is no edge",
			office(exception("2026-01-10", "2026-01-10", false)), "2026-01-09T22:00:00Z",
			[]string{"2026-01-09T23:00:00Z", "2026-01-12T14:00:00Z"}},
		{"years off, then the week again",
			office(exception("2026-01-06", "2126-01-06", false)), "2026-01-05T22:00:00Z",
			[]string{"2026-01-05T23:00:00Z", "2126-01-07T14:00:00Z"}},
		{"a day on over the hour that spring skips is 23 hours long",
			alone(exception("2026-03-08", "2026-03-08", true)), "2026-01-01T00:00:00Z",
			[]string{"2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z", never}},
		{"a day that its zone skipped never comes",
			v1alpha1.Schedule{Timezone: "Pacific/Apia", Exceptions: []v1alpha1.Exception{
				exception("2011-12-30", "2011-12-30", true), exception("2012-01-02", "2012-01-02", true)}}, "2011-12-01T00:00:00Z",
			[]string{"2012-01-01T10:00:00Z", "2012-01-02T10:00:00Z", never}},
		{"a day that ends with a repeated hour comes back for it",
			v1alpha1.Schedule{Timezone: "America/Sao_Paulo", Exceptions: []v1alpha1.Exception{
				exception("2018-02-18", "2018-02-18", true)}}, "2018-02-01T00:00:00Z",
			[]string{"2018-02-18T03:00:00Z", "2018-02-19T03:00:00Z", never}},
		{"Havana repeats the first hour of a Sunday: Sunday only is 25 hours long",
			v1alpha1.Schedule{Timezone: "America/Havana", Exceptions: []v1alpha1.Exception{
				exception("2026-11-01", "2026-11-01", true)}}, "2026-10-01T00:00:00Z",
			[]string{"2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z", never}},
	} {
		t.Run(row.name, func(t *testing.T) {
			expectTimeline(t, compiled(t, row.spec), row.from, row.edges...)
		})
	}
}

func TestNeverAndForEver(t *testing.T) {
	for _, zone := range list("UTC", "America/New_York", "Africa/Casablanca") {
		for name, spec := range map[string]v1alpha1.Schedule{
			"always":                  {DaysOfWeek: list("mon-sun"), HoursOfDay: list("0-23")},
			"always, as a window":     {Windows: []v1alpha1.Window{{Days: list("mon-sun"), Start: "07:00", End: "07:00"}}},
			"always, as windows":      {Windows: []v1alpha1.Window{{Days: list("mon-sun"), Start: "07:00", End: "19:00"}, {Days: list("mon-sun"), Start: "19:00", End: "07:00"}}},
			"exceptions that are off": {Exceptions: []v1alpha1.Exception{exception("2026-01-01", "2026-12-31", false)}},
			"off over all the calendar": {DaysOfWeek: list("mon"), HoursOfDay: list("0"),
				Exceptions: []v1alpha1.Exception{exception("0000-01-01", "9999-12-31", false)}},
		} {
			t.Run(zone+" "+name, func(t *testing.T) {
				spec.Timezone = zone
				s := compiled(t, spec)
				for _, instant := range list("2026-01-05T14:00:00Z", "0005-01-01T00:00:00Z", "9995-12-31T23:59:59Z") {
					expectNoEdges(t, s, instant)
				}
			})
		}
	}
}

func TestEdgesOfTheCalendar(t *testing.T) {
	forced := func(from, to string) *Schedule {
		return compiled(t, v1alpha1.Schedule{Timezone: "America/New_York", Exceptions: []v1alpha1.Exception{exception(from, to, true)}})
	}
	t.Run("the last year is reached from today, and today from it", func(t *testing.T) {
		s := forced("9999-06-01", "9999-06-30")
		expectTimeline(t, s, "2026-01-01T00:00:00Z", "9999-06-01T04:00:00Z", "9999-07-01T04:00:00Z", never)
		expectPrevious(t, forced("2026-06-01", "2026-06-30"), "9999-12-31T23:59:59Z", "2026-07-01T04:00:00Z")
	})
	t.Run("the first year is reached from today", func(t *testing.T) {
		s := forced("0001-06-01", "0001-06-30")
		expectPrevious(t, s, "2026-01-01T00:00:00Z", "0001-07-01T04:56:02Z")
		expectTimeline(t, s, "0000-01-01T00:00:00Z", "0001-06-01T04:56:02Z", "0001-07-01T04:56:02Z", never)
	})
	t.Run("an end that RFC 3339 cannot write is never", func(t *testing.T) {
		s := forced("2026-06-01", "9999-12-31")
		expectEdges(t, s, "2026-01-01T00:00:00Z", "2026-06-01T04:00:00Z", never)
		expectEdges(t, s, "2027-01-01T00:00:00Z", never, never)
		expectPrevious(t, s, "9999-12-31T23:59:59Z", "2026-06-01T04:00:00Z")
	})
	t.Run("so is a beginning", func(t *testing.T) {
		s := compiled(t, v1alpha1.Schedule{Timezone: "Asia/Tokyo", Exceptions: []v1alpha1.Exception{exception("0000-01-01", "2026-06-30", true)}})
		expectPrevious(t, s, "2026-01-01T00:00:00Z", never)
		expectEdges(t, s, "0000-01-01T00:00:00Z", never, "2026-06-30T15:00:00Z")
	})
	t.Run("instants beyond the calendar get an answer too", func(t *testing.T) {
		s := compiled(t, daysAndHours("mon-fri", "9-17"))
		for _, years := range []int{-1_000_000, -3000, 8000, 1_000_000} {
			instant := at(t, "2026-01-05T14:00:00Z").AddDate(years, 0, 0)
			s.At(instant)
			next, ok := s.Next(instant)
			if years < 0 && (!ok || next.Year() > 0) || years > 0 && ok {
				t.Errorf("Next %d years away: got %s, %t", years, next, ok)
			}
			previous, ok := s.Previous(instant)
			if years > 0 && (!ok || previous.Year() != 9999) || years < 0 && ok {
				t.Errorf("Previous %d years away: got %s, %t", years, previous, ok)
			}
		}
	})
}
