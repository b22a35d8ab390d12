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

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/binaries"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/ports"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/workdir"
)

// etcd is one etcd process and the count of those who use it.
type etcd struct {
	process  *process.Process
	work     *workdir.Dir
	reserved []*ports.Port
	url      string

	mu       sync.Mutex
	users    int
	prefixes int
}

func startEtcd(ctx context.Context, bin binaries.Dir, name string) (_ *etcd, err error) {
	e := &etcd{users: 1}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if e.work, err = workdir.New(name + "-etcd"); err != nil {
		return nil, err
	}
	if e.reserved, err = ports.ReserveN(2); err != nil {
		return nil, err
	}
	e.url = "http://" + e.reserved[0].Address()
	peer := "http://" + e.reserved[1].Address()
	// Its users end it, the last of them, so it does not depend on one's context.
	e.process, err = process.Start(context.WithoutCancel(ctx), process.Spec{
		Name: "etcd",
		Path: bin.Path(binaries.Etcd),
		Args: []string{
			"--name=default",
			"--data-dir=" + e.work.Path("data"),
			"--listen-client-urls=" + e.url,
			"--advertise-client-urls=" + e.url,
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=default=" + peer,
			// The data is thrown away, so nothing has to survive a power failure.
			"--unsafe-no-fsync",
			"--log-level=warn",
		},
		LogDir: e.work.Path(),
	})
	if err != nil {
		return nil, err
	}
	client := &http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	err = until(ctx, e.process, "etcd to be healthy", func(ctx context.Context) error {
		return get(ctx, client, e.url+"/health")
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (e *etcd) share() (*etcd, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.users == 0 {
		return nil, errors.New("the etcd to share has stopped")
	}
	e.users++
	return e, nil
}

// nextPrefix returns a key prefix that no other API server on this etcd uses.
func (e *etcd) nextPrefix() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.prefixes++
	return fmt.Sprintf("/registry-%d", e.prefixes)
}

// release gives up one use; the last one ends the process.
func (e *etcd) release() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.users == 0 {
		return nil
	}
	e.users--
	if e.users > 0 {
		return nil
	}
	return e.close()
}

func (e *etcd) close() error {
	var errs []error
	if e.process != nil {
		errs = append(errs, e.process.Kill())
	}
	errs = append(errs, ports.Release(e.reserved...))
	if e.work != nil {
		errs = append(errs, e.work.Close())
	}
	return errors.Join(errs...)
}

// portTaken tells whether a server died because somebody took its port.
func portTaken(err error) bool {
	return strings.Contains(err.Error(), "address already in use")
}
