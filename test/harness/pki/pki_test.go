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

package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/pki"
)

func parse(t *testing.T, data []byte) *x509.Certificate {
	t.Helper()
	block, rest := pem.Decode(data)
	if block == nil || len(rest) > 0 {
		t.Fatalf("not one PEM block: %s", data)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestCertificates(t *testing.T) {
	g := NewWithT(t)
	ca, err := pki.NewCA("ours")
	g.Expect(err).NotTo(HaveOccurred())
	other, err := pki.NewCA("ours")
	g.Expect(err).NotTo(HaveOccurred())
	pool, otherPool := x509.NewCertPool(), x509.NewCertPool()
	g.Expect(pool.AppendCertsFromPEM(ca.Cert)).To(BeTrue())
	g.Expect(otherPool.AppendCertsFromPEM(other.Cert)).To(BeTrue())

	serving, err := ca.Serving("example.org", "10.250.0.1")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = tls.X509KeyPair(serving.Cert, serving.Key)
	g.Expect(err).NotTo(HaveOccurred())
	server := parse(t, serving.Cert)
	for _, host := range []string{"127.0.0.1", "::1", "localhost", "example.org", "10.250.0.1"} {
		_, err := server.Verify(x509.VerifyOptions{Roots: pool, DNSName: host})
		g.Expect(err).NotTo(HaveOccurred(), host)
	}
	_, err = server.Verify(x509.VerifyOptions{Roots: pool, DNSName: "elsewhere.org"})
	g.Expect(err).To(HaveOccurred())
	_, err = server.Verify(x509.VerifyOptions{Roots: otherPool})
	g.Expect(err).To(HaveOccurred(), "an authority of the same name is another one")
	_, err = server.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	g.Expect(err).To(HaveOccurred(), "a server's certificate is no client's")

	pair, err := ca.Client("jane", "admins", "others")
	g.Expect(err).NotTo(HaveOccurred())
	client := parse(t, pair.Cert)
	_, err = client.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(client.Subject.CommonName).To(Equal("jane"))
	g.Expect(client.Subject.Organization).To(ConsistOf("admins", "others"))
	g.Expect(client.SerialNumber.Cmp(server.SerialNumber)).NotTo(BeZero())
}
