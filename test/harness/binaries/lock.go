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

package binaries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock takes the lock on the target folder, which the kernel gives back when this process ends.
// It looks again every now and then instead of blocking, because a blocked flock
// cannot be told that ctx is done.
func (s source) lock(ctx context.Context, out io.Writer) (unlock func(), err error) {
	path := filepath.Join(s.target, ".lock")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the build lock: %w", err)
	}
	started := time.Now()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	progress := time.NewTicker(s.progressEvery)
	defer progress.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = file.Close()
			return nil, fmt.Errorf("taking the build lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("waiting for another process's build: %w", ctx.Err())
		case <-progress.C:
			say(out, "waiting for another process that builds: %s so far", seconds(started))
		case <-again.C:
		}
	}
}
