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

// Package harness holds no code; its packages run real clusters for tests and for
// the demo, without containers, images or downloads.
//
// The idea: what a controller does can be trusted only as far as the API server it
// was tested against is the real one. Fakes have no admission, no field ownership,
// no watch that breaks and no second writer. So everything here is the real program,
// built from the Go modules that hack/binaries pins and run as a plain process on
// loopback ports. What a test needs beyond that is to make things go wrong at a
// moment of its choosing, and to see afterwards who wrote what.
//
// From the bottom up:
//
//   - binaries builds etcd, Kubernetes and Cluster API, once a version.
//   - process starts them so that none outlives the test; workdir and ports lend them
//     folders and ports in the same manner.
//   - controlplane makes a cluster's control plane out of them, ready in seconds.
//     Several share a machine, or an etcd. Its API server can be stopped and started
//     (an outage) and its audit log read (who wrote what).
//   - crds installs CRDs; capi runs Cluster API's core manager with its webhooks.
//   - fault stands between one client and an API server and loses, delays or refuses
//     what it is told to: the gap between two writes becomes a place to stand in.
//
// A suite starts like this:
//
//	management, err := controlplane.Start(ctx, controlplane.Options{
//		Name: "management", ControllerManager: true, Audit: true,
//	})
//	defer management.Stop()
//	core, err := capi.Start(ctx, management, capi.Options{})
//	defer core.Stop()
//	workload, err := controlplane.Start(ctx, controlplane.Options{Name: "workload", SharedEtcd: management})
//	defer workload.Stop()
//
// The context bounds the life of all of it, so it is that of the whole suite.
//
// The first start on a machine builds for minutes and says so; set KUBEBUILDER_ASSETS
// to use an etcd, kube-apiserver and kubectl that are there already. Set ARTIFACTS to
// a folder to find the logs of all processes there afterwards.
package harness
