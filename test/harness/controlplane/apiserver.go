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
	"slices"
	"sync"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/binaries"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
)

// apiServer is the kube-apiserver of a control plane, which may be stopped and
// started again within the control plane's life.
type apiServer struct {
	args []string

	mu      sync.Mutex
	process *process.Process
	closed  bool
}

var errStopped = errors.New("the control plane has stopped")

func (s *apiServer) running() *process.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// kill ends the process where there is one.
func (s *apiServer) kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	err := s.process.Kill()
	s.process = nil
	return err
}

// close ends the process for good.
func (s *apiServer) close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.kill()
}

// prepareAPIServer settles the command line, which stays the same over restarts.
func (cp *ControlPlane) prepareAPIServer() error {
	args := []string{
		"--etcd-servers=" + cp.etcd.url,
		"--etcd-prefix=" + cp.etcd.nextPrefix(),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", cp.port.Number()),
		// Endpoints of the kubernetes Service may not be loopback addresses.
		"--endpoint-reconciler-type=none",
		"--cert-dir=" + cp.work.Path(),
		"--tls-cert-file=" + cp.work.Path(servingCertFile),
		"--tls-private-key-file=" + cp.work.Path(servingKeyFile),
		"--client-ca-file=" + cp.work.Path(caCertFile),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + cp.work.Path(serviceAccountPublicFile),
		"--service-account-signing-key-file=" + cp.work.Path(serviceAccountKeyFile),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=Node,RBAC",
		"--allow-privileged=true",
	}
	if cp.options.Audit {
		policy, err := cp.work.WriteFile("audit-policy.yaml", []byte(auditPolicy))
		if err != nil {
			return err
		}
		cp.audit = &auditLog{path: cp.work.Path("audit.json")}
		args = append(args,
			"--audit-policy-file="+policy,
			"--audit-log-path="+cp.audit.path,
			"--audit-log-format=json",
			"--audit-log-mode=blocking",
			// The reader follows one file, so it must not be rotated.
			"--audit-log-maxsize=0",
		)
	}
	cp.apiServer.args = slices.Concat(args, cp.options.ExtraArgs)
	return nil
}

// StartAPIServer starts the API server after StopAPIServer, on the same port, with
// the same certificates and data, and returns when it is ready. Where it runs
// already this does nothing. The API server's life does not depend on ctx.
func (cp *ControlPlane) StartAPIServer(ctx context.Context) error {
	server, err := cp.launchAPIServer(ctx)
	if err != nil {
		return err
	}
	err = until(ctx, server, "the API server to be ready", func(ctx context.Context) error {
		if err := get(ctx, cp.probe, cp.admin.Host+"/readyz"); err != nil {
			return err
		}
		return get(ctx, cp.probe, cp.admin.Host+"/api/v1/namespaces/default")
	})
	if err != nil {
		return errors.Join(err, cp.apiServer.kill())
	}
	return nil
}

func (cp *ControlPlane) launchAPIServer(ctx context.Context) (*process.Process, error) {
	s := &cp.apiServer
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errStopped
	}
	if s.process != nil {
		select {
		case <-s.process.Done():
		default:
			return s.process, nil
		}
	}
	server, err := process.Start(context.WithoutCancel(ctx), process.Spec{
		Name: "kube-apiserver",
		Path: cp.bin.Path(binaries.KubeAPIServer),
		Args: s.args,
		// Its start is mostly garbage made at once; collecting it less often saves a
		// tenth of the time and costs 100 MiB.
		Env:    []string{"GOGC=300"},
		LogDir: cp.work.Path(),
	})
	if err != nil {
		return nil, err
	}
	s.process = server
	return server, nil
}

// StopAPIServer kills the API server and leaves everything else running: an outage.
// Clients see their connections cut and new ones refused.
func (cp *ControlPlane) StopAPIServer() error {
	if err := cp.apiServer.kill(); err != nil {
		return err
	}
	cp.probe.CloseIdleConnections()
	return nil
}
