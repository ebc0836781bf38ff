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

// countStarting counts the members that are about to start: pods that are not ready, and those that their StatefulSet has
// yet to create. A pod that was created longer than schedulingTimeoutSeconds ago is not starting, but broken: the run does not
// wait for it.
func (r *EtcdBenchmarkReconciler) countStarting(ctx context.Context, run *v1alpha1.EtcdBenchmark, target lifecycle.Target, pods []corev1.Pod, selector labels.Selector) (lifecycle.Target, error) {
	old := r.Clock.Now().Add(-time.Duration(run.Spec.SchedulingTimeoutSeconds) * time.Second)
	anyNew := false
	for i := range pods {
		if !pods[i].CreationTimestamp.After(old) {
			continue
		}
		anyNew = true
		if !isReady(&pods[i]) && mayBecomeReady(&pods[i]) {
			target.Starting++
		}
	}
	if !anyNew {
		return target, nil
	}
	planned, err := r.plannedPods(ctx, pods, selector)
	target.Starting += max(planned-len(pods), 0)
	return target, err
}

func mayBecomeReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp.IsZero() && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// plannedPods is how many pods the StatefulSet of these pods wants: with ordered creation, it creates a pod when the one
// before is ready. It is 0 without a StatefulSet, and if the selector selects only some of its pods.
func (r *EtcdBenchmarkReconciler) plannedPods(ctx context.Context, pods []corev1.Pod, selector labels.Selector) (int, error) {
	for i := range pods {
		owner := metav1.GetControllerOf(&pods[i])
		if owner == nil || owner.Kind != "StatefulSet" {
			continue
		}
		set := &appsv1.StatefulSet{}
		err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: pods[i].Namespace, Name: owner.Name}, set)
		switch {
		case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
			continue
		case err != nil:
			return 0, err
		case set.Spec.Replicas == nil || !selector.Matches(labels.Set(set.Spec.Template.Labels)):
			return 0, nil
		}
		return int(*set.Spec.Replicas), nil
	}
	return 0, nil
}
