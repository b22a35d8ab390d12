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

package simulated

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"
)

func TestNext(t *testing.T) {
	start := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	s := &settings{joinAfter: 5 * time.Second, readyAfter: 20 * time.Second, heartbeatInterval: 10 * time.Second}
	const never = -1

	for _, row := range []struct {
		name string
		life life
		now  int
		what action
		wait int
	}{
		{"new: looks for a Node first", life{}, 0, seek, 0},
		{"looked, not yet to join", life{sought: true}, 1, rest, 4},
		{"to join", life{sought: true}, 5, register, 0},
		{"long to join, never looked", life{}, 60, register, 0},
		{"joined: the Lease", life{node: "u", joined: at(5), beat: at(5)}, 5, report, 0},
		{"joined: the next heartbeat", life{node: "u", joined: at(5), beat: at(5), leased: true}, 6, rest, 9},
		{"a heartbeat is due", life{node: "u", joined: at(5), beat: at(5), leased: true}, 15, report, 0},
		{"turns Ready before the next heartbeat", life{node: "u", joined: at(5), beat: at(16), leased: true}, 17, rest, 8},
		{"turns Ready", life{node: "u", joined: at(5), beat: at(24), leased: true}, 25, report, 0},
		{"is Ready", life{node: "u", joined: at(5), beat: at(25), leased: true, shown: true}, 26, rest, 9},
		{"set Ready before its time", life{node: "u", joined: at(5), beat: at(6), leased: true, forced: ptr.To(true)}, 7, report, 0},
		{"shows that", life{node: "u", joined: at(5), beat: at(6), leased: true, forced: ptr.To(true), shown: true}, 7, rest, 9},
		{"set not Ready: its time does not come", life{node: "u", joined: at(5), beat: at(24), leased: true, forced: ptr.To(false)}, 24, rest, 10},
		{"set not Ready after its time", life{node: "u", joined: at(5), beat: at(30), leased: true, forced: ptr.To(false), shown: true}, 31, report, 0},
		{"taken over: says so at once", life{node: "u", joined: at(5), shown: true}, 60, report, 0},
		{"paused before it joined", life{paused: true}, 60, rest, never},
		{"paused", life{node: "u", joined: at(5), paused: true}, 60, rest, never},
		{"its Node was deleted", life{node: "u", joined: at(5), deleted: true}, 60, rest, never},
	} {
		t.Run(row.name, func(t *testing.T) {
			what, wait := row.life.next(at(row.now), start, s)
			want := time.Duration(row.wait) * time.Second
			if row.wait == never {
				want = -1
			}
			if what != row.what || wait != want {
				t.Errorf("%s after %s, want %s after %s", what, wait, row.what, want)
			}
		})
	}
}
