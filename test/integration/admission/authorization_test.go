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

package admission

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// may is a rule of RBAC.
func may(verb, group, resource string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
}

var (
	createMachines       = may("create", "cluster.x-k8s.io", "machines")
	createKubeadmConfigs = may("create", "bootstrap.cluster.x-k8s.io", "kubeadmconfigs")
	createHostMachines   = may("create", "infrastructure.cluster.x-k8s.io", "hostmachines")
)

// user is the client of somebody who may do anything with ScheduledMachines in the
// namespace default, and what the rules say there.
func user(ctx context.Context, name string, rules ...rbacv1.PolicyRule) client.Client {
	GinkgoHelper()
	rules = append(rules, may("*", "5spot.finos.org", "scheduledmachines"), may("*", "5spot.finos.org", "scheduledmachines/status"))
	grant(ctx, "default", name, rules...)
	cfg, err := cluster.ConfigFor(name)
	Expect(err).NotTo(HaveOccurred())
	c := clientFor(cfg)
	// RBAC reads its rules from a cache.
	Eventually(func() error {
		return c.List(ctx, list(), client.InNamespace("default"))
	}).WithContext(ctx).Should(Succeed())
	return c
}

// grant allows a user what the rules say, in a namespace.
func grant(ctx context.Context, namespace, user string, rules ...rbacv1.PolicyRule) {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: user}
	Expect(admin.Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: rules})).To(Succeed())
	Expect(admin.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})).To(Succeed())
}

func list() *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion("5spot.finos.org/v1alpha1")
	l.SetKind("ScheduledMachineList")
	return l
}

// refusedBecause matches an error by which the authorization policy refused.
func refusedBecause(message string) OmegaMatcher {
	return And(
		WithTransform(apierrors.IsForbidden, BeTrue()),
		MatchError(ContainSubstring("caap5spot-system-scheduledmachine-authorization")),
		MatchError(ContainSubstring(message)),
	)
}

