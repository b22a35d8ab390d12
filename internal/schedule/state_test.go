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

func TestStates(t *testing.T) {
	no := false
	office := daysAndHours("mon-thu,fri", "9-12,13-17")
	night := windowOn("fri-mon", "22:00", "07:30")
	shifts := v1alpha1.Schedule{Windows: []v1alpha1.Window{
		{Days: list("mon"), Start: "09:00", End: "12:00"},
		{Days: list("mon", "wed"), Start: "11:00", End: "15:00"},
	}}
	holiday := office
	holiday.Exceptions = []v1alpha1.Exception{
		exception("2026-01-05", "2026-01-09", true), exception("2026-01-06", "2026-01-06", false),
	}
	for _, row := range []struct {
		name    string
		spec    v1alpha1.Schedule
		instant string
		state   State
	}{
		{"in the hours", office, "2026-01-05T14:00:00Z", State{true, v1alpha1.InWindowReason,
			"Active until Mon 2026-01-05 18:00 EST (America/New_York): in daysOfWeek mon-fri with hoursOfDay 9-17."}},
		{"outside the hours", office, "2026-01-09T23:00:00Z", State{false, v1alpha1.OutOfWindowReason,
			"Inactive until Mon 2026-01-12 09:00 EST (America/New_York): outside daysOfWeek mon-fri with hoursOfDay 9-17."}},
		{"always", daysAndHours("mon-sun", "6-5"), "2026-01-09T23:00:00Z", State{true, v1alpha1.InWindowReason,
			"Active without end (America/New_York): in daysOfWeek mon-sun with hoursOfDay 0-23."}},
		{"in a window that began yesterday", night, "2026-01-06T06:00:00Z", State{true, v1alpha1.InWindowReason,
			"Active until Tue 2026-01-06 07:30 EST (America/New_York): in windows[0], fri-mon 22:00 to 07:30 of the next day."}},
		{"outside the window", night, "2026-07-07T12:00:00Z", State{false, v1alpha1.OutOfWindowReason,
			"Inactive until Fri 2026-07-10 22:00 EDT (America/New_York): outside windows[0], fri-mon 22:00 to 07:30 of the next day."}},
		{"in the first of two windows that overlap", shifts, "2026-01-05T11:30:00Z", State{true, v1alpha1.InWindowReason,
			"Active until Mon 2026-01-05 15:00 UTC (UTC): in windows[0], mon 09:00 to 12:00."}},
		{"in the second", shifts, "2026-01-05T12:00:00Z", State{true, v1alpha1.InWindowReason,
			"Active until Mon 2026-01-05 15:00 UTC (UTC): in windows[1], mon,wed 11:00 to 15:00."}},
		{"outside two windows", shifts, "2026-01-05T15:00:00Z", State{false, v1alpha1.OutOfWindowReason,
			"Inactive until Wed 2026-01-07 11:00 UTC (UTC): outside all 2 windows."}},
		{"forced on", holiday, "2026-01-08T09:00:00Z", State{true, v1alpha1.ForcedOnReason,
			"Active until Sat 2026-01-10 00:00 EST (America/New_York): exceptions[0] forces 2026-01-05 to 2026-01-09 on."}},
		{"forced on, the rest of an exception that another cuts", holiday, "2026-01-05T09:00:00Z", State{true, v1alpha1.ForcedOnReason,
			"Active until Tue 2026-01-06 00:00 EST (America/New_York): exceptions[0] forces 2026-01-05 to 2026-01-09 on."}},
		{"forced off", holiday, "2026-01-06T14:00:00Z", State{false, v1alpha1.ForcedOffReason,
			"Inactive until Wed 2026-01-07 00:00 EST (America/New_York): exceptions[1] forces 2026-01-06 off."}},
		{"outside exceptions that stand alone", v1alpha1.Schedule{Exceptions: holiday.Exceptions}, "2026-01-10T00:00:00Z",
			State{false, v1alpha1.OutOfWindowReason,
				"Inactive without end (UTC): outside all exceptions, which alone turn this schedule on."}},
		{"seconds, where the zone has them", daysAndHours("sat", "9"), "1883-11-17T14:00:00Z", State{true, v1alpha1.InWindowReason,
			"Active until Sat 1883-11-17 10:00 LMT (America/New_York): in daysOfWeek sat with hoursOfDay 9."}},
		{"disabled", v1alpha1.Schedule{Enabled: &no}, "2026-01-05T14:00:00Z", State{false, v1alpha1.DisabledReason,
			"Inactive: enabled is false."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := compiled(t, row.spec).At(at(t, row.instant)); got != row.state {
				t.Errorf("got      %+v\nexpected %+v", got, row.state)
			}
		})
	}
}

// A condition holds the message, so it must not differ from one reconcile to the next.
func TestMessageStaysWhileTheStateDoes(t *testing.T) {
	s := compiled(t, daysAndHours("mon-fri", "9-17"))
	for _, span := range [][2]string{
		{"2026-01-05T14:00:00Z", "2026-01-05T22:59:59.999Z"},
		{"2026-01-09T23:00:00Z", "2026-01-12T13:59:59.999Z"},
	} {
		if first, last := s.At(at(t, span[0])), s.At(at(t, span[1])); first != last {
			t.Errorf("%+v became %+v", first, last)
		}
	}
}
