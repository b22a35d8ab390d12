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

package scale_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// usage is what a process has used, as Linux tells it in /proc; zero elsewhere.
type usage struct {
	cpu            time.Duration
	resident, peak int64 // bytes
}

// tick is the unit of CPU times in /proc: USER_HZ, 100 on every architecture.
const tick = 10 * time.Millisecond

func usageOf(pid int) usage {
	GinkgoHelper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if os.IsNotExist(err) {
		return usage{}
	}
	Expect(err).NotTo(HaveOccurred())
	// The second field, the name in parentheses, may hold spaces.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var u usage
	for _, field := range fields[11:13] { // utime, stime
		ticks, err := strconv.ParseInt(field, 10, 64)
		Expect(err).NotTo(HaveOccurred())
		u.cpu += time.Duration(ticks) * tick
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(string(status)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			u.resident = kib << 10
		}
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			u.peak = kib << 10
		}
	}
	return u
}

// usageByProcess is the usage of this process, which runs the host provider, and of
// all that it has started.
func usageByProcess() map[string]usage {
	GinkgoHelper()
	all := map[string]usage{fmt.Sprintf("host provider and suite (%d)", os.Getpid()): usageOf(os.Getpid())}
	entries, err := filepath.Glob("/proc/[0-9]*/status")
	Expect(err).NotTo(HaveOccurred())
	for _, entry := range entries {
		status, err := os.ReadFile(entry)
		if err != nil {
			continue // It ended meanwhile.
		}
		if !strings.Contains(string(status), fmt.Sprintf("PPid:\t%d\n", os.Getpid())) {
			continue
		}
		var name string
		if _, err := fmt.Sscanf(string(status), "Name: %s", &name); err != nil {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(entry)))
		Expect(err).NotTo(HaveOccurred())
		all[fmt.Sprintf("%s (%d)", name, pid)] = usageOf(pid)
	}
	return all
}

// cpuSince says what each process has used since, and all of them.
func cpuSince(before map[string]usage) string {
	GinkgoHelper()
	var parts []string
	var total time.Duration
	for name, now := range usageByProcess() {
		used := now.cpu - before[name].cpu
		total += used
		parts = append(parts, fmt.Sprintf("%s %s", name, used.Round(tick)))
	}
	slices.Sort(parts)
	return fmt.Sprintf("%s in all: %s", total, strings.Join(parts, ", "))
}