var _ = Describe("The authorization policy, when a ScheduledMachine is created,", func() {
	It("lets a user who may create all that is embedded", func(ctx context.Context) {
		Expect(try(ctx, user(ctx, "embeds", createMachines, createKubeadmConfigs, createHostMachines), with("{}"))).To(Succeed())
	})

	It("refuses a user who may not create the bootstrap object", func(ctx context.Context) {
		Expect(try(ctx, user(ctx, "no-bootstrap", createMachines, createHostMachines), with("{}"))).To(refusedBecause(
			"spec.bootstrapSpec: user no-bootstrap may not create kubeadmconfigs.bootstrap.cluster.x-k8s.io in namespace default: " +
				"name a kind that you may create, or have an administrator grant it"))
	})

	It("refuses a user who may not create the infrastructure object", func(ctx context.Context) {
		Expect(try(ctx, user(ctx, "no-infrastructure", createMachines, createKubeadmConfigs), with("{}"))).To(refusedBecause(
			"spec.infrastructureSpec: user no-infrastructure may not create hostmachines.infrastructure.cluster.x-k8s.io in namespace default"))
	})

	It("refuses a user who may not create Machines", func(ctx context.Context) {
		Expect(try(ctx, user(ctx, "no-machine", createKubeadmConfigs, createHostMachines), with("{}"))).To(refusedBecause(
			"spec: user no-machine may not create machines.cluster.x-k8s.io in namespace default"))
	})

	It("asks for the group that is embedded, not for another with that kind", func(ctx context.Context) {
		c := user(ctx, "other-group", createMachines, createKubeadmConfigs, may("create", "k0smotron.io", "hostmachines"))
		Expect(try(ctx, c, with("{}"))).To(refusedBecause("may not create hostmachines.infrastructure.cluster.x-k8s.io"))
		Expect(try(ctx, c, with("{infrastructureSpec: {apiVersion: k0smotron.io/v1beta1}}"))).To(Succeed())
	})

	It("asks in the ScheduledMachine's namespace", func(ctx context.Context) {
		c := user(ctx, "elsewhere", createMachines, createKubeadmConfigs, createHostMachines)
		grant(ctx, "kube-public", "elsewhere", may("*", "5spot.finos.org", "scheduledmachines"), createMachines, createHostMachines)
		there := with("{}")
		there.SetNamespace("kube-public")
		Eventually(try).WithContext(ctx).WithArguments(c, there).Should(refusedBecause("may not create kubeadmconfigs.bootstrap.cluster.x-k8s.io in namespace kube-public"))
	})

	Context("from templates", func() {
		const (
			bootstrapRef      = "{bootstrapSpec: null, bootstrapRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: workers}}"
			infrastructureRef = "{infrastructureSpec: null, infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: HostMachineTemplate, name: workers}}"
		)
		getKubeadmConfigTemplates := may("get", "bootstrap.cluster.x-k8s.io", "kubeadmconfigtemplates", "workers")
		getHostMachineTemplates := may("get", "infrastructure.cluster.x-k8s.io", "hostmachinetemplates", "workers")

		It("lets a user who may read the templates and create what is cloned", func(ctx context.Context) {
			c := user(ctx, "clones", createMachines, createKubeadmConfigs, createHostMachines, getKubeadmConfigTemplates, getHostMachineTemplates)
			Expect(try(ctx, c, with(bootstrapRef))).To(Succeed())
			Expect(try(ctx, c, with(infrastructureRef))).To(Succeed())
		})

		It("refuses a user who may not create what is cloned", func(ctx context.Context) {
			c := user(ctx, "reads", createMachines, createHostMachines, getKubeadmConfigTemplates, getHostMachineTemplates)
			Expect(try(ctx, c, with(bootstrapRef))).To(refusedBecause("spec.bootstrapRef: user reads may not create kubeadmconfigs.bootstrap.cluster.x-k8s.io in namespace default"))
			c = user(ctx, "reads-too", createMachines, createKubeadmConfigs, getKubeadmConfigTemplates, getHostMachineTemplates)
			Expect(try(ctx, c, with(infrastructureRef))).To(refusedBecause("spec.infrastructureRef: user reads-too may not create hostmachines.infrastructure.cluster.x-k8s.io in namespace default"))
		})

		It("refuses a user who may not read the template of that name", func(ctx context.Context) {
			c := user(ctx, "blind", createMachines, createKubeadmConfigs, createHostMachines)
			Expect(try(ctx, c, with(bootstrapRef))).To(refusedBecause("spec.bootstrapRef: user blind may not get kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io workers in namespace default: name a template that you may read"))
			Expect(try(ctx, c, with(infrastructureRef))).To(refusedBecause("spec.infrastructureRef: user blind may not get hostmachinetemplates.infrastructure.cluster.x-k8s.io workers in namespace default"))
		})
	})

	DescribeTable("finds a kind's resource as Cluster API does", func(ctx context.Context, kind string) {
		nobody := "asks-" + fmt.Sprintf("%x", kind)
		group := "infrastructure.cluster.x-k8s.io"
		err := try(ctx, user(ctx, nobody, createMachines, createKubeadmConfigs), with("{infrastructureSpec: {kind: "+kind+"}}"))
		Expect(err).To(refusedBecause("may not create " + contract.CalculateCRDName(group, kind) + " in"))
	},
		func(kind string) string { return kind },
		entries("HostMachine", "AWSMachine", "AzureMachine", "GCPMachine", "VSphereVM", "VSphereMachine", "OpenStackServer", "Metal3Machine",
			"DockerMachine", "DevMachine", "RemoteMachine", "PooledRemoteMachine", "TinkerbellMachine", "ProxmoxMachine", "ByoHost",
			"HCloudMachine", "HetznerBareMetalMachine", "NutanixMachine", "IBMPowerVSMachine", "OCIMachine", "LinodeMachine", "KubevirtMachine",
			"K0sWorkerConfig", "RKE2Config", "TalosConfig", "MicroK8sConfig", "EKSConfig",
			"Proxy", "Policy", "Gateway", "Key", "Buoy", "Class", "Status", "Box", "Mesh", "Batch", "Machines"),
	)

	It("lets no kind through whose plural it does not know, but for those who may create every kind of the group", func(ctx context.Context) {
		group, kind := "infrastructure.cluster.x-k8s.io", "MachineIndex"
		Expect(contract.CalculateCRDName(group, kind)).To(HavePrefix("machineindices."))
		object := with("{infrastructureSpec: {kind: " + kind + "}}")
		Expect(try(ctx, user(ctx, "irregular", createMachines, createKubeadmConfigs, may("create", group, "machineindices")), object)).
			To(refusedBecause("may not create machineindexes." + group))
		Expect(try(ctx, user(ctx, "every", createMachines, createKubeadmConfigs, may("create", group, "*")), object)).To(Succeed())
	})
})

