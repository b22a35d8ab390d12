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
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// removed returns a fleet with one machine that was removed and whose Node may be
// deleted from an instant on, and the API server with that Node.
func removed(collect time.Time) (*fleet, *machine, *fake.Clientset) {
	client := fake.NewClientset(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "u"}, Spec: corev1.NodeSpec{ProviderID: "host://default/n"},
	})
	f := &fleet{conn: &connection{client: client}, log: logr.Discard(), machines: map[string]*machine{}}
	m := &machine{node: "n", conn: f.conn}
	m.settings.Store(&settings{providerID: "host://default/n"})
	m.removed.Store(true)
	m.life.removed, m.life.collect = time.Now(), collect
	f.put(m)
	return f, m, client
}

func deletions(client *fake.Clientset, resource string) []clienttesting.DeleteActionImpl {
	var deleted []clienttesting.DeleteActionImpl
	for _, action := range client.Actions() {
		if d, ok := action.(clienttesting.DeleteActionImpl); ok && d.Resource.Resource == resource {
			deleted = append(deleted, d)
		}
	}
	return deleted
}

func TestANodeIsLeftToClusterAPIForAWhile(t *testing.T) {
	g := NewWithT(t)
	f, m, client := removed(time.Now().Add(time.Hour))
	g.Expect(f.collect(t.Context(), m)).To(BeNumerically("~", time.Hour, time.Minute))
	g.Expect(client.Actions()).To(BeEmpty())
	g.Expect(f.machine("n")).To(Equal(m))
}

func TestANodeThatIsLeftIsDeletedByItsUID(t *testing.T) {
	g := NewWithT(t)
	f, m, client := removed(time.Now())
	g.Expect(f.collect(t.Context(), m)).To(BeNumerically("<", 0))
	g.Expect(deletions(client, "nodes")).To(HaveExactElements(
		HaveField("DeleteOptions.Preconditions.UID", HaveValue(BeEquivalentTo("u")))))
	g.Expect(deletions(client, "leases")).To(HaveLen(1))
	g.Expect(f.machine("n")).To(BeNil())
}

func TestTheNodeOfAnotherIsLeftAlone(t *testing.T) {
	g := NewWithT(t)
	f, m, client := removed(time.Now())
	m.settings.Store(&settings{providerID: "host://default/other"})
	g.Expect(f.collect(t.Context(), m)).To(BeNumerically("<", 0))
	g.Expect(deletions(client, "nodes")).To(BeEmpty())
	g.Expect(deletions(client, "leases")).To(BeEmpty())
}

func TestALeftNodeIsTriedAgain(t *testing.T) {
	for _, row := range []struct {
		name       string
		kubeconfig error
		since      time.Duration
		again      bool
	}{
		{"while the API server does not answer", nil, time.Minute, true},
		{"not for ever", nil, givenUp, false},
		{"not once the kubeconfig is gone", apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "c-kubeconfig"), time.Minute, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := NewWithT(t)
			f, m, client := removed(time.Now().Add(-row.since))
			m.life.removed = time.Now().Add(-row.since)
			client.PrependReactor("get", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, errors.New("connection refused")
			})
			if row.kubeconfig != nil {
				f.conn.kubeconfig = func(context.Context) ([]byte, error) { return nil, row.kubeconfig }
				f.conn.doubted = true
			}
			wait := f.collect(t.Context(), m)
			g.Expect(wait >= 0).To(Equal(row.again), "%s", wait)
			g.Expect(f.machine("n") != nil).To(Equal(row.again))
		})
	}
}

func TestConnectionReadsTheKubeconfigAgainOnlyWhereThatMayHelp(t *testing.T) {
	for _, row := range []struct {
		name string
		err  error
		want bool
	}{
		{"success", nil, false},
		{"not found", apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, "n"), false},
		{"conflict", apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, "n", nil), false},
		{"unauthorized", apierrors.NewUnauthorized("token"), true},
		{"no answer", errors.New("connection refused"), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := &connection{}
			c.answered(row.err)
			if c.doubtful() != row.want {
				t.Errorf("doubtful is %t, want %t", c.doubtful(), row.want)
			}
		})
	}
}
