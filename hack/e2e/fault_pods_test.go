//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"syscall"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// podFaults take one of the two client pods away.
func podFaults() map[string]fault {
	tooEarly := outcome{reason: v1alpha1.ReasonPodFailed, result: early}
	lost := outcome{reason: v1alpha1.ReasonPodFailed, result: partial, reported: []int{1}}
	drained := outcome{reason: v1alpha1.ReasonPodFailed, result: partial, reported: []int{0, 1}, counted: true}
	everywhere := func(preparing, armed, running, collecting outcome) map[string]outcome {
		return map[string]outcome{
			v1alpha1.StagePreparing: preparing, v1alpha1.StageArmed: armed,
			v1alpha1.StageRunning: running, v1alpha1.StageCollecting: collecting,
		}
	}
	hungEarly := outcome{reason: v1alpha1.ReasonTimedOut, result: early}
	hung := outcome{reason: v1alpha1.ReasonTimedOut, result: partial, reported: []int{1}}
	// It has measured everything and reported it: only keys are left, which the cleanup Job deletes.
	measured := outcome{reason: v1alpha1.ReasonCompleted, measured: collectingRequests}
	return map[string]fault{
		// Its process cannot report any more.
		"client pod killed": {inject: signalPod(0, syscall.SIGKILL), in: everywhere(tooEarly, tooEarly, lost, measured)},
		// SIGQUIT makes a Go program end with its stacks.
		"client pod crashed": {inject: signalPod(0, syscall.SIGQUIT), in: everywhere(tooEarly, tooEarly, lost, measured)},
		// It drains and reports before it ends.
		"client pod deleted": {inject: deletePod(0), in: everywhere(tooEarly, tooEarly, drained, measured)},
		"client pod evicted": {inject: evictPod, in: everywhere(tooEarly, tooEarly, drained, measured)},
		"client pod hung": {
			inject: signalPod(0, syscall.SIGSTOP), in: everywhere(hungEarly, hung, hung, measured),
			change: func(b *v1alpha1.EtcdBenchmark) { b.Spec.TimeoutSeconds = 75 },
		},
		"client pod out of memory": {inject: exhaustMemory(0), in: everywhere(tooEarly, tooEarly, lost, measured)},
		"client pod needs too much memory": {
			start: func(t *testing.T, v victim) { create(t, v.run) }, inject: awaitOOM, change: needTooMuch,
			// Its progress until then is not known.
			in: map[string]outcome{v1alpha1.StageRunning: tooEarly},
		},
	}
}

// clientPod returns the run's client pod with this index.
func clientPod(t *testing.T, v victim, index int) corev1.Pod {
	t.Helper()
	pods, err := podsOf(suite.ctx, v.run)
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods {
		if pod.Annotations[batchv1.JobCompletionIndexAnnotation] == strconv.Itoa(index) {
			return pod
		}
	}
	t.Fatalf("wanted client pod %d of %s, found none among %d pods", index, v.run.Name, len(pods))
	return corev1.Pod{}
}

func signalPod(index int, signal syscall.Signal) func(*testing.T, victim) {
	return func(t *testing.T, v victim) {
		pid, err := processOf(clientPod(t, v, index).UID, "loadgen")
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, signal); err != nil {
			t.Fatal(err)
		}
	}
}

func deletePod(index int) func(*testing.T, victim) {
	return func(t *testing.T, v victim) {
		pod := clientPod(t, v, index)
		if err := suite.client.Delete(suite.ctx, &pod); err != nil {
			t.Fatal(err)
		}
	}
}

func evictPod(t *testing.T, v victim) {
	pod := clientPod(t, v, 0)
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	if err := suite.client.SubResource("eviction").Create(suite.ctx, &pod, eviction); err != nil {
		t.Fatal(err)
	}
}

// needTooMuch gives the pods less memory than their requests need.
func needTooMuch(b *v1alpha1.EtcdBenchmark) {
	memory := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("48Mi")}
	b.Spec.Pod = &v1alpha1.PodSettings{Resources: &corev1.ResourceRequirements{Limits: memory, Requests: memory}}
	b.Spec.Workload.Put.Values.SizeBytes, b.Spec.Workload.Put.Keys.Count = 1_000_000, 10
	b.Spec.Load.Connections, b.Spec.Load.Clients, b.Spec.Load.Rate = 64, 128, nil
	requests := int64(1000)
	b.Spec.Load.Requests = &requests
	b.Spec.Guard = &spec.Guard{AcceptWrites: true}
}

// awaitOOM waits until the kernel has killed a pod of the run for its memory.
func awaitOOM(t *testing.T, v victim) {
	eventually(t, finishWithin, "a pod to be killed for its memory", func(ctx context.Context) error {
		pods, err := podsOf(ctx, v.run)
		if err != nil {
			return err
		}
		var seen []string
		for _, pod := range pods {
			for _, status := range pod.Status.ContainerStatuses {
				if ended := status.State.Terminated; ended != nil && ended.Reason == "OOMKilled" {
					return nil
				}
				seen = append(seen, fmt.Sprintf("%+v", status.State))
			}
		}
		return fmt.Errorf("the pods are %v", seen)
	})
}