func entries(kinds ...string) []TableEntry {
	all := make([]TableEntry, 0, len(kinds))
	for _, kind := range kinds {
		all = append(all, Entry(nil, kind))
	}
	return all
}

var _ = Describe("The authorization policy, when a ScheduledMachine is changed,", Ordered, func() {
	var nobody, bootstrapper client.Client
	var object *unstructured.Unstructured

	BeforeAll(func(ctx context.Context) {
		nobody = user(ctx, "nobody")
		bootstrapper = user(ctx, "bootstrapper", createMachines, createKubeadmConfigs)
		object = with("{machineTemplate: {labels: {team: a}}}")
		object.SetName("changed")
		object.SetFinalizers([]string{"example.com/wait"})
		Expect(admin.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx context.Context) {
			Expect(client.IgnoreNotFound(admin.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))).To(Succeed())
			Expect(client.IgnoreNotFound(admin.Delete(ctx, object))).To(Succeed())
		})
	})

	It("lets metadata be changed", func(ctx context.Context) {
		Expect(wouldTake(ctx, nobody, object, `{"metadata":{"labels":{"a":"b"},"annotations":{"a":"b"},"finalizers":["example.com/wait","example.com/too"]}}`)).To(Succeed())
	})

	It("lets the status be changed", func(ctx context.Context) {
		Expect(nobody.Status().Patch(ctx, object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Active"}}`)), client.DryRunAll)).To(Succeed())
	})

	It("lets all of the spec be changed that names nothing to create", func(ctx context.Context) {
		Expect(wouldTake(ctx, nobody, object, `{"spec":{"killSwitch":true,"priority":1,"schedule":{"enabled":false},"nodeTaints":[{"key":"a","effect":"NoSchedule"}],"nodeDrainTimeout":"1m"}}`)).To(Succeed())
	})

	It("lets what the Machine would be made from be taken away", func(ctx context.Context) {
		Expect(wouldTake(ctx, nobody, object, `{"spec":{"machineTemplate":null}}`)).To(Succeed())
	})

	It("asks for the bootstrap object where that changes", func(ctx context.Context) {
		body := `{"spec":{"bootstrapSpec":{"spec":{"preKubeadmCommands":["id"]}}}}`
		Expect(wouldTake(ctx, nobody, object, body)).To(refusedBecause("spec.bootstrapSpec: user nobody may not create kubeadmconfigs.bootstrap.cluster.x-k8s.io"))
		Expect(wouldTake(ctx, bootstrapper, object, body)).To(Succeed())
	})

	It("asks for the infrastructure object where that changes", func(ctx context.Context) {
		body := `{"spec":{"infrastructureSpec":{"metadata":{"labels":{"a":"b"}}}}}`
		Expect(wouldTake(ctx, bootstrapper, object, body)).To(refusedBecause("spec.infrastructureSpec: user bootstrapper may not create hostmachines.infrastructure.cluster.x-k8s.io"))
	})

	It("asks for the template where a reference takes the place of a spec", func(ctx context.Context) {
		body := `{"spec":{"bootstrapSpec":null,"bootstrapRef":{"apiGroup":"bootstrap.cluster.x-k8s.io","kind":"KubeadmConfigTemplate","name":"workers"}}}`
		Expect(wouldTake(ctx, bootstrapper, object, body)).To(refusedBecause("spec.bootstrapRef: user bootstrapper may not get kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io workers"))
	})

	It("asks for the Machine where what is put on it changes", func(ctx context.Context) {
		for _, body := range []string{`{"spec":{"machineTemplate":{"labels":{"team":"b"}}}}`, `{"spec":{"version":"v1.36.3"}}`} {
			Expect(wouldTake(ctx, nobody, object, body)).To(refusedBecause("spec: user nobody may not create machines.cluster.x-k8s.io"))
			Expect(wouldTake(ctx, bootstrapper, object, body)).To(Succeed())
		}
	})

	It("lets the object be deleted and its finalizer be removed", func(ctx context.Context) {
		Expect(nobody.Delete(ctx, object.DeepCopy())).To(Succeed())
		Expect(nobody.Patch(ctx, object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))).To(Succeed())
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopy())).To(WithTransform(apierrors.IsNotFound, BeTrue()))
	})
})
