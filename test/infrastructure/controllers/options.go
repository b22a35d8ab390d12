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
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// DefaultConcurrency is how many objects of a kind are reconciled at a time.
const DefaultConcurrency = 20

// controllerOptions are the same for every controller. Names may repeat: a suite may
// run the provider several times in a process.
func controllerOptions(concurrency int) controller.Options {
	if concurrency == 0 {
		concurrency = DefaultConcurrency
	}
	return controller.Options{
		MaxConcurrentReconciles: concurrency,
		SkipNameValidation:      ptr.To(true),
		// The default shares 10 retries a second among all objects.
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](20*time.Millisecond, 5*time.Second),
	}
}
