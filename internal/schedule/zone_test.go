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
	"encoding/binary"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// tzif writes a zone in the format of RFC 9636, version 2: standard times of so many
// seconds, one from each shift on, and a rule for what comes after the last.
func tzif(shifts []int64, offsets []int32, rule string) []byte {
	header := func(times, types int) []byte {
		data := append([]byte("TZif2"), make([]byte, 15)...)
		for _, count := range []int{0, 0, 0, times, types, 4} {
			data = binary.BigEndian.AppendUint32(data, uint32(count))
		}
		return data
	}
	data := header(0, 1)
	data = append(data, make([]byte, 6+4)...) // a version 1 block that nobody reads
	data = append(data, header(len(shifts), len(offsets))...)
	for _, shift := range shifts {
		data = binary.BigEndian.AppendUint64(data, uint64(shift))
	}
	for i := range shifts {
		data = append(data, byte(i))
	}
	for _, offset := range offsets {
		data = binary.BigEndian.AppendUint32(data, uint32(offset))
		data = append(data, 0, 0)
	}
	data = append(data, "XXX\x00"...)
	return append(data, "\n"+rule+"\n"...)
}

// Ciudad Juárez moved by an hour on 2022-11-30, and follows a rule since. In a
// database without the years that the rule covers, time.Time.ZoneBounds tells days
// after that shift that they belong to what began on 2022-11-06.
func TestSegmentAfterTheLastListedShift(t *testing.T) {
	shift := at(t, "2022-11-30T06:00:00Z")
	zone, err := time.LoadLocationFromTZData("Test/Juarez", tzif(
		[]int64{at(t, "2010-01-01T00:00:00Z").Unix(), shift.Unix()}, []int32{-6 * 3600, -7 * 3600}, "MST7MDT,M3.2.0,M11.1.0"))
	if err != nil {
		t.Fatal(err)
	}
	if start, _ := at(t, "2022-12-05T00:00:00Z").In(zone).ZoneBounds(); !start.Before(shift) {
		t.Fatalf("ZoneBounds gives %s: this test shows nothing any more", start)
	}
	if got := segmentAt(zone, at(t, "2022-12-05T00:00:00Z").Unix()); got.start != shift.Unix() || got.offset != -7*3600 {
		t.Errorf("the segment starts at %s, expected %s", time.Unix(got.start, 0).UTC(), shift)
	}

	// The clocks went from 00:00 back to 23:00.
	s := compiled(t, windowOn("mon-sun", "23:15", "23:45"))
	s.zone = zone
	expectTimeline(t, s, "2022-11-30T00:00:00Z",
		"2022-11-30T05:15:00Z", "2022-11-30T05:45:00Z", "2022-11-30T06:15:00Z", "2022-11-30T06:45:00Z", "2022-12-01T06:15:00Z")
}

// A leap year's last day has passed the end that time.Time.ZoneBounds gives.
func TestSegmentOnTheLastDayOfALeapYear(t *testing.T) {
	for _, name := range list("America/New_York", "Australia/Lord_Howe", "Europe/Dublin") {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for year := 2028; year < 2500; year += 4 {
			instant := time.Date(year, 12, 31, 12, 0, 0, 0, time.UTC)
			if s := segmentAt(zone, instant.Unix()); s.start > instant.Unix() || s.end <= instant.Unix() {
				t.Errorf("%s, %s: got the segment from %s to %s", name, instant, time.Unix(s.start, 0).UTC(), time.Unix(s.end, 0).UTC())
			}
		}
	}
}

// A segment holds the instant it was asked for, and one offset.
func TestPropertySegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(oddZones).Draw(t, "zone")
		instant := genInstant(name).Draw(t, "instant")
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		s := segmentAt(zone, instant.Unix())
		if s.start > instant.Unix() || s.end <= instant.Unix() {
			t.Fatalf("%s is outside %+v", instant, s)
		}
		year := int64(365 * secondsInDay)
		from, to := max(s.start, instant.Unix()-50*year), min(s.end, instant.Unix()+50*year)-1
		for _, unix := range []int64{from, to, rapid.Int64Range(from, to).Draw(t, "inside")} {
			if _, offset := time.Unix(unix, 0).In(zone).Zone(); int64(offset) != s.offset {
				t.Fatalf("the offset at %s is %d, expected %d: %+v", time.Unix(unix, 0).UTC(), offset, s.offset, s)
			}
		}
	})
}
