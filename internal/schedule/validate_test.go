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

func exception(from, to string, active bool) v1alpha1.Exception {
	return v1alpha1.Exception{From: from, To: to, Active: &active}
}

func TestFieldsGivenTogether(t *testing.T) {
	no := false
	windows := windowOn("mon", "09:00", "17:00").Windows
	exceptions := []v1alpha1.Exception{exception("2026-12-24", "2026-12-26", true)}
	for _, row := range []struct {
		name       string
		spec       v1alpha1.Schedule
		at, advice string
	}{
		{"days and hours", v1alpha1.Schedule{DaysOfWeek: list("mon"), HoursOfDay: list("9")}, "", ""},
		{"windows", v1alpha1.Schedule{Windows: windows}, "", ""},
		{"exceptions alone", v1alpha1.Schedule{Exceptions: exceptions}, "", ""},
		{"days, hours and exceptions", v1alpha1.Schedule{DaysOfWeek: list("mon"), HoursOfDay: list("9"), Exceptions: exceptions}, "", ""},
		{"windows and exceptions", v1alpha1.Schedule{Windows: windows, Exceptions: exceptions}, "", ""},
		{"nothing, disabled", v1alpha1.Schedule{Enabled: &no}, "", ""},
		{"nothing", v1alpha1.Schedule{}, "spec.schedule", "write daysOfWeek and hoursOfDay, or windows, or exceptions"},
		{"days without hours", v1alpha1.Schedule{DaysOfWeek: list("mon")}, "spec.schedule.hoursOfDay", "0-23"},
		{"hours without days", v1alpha1.Schedule{HoursOfDay: list("9")}, "spec.schedule.daysOfWeek", "mon-sun"},
		{"days without hours but with exceptions", v1alpha1.Schedule{DaysOfWeek: list("mon"), Exceptions: exceptions}, "spec.schedule.hoursOfDay", "0-23"},
		{"days without hours, disabled", v1alpha1.Schedule{DaysOfWeek: list("mon"), Enabled: &no}, "spec.schedule.hoursOfDay", "0-23"},
		{"windows with days", v1alpha1.Schedule{Windows: windows, DaysOfWeek: list("mon")}, "spec.schedule.windows", "keep either"},
		{"windows with hours", v1alpha1.Schedule{Windows: windows, HoursOfDay: list("9")}, "spec.schedule.windows", "keep either"},
		{"windows with both", v1alpha1.Schedule{Windows: windows, DaysOfWeek: list("mon"), HoursOfDay: list("9")}, "spec.schedule.windows", "keep either"},
		{"windows with days, disabled", v1alpha1.Schedule{Windows: windows, DaysOfWeek: list("mon"), Enabled: &no}, "spec.schedule.windows", "keep either"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.at == "" {
				accepted(t, row.spec)
			} else {
				refused(t, row.spec, row.at, row.advice)
			}
		})
	}
}

func TestDisabledIsCheckedAllTheSame(t *testing.T) {
	no := false
	spec := daysAndHours("monday", "9")
	spec.Enabled = &no
	refused(t, spec, "spec.schedule.daysOfWeek[0]", "write mon")
}

func TestEveryErrorIsReported(t *testing.T) {
	spec := v1alpha1.Schedule{
		DaysOfWeek: list("Mon", "tue", "lundi"),
		HoursOfDay: list("24"),
		Windows:    []v1alpha1.Window{{Days: list("x"), Start: "9", End: "24:00"}, {}},
		Exceptions: []v1alpha1.Exception{{From: "2026-02-30", To: "tomorrow"}},
		Timezone:   "Local",
	}
	var got []string
	for _, err := range Validate(spec, root) {
		got = append(got, err.Field)
	}
	expected := list(
		"spec.schedule.windows",
		"spec.schedule.timezone",
		"spec.schedule.daysOfWeek[0]",
		"spec.schedule.daysOfWeek[2]",
		"spec.schedule.hoursOfDay[0]",
		"spec.schedule.windows[0].days[0]",
		"spec.schedule.windows[0].start",
		"spec.schedule.windows[0].end",
		"spec.schedule.windows[1].days",
		"spec.schedule.windows[1].start",
		"spec.schedule.windows[1].end",
		"spec.schedule.exceptions[0].from",
		"spec.schedule.exceptions[0].to",
		"spec.schedule.exceptions[0].active",
	)
	if len(got) != len(expected) {
		t.Fatalf("got %q", got)
	}
	for i := range expected {
		if got[i] != expected[i] {
			t.Errorf("error %d is at %s, expected %s", i, got[i], expected[i])
		}
	}
}

