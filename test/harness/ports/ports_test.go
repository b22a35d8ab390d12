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

package ports_test

import (
	"net"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/ports"
)

func TestAServerListensOnAReservedPort(t *testing.T) {
	g := NewWithT(t)
	reserved, err := ports.ReserveN(20)
	g.Expect(err).NotTo(HaveOccurred())
	numbers := map[int]bool{}
	for _, port := range reserved {
		numbers[port.Number()] = true
		// Twice, as over an outage: the reservation outlives the server.
		for range 2 {
			_, err := net.Dial("tcp4", port.Address())
			g.Expect(err).To(MatchError(ContainSubstring("connection refused")))
			listener, err := net.Listen("tcp4", port.Address())
			g.Expect(err).NotTo(HaveOccurred())
			connection, err := net.Dial("tcp4", port.Address())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(connection.Close()).To(Succeed())
			g.Expect(listener.Close()).To(Succeed())
		}
	}
	g.Expect(numbers).To(HaveLen(len(reserved)))
	g.Expect(ports.Release(reserved...)).To(Succeed())
	g.Expect(ports.Release(append(reserved, nil)...)).To(Succeed(), "releasing again")
}
