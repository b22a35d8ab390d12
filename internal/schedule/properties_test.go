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
	"time"

	"pgregory.net/rapid"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// drawSpan gives how far the oracle looks: less far where it goes by seconds.
func drawSpan(t *rapid.T, q question) time.Duration {
	if q.oracle.secondsMatter(minuteOf(q.instant.Unix())) {
		return rapid.SampledFrom([]time.Duration{6 * time.Hour, 26 * time.Hour}).Draw(t, "span")
	}
	return rapid.SampledFrom([]time.Duration{12 * time.Hour, 36 * time.Hour, 4 * 24 * time.Hour, 9 * 24 * time.Hour}).Draw(t, "span")
}

func TestPropertyAtIsWhatTheClockReads(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := draw(rt, t)
		for range 50 {
			instant := q.instant.Add(time.Duration(rapid.Int64Range(-5*86400, 5*86400).Draw(rt, "seconds away")) * time.Second)
			expected, got := q.oracle.verdict(instant), q.At(instant)
			if got.Active != expected.active || got.Reason != expected.reason {
				rt.Fatalf("%s, %s: got %+v, expected %+v", instant, instant.In(q.oracle.zone), got, expected)
			}
		}
	})
}

func TestPropertyNextIsTheOracles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := draw(rt, t)
		until := q.instant.Add(drawSpan(rt, q))
		expected, found := q.oracle.next(q.instant, until)
		got, ok := q.Next(q.instant)
		switch {
		case found && (!ok || !got.Equal(expected)):
			rt.Fatalf("Next(%s): got %s, %t, expected %s, which is %s there", q.instant, got, ok, expected, expected.In(q.oracle.zone))
		case !found && ok && !got.After(until):
			rt.Fatalf("Next(%s): got %s, expected none until %s", q.instant, got, until)
		}
	})
}

func TestPropertyPreviousIsTheOracles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := draw(rt, t)
		since := q.instant.Add(-drawSpan(rt, q))
		expected, found := q.oracle.previous(q.instant, since)
		got, ok := q.Previous(q.instant)
		switch {
		case found && (!ok || !got.Equal(expected)):
			rt.Fatalf("Previous(%s): got %s, %t, expected %s, which is %s there", q.instant, got, ok, expected, expected.In(q.oracle.zone))
		case !found && ok && got.After(since):
			rt.Fatalf("Previous(%s): got %s, expected none since %s", q.instant, got, since)
		}
	})
}

func TestPropertyEdgesAreTheOracles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := draw(rt, t)
		until := q.instant.Add(drawSpan(rt, q))
		expectedOn, expectedOff := q.oracle.edges(q.instant, until)
		on, off := q.Edges(q.instant)
		for _, edge := range []struct {
			name          string
			got, expected time.Time
		}{{"activation", on, expectedOn}, {"cleanup", off, expectedOff}} {
			switch {
			case !edge.expected.IsZero() && !edge.got.Equal(edge.expected):
				rt.Fatalf("%s after %s: got %s, expected %s", edge.name, q.instant, edge.got, edge.expected)
			case edge.expected.IsZero() && !edge.got.IsZero() && !edge.got.After(until):
				rt.Fatalf("%s after %s: got %s, expected none until %s", edge.name, q.instant, edge.got, until)
			}
		}
	})
}

// Exceptions alone change at local midnights and at shifts, which since 1975 are at
// quarters of an hour: coarse steps let the oracle look over two years.
func TestPropertyEdgesAreTheOraclesOverSeasons(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		zone := rapid.SampledFrom(oddZones).Draw(rt, "zone")
		start := time.Unix(rapid.Int64Range(unixDate(1975), unixDate(2060)).Draw(rt, "start")/900*900, 0).UTC()
		spec := v1alpha1.Schedule{
			Timezone:   zone,
			Exceptions: append(genExceptions(start, 250, 12).Draw(rt, "exceptions"), exception(start.Format("2006-01-02"), start.Format("2006-01-02"), true)),
		}
		s, errs := Compile(spec, root)
		if len(errs) > 0 {
			rt.Fatalf("refused: %v", errs)
		}
		o := newOracle(t, spec)
		edge := start.AddDate(0, 0, -252)
		previous, active := edge, o.active(edge)
		for instant := edge; instant.Before(start.AddDate(0, 0, 502)); instant = instant.Add(15 * time.Minute) {
			if o.active(instant) == active {
				continue
			}
			active = !active
			if got, ok := s.Next(previous); !ok || !got.Equal(instant) {
				rt.Fatalf("Next(%s): got %s, %t, expected %s", previous, got, ok, instant)
			}
			if got, ok := s.Previous(instant.Add(-time.Second)); previous != edge && (!ok || !got.Equal(previous)) {
				rt.Fatalf("Previous(%s - 1s): got %s, %t, expected %s", instant, got, ok, previous)
			}
			previous = instant
		}
		if got, ok := s.Next(previous); ok {
			rt.Fatalf("Next(%s): got %s, expected none", previous, got)
		}
	})
}

