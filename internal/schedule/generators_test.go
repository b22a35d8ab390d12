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
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// oddZones have shifts of half an hour, of two hours and of a day, at midnight, in
// Ramadan, backwards, in the past only, and offsets of quarters and of seconds.
var oddZones = []string{
	"UTC", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "America/Sao_Paulo", "Asia/Kathmandu",
	"America/New_York", "Europe/Dublin", "America/Caracas", "Antarctica/Troll", "Pacific/Chatham", "Asia/Pyongyang",
	"Africa/Monrovia", "Europe/Amsterdam", "America/Havana", "Asia/Manila", "Pacific/Kwajalein", "Asia/Gaza",
}

// shifts gives the seconds at which the offset of the zone changes from 1840 to 2045,
// found by halving the days in which it does.
var shifts = sync.OnceValue(func() map[string][]int64 {
	found := map[string][]int64{}
	for _, name := range oddZones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			panic(err)
		}
		offset := func(unix int64) int {
			_, offset := time.Unix(unix, 0).In(zone).Zone()
			return offset
		}
		const step = 24 * 60 * 60
		end := time.Date(2045, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
		for day := time.Date(1840, 1, 1, 0, 0, 0, 0, time.UTC).Unix(); day < end; day += step {
			if offset(day) == offset(day+step) {
				continue
			}
			low, high := day, day+step
			for high-low > 1 {
				if middle := (low + high) / 2; offset(middle) == offset(day) {
					low = middle
				} else {
					high = middle
				}
			}
			found[name] = append(found[name], high)
		}
	}
	return found
})

func unixDate(year int) int64 {
	return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
}

// genInstant gives instants around the shifts of the zone more often than not.
func genInstant(zone string) *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		var unix int64
		known := shifts()[zone]
		switch kind := rapid.IntRange(0, 9).Draw(t, "kind of instant"); {
		case kind < 6 && len(known) > 0:
			unix = rapid.SampledFrom(known).Draw(t, "shift")
			reach := rapid.SampledFrom([]int64{1, 2 * 3600, 86400, 3 * 86400}).Draw(t, "reach")
			unix += rapid.Int64Range(-reach, reach).Draw(t, "seconds from it")
		case kind < 8:
			unix = rapid.Int64Range(unixDate(1900), unixDate(2050)).Draw(t, "second")
		case kind == 8: // around the end of a year, leap years included
			unix = unixDate(rapid.IntRange(1970, 2500).Draw(t, "year")) + rapid.Int64Range(-2*86400, 86400).Draw(t, "seconds from it")
		default:
			unix = rapid.Int64Range(unixDate(1), unixDate(9990)).Draw(t, "second")
		}
		return time.Unix(unix, rapid.SampledFrom([]int64{0, 0, 1, 999_999_999}).Draw(t, "nanosecond")).UTC()
	})
}

func genLists(element func(*rapid.T) string) *rapid.Generator[[]string] {
	part := rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "range") {
			return element(t) + "-" + element(t)
		}
		return element(t)
	})
	item := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), ",")
	})
	return rapid.SliceOfN(item, 1, 2)
}

func genDays() *rapid.Generator[[]string] {
	return genLists(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}).Draw(t, "day")
	})
}

func genHours() *rapid.Generator[[]string] {
	return genLists(func(t *rapid.T) string {
		format := rapid.SampledFrom([]string{"%d", "%02d"}).Draw(t, "format")
		return fmt.Sprintf(format, rapid.OneOf(rapid.IntRange(0, 4), rapid.IntRange(0, 23)).Draw(t, "hour"))
	})
}

// genClock prefers the small hours, in which clocks shift.
func genClock() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		minute := rapid.OneOf(
			rapid.IntRange(0, 4*60),
			rapid.IntRange(23*60, 24*60-1),
			rapid.IntRange(0, 24*60-1),
			rapid.Map(rapid.IntRange(0, 47), func(half int) int { return half * 30 }),
		).Draw(t, "minute")
		return fmt.Sprintf("%02d:%02d", minute/60, minute%60)
	})
}

func genWindow() *rapid.Generator[v1alpha1.Window] {
	return rapid.Custom(func(t *rapid.T) v1alpha1.Window {
		w := v1alpha1.Window{Days: genDays().Draw(t, "days"), Start: genClock().Draw(t, "start"), End: genClock().Draw(t, "end")}
		if rapid.IntRange(0, 9).Draw(t, "24 hours") == 0 {
			w.End = w.Start
		}
		return w
	})
}

// genExceptions gives exceptions within so many days of an instant.
func genExceptions(around time.Time, reach, most int) *rapid.Generator[[]v1alpha1.Exception] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) v1alpha1.Exception {
		from := around.AddDate(0, 0, rapid.IntRange(-reach, reach).Draw(t, "days to from"))
		to := from.AddDate(0, 0, rapid.IntRange(0, reach).Draw(t, "days to to"))
		if rapid.Bool().Draw(t, "one day") {
			to = from
		}
		return exception(from.Format("2006-01-02"), to.Format("2006-01-02"), rapid.Bool().Draw(t, "active"))
	}), 0, most)
}

// genSpec gives schedules of every shape, all of them valid.
func genSpec(zone string, around time.Time) *rapid.Generator[v1alpha1.Schedule] {
	return rapid.Custom(func(t *rapid.T) v1alpha1.Schedule {
		spec := v1alpha1.Schedule{Timezone: zone}
		switch rapid.IntRange(0, 6).Draw(t, "shape") {
		case 0, 1:
			spec.DaysOfWeek, spec.HoursOfDay = genDays().Draw(t, "days"), genHours().Draw(t, "hours")
		case 2, 3, 4:
			spec.Windows = rapid.SliceOfN(genWindow(), 1, 3).Draw(t, "windows")
		case 5:
			spec.DaysOfWeek, spec.HoursOfDay = list("mon-sun"), list("0-23")
		}
		if rapid.Bool().Draw(t, "with exceptions") {
			spec.Exceptions = genExceptions(around, 5, 5).Draw(t, "exceptions")
		}
		if len(spec.DaysOfWeek)+len(spec.Windows)+len(spec.Exceptions) == 0 {
			day := around.Format("2006-01-02")
			spec.Exceptions = []v1alpha1.Exception{exception(day, day, true)}
		}
		return spec
	})
}

// question is a schedule and an instant to ask it about.
type question struct {
	*Schedule
	oracle  *oracle
	instant time.Time
}

func draw(t *rapid.T, tb testing.TB) question {
	zone := rapid.SampledFrom(oddZones).Draw(t, "zone")
	instant := genInstant(zone).Draw(t, "instant")
	spec := genSpec(zone, instant).Draw(t, "spec")
	s, errs := Compile(spec, root)
	if len(errs) > 0 {
		t.Fatalf("refused: %v", errs)
	}
	return question{s, newOracle(tb, spec), instant}
}
