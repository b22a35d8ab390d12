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
	"errors"
	"regexp"
	"strings"
	"sync"
	"time"

	// An image without zoneinfo still knows every zone.
	_ "time/tzdata"
)

const utc = "UTC"

var (
	timezoneShape = regexp.MustCompile(TimezonePattern)

	// zones keeps what time.LoadLocation, which reads and parses a file each time,
	// has given. Only names that exist get in, so it is bounded by the database.
	zones sync.Map
)

// loadZone gives the zone of that name; no name is UTC.
func loadZone(name string) (*time.Location, error) {
	if name == "" || name == utc {
		return time.UTC, nil
	}
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), nil
	}
	if hostDependent(name) {
		return nil, errors.New("the zone of the host is not the same everywhere: write a name of the IANA time zone database, such as Europe/Berlin or UTC")
	}
	if timezoneShape.MatchString(name) {
		if zone, err := time.LoadLocation(name); err == nil {
			zones.Store(name, zone)
			return zone, nil
		}
	}
	return nil, errors.New("the IANA time zone database has no such name: write one that it has, such as Europe/Berlin, America/New_York or UTC")
}

// hostDependent tells names that mean whatever the host is set to, or that hosts lay
// out as they like (the trees posix and right), from those of the database.
func hostDependent(name string) bool {
	switch name {
	case "Local", "localtime", "posixrules":
		return true
	}
	return strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/")
}

// maxOffset is more than any zone is away from UTC, in seconds: RFC 9636, section
// 3.2, "utoff".
const maxOffset = 26 * secondsInHour

// segment is a span [start, end) of Unix seconds over which the wall clock of a zone
// is UTC plus offset seconds. Two segments that meet may have the same offset.
type segment struct {
	start, end int64
	offset     int64
}

// segmentAt gives the segment around unix.
//
// Beyond the shifts that the database lists one by one, time.Time.ZoneBounds cuts
// segments at the ends of years, which does no harm, but has two flaws: on the last
// day of a leap year it gives an end that has passed (it counts 365 days), and in
// the year of the last listed shift it may give a start that lies before that shift.
func segmentAt(zone *time.Location, unix int64) segment {
	s := zoneBounds(zone, unix)
	for s.start > -forever {
		earlier := zoneBounds(zone, s.start)
		if earlier.end > unix {
			break
		}
		s.start = earlier.end
	}
	return s
}

// zoneBounds gives the segment around unix whose start may be too early.
func zoneBounds(zone *time.Location, unix int64) segment {
	t := time.Unix(unix, 0).In(zone)
	_, offset := t.Zone()
	s := segment{start: -forever, end: forever, offset: int64(offset)}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		s.start = start.Unix()
	}
	if !end.IsZero() {
		s.end = end.Unix()
		if s.end <= unix {
			s.end = unix - unix%secondsInDay + secondsInDay
		}
	}
	return s
}
