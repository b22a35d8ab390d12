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

// The demo shows the main job on real control planes: a window opens, a Machine
// and its Node appear, taints are applied, an admin's are left alone, the window
// closes, everything goes. It checks each step and ends with an error, saying
// which and why, where one does not come.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/binaries"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
)

const usage = `The demo shows the main job on real control planes.

Usage: make demo [ARGS=--exit]

`

func main() {
	exit := flag.Bool("exit", false, "end after the last step instead of waiting for Ctrl-C")
	verbose := flag.Bool("verbose", false, "print the log of the controllers that run in this process")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	quiet(*verbose)
	if err := demo(*exit); err != nil {
		fmt.Fprintf(os.Stderr, "\ndemo: %v\n", err)
		os.Exit(1)
	}
}

// demo runs until the story is told or somebody interrupts it, which is no error.
func demo(exit bool) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	t := &timeline{out: os.Stdout, start: time.Now()}
	err := run(ctx, t, exit)
	if ctx.Err() != nil {
		t.say("stopped")
		return nil
	}
	return err
}

// timeline prints what happens, each line with the time since the demo began.
type timeline struct {
	out   io.Writer
	start time.Time
}

func (t *timeline) say(format string, args ...any) {
	fmt.Fprintf(t.out, "%7.1fs  %s\n", time.Since(t.start).Seconds(), fmt.Sprintf(format, args...))
}

// chapter prints a headline.
func (t *timeline) chapter(title string) {
	fmt.Fprintf(t.out, "\n          %s\n          %s\n", title, strings.Repeat("─", len([]rune(title))))
}

func run(ctx context.Context, t *timeline, exit bool) (err error) {
	fmt.Fprintln(t.out, "A ScheduledMachine on real control planes. The first run builds them from their Go modules, which takes some minutes.")
	t.chapter("Setting up")
	bin, err := binaries.Ensure(ctx, t.out, binaries.Etcd, binaries.KubeAPIServer, binaries.KubeControllerManager, binaries.CAPICore, binaries.Kubectl)
	if err != nil {
		return err
	}
	e, err := environment.Start(ctx, environment.Options{ControllerManager: true, Out: t.out, Step: func(what string) { t.say("starting %s", what) }})
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, e.Stop())
		if err == nil {
			t.say("everything is stopped")
		}
	}()
	t.say("starting workload cluster workload-1, with kube-controller-manager")
	w, err := e.AddWorkload(ctx, "workload-1", controlplane.Options{ControllerManager: true})
	if err != nil {
		return err
	}
	t.say("starting this provider's manager, with the rights of its ServiceAccount and no others")
	rights, err := e.ManagerConfig(ctx)
	if err != nil {
		return err
	}
	manager, err := e.StartManagerProcess(ctx, rights)
	if err != nil {
		return err
	}
	s := &story{timeline: t, env: e, workload: w, manager: manager, kubectl: bin.Path(binaries.Kubectl)}
	if err := s.writeKubeconfigs(); err != nil {
		return err
	}
	if err := s.tell(ctx); err != nil {
		return err
	}
	t.say("done: every step came as it should")
	if exit {
		return nil
	}
	s.howToLookAround()
	select {
	case <-ctx.Done():
	case <-manager.Done():
		return fmt.Errorf("the manager ended by itself: %w", manager.Err())
	}
	return nil
}
