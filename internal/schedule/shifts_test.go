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

// windowIn and hoursIn make schedules of one rule in that zone.
func windowIn(zone, days, start, end string) v1alpha1.Schedule {
	spec := windowOn(days, start, end)
	spec.Timezone = zone
	return spec
}

func hoursIn(zone, days, hours string) v1alpha1.Schedule {
	spec := daysAndHours(days, hours)
	spec.Timezone = zone
	return spec
}

// The rows tell what a person with a clock on the wall would see.
func TestShiftsOfTheClock(t *testing.T) {
	for _, row := range []struct {
		name  string
		spec  v1alpha1.Schedule
		from  string
		edges []string
	}{
		{"spring skips 02:00 to 03:00: a window inside it is left out that day",
			windowIn("America/New_York", "mon-sun", "02:15", "02:45"), "2026-03-07T00:00:00Z",
			[]string{"2026-03-07T07:15:00Z", "2026-03-07T07:45:00Z", "2026-03-09T06:15:00Z", "2026-03-09T06:45:00Z"}},
		{"spring: a window that begins in the skipped hour begins right after it",
			windowIn("America/New_York", "sun", "02:30", "04:00"), "2026-03-08T00:00:00Z",
			[]string{"2026-03-08T07:00:00Z", "2026-03-08T08:00:00Z"}},
		{"spring: a window that ends in the skipped hour ends where it begins",
			windowIn("America/New_York", "sun", "01:00", "02:30"), "2026-03-08T00:00:00Z",
			[]string{"2026-03-08T06:00:00Z", "2026-03-08T07:00:00Z"}},
		{"spring: a window that begins with the skipped hour begins right after it",
			windowIn("America/New_York", "sun", "02:00", "04:00"), "2026-03-08T00:00:00Z",
			[]string{"2026-03-08T07:00:00Z", "2026-03-08T08:00:00Z"}},
		{"spring: a window over the skipped hour is an hour shorter",
			windowIn("America/New_York", "sun", "00:00", "06:00"), "2026-03-08T00:00:00Z",
			[]string{"2026-03-08T05:00:00Z", "2026-03-08T10:00:00Z"}},
		{"spring: two windows that the skipped hour parts become one",
			v1alpha1.Schedule{Timezone: "America/New_York", Windows: []v1alpha1.Window{
				{Days: list("sun"), Start: "01:00", End: "02:00"}, {Days: list("sun"), Start: "03:00", End: "04:00"}}},
			"2026-03-08T00:00:00Z",
			[]string{"2026-03-08T06:00:00Z", "2026-03-08T08:00:00Z"}},
		{"autumn repeats 01:00 to 02:00: its hour lasts two",
			hoursIn("America/New_York", "sun", "1"), "2026-11-01T00:00:00Z",
			[]string{"2026-11-01T05:00:00Z", "2026-11-01T07:00:00Z", "2026-11-08T06:00:00Z"}},
		{"autumn: a window inside the repeated hour fires twice",
			windowIn("America/New_York", "sun", "01:15", "01:45"), "2026-11-01T00:00:00Z",
			[]string{"2026-11-01T05:15:00Z", "2026-11-01T05:45:00Z", "2026-11-01T06:15:00Z", "2026-11-01T06:45:00Z", "2026-11-08T06:15:00Z"}},
		{"autumn: a window that begins in the repeated hour is off again until it repeats",
			windowIn("America/New_York", "sun", "01:30", "03:00"), "2026-11-01T00:00:00Z",
			[]string{"2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z", "2026-11-01T06:30:00Z", "2026-11-01T08:00:00Z"}},
		{"autumn: a window that ends in the repeated hour comes back for its second half",
			windowIn("America/New_York", "sun", "00:00", "01:30"), "2026-11-01T00:00:00Z",
			[]string{"2026-11-01T04:00:00Z", "2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z", "2026-11-01T06:30:00Z"}},
		{"autumn: a window that ends with the hour to repeat goes on",
			windowIn("America/New_York", "sun", "00:00", "02:00"), "2026-11-01T00:00:00Z",
			[]string{"2026-11-01T04:00:00Z", "2026-11-01T07:00:00Z"}},
		{"autumn: a window that begins after the repeated hour waits for the second time",
			windowIn("America/New_York", "sun", "02:00", "03:00"), "2026-11-01T00:00:00Z",
			[]string{"2026-11-01T07:00:00Z", "2026-11-01T08:00:00Z"}},
		{"Lord Howe shifts by half an hour: spring skips 02:00 to 02:30",
			hoursIn("Australia/Lord_Howe", "sun", "2"), "2026-10-03T12:00:00Z",
			[]string{"2026-10-03T15:30:00Z", "2026-10-03T16:00:00Z", "2026-10-10T15:00:00Z"}},
		{"Lord Howe: autumn repeats 01:30 to 02:00",
			hoursIn("Australia/Lord_Howe", "sun", "1"), "2026-04-04T12:00:00Z",
			[]string{"2026-04-04T14:00:00Z", "2026-04-04T15:30:00Z"}},
		{"Chatham shifts at 02:45 and 03:45",
			hoursIn("Pacific/Chatham", "sun", "2-3"), "2026-09-26T00:00:00Z",
			[]string{"2026-09-26T13:15:00Z", "2026-09-26T14:15:00Z"}},
		{"Dublin calls its winter the exception, with the same clocks",
			windowIn("Europe/Dublin", "sun", "01:15", "01:45"), "2026-10-25T00:00:00Z",
			[]string{"2026-10-25T00:15:00Z", "2026-10-25T00:45:00Z", "2026-10-25T01:15:00Z", "2026-10-25T01:45:00Z"}},
		{"Troll shifts by two hours",
			hoursIn("Antarctica/Troll", "sun", "1-2"), "2026-03-28T12:00:00Z",
			[]string{"2026-04-04T23:00:00Z", "2026-04-05T01:00:00Z"}},
		{"Kathmandu is 5:45 ahead",
			hoursIn("Asia/Kathmandu", "mon", "9"), "2026-01-05T00:00:00Z",
			[]string{"2026-01-05T03:15:00Z", "2026-01-05T04:15:00Z"}},
		{"São Paulo skipped midnight: the day begins at 01:00",
			hoursIn("America/Sao_Paulo", "sun", "0-1"), "2018-11-04T00:00:00Z",
			[]string{"2018-11-04T03:00:00Z", "2018-11-04T04:00:00Z"}},
		{"São Paulo repeated the last hour of a Saturday: a window over that midnight is parted",
			windowIn("America/Sao_Paulo", "sat", "23:30", "00:30"), "2018-02-17T12:00:00Z",
			[]string{"2018-02-18T01:30:00Z", "2018-02-18T02:00:00Z", "2018-02-18T02:30:00Z", "2018-02-18T03:30:00Z"}},
		{"Apia had no 30 December 2011: a Friday's hours did not come",
			hoursIn("Pacific/Apia", "fri", "9-17"), "2011-12-29T00:00:00Z",
			[]string{"2012-01-05T19:00:00Z", "2012-01-06T04:00:00Z"}},
		{"Apia: Thursday's night window runs on into the clock's Friday, which is not there",
			windowIn("Pacific/Apia", "thu", "22:00", "04:00"), "2011-12-29T20:00:00Z",
			[]string{"2011-12-30T08:00:00Z", "2011-12-30T10:00:00Z"}},
		{"Apia: what the skipped Friday's window leaves to Saturday begins with Saturday",
			windowIn("Pacific/Apia", "fri", "22:00", "04:00"), "2011-12-29T20:00:00Z",
			[]string{"2011-12-30T10:00:00Z", "2011-12-30T14:00:00Z"}},
		{"Caracas moved half an hour forward at 02:30 on 1 May 2016",
			hoursIn("America/Caracas", "sun", "2"), "2016-05-01T00:00:00Z",
			[]string{"2016-05-01T06:30:00Z", "2016-05-01T07:00:00Z", "2016-05-08T06:00:00Z"}},
		{"Pyongyang repeated half an hour on 15 August 2015",
			windowIn("Asia/Pyongyang", "fri", "23:40", "23:50"), "2015-08-14T12:00:00Z",
			[]string{"2015-08-14T14:40:00Z", "2015-08-14T14:50:00Z", "2015-08-14T15:10:00Z", "2015-08-14T15:20:00Z"}},
		{"Casablanca sets its clocks back for Ramadan",
			windowIn("Africa/Casablanca", "sun", "02:15", "02:45"), "2026-02-15T00:00:00Z",
			[]string{"2026-02-15T01:15:00Z", "2026-02-15T01:45:00Z", "2026-02-15T02:15:00Z", "2026-02-15T02:45:00Z"}},
		{"New York before 1883-11-18 was 4:56:02 behind",
			hoursIn("America/New_York", "sat", "9"), "1883-11-17T00:00:00Z",
			[]string{"1883-11-17T13:56:02Z", "1883-11-17T14:56:02Z", "1883-11-24T14:00:00Z"}},
		{"New York repeated 3:58 minutes at the noon of 1883-11-18",
			windowIn("America/New_York", "sun", "12:01", "12:02"), "1883-11-18T12:00:00Z",
			[]string{"1883-11-18T16:57:02Z", "1883-11-18T16:58:02Z", "1883-11-18T17:01:00Z", "1883-11-18T17:02:00Z"}},
		{"over the last day of a leap year, where the zone follows a rule",
			hoursIn("America/New_York", "sun-mon", "9"), "2028-12-31T12:00:00Z",
			[]string{"2028-12-31T14:00:00Z", "2028-12-31T15:00:00Z", "2029-01-01T14:00:00Z", "2029-01-01T15:00:00Z"}},
		{"in a century to come",
			windowIn("America/New_York", "sun", "02:30", "04:00"), "2400-03-12T00:00:00Z",
			[]string{"2400-03-12T07:00:00Z", "2400-03-12T08:00:00Z"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			expectTimeline(t, compiled(t, row.spec), row.from, row.edges...)
		})
	}
}
