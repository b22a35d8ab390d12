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
	"fmt"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/binaries"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
)

// startClients starts the components that talk to the API server. Both survive its
// outages, since neither has a lease to lose.
func (cp *ControlPlane) startClients(ctx context.Context) error {
	if cp.options.Scheduler {
		if _, err := cp.startClient(ctx, binaries.KubeScheduler, "system:kube-scheduler"); err != nil {
			return err
		}
	}
	if !cp.options.ControllerManager {
		return nil
	}
	args := append([]string{
		"--root-ca-file=" + cp.work.Path(caCertFile),
		"--service-account-private-key-file=" + cp.work.Path(serviceAccountKeyFile),
		// Its 20 requests a second would be what tests wait for.
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	}, cp.options.ControllerManagerArgs...)
	// It works as an administrator: the role that is its own suffices only where each
	// of its controllers has a ServiceAccount, and making those takes time.
	manager, err := cp.startClient(ctx, binaries.KubeControllerManager, "system:kube-controller-manager", args...)
	if err != nil {
		return err
	}
	return until(ctx, manager, "the controller manager to make the default ServiceAccount", func(ctx context.Context) error {
		return get(ctx, cp.probe, cp.admin.Host+"/api/v1/namespaces/default/serviceaccounts/default")
	})
}

func (cp *ControlPlane) startClient(ctx context.Context, name binaries.Name, user string, args ...string) (*process.Process, error) {
	cfg, err := cp.ConfigFor(user, groupMasters)
	if err != nil {
		return nil, err
	}
	path, err := cp.WriteKubeconfig(fmt.Sprintf("%s.kubeconfig", name), cfg)
	if err != nil {
		return nil, err
	}
	client, err := process.Start(context.WithoutCancel(ctx), process.Spec{
		Name: string(name),
		Path: cp.bin.Path(name),
		Args: append([]string{
			"--kubeconfig=" + path,
			"--leader-elect=false",
			// No health endpoint: what it does shows that it runs.
			"--secure-port=0",
		}, args...),
		LogDir: cp.work.Path(),
	})
	if err != nil {
		return nil, err
	}
	cp.others = append(cp.others, client)
	return client, nil
}
