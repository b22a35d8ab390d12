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

package life_test

import (
	"sync/atomic"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/utils/clock"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
)

// movableClock is the real clock, put forward by a changing amount, so that a spec
// need not wait a minute for each edge. Time passes on it as it does: the timer that
// leads to an edge is a real one.
type movableClock struct{ offset atomic.Int64 }

var _ clock.PassiveClock = &movableClock{}

func (c *movableClock) Now() time.Time                  { return c.of(time.Now()) }
func (c *movableClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// of is what this clock shows at a real instant.
func (c *movableClock) of(real time.Time) time.Time { return real.Add(time.Duration(c.offset.Load())) }

// beforeMinute puts the clock forward so that a full minute is that time away, and
// returns that minute.
func (c *movableClock) beforeMinute(lead time.Duration) time.Time {
	edge := c.Now().Add(lead).Truncate(time.Minute).Add(time.Minute)
	c.jump(edge, lead)
	return edge
}

// jump puts the clock so that an instant is that time away.
func (c *movableClock) jump(to time.Time, lead time.Duration) {
	c.offset.Add(int64(to.Sub(c.Now()) - lead))
}

// jumpBefore puts the clock to a little before an instant and makes the controller
// look at it: timers that run already know nothing of a clock that jumps.
func jumpBefore(edge time.Time, sm *v1alpha1.ScheduledMachine) {
	const lead = 3 * time.Second
	now.jump(edge, lead)
	Expect(environment.Edit(ctx, env.Client, sm, func(sm *v1alpha1.ScheduledMachine) {
		if sm.Annotations == nil {
			sm.Annotations = map[string]string{}
		}
		sm.Annotations["test/clock"] = now.Now().String()
	})).To(Succeed())
	Expect(now.Now()).To(BeTemporally("<", edge), "this machine is too slow for a lead of %s", lead)
}

// windows is a schedule of daily windows, each a pair of full minutes, in UTC.
func windows(edges ...time.Time) v1alpha1.Schedule {
	var s v1alpha1.Schedule
	for i := 0; i+1 < len(edges); i += 2 {
		s.Windows = append(s.Windows, environment.Window(edges[i], edges[i+1]).Windows...)
	}
	return s
}

// minutes is the n-th full minute after one.
func minutes(from time.Time, n int) time.Time { return from.Add(time.Duration(n) * time.Minute) }
