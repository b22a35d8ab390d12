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
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

// oneSecond is what the controller may take to act upon an edge.
const oneSecond = time.Second

type request = controlplane.AuditEvent

// ourWrites are the writes of this provider's manager to whatever bears a name,
// Events aside, oldest first.
func ourWrites(name string) []request {
	GinkgoHelper()
	found, err := env.Management.Audit(func(e request) bool {
		return e.Write() && e.Name == name && strings.Contains(e.UserAgent, "5spot-in-process") && e.Resource != "events"
	})
	Expect(err).NotTo(HaveOccurred())
	return found
}

// writesTo are those of ourWrites to one resource.
func writesTo(resource, name string, verbs ...string) []request {
	GinkgoHelper()
	var found []request
	for _, e := range ourWrites(name) {
		if e.Resource == resource && (len(verbs) == 0 || slices.Contains(verbs, e.Verb)) {
			found = append(found, e)
		}
	}
	return found
}

// lateness is how long after an instant of the movable clock a request was received.
func lateness(e request, due time.Time) time.Duration { return now.of(e.Received).Sub(due) }

// expectQuiet holds where this provider writes nothing to what bears the name for
// some seconds.
func expectQuiet(name string) {
	GinkgoHelper()
	// What was going on settles first.
	Eventually(func() int { return len(ourWrites(name)) }).WithPolling(time.Second).Should(Satisfy(settled()))
	before := len(ourWrites(name))
	Consistently(func() []request { return ourWrites(name)[before:] }).Should(BeEmpty())
}

// settled tells whether a number is the one that it was asked about before.
func settled() func(int) bool {
	last := -1
	return func(n int) bool {
		same := n == last
		last = n
		return same
	}
}
