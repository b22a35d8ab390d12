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

package nodetaints

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// staleRetry is the pause after a Node changed under several writes in a row.
const staleRetry = 50 * time.Millisecond

// nodeWrites counts the requests that changed a Node. In the steady state it
// stands still.
var nodeWrites = prometheus.NewCounterVec(prometheus.CounterOpts{
	Namespace: "caap5spot",
	Name:      "node_writes_total",
	Help:      "Writes to Nodes, by what they changed: added, updated, removed, several, or the ownership record alone.",
}, []string{"reason"})

func init() {
	metrics.Registry.MustRegister(nodeWrites)
}
