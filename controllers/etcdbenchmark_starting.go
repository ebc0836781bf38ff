package controllers

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// countStarting counts the members that are not ready: pods, and those that their StatefulSet has yet to create. They are
// starting if a pod of the target was created less than schedulingTimeoutSeconds ago. Otherwise they are broken, and the run
// does not wait for them.
func (r *EtcdBenchmarkReconciler) countStarting(ctx context.Context, run *v1alpha1.EtcdBenchmark, target lifecycle.Target, pods []corev1.Pod, selector labels.Selector) (lifecycle.Target, error) {
	if run.OnlyObserves() {
		return target, nil
	}
	// The API server's clock has stamped the pods and the run. It may differ from the operator's.
	known := r.Clock.Now().Sub(r.seen(run, "run"))
	old := run.CreationTimestamp.Add(known - time.Duration(run.Spec.SchedulingTimeoutSeconds)*time.Second)
	anyNew := false
	for i := range pods {
		isNew := pods[i].CreationTimestamp.After(old)
		anyNew = anyNew || isNew
		if isReady(&pods[i]) || !mayBecomeReady(&pods[i]) {
			continue
		}
		if target.NotReady++; isNew {
			target.Starting++
		}
	}
	planned, err := r.plannedPods(ctx, pods, selector)
	if target.NotReady += planned; anyNew {
		target.Starting += planned
	}
	return target, err
}

func mayBecomeReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp.IsZero() && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// plannedPods is how many pods the StatefulSets of these pods have yet to create: with ordered creation, the next one when
// the one before is ready. A selector that does not match a StatefulSet's template selects only some of its pods on purpose.
func (r *EtcdBenchmarkReconciler) plannedPods(ctx context.Context, pods []corev1.Pod, selector labels.Selector) (planned int, err error) {
	created := map[client.ObjectKey]int{}
	for i := range pods {
		if owner := metav1.GetControllerOf(&pods[i]); owner != nil && owner.Kind == "StatefulSet" {
			created[client.ObjectKey{Namespace: pods[i].Namespace, Name: owner.Name}]++
		}
	}
	for key, n := range created {
		set := &appsv1.StatefulSet{}
		err := r.APIReader.Get(ctx, key, set)
		switch {
		case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		case err != nil:
			return 0, err
		case set.Spec.Replicas != nil && selector.Matches(labels.Set(set.Spec.Template.Labels)):
			planned += max(int(*set.Spec.Replicas)-n, 0)
		}
	}
	return planned, nil
}
