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
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// The modules whose versions decide what is built.
const (
	moduleKubernetes = "k8s.io/kubernetes"
	moduleEtcd       = "go.etcd.io/etcd/server/v3"
	moduleCAPI       = "sigs.k8s.io/cluster-api"
)

// source is what to build, how, and where to.
type source struct {
	module   string // the folder of the module to build in
	target   string // the folder to build into
	programs map[Name]program
	// progressEvery is the time between two lines that say that a build goes on.
	progressEvery time.Duration
}

// program is how one of the programs is built.
type program struct {
	pkg     string
	ldflags string
}

// ModuleDir returns the folder of the module that pins the versions, for those who
// look for files of the pinned modules.
func ModuleDir() (string, error) {
	root, err := repositoryRoot()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "hack", "binaries"), nil
}

// pinned reads hack/binaries/go.mod.
func pinned() (source, error) {
	root, err := repositoryRoot()
	if err != nil {
		return source{}, err
	}
	module := filepath.Join(root, "hack", "binaries")
	path := filepath.Join(module, "go.mod")
	data, err := os.ReadFile(path)
	if err != nil {
		return source{}, fmt.Errorf("reading the pinned versions: %w", err)
	}
	file, err := modfile.Parse(path, data, nil)
	if err != nil {
		return source{}, fmt.Errorf("reading the pinned versions: %w", err)
	}
	versions := map[string]string{}
	for _, require := range file.Require {
		versions[require.Mod.Path] = require.Mod.Version
	}
	kubernetes, etcd, capi := versions[moduleKubernetes], versions[moduleEtcd], versions[moduleCAPI]
	if kubernetes == "" || etcd == "" || capi == "" {
		return source{}, fmt.Errorf("%s must require %s, %s and %s", path, moduleKubernetes, moduleEtcd, moduleCAPI)
	}
	key := fmt.Sprintf("kubernetes-%s-etcd-%s-capi-%s-%s-%s", kubernetes, etcd, capi, runtime.GOOS, runtime.GOARCH)
	return source{
		module:        module,
		target:        filepath.Join(root, "bin", key),
		programs:      programs(kubernetes, capi),
		progressEvery: 10 * time.Second,
	}, nil
}

func programs(kubernetes, capi string) map[Name]program {
	stamped := "-s -w" + stamp("k8s.io/component-base/version", kubernetes)
	all := map[Name]program{
		Etcd:       {pkg: moduleEtcd, ldflags: stamped},
		CAPICore:   {pkg: moduleCAPI + "/core", ldflags: stamped + stamp("sigs.k8s.io/cluster-api/version", capi)},
		Clusterctl: {pkg: moduleCAPI + "/cmd/clusterctl", ldflags: stamped + stamp("sigs.k8s.io/cluster-api/version", capi)},
	}
	for _, name := range []Name{KubeAPIServer, KubeControllerManager, KubeScheduler, Kubectl} {
		all[name] = program{pkg: moduleKubernetes + "/cmd/" + string(name), ldflags: stamped}
	}
	return all
}

// stamp sets the version variables that Kubernetes' and Cluster API's own builds
// set. Without them an API server reports v0.0.0-master+$Format, which clients that
// compare versions refuse.
func stamp(pkg, version string) string {
	minor := strings.TrimPrefix(semver.MajorMinor(version), semver.Major(version)+".")
	return fmt.Sprintf(" -X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s",
		pkg, version, strings.TrimPrefix(semver.Major(version), "v"), minor)
}

// repositoryRoot finds the repository from this file's place at compile time, and
// from the working directory where paths were trimmed or the repository has moved.
func repositoryRoot() (string, error) {
	var starts []string
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		starts = append(starts, filepath.Dir(file))
	}
	if working, err := os.Getwd(); err == nil {
		starts = append(starts, working)
	}
	for _, start := range starts {
		for dir := start; ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "hack", "binaries", "go.mod")); err == nil {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", errors.New("hack/binaries/go.mod was not found: run this from within the repository")
}
