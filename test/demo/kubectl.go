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
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

func (s *story) status(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, s.kubectl, "--kubeconfig", s.management, "describe", "scheduledmachine", name).CombinedOutput()
	return fmt.Sprint(string(out), errText(err))
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// show runs kubectl as a person would and prints what it says.
func (s *story) show(ctx context.Context, kubeconfig string, args ...string) error {
	s.say("$ kubectl %s", strings.Join(args, " "))
	out, err := exec.CommandContext(ctx, s.kubectl, append([]string{"--kubeconfig", kubeconfig}, args...)...).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		fmt.Fprintf(s.out, "            %s", line)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("running kubectl %s: %w", strings.Join(args, " "), err), ctx.Err())
	}
	return nil
}

func (s *story) events(ctx context.Context) error {
	return s.show(ctx, s.management, "get", "events", "--field-selector", "involvedObject.kind=ScheduledMachine",
		"-o", "custom-columns=REASON:.reason,MESSAGE:.message")
}

func (s *story) howToLookAround() {
	fmt.Fprintf(s.out, `
          Look around
          ───────────
          kubectl=%s
          $kubectl --kubeconfig %s get clusters,machines,scheduledmachines
          $kubectl --kubeconfig %s describe scheduledmachine %s
          $kubectl --kubeconfig %s patch scheduledmachine %s --type=json -p '[{"op":"replace","path":"/spec/schedule/windows/0/end","value":"00:00"}]'
          $kubectl --kubeconfig %s get nodes -w

          Ctrl-C stops everything.
`, s.kubectl, s.management, s.management, name, s.management, name, s.cluster)
}
