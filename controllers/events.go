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

package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Limits of the Events of one object. The defaults fold ten Events of a reason
// together and drop their notes, and let 25 Events an object through and then one
// in five minutes; but each change of a Node's taints is to be told, and a conflict
// must not go unheard because there were many.
const (
	eventsBeforeFolding = 10000
	eventBurst          = 200
	eventsPerSecond     = 1
)

// newRecorder returns a recorder whose Events are neither folded together nor
// dropped in any ordinary course of things. It uses the core Events API: the newer
// one makes a series of Events of one reason and loses their notes.
func newRecorder(mgr ctrl.Manager) (record.EventRecorder, error) {
	api, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("creating the client for Events: %w", err)
	}
	broadcaster := record.NewBroadcaster(record.WithCorrelatorOptions(record.CorrelatorOptions{
		MaxEvents: eventsBeforeFolding, BurstSize: eventBurst, QPS: eventsPerSecond,
	}))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: api.CoreV1().Events("")})
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		broadcaster.Shutdown()
		return nil
	})); err != nil {
		return nil, err
	}
	return broadcaster.NewRecorder(mgr.GetScheme(), corev1.EventSource{Component: "5spot"}), nil
}
