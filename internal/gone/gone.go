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

// Package gone tells a failed write to an object that no longer exists from other
// failures.
package gone

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
)

// Only reports whether err says nothing but that the object is gone. Cluster API's
// patch helper wraps up to three errors into an aggregate, which errors.As finds
// but does not look into.
func Only(err error) bool {
	var aggregate kerrors.Aggregate
	if !errors.As(err, &aggregate) {
		return apierrors.IsNotFound(err)
	}
	for _, e := range aggregate.Errors() {
		if !Only(e) {
			return false
		}
	}
	return true
}

// Ignore returns nil where Only holds, else err.
func Ignore(err error) error {
	if Only(err) {
		return nil
	}
	return err
}
