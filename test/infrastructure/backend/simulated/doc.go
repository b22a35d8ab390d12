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

// Package simulated is the backend whose machines are Node objects alone. To the
// workload cluster's API server each looks like a kubelet: it registers its Node with
// taints and labels, not Ready at first, turns it Ready, sends heartbeats (the Node's
// status and a Lease) and lets pods that were told to go be gone. No pod ever runs.
//
// Like a kubelet it registers once: a Node that somebody deletes stays deleted until
// RecreateNode or a restart of the provider. It never applies a Node and names the UID
// in every write, so it neither makes a Node by accident nor touches another's.
package simulated