func TestTimesOfDay(t *testing.T) {
	for input, minute := range map[string]int{"00:00": 0, "09:05": 545, "17:30": 1050, "23:59": 1439} {
		if got, err := parseTimeOfDay(input); err != nil || got != minute {
			t.Errorf("%s: got %d, %v, expected %d", input, got, err, minute)
		}
		if got := formatTimeOfDay(minute); got != input {
			t.Errorf("%d is written %s, expected %s", minute, got, input)
		}
	}
	for input, advice := range map[string]string{
		"24:00":    "write 00:00",
		"9:00":     "write 09:00",
		"9":        "write 09:00",
		"17":       "write 17:00",
		"":         "such as 09:00",
		"24:01":    "such as 09:00",
		"25:00":    "such as 09:00",
		"09:60":    "such as 09:00",
		"09:0":     "such as 09:00",
		"09:00:00": "such as 09:00",
		"09.00":    "such as 09:00",
		" 9:00":    "such as 09:00",
		"09:00 ":   "such as 09:00",
		"9:00 AM":  "such as 09:00",
		"-9:00":    "such as 09:00",
		"+1:00":    "such as 09:00",
		"09:+1":    "such as 09:00",
		"0９:00":    "such as 09:00",
	} {
		refused(t, windowOn("mon", input, "18:00"), "spec.schedule.windows[0].start", advice)
		refused(t, windowOn("mon", "18:00", input), "spec.schedule.windows[0].end", advice)
	}
}

func TestDates(t *testing.T) {
	for _, input := range list("2026-12-24", "2028-02-29", "2000-02-29", "0000-01-01", "9999-12-31") {
		accepted(t, v1alpha1.Schedule{Exceptions: []v1alpha1.Exception{exception(input, input, true)}})
	}
	for input, advice := range map[string]string{
		"2026-02-30":           "no such day",
		"2026-02-29":           "no such day",
		"2100-02-29":           "no such day",
		"2026-04-31":           "no such day",
		"2026-2-3":             "write 2026-02-03",
		"2026/12/24":           "write 2026-12-24",
		"2026-12-24T00:00:00Z": "write 2026-12-24",
		"":                     "such as 2026-12-24",
		"2026-13-01":           "such as 2026-12-24",
		"2026-00-01":           "such as 2026-12-24",
		"2026-01-00":           "such as 2026-12-24",
		"2026-01-32":           "such as 2026-12-24",
		"24.12.2026":           "such as 2026-12-24",
		"12-24":                "such as 2026-12-24",
		"20261224":             "such as 2026-12-24",
		"10000-01-01":          "such as 2026-12-24",
		"-001-01-01":           "such as 2026-12-24",
		"2026-12-24 ":          "such as 2026-12-24",
	} {
		refused(t, v1alpha1.Schedule{Exceptions: []v1alpha1.Exception{exception(input, "9999-12-31", true)}},
			"spec.schedule.exceptions[0].from", advice)
		refused(t, v1alpha1.Schedule{Exceptions: []v1alpha1.Exception{exception("0000-01-01", input, true)}},
			"spec.schedule.exceptions[0].to", advice)
	}
	refused(t, v1alpha1.Schedule{Exceptions: []v1alpha1.Exception{exception("2026-12-26", "2026-12-24", true)}},
		"spec.schedule.exceptions[0].to", "write 2026-12-26 or later")
}

func TestTimezones(t *testing.T) {
	for _, name := range list("", "UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "America/Port-au-Prince",
		"Etc/GMT+5", "Etc/GMT-14", "EST5EDT", "GB", "Etc/UTC") {
		spec := daysAndHours("mon", "9")
		spec.Timezone = name
		accepted(t, spec)
	}
	for name, advice := range map[string]string{
		"Local":                    "zone of the host",
		"localtime":                "zone of the host",
		"posixrules":               "zone of the host",
		"posix/Europe/Berlin":      "zone of the host",
		"right/Europe/Berlin":      "zone of the host",
		"Invalid/Timezone":         "such as Europe/Berlin",
		"europe/berlin":            "such as Europe/Berlin",
		"utc":                      "such as Europe/Berlin",
		"Berlin":                   "such as Europe/Berlin",
		"Europe":                   "such as Europe/Berlin",
		"Europe/":                  "such as Europe/Berlin",
		"/Europe/Berlin":           "such as Europe/Berlin",
		"Europe//Berlin":           "such as Europe/Berlin",
		"../zoneinfo/UTC":          "such as Europe/Berlin",
		"Europe/../Europe/Berlin":  "such as Europe/Berlin",
		"Europe/Berlin\n":          "such as Europe/Berlin",
		" UTC":                     "such as Europe/Berlin",
		"America/São_Paulo":        "such as Europe/Berlin",
		"+02:00":                   "such as Europe/Berlin",
		"UTC+2":                    "such as Europe/Berlin",
		"CET-1CEST,M3.5.0,M10.5.0": "such as Europe/Berlin",
		"zone.tab":                 "such as Europe/Berlin",
		"tzdata.zi":                "such as Europe/Berlin",
	} {
		spec := daysAndHours("mon", "9")
		spec.Timezone = name
		refused(t, spec, "spec.schedule.timezone", advice)
	}
}

func TestLongValuesAreCut(t *testing.T) {
	long := make([]byte, 100_000)
	for i := range long {
		long[i] = 'x'
	}
	errs := Validate(daysAndHours(string(long), "9"), root)
	if len(errs) != 1 || len(errs[0].Error()) > 500 {
		t.Errorf("the error has %d bytes", len(errs.ToAggregate().Error()))
	}
}
