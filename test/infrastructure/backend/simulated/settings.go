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
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	hostbootstrapv1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/bootstrap/v1beta2"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/backend"
)

const defaultHeartbeatInterval = 10 * time.Second

// settings is what a machine's Node looks like and when things happen to it.
type settings struct {
	uid        types.UID
	providerID string
	version    string
	taints     []corev1.Taint
	labels     map[string]string

	joinAfter, readyAfter, heartbeatInterval time.Duration
}

// settingsOf reads them from a HostMachine and its bootstrap data. An error says what
// is wrong with the latter.
func settingsOf(m *backend.Machine, data []byte) (*settings, error) {
	var config hostbootstrapv1.HostConfigSpec
	if err := yaml.UnmarshalStrict(data, &config); err != nil {
		return nil, fmt.Errorf("the bootstrap data is not that of a HostConfig; use one in the Machine's spec.bootstrap.configRef: %w", err)
	}
	s := &settings{
		uid:        m.UID,
		providerID: m.ProviderID,
		version:    m.Version,
		labels:     config.NodeLabels,
	}
	for _, taint := range config.NodeTaints {
		s.taints = append(s.taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: taint.Effect})
	}
	return s.following(m), nil
}

// following returns settings that differ from s in what a HostMachine may change while
// its machine runs.
func (s *settings) following(m *backend.Machine) *settings {
	next := *s
	next.uid = m.UID
	next.joinAfter = duration(m.Spec.Simulated.JoinAfter, 0)
	next.readyAfter = duration(m.Spec.Simulated.ReadyAfter, 0)
	next.heartbeatInterval = duration(m.Spec.Simulated.HeartbeatInterval, 0)
	if next.heartbeatInterval == 0 {
		next.heartbeatInterval = defaultHeartbeatInterval
	}
	return &next
}

func duration(d *metav1.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return d.Duration
}

func addresses(node string) []clusterv1.MachineAddress {
	return []clusterv1.MachineAddress{{Type: clusterv1.MachineHostName, Address: node}}
}
