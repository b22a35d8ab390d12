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

package controlplane

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
)

const (
	pollInterval = 25 * time.Millisecond
	// readyTimeout is generous: machines that run several suites at once are slow.
	readyTimeout = 90 * time.Second
)

// until asks check again and again until it returns nil. It gives up when server
// ends, when ctx is done and after readyTimeout, and says what was waited for.
func until(ctx context.Context, server *process.Process, what string, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("not within %s", readyTimeout))
	defer cancel()
	again := time.NewTicker(pollInterval)
	defer again.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-server.Done():
			if err := server.Err(); err != nil {
				return fmt.Errorf("waiting for %s: %w", what, err)
			}
			return fmt.Errorf("waiting for %s: %s has ended", what, server.Name())
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; last answer: %w; the end of %s's log:\n%s",
				what, context.Cause(ctx), err, server.Name(), server.LogTail())
		case <-again.C:
		}
	}
}

// get returns an error unless url answers 200.
func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s: %s", url, response.Status, body)
	}
	return nil
}
