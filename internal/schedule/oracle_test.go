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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// oracle answers by brute force. It shares no code with what it judges: it reads the
// clock with the time package, minute by minute or second by second, and compares
// with the text of the spec.
type oracle struct {
	spec v1alpha1.Schedule
	zone *time.Location
	// seen keeps answers for one reading of the clock: to the minute, or to the day
	// where there are but exceptions.
	seen map[reading]verdict
	// last is the answer for the last reading.
	last struct {
		reading
		verdict
	}
}

type reading struct {
	year         int
	month        time.Month
	day          int
	hour, minute int
}

type verdict struct {
	active bool
	reason string
}

func newOracle(t testing.TB, spec v1alpha1.Schedule) *oracle {
	t.Helper()
	zone, err := time.LoadLocation(spec.Timezone)
	if err != nil {
		t.Fatal(err)
	}
	return &oracle{spec: spec, zone: zone, seen: map[reading]verdict{}}
}

func (o *oracle) active(t time.Time) bool { return o.verdict(t).active }

func (o *oracle) verdict(t time.Time) verdict {
	local := t.In(o.zone)
	var r reading
	r.year, r.month, r.day = local.Date()
	if len(o.spec.Windows)+len(o.spec.DaysOfWeek) > 0 {
		r.hour, r.minute, _ = local.Clock()
	}
	if o.last.reading == r {
		return o.last.verdict
	}
	v, ok := o.seen[r]
	if !ok {
		v = o.judge(r)
		o.seen[r] = v
	}
	o.last.reading, o.last.verdict = r, v
	return v
}

func (o *oracle) judge(r reading) verdict {
	calendar := time.Date(r.year, r.month, r.day, r.hour, r.minute, 0, 0, time.UTC)
	date, clock := calendar.Format("2006-01-02"), calendar.Format("15:04")
	for i := len(o.spec.Exceptions) - 1; i >= 0; i-- {
		e := o.spec.Exceptions[i]
		if e.From <= date && date <= e.To {
			if *e.Active {
				return verdict{true, "ForcedOnByException"}
			}
			return verdict{false, "ForcedOffByException"}
		}
	}
	today, yesterday := weekday(calendar), weekday(calendar.AddDate(0, 0, -1))
	for _, w := range o.spec.Windows {
		switch {
		case w.Start < w.End:
			if named(w.Days, today) && w.Start <= clock && clock < w.End {
				return verdict{true, "InWindow"}
			}
		case named(w.Days, today) && w.Start <= clock, named(w.Days, yesterday) && clock < w.End:
			return verdict{true, "InWindow"}
		}
	}
	if named(o.spec.DaysOfWeek, today) && numbered(o.spec.HoursOfDay, r.hour) {
		return verdict{true, "InWindow"}
	}
	return verdict{false, "OutOfWindow"}
}

func weekday(t time.Time) string {
	return strings.ToLower(t.Weekday().String()[:3])
}

// named says whether the lists name the day, by walking each range day by day.
func named(lists []string, day string) bool {
	if len(lists) == 0 {
		return false
	}
	week := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	for _, part := range strings.Split(strings.Join(lists, ","), ",") {
		ends := strings.Split(part, "-")
		last := ends[len(ends)-1]
		for i := slices.Index(week, ends[0]); ; i++ {
			if week[i%7] == day {
				return true
			}
			if week[i%7] == last {
				break
			}
		}
	}
	return false
}

func numbered(lists []string, hour int) bool {
	if len(lists) == 0 {
		return false
	}
	for _, part := range strings.Split(strings.Join(lists, ","), ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, _ := strconv.Atoi(first)
		to, _ := strconv.Atoi(last)
		switch {
		case !isRange && from == hour,
			isRange && from <= to && from <= hour && hour <= to,
			isRange && from > to && (hour >= from || hour <= to):
			return true
		}
	}
	return false
}

// instants gives every whole second of (from, to] at which the reading of the clock
// may pass a minute: each whole minute, and every second of a minute in which the
// zone's offset has seconds.
func (o *oracle) instants(from, to time.Time, yield func(time.Time) bool) {
	first, last := from.Unix()+1, to.Unix()
	for minute := minuteOf(first); minute <= last; minute += 60 {
		end := minute + 1
		if o.secondsMatter(minute) {
			end = minute + 60
		}
		for second := max(minute, first); second < end && second <= last; second++ {
			if !yield(time.Unix(second, 0)) {
				return
			}
		}
	}
}

// minuteOf gives the last whole minute up to second, also before 1970.
func minuteOf(second int64) int64 {
	return second - (second%60+60)%60
}

// secondsMatter says whether the clock passes minutes elsewhere than at whole minutes
// of UTC in the minute that begins there.
func (o *oracle) secondsMatter(minute int64) bool {
	for _, s := range []int64{minute, minute + 59} {
		if _, offset := time.Unix(s, 0).In(o.zone).Zone(); offset%60 != 0 {
			return true
		}
	}
	return false
}

// next gives the first change of (t, until].
func (o *oracle) next(t, until time.Time) (change time.Time, found bool) {
	now := o.active(t)
	o.instants(t, until, func(instant time.Time) bool {
		if o.active(instant) != now {
			change, found = instant, true
		}
		return !found
	})
	return change, found
}

// previous gives the last change of (since, t].
func (o *oracle) previous(t, since time.Time) (change time.Time, found bool) {
	before := o.active(since)
	o.instants(since, t, func(instant time.Time) bool {
		if now := o.active(instant); now != before {
			before, change, found = now, instant, true
		}
		return true
	})
	return change, found
}

// edges gives the first turn to on and the first turn to off of (t, until].
func (o *oracle) edges(t, until time.Time) (activation, cleanup time.Time) {
	before := o.active(t)
	o.instants(t, until, func(instant time.Time) bool {
		if now := o.active(instant); now != before {
			before = now
			if now {
				activation = instant
			} else {
				cleanup = instant
			}
		}
		return activation.IsZero() || cleanup.IsZero()
	})
	return activation, cleanup
}
