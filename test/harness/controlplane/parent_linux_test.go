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

package controlplane_test

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/workdir"
)

func TestNothingOutlivesItsParent(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			g := NewWithT(t)
			self, err := os.Executable()
			g.Expect(err).NotTo(HaveOccurred())
			command := exec.Command(self)
			command.Env = append(os.Environ(), parentVariable+"=1")
			command.Stderr = os.Stderr
			output, err := command.StdoutPipe()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(command.Start()).To(Succeed())
			line, err := bufio.NewReader(output).ReadString('\n')
			g.Expect(err).NotTo(HaveOccurred())
			var pids []int
			for field := range strings.FieldsSeq(line) {
				pid, err := strconv.Atoi(field)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(alive(pid)).To(BeTrue(), "pid %d", pid)
				pids = append(pids, pid)
			}
			g.Expect(pids).To(HaveLen(4))

			g.Expect(command.Process.Signal(signal)).To(Succeed())
			g.Expect(command.Wait()).NotTo(Succeed())
			for _, pid := range pids {
				g.Eventually(func() bool { return alive(pid) }, "10s").Should(BeFalse(), "pid %d", pid)
			}

			g.Expect(folders(t, "orphan")).NotTo(BeEmpty(), "nobody was left to remove them")
			next, err := workdir.New("next")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(next.Close()).To(Succeed())
			g.Expect(folders(t, "orphan")).To(BeEmpty(), "whoever comes next removes them")
		})
	}
}
