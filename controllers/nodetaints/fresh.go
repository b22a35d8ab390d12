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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-api/controllers/remote"
	"sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// freshTimeout bounds each request of a fresh client, as the ClusterCache's own.
const freshTimeout = 10 * time.Second

// errKubeconfig says that a Cluster has no kubeconfig that can be used.
var errKubeconfig = errors.New("no usable kubeconfig")

func secretName(cluster client.ObjectKey) string { return secret.Name(cluster.Name, secret.Kubeconfig) }

// freshClient connects with what the kubeconfig Secret holds now. The ClusterCache
// notices a rotation with its next probe; a write that is due does not wait for it.
func (r *Reconciler) freshClient(ctx context.Context, cluster client.ObjectKey) (client.Client, error) {
	cfg, err := r.restConfig(ctx, cluster)
	if err != nil {
		return nil, err
	}
	cfg.UserAgent = remote.DefaultClusterAPIUserAgent(controllerName)
	cfg.Timeout = freshTimeout
	return client.New(cfg, client.Options{Scheme: r.Client.Scheme()})
}

// restConfig reads the kubeconfig Secret. Its errors quote nothing of what it holds.
func (r *Reconciler) restConfig(ctx context.Context, cluster client.ObjectKey) (*rest.Config, error) {
	data, err := kubeconfig.FromSecret(ctx, r.SecretClient, cluster)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w: Secret %s does not exist", errKubeconfig, secretName(cluster))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: reading Secret %s: %w", errKubeconfig, secretName(cluster), err)
	}
	cfg, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		return nil, fmt.Errorf("%w: what Secret %s holds is not a kubeconfig", errKubeconfig, secretName(cluster))
	}
	if cfg.ExecProvider != nil || cfg.AuthProvider != nil {
		// A Secret must not be able to have the manager run a program.
		return nil, fmt.Errorf("%w: Secret %s names an exec or auth provider plugin; put a token or a client certificate there", errKubeconfig, secretName(cluster))
	}
	return cfg, nil
}

// whyUnreachable says what a person should look at.
func (r *Reconciler) whyUnreachable(ctx context.Context, cluster client.ObjectKey) string {
	if _, err := r.restConfig(ctx, cluster); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("is its API server up, and does Secret %s hold valid credentials?", secretName(cluster))
}
