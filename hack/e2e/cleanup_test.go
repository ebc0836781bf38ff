//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkCleanup kills the pods of a run for which another run waits, and keeps the pod of its cleanup Job from being
// created. A cleanup Job that cannot start holds the target for spec.schedulingTimeoutSeconds at most. One that starts while another run has the target waits, and
// deletes the keys afterwards.
func checkCleanup(t *testing.T) {
	first, second := namespace(t, "cleanup-first"), namespace(t, "cleanup-second")
	killed, next := newEndless(first, "killed"), endless(newPutIn(second, suite.side, "next", 0))
	for _, b := range []*v1alpha1.EtcdBenchmark{killed, next} {
		b.Spec.Target.ConcurrentRuns, b.Spec.SchedulingTimeoutSeconds = v1alpha1.ConcurrentRunsQueue, 30
	}
	killed = awaitMeasuring(t, create(t, killed))
	next = create(t, next)
	awaitQueued(t, next, v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueAddresses, Ahead: 1})
	allow := forbidPods(t, first)
	for index := range int(killed.Spec.Load.Pods) {
		signalPod(index, syscall.SIGKILL)(t, victim{run: killed, target: suite.side})
	}
	requireReason(t, awaitEnd(t, killed), v1alpha1.ReasonPodFailed)
	next = awaitMeasuring(t, next)
	if pods := cleanupPods(t, killed); len(pods) > 0 {
		t.Fatalf("wanted a cleanup Job without pods, found %d", len(pods))
	}
	allow()
	eventually(t, 2*time.Minute, "the cleanup Job's pod to run", func(context.Context) error {
		for _, pod := range cleanupPods(t, killed) {
			if pod.Status.Phase == corev1.PodRunning {
				return nil
			}
		}
		return fmt.Errorf("found %d pods", len(cleanupPods(t, killed)))
	})
	// The Job waits at least this long for the lock.
	waits := time.Now().Add(20 * time.Second)
	awaitMore(t, next, 200)
	if keys := mustStore(t, suite.side, killed.KeyPrefix()); len(keys) == 0 && time.Now().Before(waits) {
		t.Error("the cleanup Job has deleted the keys while another run loads the target")
	}
	stopRun(t, next)
	next = awaitEnd(t, next)
	if next.Status.Summary == nil || next.Status.Summary.WindowEnd == nil {
		t.Fatalf("wanted a summary of the run that was stopped, found %+v", next.Status)
	}
	requireWarning(t, next, "earlier runs at its addresses may still have had keys")
	eventually(t, 2*time.Minute, "the keys to be deleted", func(ctx context.Context) error {
		found, err := get(ctx, killed)
		if err != nil {
			return err
		}
		if c := meta.FindStatusCondition(found.Status.Conditions, v1alpha1.ConditionCleaned); c == nil || c.Status != "True" {
			return fmt.Errorf("the condition is %+v", c)
		} else if at := next.Status.Summary.WindowEnd; c.LastTransitionTime.Time.Before(at.Time.Truncate(time.Second)) && c.LastTransitionTime.Time.Before(waits) {
			t.Errorf("the keys were deleted at %s, before the other run's window had ended at %s", c.LastTransitionTime, at)
		}
		return nil
	})
	if keys := mustStore(t, suite.side, killed.KeyPrefix()); len(keys) > 0 {
		t.Errorf("%d keys are left", len(keys))
	}
}

// awaitMore waits until a run has measured so many more requests.
func awaitMore(t *testing.T, b *v1alpha1.EtcdBenchmark, requests int64) {
	t.Helper()
	progress := mustGet(t, b).Status.Progress
	if progress == nil {
		t.Fatalf("wanted %s to load its target, found %+v", b.Name, mustGet(t, b).Status.Conditions)
	}
	wanted := progress.Requests + requests
	eventually(t, time.Minute, b.Name+" to go on", func(ctx context.Context) error {
		found, err := get(ctx, b)
		if err == nil && (found.Status.Progress == nil || found.Status.Progress.Requests < wanted) {
			err = fmt.Errorf("wanted %d requests, found %+v", wanted, found.Status.Progress)
		}
		return err
	})
}

// cleanupPods are the pods of a run's cleanup Job.
func cleanupPods(t *testing.T, b *v1alpha1.EtcdBenchmark) []corev1.Pod {
	t.Helper()
	var pods corev1.PodList
	if err := suite.client.List(suite.ctx, &pods, client.InNamespace(b.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(b.UID), v1alpha1.LabelComponent: v1alpha1.ComponentCleanup}); err != nil {
		t.Fatal(err)
	}
	return pods.Items
}
