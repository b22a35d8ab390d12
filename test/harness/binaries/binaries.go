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

// Package binaries builds the programs of a Kubernetes control plane and of Cluster
// API from their Go modules.
//
// There is no download and no container image: the module hack/binaries pins
// versions, the Go toolchain does the rest. What was built is kept in
// bin/<versions>/ of this repository, so it is built once a version; a program that
// stands there is complete, because it was renamed into place. Several test
// processes may ask at once: one builds, the others wait for it.
//
// KUBEBUILDER_ASSETS, where a person sets it, comes first for the programs that its
// folder holds.
package binaries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/workdir"
)

// Name is a program's file name.
type Name string

// The programs that can be built.
const (
	Etcd                  Name = "etcd"
	KubeAPIServer         Name = "kube-apiserver"
	KubeControllerManager Name = "kube-controller-manager"
	KubeScheduler         Name = "kube-scheduler"
	Kubectl               Name = "kubectl"
	CAPICore              Name = "capi-core"
	Clusterctl            Name = "clusterctl"
)

// All returns the names of all programs, in the order in which they are built.
func All() []Name {
	return []Name{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, Kubectl, CAPICore, Clusterctl}
}

// assetsVariable names the folder of ready binaries that envtest uses as well.
const assetsVariable = "KUBEBUILDER_ASSETS"

// Dir tells where the programs are.
type Dir struct {
	built  string
	assets string
}

// Path is the file of a program. Whether it exists was settled by Ensure for the
// names it was given.
func (d Dir) Path(name Name) string {
	if path, found := d.asset(name); found {
		return path
	}
	return filepath.Join(d.built, string(name))
}

func (d Dir) asset(name Name) (path string, found bool) {
	if d.assets == "" {
		return "", false
	}
	path = filepath.Join(d.assets, string(name))
	return path, executable(path)
}

// Ensure builds what is missing of the named programs and returns where they are.
// Progress goes to out, a line at a time; where nothing has to be built it prints
// nothing. When ctx is done, the build is killed with all its processes.
func Ensure(ctx context.Context, out io.Writer, names ...Name) (Dir, error) {
	from, err := pinned()
	if err != nil {
		return Dir{}, err
	}
	return from.ensure(ctx, out, names)
}

func (s source) ensure(ctx context.Context, out io.Writer, names []Name) (Dir, error) {
	for _, name := range names {
		if _, known := s.programs[name]; !known {
			return Dir{}, fmt.Errorf("no program is called %q; known are %v", name, All())
		}
	}
	dir := Dir{built: s.target, assets: os.Getenv(assetsVariable)}
	if len(dir.missing(names)) == 0 {
		return dir, nil
	}
	if err := os.MkdirAll(dir.built, 0o755); err != nil {
		return Dir{}, fmt.Errorf("making the folder for binaries: %w", err)
	}
	unlock, err := s.lock(ctx, out)
	if err != nil {
		return Dir{}, err
	}
	defer unlock()
	// Whoever held the lock before may have built them.
	missing := dir.missing(names)
	for i, name := range missing {
		say(out, "building %s (%d of %d, once, kept in %s)", name, i+1, len(missing), s.target)
		if err := s.build(ctx, out, name); err != nil {
			return Dir{}, fmt.Errorf("building %s: %w", name, err)
		}
	}
	return dir, nil
}

func (d Dir) missing(names []Name) []Name {
	var missing []Name
	for _, name := range names {
		if !slices.Contains(missing, name) && !executable(d.Path(name)) {
			missing = append(missing, name)
		}
	}
	return missing
}

// build compiles one program and renames it into place. The lock is held.
func (s source) build(ctx context.Context, out io.Writer, name Name) error {
	temp, err := workdir.New("build")
	if err != nil {
		return err
	}
	defer func() { _ = temp.Close() }()
	// Beside its final place, since a rename cannot cross file systems. One that was
	// left by a build that was killed is overwritten.
	unfinished := filepath.Join(s.target, "."+string(name))
	defer func() { _ = os.Remove(unfinished) }()

	started := time.Now()
	compiler, err := process.Start(ctx, process.Spec{
		Name: "go-build-" + string(name),
		Path: "go",
		Args: []string{"build", "-ldflags", s.programs[name].ldflags, "-o", unfinished, s.programs[name].pkg},
		Env: []string{
			"CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=",
			// What a killed build leaves goes with this folder.
			"GOTMPDIR=" + temp.Path(),
		},
		Dir:    s.module,
		LogDir: temp.Path(),
		// A compiler has nothing to finish.
		StopTimeout: time.Second,
	})
	if err != nil {
		return err
	}
	ticker := time.NewTicker(s.progressEvery)
	defer ticker.Stop()
	for {
		select {
		case <-compiler.Done():
			if err := errors.Join(ctx.Err(), compiler.Err()); err != nil {
				return err
			}
			if err := os.Rename(unfinished, filepath.Join(s.target, string(name))); err != nil {
				return fmt.Errorf("putting it into place: %w", err)
			}
			say(out, "built %s in %s", name, seconds(started))
			return nil
		case <-ticker.C:
			say(out, "building %s: %s so far", name, seconds(started))
		}
	}
}

func say(out io.Writer, format string, args ...any) {
	// A progress line that cannot be written is no reason not to build.
	_, _ = fmt.Fprintf(out, format+"\n", args...)
}

func seconds(since time.Time) string { return fmt.Sprintf("%.0f s", time.Since(since).Seconds()) }

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o100 != 0
}
