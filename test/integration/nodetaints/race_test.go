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

package nodetaints_test

import (
	"net/http"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/fault"
)

func ourPatch(r *http.Request, name string) bool {
	d := fault.Describe(r)
	return d.Resource == "nodes" && d.Verb == "patch" && d.Name == name && r.URL.Query().Get("fieldManager") == v1alpha1.NodeFieldManager
}

// holdPatches keeps our patches of a Node in the proxy. held is closed once there is
// one; release lets them go on.
func holdPatches(name string) (held <-chan struct{}, release func()) {
	first, until := make(chan struct{}), make(chan struct{})
	var once sync.Once
	remove := proxy.OnRequest(func(r *http.Request) fault.Action {
		if !ourPatch(r, name) {
			return fault.Pass
		}
		once.Do(func() { close(first) })
		return fault.Hold(until)
	})
	release = sync.OnceFunc(func() { remove(); close(until) })
	DeferCleanup(release)
	return first, release
}

// nodeRefUID reads which Node status speaks of.
func nodeRefUID(sm *v1alpha1.ScheduledMachine) func() types.UID {
	return func() types.UID {
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(sm), sm); err != nil || sm.Status.NodeRef == nil {
			return ""
		}
		return types.UID(sm.Status.NodeRef.UID)
	}
}

var _ = Describe("While our patch is on its way", func() {
	var (
		sm      *v1alpha1.ScheduledMachine
		release func()
		first   types.UID
	)
	BeforeEach(func() {
		sm = create(proxied, readyOnRequest, environment.Taints("w=1:NoSchedule"))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/NodeNotReady"))
		var held <-chan struct{}
		held, release = holdPatches(sm.Name)
		setReady(sm, true)
		Eventually(held).Should(BeClosed())
		first = uidOf(sm.Name)()
		Expect(first).NotTo(BeEmpty())
	})

	It("a Node that is deleted is not brought back as a ghost", func() {
		Expect(workload.Client.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: sm.Name}})).To(Succeed())
		release()
		Eventually(func() int { return len(refused(sm.Name)) }).Should(BeNumerically(">=", 1))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("Unknown/NoNodeYet"))
		Consistently(uidOf(sm.Name)).WithTimeout(3 * time.Second).Should(BeEmpty())
		Expect(ourWrites(sm.Name)).To(BeEmpty())
		Eventually(mirror(sm)).Should(BeEmpty())
		Expect(appliedEvents(sm)()).To(BeEmpty())

		By("a Node that comes later under that name is tainted afresh")
		Expect(env.Backend.RecreateNode(ctx, clusterOf(sm), sm.Name)).To(Succeed())
		setReady(sm, true)
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"w=1:NoSchedule"}))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Expect(uidOf(sm.Name)()).NotTo(Equal(first))
		Eventually(nodeRefUID(sm)).Should(Equal(uidOf(sm.Name)()))
	})

	It("a Node that is made again gets nothing meant for the old one, and is tainted afresh", func() {
		Expect(env.Backend.RecreateNode(ctx, clusterOf(sm), sm.Name)).To(Succeed())
		Expect(uidOf(sm.Name)()).NotTo(Or(BeEmpty(), Equal(first)))
		release()
		Eventually(func() int { return len(refused(sm.Name)) }).Should(BeNumerically(">=", 1))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/NodeNotReady"))
		Consistently(taintsOf(sm.Name)).Should(BeEmpty(), "it is not Ready yet")
		Expect(recordOf(sm.Name)()).To(BeEmpty())

		setReady(sm, true)
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"w=1:NoSchedule"}))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Eventually(nodeRefUID(sm)).Should(Equal(uidOf(sm.Name)()))
		Expect(ourWrites(sm.Name)).To(HaveLen(1))
		Eventually(appliedEvents(sm)).Should(HaveLen(1))
	})

	It("an admin's taint that lands before it is kept (25)", func() {
		taintAsAdmin(sm.Name, set("admin=1:NoSchedule"))
		release()
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"admin=1:NoSchedule", "w=1:NoSchedule"}))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Expect(refused(sm.Name)).NotTo(BeEmpty())
		Expect(ourWrites(sm.Name)).To(HaveLen(1))
		Eventually(appliedEvents(sm)).Should(HaveLen(1))
	})

	It("a Node that turns not Ready is not tainted", func() {
		setReady(sm, false)
		release()
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/NodeNotReady"))
		Consistently(taintsOf(sm.Name)).Should(BeEmpty())
		Expect(ourWrites(sm.Name)).To(BeEmpty())
	})
})

var _ = Describe("A patch whose answer is lost", func() {
	It("is found done: nothing is written twice, and status says what is there", func() {
		sm := create(proxied, readyOnRequest, environment.Taints("w=1:NoSchedule"))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/NodeNotReady"))
		var dropped sync.Once
		remove := proxy.OnResponse(func(r *http.Request, code int) fault.Action {
			action := fault.Pass
			if ourPatch(r, sm.Name) && code == http.StatusOK {
				dropped.Do(func() { action = fault.Drop })
			}
			return action
		})
		DeferCleanup(remove)
		setReady(sm, true)
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Expect(taintsOf(sm.Name)()).To(Equal([]string{"w=1:NoSchedule"}))
		Eventually(mirror(sm)).Should(Equal([]string{"w=1:NoSchedule"}))
		Consistently(func() int { return len(ourWrites(sm.Name)) }).Should(Equal(1))
	})
})

var _ = Describe("A Node made again under the same name", func() {
	It("is a new Node with nothing owned", func() {
		sm := createTainted(direct, environment.Taints("w=1:NoSchedule"))
		first := uidOf(sm.Name)()
		Expect(env.Backend.RecreateNode(ctx, clusterOf(sm), sm.Name)).To(Succeed())
		Expect(uidOf(sm.Name)()).NotTo(Or(BeEmpty(), Equal(first)))
		Eventually(taintsOf(sm.Name)).Should(Equal([]string{"w=1:NoSchedule"}))
		Eventually(nodeRefUID(sm)).Should(Equal(uidOf(sm.Name)()))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("True/Applied"))
		Eventually(appliedEvents(sm)).Should(HaveLen(2))
	})

	It("has no taints of ours before it is Ready, and status does not say that it has", func() {
		sm := create(direct, readyOnRequest, environment.Taints("w=1:NoSchedule"))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/NodeNotReady"))
		setReady(sm, true)
		Eventually(mirror(sm)).Should(Equal([]string{"w=1:NoSchedule"}))
		Expect(env.Backend.RecreateNode(ctx, clusterOf(sm), sm.Name)).To(Succeed())
		Eventually(nodeRefUID(sm)).Should(Equal(uidOf(sm.Name)()))
		Eventually(condition(sm, v1alpha1.NodeTaintedCondition)).Should(Equal("False/NodeNotReady"))
		Eventually(mirror(sm)).Should(BeEmpty())
		Consistently(taintsOf(sm.Name)).Should(BeEmpty())
	})
})
