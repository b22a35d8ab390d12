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

// Package process starts programs that never outlive the one that started them.
//
// A test that leaves an etcd or an API server behind spoils the next one, and every
// clean-up that must be run can be skipped: by a panic, by a timeout of go test, by
// SIGKILL. So the kernel does it. On Linux each child asks for SIGKILL on the death
// of its parent (prctl PR_SET_PDEATHSIG). The kernel takes "parent" to mean the
// thread that forked, and Go ends threads as it likes; hence all children are
// forked from one goroutine that is locked to its thread and never returns.
//
// Children get a process group of their own on Linux, so that a Ctrl-C in a
// terminal reaches the parent alone, which then stops them in order. Signals go to
// the whole group.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// DefaultStopTimeout is how long Stop waits after SIGTERM before it sends SIGKILL,
// where a Spec says nothing else.
const DefaultStopTimeout = 10 * time.Second

// tailSize is how many bytes of a log are shown in errors.
const tailSize = 4 << 10

// Spec says what to run.
type Spec struct {
	// Name is what errors and the log file call it.
	Name string
	// Path is the program.
	Path string
	// Args follow the program's name.
	Args []string
	// Env holds KEY=VALUE entries added to this process's environment.
	Env []string
	// Dir is the working directory; empty means this process's.
	Dir string
	// LogDir is the existing folder for Name.log, which receives standard output and
	// standard error. An existing log is continued.
	LogDir string
	// StopTimeout is the time between SIGTERM and SIGKILL; DefaultStopTimeout where zero.
	StopTimeout time.Duration
}

// Process is a running child, or one that has ended.
type Process struct {
	spec     Spec
	cmd      *exec.Cmd
	stopping atomic.Bool
	done     chan struct{}
	err      error // set before done is closed
}

// Start runs the program. It is stopped when ctx is done, as by Stop.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.Name, err)
	}
	if spec.StopTimeout == 0 {
		spec.StopTimeout = DefaultStopTimeout
	}
	log, err := os.OpenFile(logPath(spec), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("starting %s: opening its log: %w", spec.Name, err)
	}
	// The child has its own descriptor of the log once it runs.
	defer func() { _ = log.Close() }()

	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env = append(os.Environ(), spec.Env...)
	cmd.Dir = spec.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = attributes()
	if err := onForkThread(cmd.Start); err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.Name, err)
	}

	p := &Process{spec: spec, cmd: cmd, done: make(chan struct{})}
	go p.reap()
	detach := context.AfterFunc(ctx, func() { _ = p.Stop() })
	go func() {
		<-p.done
		detach()
	}()
	return p, nil
}

// Pid is the process's id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Name is the name given in the Spec.
func (p *Process) Name() string { return p.spec.Name }

// Done is closed once the process has ended and was reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err tells, once Done is closed, why the process ended: nil after exit code 0 or
// after Stop or Kill, else an error with the end of its log. Before, it is nil.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Stop sends SIGTERM, after the Spec's StopTimeout SIGKILL, and returns when the
// process is gone. Stopping one that has ended does nothing.
func (p *Process) Stop() error {
	p.stopping.Store(true)
	if err := p.send(syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(p.spec.StopTimeout)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		return p.Kill()
	}
}

// Kill sends SIGKILL and returns when the process is gone. Killing one that has
// ended does nothing.
func (p *Process) Kill() error {
	p.stopping.Store(true)
	if err := p.send(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// Signal sends any other signal, such as SIGSTOP, which freezes the process, and
// SIGCONT, which lets it go on.
func (p *Process) Signal(signal syscall.Signal) error { return p.send(signal) }

func (p *Process) send(signal syscall.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := signalChild(p.Pid(), signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("sending %s to %s (pid %d): %w", signal, p.spec.Name, p.Pid(), err)
	}
	return nil
}

// LogPath is the file that holds what the process printed.
func (p *Process) LogPath() string { return logPath(p.spec) }

// LogTail returns the last whole lines of the log, 4 KiB at most.
func (p *Process) LogTail() string {
	log, err := os.Open(p.LogPath())
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	defer func() { _ = log.Close() }()
	cut := false
	if info, err := log.Stat(); err == nil && info.Size() > tailSize {
		_, err := log.Seek(-tailSize, io.SeekEnd)
		cut = err == nil
	}
	data, err := io.ReadAll(io.LimitReader(log, tailSize))
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	tail := string(data)
	if cut {
		if _, rest, found := strings.Cut(tail, "\n"); found {
			tail = rest
		}
	}
	return strings.TrimRight(tail, "\n")
}

func (p *Process) reap() {
	err := p.cmd.Wait()
	sweepGroup(p.Pid())
	if err != nil && !p.stopping.Load() {
		p.err = fmt.Errorf("%s (pid %d) ended: %w; the end of its log:\n%s", p.spec.Name, p.Pid(), err, p.LogTail())
	}
	close(p.done)
}

func logPath(spec Spec) string { return filepath.Join(spec.LogDir, spec.Name+".log") }

// forks hands functions to the goroutine from which all children are forked. It
// never returns and never unlocks: the end of its thread would kill them all.
var forks = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

func onForkThread(start func() error) error {
	result := make(chan error, 1)
	forks() <- func() { result <- start() }
	return <-result
}
