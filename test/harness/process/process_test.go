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

package process_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
)

func start(t *testing.T, ctx context.Context, script string, change ...func(*process.Spec)) *process.Process {
	t.Helper()
	spec := process.Spec{Name: "script", Path: "/bin/sh", Args: []string{"-c", script}, LogDir: t.TempDir()}
	for _, c := range change {
		c(&spec)
	}
	p, err := process.Start(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// printed waits until the process has printed text, and returns all that it printed.
func printed(t *testing.T, p *process.Process, text string) string {
	t.Helper()
	NewWithT(t).Eventually(p.LogTail, "10s", "10ms").Should(ContainSubstring(text))
	return p.LogTail()
}

func TestStopAsksFirst(t *testing.T) {
	g := NewWithT(t)
	p := start(t, t.Context(), `trap 'echo asked; exit 3' TERM; echo up; while :; do sleep 0.05; done`)
	printed(t, p, "up")
	g.Expect(p.Err()).NotTo(HaveOccurred())
	g.Expect(p.Stop()).To(Succeed())
	g.Expect(p.Done()).To(BeClosed())
	g.Expect(p.Err()).NotTo(HaveOccurred(), "it was stopped, so its exit code is no error")
	g.Expect(p.LogTail()).To(ContainSubstring("asked"))
	g.Expect(alive(p.Pid())).To(BeFalse())
	g.Expect(p.Stop()).To(Succeed(), "stopping again")
	g.Expect(p.Kill()).To(Succeed(), "killing what is gone")
}

func TestStopDoesNotAskForEver(t *testing.T) {
	g := NewWithT(t)
	p := start(t, t.Context(), `trap '' TERM; echo up; while :; do sleep 0.05; done`,
		func(s *process.Spec) { s.StopTimeout = 300 * time.Millisecond })
	printed(t, p, "up")
	began := time.Now()
	g.Expect(p.Stop()).To(Succeed())
	g.Expect(time.Since(began)).To(BeNumerically(">=", 300*time.Millisecond))
	g.Expect(alive(p.Pid())).To(BeFalse())
}

func TestKillDoesNotAsk(t *testing.T) {
	g := NewWithT(t)
	p := start(t, t.Context(), `trap 'echo asked; exit' TERM; echo up; while :; do sleep 0.05; done`)
	printed(t, p, "up")
	g.Expect(p.Kill()).To(Succeed())
	g.Expect(p.Done()).To(BeClosed())
	g.Expect(alive(p.Pid())).To(BeFalse())
	g.Expect(p.LogTail()).NotTo(ContainSubstring("asked"))
}

func TestAFrozenProcessGoesOn(t *testing.T) {
	g := NewWithT(t)
	p := start(t, t.Context(), `trap 'echo asked; exit' TERM; echo up; while :; do sleep 0.05; done`)
	printed(t, p, "up")
	g.Expect(p.Signal(syscall.SIGSTOP)).To(Succeed())
	g.Expect(p.Signal(syscall.SIGCONT)).To(Succeed())
	g.Expect(p.Stop()).To(Succeed())
	g.Expect(p.LogTail()).To(ContainSubstring("asked"))
}

func TestEndsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	p := start(t, ctx, `echo up; sleep 1000`)
	printed(t, p, "up")
	cancel()
	g.Eventually(p.Done(), "10s").Should(BeClosed())
	g.Expect(p.Err()).NotTo(HaveOccurred())

	_, err := process.Start(ctx, process.Spec{Name: "late", Path: "/bin/true", LogDir: t.TempDir()})
	g.Expect(err).To(MatchError(context.Canceled))
}

func TestAnEarlyDeathIsExplained(t *testing.T) {
	g := NewWithT(t)
	p := start(t, t.Context(), `i=0; while [ $i -lt 2000 ]; do echo "line $i of many"; i=$((i+1)); done; echo last words >&2; exit 7`)
	g.Eventually(p.Done(), "20s").Should(BeClosed())
	g.Expect(p.Err()).To(MatchError(And(ContainSubstring("script (pid "), ContainSubstring("exit status 7"), HaveSuffix("last words"))))
	tail := p.LogTail()
	g.Expect(len(tail)).To(BeNumerically("<=", 4<<10))
	g.Expect(tail).To(HavePrefix("line "), "it begins with a whole line")

	clean := start(t, t.Context(), `exit 0`)
	g.Eventually(clean.Done(), "10s").Should(BeClosed())
	g.Expect(clean.Err()).NotTo(HaveOccurred())
}

func TestStartErrors(t *testing.T) {
	g := NewWithT(t)
	_, err := process.Start(t.Context(), process.Spec{Name: "nothing", Path: "/no/such/program", LogDir: t.TempDir()})
	g.Expect(err).To(And(MatchError(os.ErrNotExist), MatchError(ContainSubstring("starting nothing"))))
	_, err = process.Start(t.Context(), process.Spec{Name: "nowhere", Path: "/bin/true", LogDir: filepath.Join(t.TempDir(), "missing")})
	g.Expect(err).To(MatchError(ContainSubstring("starting nowhere: opening its log")))
}

func TestEnvironmentFolderAndLog(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	log := t.TempDir()
	for _, word := range []string{"first", "second"} {
		p := start(t, t.Context(), `echo "$WORD in $(pwd)"`, func(s *process.Spec) {
			s.Dir, s.LogDir, s.Env = dir, log, []string{"WORD=" + word}
		})
		g.Eventually(p.Done(), "10s").Should(BeClosed())
		g.Expect(p.LogPath()).To(Equal(filepath.Join(log, "script.log")))
	}
	data, err := os.ReadFile(filepath.Join(log, "script.log"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(data)).To(Equal("first in " + dir + "\nsecond in " + dir + "\n"))
}

// TestChildrenOutliveThreads: a child is killed when the thread that forked it ends,
// so it must not have been forked from the thread of whoever called Start.
func TestChildrenOutliveThreads(t *testing.T) {
	g := NewWithT(t)
	var mu sync.Mutex
	var children []*process.Process
	var group sync.WaitGroup
	for range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			// Never unlocked: the thread ends with this goroutine.
			runtime.LockOSThread()
			child := start(t, t.Context(), `echo up; while :; do sleep 0.05; done`)
			mu.Lock()
			defer mu.Unlock()
			children = append(children, child)
		}()
	}
	group.Wait()
	for _, child := range children {
		printed(t, child, "up")
	}
	g.Consistently(func() int {
		living := 0
		for _, child := range children {
			select {
			case <-child.Done():
			default:
				living++
			}
		}
		return living
	}, "500ms", "50ms").Should(Equal(len(children)))
}

// TestGrandchildrenGoToo: only the child asks for a signal, its own children did not.
func TestGrandchildrenGoToo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("children have no process group of their own on", runtime.GOOS)
		return
	}
	for _, row := range []struct{ name, script string }{
		{"stopped", `sleep 1000 & echo "grandchild $!."; wait`},
		{"ended by itself", `sleep 1000 & echo "grandchild $!."`},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := NewWithT(t)
			p := start(t, t.Context(), row.script)
			log := printed(t, p, ".")
			grandchild, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(log, "grandchild "), "."))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(p.Stop()).To(Succeed())
			g.Eventually(func() bool { return running(grandchild) }, "10s").Should(BeFalse())
		})
	}
}

// running tells whether pid is there and no zombie: an orphan is reaped by whoever
// adopted it, in its own time.
func running(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := bytes.Cut(data, []byte(") "))
	return !bytes.HasPrefix(state, []byte("Z"))
}
