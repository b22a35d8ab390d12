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

package scheduledmachine

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// edgeLateness is how long after an edge of a schedule the controller created
// (activation) or, the grace having passed, deleted (cleanup) the Machine.
var edgeLateness = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Namespace: "caap5spot",
	Name:      "edge_lateness_seconds",
	Help:      "Seconds between an edge of a schedule, or the end of the grace after it, and the Machine's creation or deletion.",
	Buckets:   []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600},
}, []string{"edge"})

func init() {
	metrics.Registry.MustRegister(edgeLateness)
}

// edgeActedUpon observes the lateness of what was just done, where an edge of the
// clock, not an edit or a person, asked for it.
func edgeActedUpon(edge string, s *scope) {
	due := s.edge
	if s.want == stop {
		due = due.Add(timeout(s.sm.Spec.GracefulShutdownTimeout))
	}
	if s.edge.IsZero() || s.want == leave || due.Before(s.sm.CreationTimestamp.Time) {
		return
	}
	edgeLateness.WithLabelValues(edge).Observe(max(s.now.Sub(due).Seconds(), 0))
}
