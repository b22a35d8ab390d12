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
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

const byNode = "spec.nodeName"

// podInformer watches the pods of the cluster, so that those that were told to go can
// be let go, as a kubelet does once their containers have stopped. Without that a
// drained Node would never be empty.
func (f *fleet) podInformer() (toolscache.Indexer, toolscache.Controller) {
	assigned := func(o *metav1.ListOptions) { o.FieldSelector = "spec.nodeName!=" }
	store, informer := toolscache.NewInformerWithOptions(toolscache.InformerOptions{
		ListerWatcher: &toolscache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				assigned(&o)
				c, err := f.conn.get(ctx)
				if err != nil {
					return nil, err
				}
				list, err := c.CoreV1().Pods(corev1.NamespaceAll).List(ctx, o)
				f.conn.answered(err)
				return list, err
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				assigned(&o)
				c, err := f.conn.get(ctx)
				if err != nil {
					return nil, err
				}
				w, err := c.CoreV1().Pods(corev1.NamespaceAll).Watch(ctx, o)
				f.conn.answered(err)
				return w, err
			},
		},
		ObjectType: &corev1.Pod{},
		Logger:     &f.log,
		Handler: toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { f.seePod(o) },
			UpdateFunc: func(_, o any) { f.seePod(o) },
		},
		Indexers: toolscache.Indexers{byNode: func(o any) ([]string, error) {
			pod, ok := o.(*corev1.Pod)
			if !ok {
				return nil, fmt.Errorf("%T is no pod", o)
			}
			return []string{pod.Spec.NodeName}, nil
		}},
		Transform: func(o any) (any, error) {
			if pod, ok := o.(*corev1.Pod); ok {
				return &corev1.Pod{ObjectMeta: pod.ObjectMeta, Spec: corev1.PodSpec{NodeName: pod.Spec.NodeName}}, nil
			}
			return o, nil
		},
	})
	return store.(toolscache.Indexer), informer
}

// seePodsOf takes note of the pods of a Node anew, of which nothing was known so far.
func (f *fleet) seePodsOf(node string) {
	pods, err := f.pods.ByIndex(byNode, node)
	if err != nil {
		panic(err) // The index is the informer's own.
	}
	for _, pod := range pods {
		f.seePod(pod)
	}
}

// seePod takes note of a pod that was told to go and whose Node is ours. A grace of
// zero says that the kubelet has let go already and that finalizers hold it.
func (f *fleet) seePod(o any) {
	pod, ok := o.(*corev1.Pod)
	if !ok || pod.DeletionTimestamp == nil || ptr.Deref(pod.DeletionGracePeriodSeconds, 0) == 0 {
		return
	}
	if f.machine(pod.Spec.NodeName) == nil {
		return
	}
	f.queue.Add(item{
		node: pod.Spec.NodeName,
		pod:  types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name},
		uid:  pod.UID,
	})
}

func (f *fleet) deletePod(ctx context.Context, i item) {
	m := f.machine(i.node)
	if m == nil || m.removed.Load() || m.silent() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	c, err := f.conn.get(ctx)
	if err == nil {
		err = c.CoreV1().Pods(i.pod.Namespace).Delete(ctx, i.pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: ptr.To[int64](0),
			Preconditions:      &metav1.Preconditions{UID: ptr.To(i.uid)},
		})
		f.conn.answered(err)
	}
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
		f.log.Info("Cannot let a pod go", "Pod", i.pod, "error", err.Error())
		f.queue.AddAfter(i, lastBackoff)
	}
}
