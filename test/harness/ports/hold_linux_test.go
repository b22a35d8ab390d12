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

package ports

import (
	"net"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAReservedPortIsRefusedToOthers(t *testing.T) {
	g := NewWithT(t)
	port, err := Reserve()
	g.Expect(err).NotTo(HaveOccurred())
	_, err = hold(port.Number())
	g.Expect(err).To(MatchError(syscall.EADDRINUSE))

	listener, err := net.Listen("tcp4", port.Address())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(Release(port)).To(Succeed())
	_, err = hold(port.Number())
	g.Expect(err).To(MatchError(syscall.EADDRINUSE), "a server is there")
	g.Expect(listener.Close()).To(Succeed())

	release, err := hold(port.Number())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(release()).To(Succeed())
}

func TestPortsAreNotEphemeral(t *testing.T) {
	g := NewWithT(t)
	port, err := Reserve()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(port.Number()).To(BeNumerically("<", ephemeralLow()))
	g.Expect(port.Number()).To(BeNumerically(">=", lowest))
	g.Expect(Release(port)).To(Succeed())
}
