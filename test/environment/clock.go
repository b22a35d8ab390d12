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

package environment

import (
	"time"

	"k8s.io/utils/clock"
)

// OffsetClock is the real clock, put forward or back. Time passes on it as it
// does, so that timers computed from it are right.
type OffsetClock struct{ Offset time.Duration }

var _ clock.PassiveClock = OffsetClock{}

// BeforeMinute is a clock that shows a full minute in that time from now, and
// which minute that will be: edges are a few seconds away, not up to a minute.
func BeforeMinute(lead time.Duration) (OffsetClock, time.Time) {
	now := time.Now()
	edge := now.Truncate(time.Minute).Add(time.Minute)
	return OffsetClock{Offset: edge.Sub(now) - lead}, edge
}

// Now is the time on this clock.
func (c OffsetClock) Now() time.Time { return time.Now().Add(c.Offset) }

// Since is the time that passed on this clock.
func (c OffsetClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
