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

// Package ports reserves loopback TCP ports for servers that are started as
// processes of their own and want their port on the command line.
//
// Asking the kernel for a free port, closing it and hoping is a race, and it loses
// most often during an outage, when a stopped server's port must stay its own until
// it is started again. So a reservation is a socket that stays bound but never
// listens: with SO_REUSEADDR on both sides Linux lets a server bind and listen
// beside it, while another reservation of the same port, which asks without
// SO_REUSEADDR, is refused. It vanishes with the process that holds it.
//
// Ports come from below the kernel's ephemeral range: a client that keeps dialing a
// stopped server's port out of that range may by chance be given the very same port
// as its source, and is then connected to itself.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
)

// lowest is the first port handed out; below it live well-known services.
const lowest = 15000

// Port is a reserved port of 127.0.0.1.
type Port struct {
	number  int
	release func() error
}

// Reserve reserves a port until Release, or until this process ends.
func Reserve() (*Port, error) {
	highest := ephemeralLow() - 1
	var err error
	for range 200 {
		number := lowest + rand.IntN(highest-lowest)
		var release func() error
		if release, err = hold(number); err == nil {
			return &Port{number: number, release: release}, nil
		}
	}
	return nil, fmt.Errorf("no free port on 127.0.0.1 between %d and %d: %w", lowest, highest, err)
}

// ReserveN reserves n ports, or none.
func ReserveN(n int) ([]*Port, error) {
	reserved := make([]*Port, 0, n)
	for range n {
		port, err := Reserve()
		if err != nil {
			return nil, errors.Join(err, Release(reserved...))
		}
		reserved = append(reserved, port)
	}
	return reserved, nil
}

// Release gives ports back; nil ones are passed over.
func Release(reserved ...*Port) error {
	var errs []error
	for _, port := range reserved {
		if port != nil {
			errs = append(errs, port.release())
		}
	}
	return errors.Join(errs...)
}

// Number is the port's number.
func (p *Port) Number() int { return p.number }

// Address is the port as host:port.
func (p *Port) Address() string { return fmt.Sprintf("127.0.0.1:%d", p.number) }

// ephemeralLow is the first port the kernel gives to outgoing connections.
func ephemeralLow() int {
	const usual = 32768
	data, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return usual
	}
	var low, high int
	if _, err := fmt.Sscanf(strings.TrimSpace(string(data)), "%d %d", &low, &high); err != nil || low < lowest+1000 {
		return usual
	}
	return low
}
