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
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// life is where a machine stands. It says what comes next and when, and does nothing.
type life struct {
	// sought says that the Node was looked for before it is to be registered.
	sought bool
	// node is the Node that was registered or taken over, empty before.
	node types.UID
	// joined is when the Node appeared.
	joined time.Time
	// deleted says that the Node went although the machine did not.
	deleted bool
	// paused says that the machine is silent.
	paused bool
	// forced is what the Node's readiness was set to, nil where time decides.
	forced *bool
	// shown is the readiness that the Node shows.
	shown bool
	// turned is when it came to show that.
	turned time.Time
	// beat is when the last heartbeat was.
	beat time.Time
	// leased says that the Node's Lease was written.
	leased bool

	// removed is when the machine was removed, and collect from when on a Node that is
	// left may be deleted.
	removed, collect time.Time
}

// action is what a machine does next.
type action string

const (
	rest     action = "rest"
	seek     action = "seek"
	register action = "register"
	report   action = "report"
)

// next returns what there is to do at an instant and, where that is nothing, after
// which time there will be something; negative means never. start is when the machine
// was made.
func (l *life) next(now, start time.Time, s *settings) (action, time.Duration) {
	switch {
	case l.deleted || l.paused:
		return rest, -1
	case l.node == "":
		wait := start.Add(s.joinAfter).Sub(now)
		switch {
		case wait <= 0:
			return register, 0
		case !l.sought:
			return seek, 0
		}
		return rest, wait
	case l.ready(now, s) != l.shown || !l.leased:
		return report, 0
	}
	wait := l.beat.Add(s.heartbeatInterval).Sub(now)
	if wait <= 0 {
		return report, 0
	}
	if turns := l.joined.Add(s.readyAfter).Sub(now); l.forced == nil && !l.shown && turns < wait {
		wait = turns
	}
	return rest, wait
}

// ready is the readiness that the Node should show at an instant.
func (l *life) ready(now time.Time, s *settings) bool {
	return ptr.Deref(l.forced, !now.Before(l.joined.Add(s.readyAfter)))
}
