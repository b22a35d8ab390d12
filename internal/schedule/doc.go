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

// Package schedule answers when a schedule is active. It is pure: it has no client
// and no clock, the same spec and instant always give the same answer.
//
// Activity is a predicate over what the wall clock of one time zone reads. An hour
// that the zone skips therefore never fires, one that it repeats fires twice, and a
// window that begins inside a skipped hour begins right after it.
//
// Three parts, each of which knows nothing of the next:
//
//   - the wall-clock line (week, forced, line): is this reading of a clock active,
//     and over which readings around it does that stay so;
//   - the zone (segment): between two shifts of a zone the wall clock is UTC plus a
//     constant;
//   - Schedule: walks the segments of the zone and translates between the two, which
//     makes its edges exact to the second in every zone, those with offsets of half
//     an hour or of odd seconds included.
package schedule
