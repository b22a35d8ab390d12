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
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/pki"
)

// Files in the control plane's temporary folder.
const (
	caCertFile               = "ca.crt"
	servingCertFile          = "serving.crt"
	servingKeyFile           = "serving.key"
	serviceAccountKeyFile    = "service-account.key"
	serviceAccountPublicFile = "service-account.pub"
)

// groupMasters is the group that the API server lets do everything.
const groupMasters = "system:masters"

// serviceAccountNamespace holds the accounts that ServiceAccountKubeconfig makes.
const serviceAccountNamespace = metav1.NamespaceSystem

// writeCredentials makes the authority, what the API server serves and signs with,
// and the administrator's client.
func (cp *ControlPlane) writeCredentials() error {
	ca, err := pki.NewCA(cp.options.Name + "-ca")
	if err != nil {
		return err
	}
	cp.ca = ca
	serving, err := ca.Serving("kubernetes", "kubernetes.default", "kubernetes.default.svc")
	if err != nil {
		return err
	}
	private, public, err := pki.NewKey()
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		caCertFile:               ca.Cert,
		servingCertFile:          serving.Cert,
		servingKeyFile:           serving.Key,
		serviceAccountKeyFile:    private,
		serviceAccountPublicFile: public,
	} {
		if _, err := cp.work.WriteFile(name, data); err != nil {
			return err
		}
	}
	if cp.admin, err = cp.ConfigFor("harness-admin", groupMasters); err != nil {
		return err
	}
	prober, err := cp.ConfigFor("harness-probe", groupMasters)
	if err != nil {
		return err
	}
	tlsConfig, err := rest.TLSConfigFor(prober)
	if err != nil {
		return fmt.Errorf("making the readiness probe's client: %w", err)
	}
	cp.probe = &http.Client{
		Transport: &http.Transport{TLSClientConfig: tlsConfig},
		Timeout:   5 * time.Second,
	}
	return nil
}

// Config is an administrator's client configuration (group system:masters) without a
// client-side rate limit. Each call returns a copy.
func (cp *ControlPlane) Config() *rest.Config { return rest.CopyConfig(cp.admin) }

// ConfigFor makes a client certificate for user and groups and returns a client
// configuration that uses it, without a client-side rate limit. What the user may do
// is a matter of RBAC; a certificate cannot be revoked.
func (cp *ControlPlane) ConfigFor(user string, groups ...string) (*rest.Config, error) {
	pair, err := cp.ca.Client(user, groups...)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host: "https://" + cp.port.Address(),
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   cp.ca.Cert,
			CertData: pair.Cert,
			KeyData:  pair.Key,
		},
		QPS: -1,
	}, nil
}

// ServiceAccountKubeconfig returns a kubeconfig with the token of a ServiceAccount in
// kube-system, made here if need be, that is bound to cluster-admin. Unlike a client
// certificate such a credential can be taken back: see DeleteServiceAccount.
func (cp *ControlPlane) ServiceAccountKubeconfig(ctx context.Context, name string) ([]byte, error) {
	cfg, err := cp.serviceAccountConfig(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("making a kubeconfig for ServiceAccount %s: %w", name, err)
	}
	return cp.Kubeconfig(cfg)
}

func (cp *ControlPlane) serviceAccountConfig(ctx context.Context, name string) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(cp.admin)
	if err != nil {
		return nil, err
	}
	accounts := client.CoreV1().ServiceAccounts(serviceAccountNamespace)
	_, err = accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "harness-" + name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: serviceAccountNamespace}},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	token, err := accounts.CreateToken(ctx, name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](24 * 60 * 60)},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            cp.admin.Host,
		TLSClientConfig: rest.TLSClientConfig{CAData: cp.ca.Cert},
		BearerToken:     token.Status.Token,
		QPS:             -1,
	}, nil
}

// DeleteServiceAccount deletes an account made by ServiceAccountKubeconfig. The API
// server answers its tokens with 401 from then on, but for those that it has seen
// within the last 10 s (its cache of tokens that were found good), and it does not
// end watches that run.
func (cp *ControlPlane) DeleteServiceAccount(ctx context.Context, name string) error {
	client, err := kubernetes.NewForConfig(cp.admin)
	if err != nil {
		return err
	}
	if err := client.CoreV1().ServiceAccounts(serviceAccountNamespace).Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting ServiceAccount %s: %w", name, err)
	}
	return nil
}
