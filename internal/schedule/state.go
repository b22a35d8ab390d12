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
	"time"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// State is what a schedule says of an instant.
type State struct {
	// Active says whether the schedule asks for the Machine.
	Active bool
	// Reason is one of InWindowReason, OutOfWindowReason, ForcedOnReason,
	// ForcedOffReason and DisabledReason of api/v1alpha1.
	Reason string
	// Message is one sentence for people: until when, in local time, and which
	// part of the schedule decides. It does not tell the instant that was asked
	// for, so a condition that holds it is not written anew at each reconcile.
	Message string
}

// At gives the state of the schedule at t.
func (s *Schedule) At(t time.Time) State {
	if s.disabled {
		return State{Reason: v1alpha1.DisabledReason, Message: "Inactive: enabled is false."}
	}
	wall := s.wall(t.Unix())
	state := State{Active: s.line.active(wall)}
	var rule string
	if f, ok := s.line.forcedAt(wall); ok {
		state.Reason, rule = forcedRule(f, s.rules.exceptions)
	} else if state.Active {
		state.Reason, rule = v1alpha1.InWindowReason, s.rules.inside(wall)
	} else {
		state.Reason, rule = v1alpha1.OutOfWindowReason, s.rules.outside()
	}
	state.Message = s.until(t, state.Active) + ": " + rule + "."
	return state
}

// until tells the time of the next edge.
func (s *Schedule) until(t time.Time, active bool) string {
	word := "Inactive"
	if active {
		word = "Active"
	}
	next, ok := s.Next(t)
	if !ok {
		return fmt.Sprintf("%s without end (%s)", word, s.zone)
	}
	layout := "Mon 2006-01-02 15:04 MST"
	if local := next.In(s.zone); local.Second() != 0 {
		layout = "Mon 2006-01-02 15:04:05 MST"
	}
	return fmt.Sprintf("%s until %s (%s)", word, next.In(s.zone).Format(layout), s.zone)
}

func forcedRule(f forced, exceptions []forced) (reason, rule string) {
	reason, word := v1alpha1.ForcedOffReason, "off"
	if f.active {
		reason, word = v1alpha1.ForcedOnReason, "on"
	}
	// f may be what a later exception left of the one in the spec.
	whole := exceptions[f.index]
	span := formatDate(whole.from)
	if last := whole.to - secondsInDay; last != whole.from {
		span += " to " + formatDate(last)
	}
	return reason, fmt.Sprintf("exceptions[%d] forces %s %s", f.index, span, word)
}

// inside names the rule that makes wall active.
func (r *rules) inside(wall int64) string {
	minute := int(secondOfWeek(wall) / secondsInMinute)
	for i, w := range r.windows {
		if w.covers(minute) {
			return fmt.Sprintf("in windows[%d], %s", i, w)
		}
	}
	return "in " + r.daysAndHours()
}

// outside names the rules of which none makes a minute active.
func (r *rules) outside() string {
	switch {
	case len(r.windows) == 1:
		return fmt.Sprintf("outside windows[0], %s", r.windows[0])
	case len(r.windows) > 1:
		return fmt.Sprintf("outside all %d windows", len(r.windows))
	case r.days == daySet{}:
		return "outside all exceptions, which alone turn this schedule on"
	}
	return "outside " + r.daysAndHours()
}

func (r *rules) daysAndHours() string {
	return fmt.Sprintf("daysOfWeek %s with hoursOfDay %s", r.days, r.hours)
}

func (w window) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s to %s", w.days, formatTimeOfDay(w.start), formatTimeOfDay(w.end))
	if w.end <= w.start {
		s.WriteString(" of the next day")
	}
	return s.String()
}
