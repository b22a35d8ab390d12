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

package simulated

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend"
)

func TestSettings(t *testing.T) {
	m := &backend.Machine{
		Name: client.ObjectKey{Namespace: "default", Name: "m"}, UID: "uid", ProviderID: "host://default/m", Version: "v1.36.3",
		Spec: infrav1.HostMachineSpec{Simulated: infrav1.SimulatedMachine{ReadyAfter: &metav1.Duration{Duration: time.Minute}}},
	}
	for _, row := range []struct {
		name, data, refused string
		want                settings
	}{
		{"nothing", "", "", settings{}},
		{"empty, as YAML writes it", "{}\n", "", settings{}},
		{"taints and labels", "nodeTaints: [{key: a, value: b, effect: NoExecute}]\nnodeLabels: {c: d}\n", "", settings{
			taints: []corev1.Taint{{Key: "a", Value: "b", Effect: corev1.TaintEffectNoExecute}},
			labels: map[string]string{"c": "d"},
		}},
		{"another provider's", "#cloud-config\nruncmd: []\n", `unknown field "runcmd"`, settings{}},
		{"a script", "#!/bin/sh\nkubeadm join\n", "spec.bootstrap.configRef", settings{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := settingsOf(m, []byte(row.data))
			if row.refused != "" {
				g.Expect(err).To(MatchError(ContainSubstring(row.refused)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			row.want.uid, row.want.providerID, row.want.version = "uid", "host://default/m", "v1.36.3"
			row.want.readyAfter, row.want.heartbeatInterval = time.Minute, defaultHeartbeatInterval
			g.Expect(*got).To(Equal(row.want))
		})
	}
}

func TestFollowingKeepsWhatTheNodeRegisteredWith(t *testing.T) {
	g := NewWithT(t)
	s := &settings{uid: "old", providerID: "host://default/m", version: "v1.36.3", taints: []corev1.Taint{{Key: "a"}}, joinAfter: time.Hour}
	next := s.following(&backend.Machine{UID: "new", ProviderID: "other", Version: "v1.37.0", Spec: infrav1.HostMachineSpec{
		Simulated: infrav1.SimulatedMachine{HeartbeatInterval: &metav1.Duration{Duration: time.Second}},
	}})
	g.Expect(*next).To(Equal(settings{
		uid: "new", providerID: "host://default/m", version: "v1.36.3", taints: []corev1.Taint{{Key: "a"}}, heartbeatInterval: time.Second,
	}))
	g.Expect(s.joinAfter).To(Equal(time.Hour), "the settings in use are not changed")
}
