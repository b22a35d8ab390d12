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

// outcome is what becomes of one (key, effect).
type outcome int

const (
	ignore          outcome = iota // never touched
	add                            // put on the Node
	unchanged                      // there, and ours
	satisfied                      // there, and not ours
	update                         // give it the declared value
	conflictChanged                // declared and ours, but somebody changed it
	conflictHeld                   // declared, and somebody else's
	remove                         // take off the Node
	giveUp                         // ours and undeclared, but somebody changed it
	forget                         // ours and undeclared, but gone already
)

// decide is the ownership table, one case for each of its rows and in their order.
// Each argument is a value, or nil: declared is nil where the taint is not
// declared, present where it is not on the Node, applied where it is not in our
// record.
//
// Row 2 counts whatever value is recorded: where the spec has given way to a value
// that somebody else set, nothing has to be written, and since the record still
// has the old value that taint will not be removed as ours.
func decide(declared, present, applied *string) outcome {
	switch owned := applied != nil; {
	case declared != nil && present == nil:
		return add
	case declared != nil && *present == *declared && owned:
		return unchanged
	case declared != nil && *present == *declared:
		return satisfied
	case declared != nil && owned && *present == *applied:
		return update
	case declared != nil && owned:
		return conflictChanged
	case declared != nil:
		return conflictHeld
	case present != nil && owned && *present == *applied:
		return remove
	case present != nil && owned:
		return giveUp
	case owned:
		return forget
	default:
		return ignore
	}
}
