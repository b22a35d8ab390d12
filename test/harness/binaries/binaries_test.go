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
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// lines is an output that may be read while it is written.
type lines struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(data)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.String()
}

// tiny is a module with a program that prints what it was stamped with, and one that
// does not compile.
func tiny(t *testing.T) source {
	t.Helper()
	module := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":         "module example.org/tiny\n\ngo 1.26.0\n",
		"good/main.go":   "package main\n\nvar version string\n\nfunc main() { print(version) }\n",
		"broken/main.go": "package main\n\nfunc main() { undefinedName() }\n",
	} {
		path := filepath.Join(module, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return source{
		module: module,
		target: filepath.Join(t.TempDir(), "bin", "v1"),
		programs: map[Name]program{
			Etcd:    {pkg: "example.org/tiny/good", ldflags: "-X main.version=v1.2.3"},
			Kubectl: {pkg: "example.org/tiny/broken"},
		},
		progressEvery: time.Hour,
	}
}

func TestBuildsOnceHoweverManyAsk(t *testing.T) {
	g := NewWithT(t)
	t.Setenv(assetsVariable, "")
	from := tiny(t)
	outputs := make([]lines, 4)
	errs := make([]error, len(outputs))
	var group sync.WaitGroup
	for i := range outputs {
		group.Go(func() { _, errs[i] = from.ensure(t.Context(), &outputs[i], []Name{Etcd, Etcd}) })
	}
	group.Wait()
	g.Expect(errors.Join(errs...)).NotTo(HaveOccurred())
	all := ""
	for i := range outputs {
		all += outputs[i].String()
	}
	g.Expect(strings.Count(all, "\n")).To(Equal(2), all)
	g.Expect(all).To(MatchRegexp(`^building etcd \(1 of 1, once, kept in .*\)\nbuilt etcd in \d+ s\n$`))

	var quiet lines
	dir, err := from.ensure(t.Context(), &quiet, []Name{Etcd})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(quiet.String()).To(BeEmpty(), "nothing had to be built")
	output, err := exec.Command(dir.Path(Etcd)).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(output)).To(Equal("v1.2.3"))
	left, err := os.ReadDir(from.target)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(HaveLen(2), "the program and the lock")
}

func TestABuildThatFailsSaysWhy(t *testing.T) {
	g := NewWithT(t)
	t.Setenv(assetsVariable, "")
	from := tiny(t)
	_, err := from.ensure(t.Context(), io.Discard, []Name{Kubectl})
	g.Expect(err).To(MatchError(And(ContainSubstring("building kubectl"), ContainSubstring("undefined: undefinedName"))))
	g.Expect(filepath.Join(from.target, "kubectl")).NotTo(BeAnExistingFile())
	_, err = from.ensure(t.Context(), io.Discard, []Name{"kubelet"})
	g.Expect(err).To(MatchError(ContainSubstring(`no program is called "kubelet"`)))
}

func TestAssetsComeFirstForWhatTheyHold(t *testing.T) {
	g := NewWithT(t)
	assets := t.TempDir()
	t.Setenv(assetsVariable, assets)
	held := filepath.Join(assets, "kubectl")
	g.Expect(os.WriteFile(held, []byte("#!/bin/sh\n"), 0o755)).To(Succeed())
	// Not a program, so it does not count.
	g.Expect(os.WriteFile(filepath.Join(assets, "etcd"), nil, 0o644)).To(Succeed())
	from := tiny(t)
	var out lines
	dir, err := from.ensure(t.Context(), &out, []Name{Kubectl, Etcd})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(dir.Path(Kubectl)).To(Equal(held))
	g.Expect(dir.Path(Etcd)).To(Equal(filepath.Join(from.target, "etcd")))
	g.Expect(out.String()).NotTo(ContainSubstring("kubectl"))
}

// slowGo puts a "go" in the way that starts a child, says its pid and never ends.
func slowGo(t *testing.T) (childPid func() int) {
	t.Helper()
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	script := "#!/bin/sh\nsleep 1000 &\necho $! > " + pidFile + ".new && mv " + pidFile + ".new " + pidFile + "\nwait\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() int {
		data, err := os.ReadFile(pidFile)
		if err != nil {
			return 0
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
}

func TestCancellingKillsTheWholeBuild(t *testing.T) {
	g := NewWithT(t)
	t.Setenv(assetsVariable, "")
	child := slowGo(t)
	from := tiny(t)
	from.progressEvery = 20 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	var out, waiting lines
	done := make(chan error, 2)
	go func() {
		_, err := from.ensure(ctx, &out, []Name{Etcd})
		done <- err
	}()
	g.Eventually(child, "10s").ShouldNot(BeZero())
	g.Eventually(out.String, "10s").Should(ContainSubstring("building etcd: 0 s so far"))
	go func() {
		_, err := from.ensure(ctx, &waiting, []Name{Etcd})
		done <- err
	}()
	g.Eventually(waiting.String, "10s").Should(ContainSubstring("waiting for another process that builds"))

	cancel()
	for range 2 {
		g.Eventually(done, "10s").Should(Receive(MatchError(context.Canceled)))
	}
	g.Eventually(func() error { return syscall.Kill(child(), 0) }, "10s").Should(MatchError(syscall.ESRCH))
}

func TestThePinsOfThisRepository(t *testing.T) {
	g := NewWithT(t)
	from, err := pinned()
	g.Expect(err).NotTo(HaveOccurred())
	for _, name := range All() {
		g.Expect(from.programs).To(HaveKey(name))
	}
	g.Expect(from.programs).To(HaveLen(len(All())))
	g.Expect(filepath.Base(from.target)).To(MatchRegexp(`^kubernetes-v1\.\d+\.\d+-etcd-v3\.\d+\.\d+-capi-v1\.\d+\.\d+-\w+-\w+$`))
	module, err := ModuleDir()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(from.module).To(Equal(module))
	g.Expect(from.target).To(HavePrefix(filepath.Dir(filepath.Dir(module)) + "/bin/"))
}

func TestStamp(t *testing.T) {
	NewWithT(t).Expect(stamp("a/version", "v1.36.3")).To(Equal(
		" -X a/version.gitVersion=v1.36.3 -X a/version.gitMajor=1 -X a/version.gitMinor=36"))
}