// Next and Previous walk over the same edges, at which activity changes each time.
func TestPropertyForthAndBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := draw(rt, t)
		instant := q.instant
		previous, known := q.Previous(instant)
		for range 20 {
			next, ok := q.Next(instant)
			if !ok {
				return
			}
			if !next.After(instant) {
				rt.Fatalf("Next(%s) is %s", instant, next)
			}
			before := next.Add(-time.Nanosecond)
			if q.At(next).Active == q.At(before).Active || q.At(before).Active != q.At(instant).Active {
				rt.Fatalf("Next(%s) is %s, which is no change", instant, next)
			}
			if back, ok := q.Previous(next); !ok || !back.Equal(next) {
				rt.Fatalf("Previous(%s): got %s, %t, expected the instant itself", next, back, ok)
			}
			if back, ok := q.Previous(before); ok != known || !back.Equal(previous) {
				rt.Fatalf("Previous(%s): got %s, %t, expected %s, %t", before, back, ok, previous, known)
			}
			instant, previous, known = next, next, true
		}
	})
}

func TestPropertyOneInstantInAnyZoneOfTheCaller(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := draw(rt, t)
		elsewhere := q.instant.In(time.FixedZone("elsewhere", rapid.IntRange(-50_000, 50_000).Draw(rt, "offset")))
		if q.At(q.instant) != q.At(elsewhere) {
			rt.Fatalf("%+v is not %+v", q.At(q.instant), q.At(elsewhere))
		}
		next, _ := q.Next(q.instant)
		same, _ := q.Next(elsewhere)
		if next != same || !next.IsZero() && next.Location() != time.UTC {
			rt.Fatalf("%s is not %s", next, same)
		}
	})
}

// The message tells the next edge, so it holds up to it.
func TestPropertyMessageHoldsUntilTheEdge(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		zone := rapid.SampledFrom(oddZones).Draw(rt, "zone")
		instant := genInstant(zone).Draw(rt, "instant")
		s := compiled(t, v1alpha1.Schedule{Timezone: zone, DaysOfWeek: genDays().Draw(rt, "days"), HoursOfDay: genHours().Draw(rt, "hours")})
		next, ok := s.Next(instant)
		if !ok {
			return
		}
		for range 5 {
			later := time.Unix(rapid.Int64Range(instant.Unix(), next.Unix()-1).Draw(rt, "later"), 0)
			if later.After(instant) && s.At(later) != s.At(instant) {
				rt.Fatalf("%+v became %+v", s.At(instant), s.At(later))
			}
		}
	})
}

// A day is forced by the last exception that covers it, and by none twice.
func TestPropertyOverlay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const days = 40
		var spans []forced
		var painted [days]*forced
		for i := range rapid.IntRange(0, 12).Draw(rt, "spans") {
			from := rapid.Int64Range(0, days-1).Draw(rt, "from")
			span := forced{from: from, to: rapid.Int64Range(from+1, days).Draw(rt, "to"), active: rapid.Bool().Draw(rt, "active"), index: i}
			spans = overlay(spans, span)
			for day := span.from; day < span.to; day++ {
				painted[day] = &span
			}
		}
		l := line{forced: spans}
		for i := range spans {
			if spans[i].from >= spans[i].to || i > 0 && spans[i-1].to > spans[i].from {
				rt.Fatalf("empty, unsorted or overlapping: %+v", spans)
			}
		}
		for day := range int64(days) {
			got, ok := l.forcedAt(day)
			if ok != (painted[day] != nil) || ok && (got.index != painted[day].index || got.active != painted[day].active) {
				rt.Fatalf("day %d: got %+v, %t, expected %+v", day, got, ok, painted[day])
			}
		}
	})
}
