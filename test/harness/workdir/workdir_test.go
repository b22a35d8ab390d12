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

package workdir_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/workdir"
)

func TestAFolderAndItsEnd(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("TMPDIR", t.TempDir())
	dir, err := workdir.New("some")
	g.Expect(err).NotTo(HaveOccurred())
	path, err := dir.WriteFile("key", []byte("secret"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(path).To(Equal(dir.Path("key")))
	info, err := os.Stat(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	g.Expect(dir.Close()).To(Succeed())
	g.Expect(dir.Path()).NotTo(BeADirectory())
	g.Expect(dir.Close()).To(Succeed(), "closing again")
}

func TestTheNextOneSweepsWhatTheDeadLeft(t *testing.T) {
	g := NewWithT(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	dead := filepath.Join(temp, "5spot-harness-dead-1")
	g.Expect(os.MkdirAll(filepath.Join(dead, "data"), 0o700)).To(Succeed())
	foreign := filepath.Join(temp, "somebody-elses")
	g.Expect(os.Mkdir(foreign, 0o700)).To(Succeed())
	living, err := workdir.New("living")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(dead).NotTo(BeADirectory())

	next, err := workdir.New("next")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(living.Path()).To(BeADirectory(), "its owner lives")
	g.Expect(foreign).To(BeADirectory())
	g.Expect(living.Close()).To(Succeed())
	g.Expect(next.Close()).To(Succeed())
}

func TestManyAtOnceDoNotSweepEachOther(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("TMPDIR", t.TempDir())
	made := make(chan *workdir.Dir)
	const n = 50
	for range n {
		go func() {
			dir, err := workdir.New("many")
			if err != nil {
				t.Error(err)
			}
			made <- dir
		}()
	}
	dirs := make([]*workdir.Dir, 0, n)
	for range n {
		dirs = append(dirs, <-made)
	}
	for _, dir := range dirs {
		g.Expect(dir.Path()).To(BeADirectory())
		g.Expect(dir.Close()).To(Succeed())
	}
}

func TestLogsAreKept(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("TMPDIR", t.TempDir())
	artifacts := filepath.Join(t.TempDir(), "artifacts")
	t.Setenv("ARTIFACTS", artifacts)
	dir, err := workdir.New("logged")
	g.Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"server.log", "server.key"} {
		_, err := dir.WriteFile(name, []byte(name))
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(dir.Close()).To(Succeed())
	kept, err := filepath.Glob(filepath.Join(artifacts, "*", "*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kept).To(HaveExactElements(HaveSuffix("server.log")))
}
