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

package nodetaints

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-api/controllers/remote"
	"sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// freshTimeout bounds each request of a fresh client, as the ClusterCache's own.
const freshTimeout = 10 * time.Second

// freshClient connects with what the kubeconfig Secret holds now. The ClusterCache
// notices a rotation with its next probe; a write that is due does not wait for it.
func (r *Reconciler) freshClient(ctx context.Context, cluster client.ObjectKey) (client.Client, error) {
	data, err := kubeconfig.FromSecret(ctx, r.SecretClient, cluster)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig Secret of Cluster %s: %w", cluster.Name, err)
	}
	cfg, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of Cluster %s: %w", cluster.Name, err)
	}
	if cfg.ExecProvider != nil || cfg.AuthProvider != nil {
		// A Secret must not be able to have the manager run a program.
		return nil, fmt.Errorf("the kubeconfig of Cluster %s: %w", cluster.Name, errPlugins)
	}
	cfg.UserAgent = remote.DefaultClusterAPIUserAgent(controllerName)
	cfg.Timeout = freshTimeout
	return client.New(cfg, client.Options{Scheme: r.Client.Scheme()})
}

var errPlugins = errors.New("exec and auth provider plugins are not allowed; put a token or a client certificate there")
