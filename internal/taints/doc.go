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

// Package taints keeps the declared taints of a Node there without ever touching
// anybody else's.
//
// It has two halves. [For] is the plan: a pure, total function from the Node as
// read and the declared taints to the list that should stand on the Node. [Apply]
// carries a plan out in one request that the API server accepts only if the Node
// is still the one that was read.
//
// A taint is identified by key and effect; its value may change. What makes a
// taint ours is the record, the annotation v1alpha1.AppliedTaintsAnnotation on the
// Node itself, which holds each taint together with the value that we applied. It
// travels in the same request as the list, so the two cannot disagree. A taint
// that is not in the record, or that no longer has the recorded value, is
// somebody else's: it is reported where it stands in the way of a declared one,
// and left as it is.
package taints
