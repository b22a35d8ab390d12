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

// Package rival is the other writer of a Node's taints: it changes its own as fast as
// it can, with optimistic locking, while what is under test changes others. From the
// versions that the Node had it then tells whether either lost or brought back a
// taint of the other's.
package rival

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	prefix = "theirs-"
	// counter is an annotation that every write of the rival changes, and no other.
	counter = "test.example.com/writes"
	// taints is how many taints the rival puts on and takes off.
	taints = 6
)

// Write changes taints of its own on a Node until stop is closed, and returns what it
// has left there, value by key. A write that is refused because the Node has changed
// is made again from the Node as it is.
func Write(ctx context.Context, c client.Client, node string, stop <-chan struct{}) (left map[string]string, err error) {
	left = map[string]string{}
	for count := 0; ; {
		select {
		case <-stop:
			return left, nil
		default:
		}
		n := &corev1.Node{}
		if err := c.Get(ctx, client.ObjectKey{Name: node}, n); err != nil {
			return left, fmt.Errorf("reading Node %s: %w", node, err)
		}
		key, value, add := prefix+strconv.Itoa(rand.IntN(taints)), strconv.Itoa(count), rand.IntN(2) == 0
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
		if add {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffectNoSchedule})
		}
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, counter, strconv.Itoa(count+1))
		err := c.Update(ctx, n, client.FieldOwner("rival"))
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil {
			return left, fmt.Errorf("writing Node %s: %w", node, err)
		}
		count++
		delete(left, key)
		if add {
			left[key] = value
		}
	}
}

// Left is what a Node has of the rival's taints, value by key.
func Left(node *corev1.Node) map[string]string {
	left := map[string]string{}
	for _, t := range theirs(node) {
		left[t.Key] = t.Value
	}
	return left
}

// Compare tells whether the rival wrote the later one of two successive versions of a
// Node. It is an error if that write changed the other side's taints.
func Compare(before, after *corev1.Node) (rival bool, err error) {
	rival = before.Annotations[counter] != after.Annotations[counter]
	switch {
	case rival && !equality.Semantic.DeepEqual(Others(before), Others(after)):
		return rival, fmt.Errorf("the rival's write of version %s changed what is not its own: %v, then %v",
			after.ResourceVersion, before.Spec.Taints, after.Spec.Taints)
	case !rival && !equality.Semantic.DeepEqual(theirs(before), theirs(after)):
		return rival, fmt.Errorf("the write of version %s changed what is the rival's: %v, then %v",
			after.ResourceVersion, before.Spec.Taints, after.Spec.Taints)
	}
	return rival, nil
}

// Others are the taints of a Node that are not the rival's, in their order.
func Others(node *corev1.Node) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t corev1.Taint) bool { return strings.HasPrefix(t.Key, prefix) })
}

func theirs(node *corev1.Node) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t corev1.Taint) bool { return !strings.HasPrefix(t.Key, prefix) })
}

// Watch hands over every version of a Node after the one given, or from its creation
// where that has no resourceVersion, until ctx is done or stop is called. It waits
// for see to return.
func Watch(ctx context.Context, c client.WithWatch, node *corev1.Node, see func(*corev1.Node)) (stop func(), err error) {
	watcher, err := c.Watch(ctx, &corev1.NodeList{}, &client.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", node.Name),
		Raw:           &metav1.ListOptions{ResourceVersion: node.ResourceVersion},
	})
	if err != nil {
		return nil, fmt.Errorf("watching Node %s: %w", node.Name, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			if n, ok := event.Object.(*corev1.Node); ok && event.Type != watch.Deleted {
				see(n)
			}
		}
	}()
	return func() {
		watcher.Stop()
		<-done
	}, nil
}
