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

// Package workdir makes the temporary folders in which the harness keeps
// certificates, data and logs of what it starts.
//
// A folder belongs to the operating-system process that made it, and the proof is a
// lock that the kernel drops when that process ends, however it ends. So nothing
// has to be remembered elsewhere: whoever makes the next folder removes those whose
// owner is gone.
package workdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// prefix marks the folders of the harness within os.TempDir().
const prefix = "5spot-harness-"

// Dir is a temporary folder, locked for as long as its owner lives.
type Dir struct {
	path string
	lock *os.File

	closeOnce sync.Once
	closeErr  error
}

// New makes a folder whose name contains name, and removes the folders that dead
// processes left behind.
func New(name string) (*Dir, error) {
	sweep()
	for range 10 {
		path, err := os.MkdirTemp("", prefix+name+"-")
		if err != nil {
			return nil, fmt.Errorf("making a working folder for %s: %w", name, err)
		}
		lock, err := own(path)
		if errors.Is(err, errTaken) {
			// Another process's sweep looked between our mkdir and our lock.
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("locking the working folder %s: %w", path, err)
		}
		return &Dir{path: path, lock: lock}, nil
	}
	return nil, fmt.Errorf("making a working folder for %s: swept away ten times in a row", name)
}

// Path is the folder's absolute path joined with elements.
func (d *Dir) Path(elements ...string) string {
	return filepath.Join(append([]string{d.path}, elements...)...)
}

// WriteFile writes data to a file of that name in the folder, readable by its owner
// alone, and returns the file's path.
func (d *Dir) WriteFile(name string, data []byte) (string, error) {
	path := d.Path(name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("writing %s: %w", name, err)
	}
	return path, nil
}

// Close removes the folder. Where the environment names a folder in ARTIFACTS, as
// CI systems do, the logs are moved there first. Calling it again does nothing.
func (d *Dir) Close() error {
	d.closeOnce.Do(func() {
		d.closeErr = errors.Join(d.keepLogs(os.Getenv("ARTIFACTS")), os.RemoveAll(d.path), d.lock.Close())
	})
	return d.closeErr
}

func (d *Dir) keepLogs(artifacts string) error {
	if artifacts == "" {
		return nil
	}
	logs, err := filepath.Glob(d.Path("*.log"))
	if err != nil || len(logs) == 0 {
		return err
	}
	target := filepath.Join(artifacts, filepath.Base(d.path))
	if err := os.MkdirAll(target, 0o755); err != nil {
		return fmt.Errorf("keeping logs: %w", err)
	}
	for _, log := range logs {
		data, err := os.ReadFile(log)
		if err != nil {
			return fmt.Errorf("keeping logs: %w", err)
		}
		if err := os.WriteFile(filepath.Join(target, filepath.Base(log)), data, 0o644); err != nil {
			return fmt.Errorf("keeping logs: %w", err)
		}
	}
	return nil
}

var errTaken = errors.New("taken by a sweep")

// own locks the folder and makes sure that what was locked still stands at path.
func own(path string) (*os.File, error) {
	dir, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = dir.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errTaken
		}
		return nil, err
	}
	locked, err := dir.Stat()
	if err != nil {
		_ = dir.Close()
		return nil, err
	}
	there, err := os.Stat(path)
	if err != nil || !os.SameFile(locked, there) {
		_ = dir.Close()
		return nil, errTaken
	}
	return dir, nil
}

// sweep removes the folders whose owner is gone. What cannot be removed is left for
// another time: it is somebody else's, or still in use.
func sweep() {
	paths, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil {
		return
	}
	for _, path := range paths {
		lock, err := own(path)
		if err != nil {
			continue
		}
		_ = os.RemoveAll(path)
		_ = lock.Close()
	}
}
