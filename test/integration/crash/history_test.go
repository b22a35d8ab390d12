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

package crash_test

import (
	"fmt"
	"slices"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	hostbootstrapv1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/bootstrap/v1beta2"
	infrav1 "github.com/5spot/cluster-api-addon-provider-5spot/test/infrastructure/api/infrastructure/v1beta2"
)

// history is everything that ever was, not only what is there when a test looks: an
// Error phase that lasted a moment, a Machine that was made twice.
type history struct {
	mu sync.Mutex
	// uids are those of all objects by kind and name, in the order they came.
	uids map[string][]types.UID
	// phases are those of a ScheduledMachine by its UID, in the order they came.
	phases map[types.UID][]v1alpha1.Phase
	// versions are the resourceVersions seen last, by UID.
	versions map[types.UID]string
	// ended are the watches that ended: what came after, nobody saw.
	ended []string
}

const (
	machines         = "Machine"
	hostMachines     = "HostMachine"
	hostConfigs      = "HostConfig"
	scheduledMachine = "ScheduledMachine"
)

// recordHistory watches until the suite ends.
func recordHistory() *history {
	GinkgoHelper()
	h := &history{uids: map[string][]types.UID{}, phases: map[types.UID][]v1alpha1.Phase{}, versions: map[types.UID]string{}}
	for kind, list := range map[string]client.ObjectList{
		machines:         &clusterv1.MachineList{},
		hostMachines:     &infrav1.HostMachineList{},
		hostConfigs:      &hostbootstrapv1.HostConfigList{},
		scheduledMachine: &v1alpha1.ScheduledMachineList{},
	} {
		w, err := env.Client.Watch(ctx, list, client.InNamespace(environment.Namespace))
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(w.Stop)
		go func() {
			var last watch.Event
			for last = range w.ResultChan() {
				h.record(kind, last)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			h.ended = append(h.ended, fmt.Sprintf("the watch of %ss ended after %s %v", kind, last.Type, last.Object))
		}()
	}
	return h
}

func (h *history) record(kind string, event watch.Event) {
	o, ok := event.Object.(client.Object)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := kind + "/" + o.GetName()
	if !slices.Contains(h.uids[key], o.GetUID()) {
		h.uids[key] = append(h.uids[key], o.GetUID())
	}
	if sm, ok := o.(*v1alpha1.ScheduledMachine); ok {
		if seen := h.phases[sm.UID]; len(seen) == 0 || seen[len(seen)-1] != sm.Status.Phase {
			h.phases[sm.UID] = append(seen, sm.Status.Phase)
		}
	}
	h.versions[o.GetUID()] = o.GetResourceVersion()
}

// upTo waits until the history reaches to the state of an object that was just read.
func (h *history) upTo(o client.Object) {
	GinkgoHelper()
	Eventually(func(g Gomega) string {
		h.mu.Lock()
		defer h.mu.Unlock()
		g.Expect(h.ended).To(BeEmpty())
		return h.versions[o.GetUID()]
	}).Should(Equal(o.GetResourceVersion()), "the history of %s is late", o.GetName())
}

// uidsOf are the UIDs of all objects of a kind that ever bore the name.
func (h *history) uidsOf(kind string, sm *v1alpha1.ScheduledMachine) []types.UID {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.uids[kind+"/"+sm.Name])
}

// phasesOf are the phases of a ScheduledMachine from the first to the present one.
func (h *history) phasesOf(sm *v1alpha1.ScheduledMachine) []v1alpha1.Phase {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.phases[sm.UID])
}
