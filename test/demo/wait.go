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

package main

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
)

// patience is how long a step may take before the demo gives up on it.
const patience = 2 * time.Minute

func found(err error) (bool, error) { return err == nil, client.IgnoreNotFound(err) }

func isGone(err error) (bool, error) { return apierrors.IsNotFound(err), client.IgnoreNotFound(err) }

func (s *story) untilPhase(ctx context.Context, phase v1alpha1.Phase) error {
	sm := &v1alpha1.ScheduledMachine{}
	return s.until(ctx, fmt.Sprintf("phase %s", phase), func() (bool, error) {
		err := s.env.Client.Get(ctx, key, sm)
		return sm.Status.Phase == phase, err
	})
}

func (s *story) untilCondition(ctx context.Context, conditionType string, status metav1.ConditionStatus) error {
	sm := &v1alpha1.ScheduledMachine{}
	return s.until(ctx, fmt.Sprintf("condition %s to be %s", conditionType, status), func() (bool, error) {
		err := s.env.Client.Get(ctx, key, sm)
		c := conditions.Get(sm, conditionType)
		return c != nil && c.Status == status && c.ObservedGeneration == sm.Generation, err
	})
}

// until waits for something, and where it does not come says how things stand.
func (s *story) until(ctx context.Context, what string, come func() (bool, error)) error {
	timeout := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := come()
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		if ok {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.manager.Done():
			return fmt.Errorf("waiting for %s: the manager ended: %w", what, s.manager.Err())
		case <-timeout:
			return fmt.Errorf("waited in vain for %s; the ScheduledMachine says:\n%s\nthe manager's log ends:\n%s", what, s.status(ctx), s.manager.LogTail())
		}
	}
}
