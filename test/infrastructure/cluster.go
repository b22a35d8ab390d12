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

package infrastructure

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hostcontrolplanev1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/controlplane/v1beta2"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

// ClusterOptions describes an API server that is to be a Cluster.
type ClusterOptions struct {
	// Namespace and Name are the Cluster's.
	Namespace, Name string
	// Kubeconfig reaches the API server as an administrator.
	Kubeconfig []byte
	// Endpoint is the API server's, by default the kubeconfig's.
	Endpoint clusterv1.APIEndpoint
	// Version is the Kubernetes version that it runs, such as v1.36.3; it may be empty.
	Version string
}

// NewCluster registers an API server that runs already: it creates a HostCluster, a
// HostControlPlane and a Cluster of one name, and the Cluster's kubeconfig Secret. It
// does not wait for any of them.
func NewCluster(ctx context.Context, mgmt client.Client, o ClusterOptions) (*clusterv1.Cluster, error) {
	if !o.Endpoint.IsValid() {
		endpoint, err := endpointOf(o.Kubeconfig)
		if err != nil {
			return nil, fmt.Errorf("finding the endpoint of Cluster %s: %w", o.Name, err)
		}
		o.Endpoint = endpoint
	}
	meta := metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name}
	cluster := &clusterv1.Cluster{
		ObjectMeta: meta,
		Spec: clusterv1.ClusterSpec{
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: infrav1.GroupVersion.Group, Kind: "HostCluster", Name: o.Name,
			},
			ControlPlaneRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: hostcontrolplanev1.GroupVersion.Group, Kind: "HostControlPlane", Name: o.Name,
			},
		},
	}
	// What the Cluster refers to comes first: Cluster API looks again for what it misses
	// after half a minute only.
	for _, object := range []client.Object{
		&infrav1.HostCluster{
			ObjectMeta: meta,
			Spec: infrav1.HostClusterSpec{
				ControlPlaneEndpoint: infrav1.APIEndpoint{Host: o.Endpoint.Host, Port: o.Endpoint.Port},
			},
		},
		&hostcontrolplanev1.HostControlPlane{ObjectMeta: meta, Spec: hostcontrolplanev1.HostControlPlaneSpec{Version: o.Version}},
		cluster,
	} {
		if err := mgmt.Create(ctx, object); err != nil {
			return nil, fmt.Errorf("creating the %T %s: %w", object, o.Name, err)
		}
	}
	kubeconfig := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.Namespace,
			Name:      secret.Name(o.Name, secret.Kubeconfig),
			Labels:    map[string]string{clusterv1.ClusterNameLabel: o.Name},
			// It goes with the Cluster.
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: cluster.Name, UID: cluster.UID,
			}},
		},
		Type: clusterv1.ClusterSecretType,
		Data: map[string][]byte{secret.KubeconfigDataName: o.Kubeconfig},
	}
	if err := mgmt.Create(ctx, kubeconfig); err != nil {
		return nil, fmt.Errorf("creating Secret %s: %w", kubeconfig.Name, err)
	}
	return cluster, nil
}

// endpointOf is the address in a kubeconfig.
func endpointOf(kubeconfig []byte) (clusterv1.APIEndpoint, error) {
	cfg, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return clusterv1.APIEndpoint{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	server, err := url.Parse(cfg.Host)
	if err != nil {
		return clusterv1.APIEndpoint{}, fmt.Errorf("reading the kubeconfig's server: %w", err)
	}
	host, text, err := net.SplitHostPort(server.Host)
	if err != nil {
		return clusterv1.APIEndpoint{}, fmt.Errorf("the kubeconfig's server %q should be https://HOST:PORT: %w", cfg.Host, err)
	}
	port, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return clusterv1.APIEndpoint{}, fmt.Errorf("the port of the kubeconfig's server %q: %w", cfg.Host, err)
	}
	return clusterv1.APIEndpoint{Host: host, Port: int32(port)}, nil
}
