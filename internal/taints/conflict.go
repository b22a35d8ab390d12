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

package taints

import (
	"fmt"

	"github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// ConflictReason says who stands in the way of a taint.
type ConflictReason string

const (
	// HeldByOther is: declared, and on the Node with a value that we never applied.
	HeldByOther ConflictReason = "HeldByOther"
	// ChangedByOther is: declared, and somebody changed the value that we applied.
	// The record keeps our value, so that the taint is ours again when theirs goes.
	ChangedByOther ConflictReason = "ChangedByOther"
	// ChangedUndeclared is: no longer declared, and not removed because somebody
	// changed the value that we applied. Reported once, by the plan that gives
	// ownership up.
	ChangedUndeclared ConflictReason = "ChangedUndeclared"
	// HeldByMachine is: declared, and Cluster API keeps it with another value because
	// the Machine's own spec.taints says so.
	HeldByMachine ConflictReason = "HeldByMachine"
	// ClaimedByMachine is: declared and not on the Node, but Cluster API's record
	// claims it. Cluster API will add it, or drop the claim.
	ClaimedByMachine ConflictReason = "ClaimedByMachine"
)

// Conflict is a taint that was left as it is because it is not ours to change.
type Conflict struct {
	// Key and Effect identify the taint.
	Key    string
	Effect v1alpha1.TaintEffect
	// Declared is the value that spec.nodeTaints asks for. It means nothing where
	// Undeclared.
	Declared string
	// Present is the value on the Node. It means nothing for ClaimedByMachine.
	Present string
	// Applied is the value that we applied, for ChangedByOther and
	// ChangedUndeclared.
	Applied string
	// Reason says what is in the way.
	Reason ConflictReason
}

// Undeclared says that the taint is not in spec.nodeTaints any more: nothing that
// was asked for is missing.
func (c Conflict) Undeclared() bool {
	return c.Reason == ChangedUndeclared
}

// String names the taint, both values and what to do, for a condition's message.
func (c Conflict) String() string {
	name := c.Key + ":" + string(c.Effect)
	switch c.Reason {
	case ChangedByOther:
		return fmt.Sprintf("%s is declared as %q, was applied as %q and has been changed to %q by somebody else",
			name, c.Declared, c.Applied, c.Present)
	case ChangedUndeclared:
		return fmt.Sprintf("%s is declared no more, was applied as %q and has been changed to %q by somebody else: it is kept",
			name, c.Applied, c.Present)
	case HeldByMachine:
		return fmt.Sprintf("%s is declared as %q and is kept at %q by the Machine's own spec.taints",
			name, c.Declared, c.Present)
	case ClaimedByMachine:
		return fmt.Sprintf("%s is declared as %q, is not on the Node, and belongs to the Machine's own spec.taints (Node annotation %s)",
			name, c.Declared, MachineTaintsAnnotation)
	default:
		return fmt.Sprintf("%s is declared as %q and was set to %q by somebody else", name, c.Declared, c.Present)
	}
}
