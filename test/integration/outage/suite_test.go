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

// Package outage_test shows what becomes of taints while workload clusters are
// down, hang, refuse our credentials or grant too little: the ScheduledMachines of
// such a cluster say so, those of others notice nothing, and all is well again once
// the cluster is, without a restart.
package outage_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/5spot/cluster-api-addon-provider-5spot/api/v1alpha1"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/environment"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/controlplane"
	"github.com/5spot/cluster-api-addon-provider-5spot/test/harness/process"
)

// workers is how many Nodes the manager taints at once. A cluster in trouble has
// more ScheduledMachines with pending changes than that.
const (
	workers = 10
	many    = workers + 4
)

var (
	env *environment.Environment
	// well has nothing wrong with it; several Clusters stand for its API server, each
	// with credentials of its own.
	well, dead, hung *environment.Workload
	manager          *process.Process
	ctx              context.Context
)

func TestOutage(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Outage")
}

var _ = BeforeSuite(func() {
	var cancel context.CancelFunc
	ctx, cancel = context.WithCancel(context.Background())
	DeferCleanup(cancel)
	SetDefaultEventuallyTimeout(time.Minute)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)

	var err error
	env, err = environment.Start(ctx, environment.Options{Out: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
	for name, w := range map[string]**environment.Workload{"well": &well, "dead": &dead, "hung": &hung} {
		*w, err = env.AddWorkload(ctx, name, controlplane.Options{Audit: true})
		Expect(err).NotTo(HaveOccurred())
	}
	// The binary that users run, as talkative as they may make it.
	manager, err = env.StartManagerProcess(ctx, env.Management.Config(), "--v=5", fmt.Sprintf("--nodetaints-concurrency=%d", workers))
	Expect(err).NotTo(HaveOccurred())
})

// create makes ScheduledMachines NAME-0, NAME-1, … of a cluster, with a taint each.
func create(cluster, name string, n int) []*v1alpha1.ScheduledMachine {
	GinkgoHelper()
	var sms []*v1alpha1.ScheduledMachine
	for i := range n {
		sm := environment.ScheduledMachine(cluster, fmt.Sprintf("%s-%d", name, i), environment.Taints("state=before:NoSchedule"))
		Expect(env.Client.Create(ctx, sm)).To(Succeed())
		sms = append(sms, sm)
	}
	return sms
}

// change declares another value for the taint of each, which makes a change pending.
func change(value string, sms ...*v1alpha1.ScheduledMachine) {
	GinkgoHelper()
	for _, sm := range sms {
		Expect(environment.Edit(ctx, env.Client, sm, environment.Taints("state="+value+":NoSchedule"))).To(Succeed())
	}
}

// tainted reads NodeTainted of each, once for each different answer.
func tainted(sms ...*v1alpha1.ScheduledMachine) func() ([]string, error) {
	return func() ([]string, error) {
		var all []string
		for _, sm := range sms {
			if err := env.Client.Get(ctx, client.ObjectKeyFromObject(sm), sm); err != nil {
				return nil, err
			}
			if c := environment.Condition(sm, v1alpha1.NodeTaintedCondition); !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
		return all, nil
	}
}

// message reads what NodeTainted says.
func message(sm *v1alpha1.ScheduledMachine) func() (string, error) {
	return func() (string, error) {
		err := env.Client.Get(ctx, client.ObjectKeyFromObject(sm), sm)
		return conditions.GetMessage(sm, v1alpha1.NodeTaintedCondition), err
	}
}

// applied tells whether the taint of each is on its Node with that value.
func applied(w *environment.Workload, value string, sms ...*v1alpha1.ScheduledMachine) func() (bool, error) {
	return func() (bool, error) {
		for _, sm := range sms {
			n, err := node(w, sm.Name)
			if err != nil || !slices.Contains(environment.TaintTexts(n), "state="+value+":NoSchedule") {
				return false, client.IgnoreNotFound(err)
			}
		}
		return true, nil
	}
}

// secrets collects what must never be logged.
var secrets []string

// remember takes the credentials out of a kubeconfig and remembers them.
func remember(kubeconfig []byte) {
	GinkgoHelper()
	cfg, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	if cfg.BearerToken != "" {
		secrets = append(secrets, cfg.BearerToken)
	}
	if len(cfg.KeyData) > 0 {
		// As it stands in the kubeconfig, and a line of it as it is.
		secrets = append(secrets, base64.StdEncoding.EncodeToString(cfg.KeyData), strings.Split(string(cfg.KeyData), "\n")[1])
	}
}

func managerLog() string {
	GinkgoHelper()
	data, err := os.ReadFile(manager.LogPath())
	Expect(err).NotTo(HaveOccurred())
	return string(data)
}
