//go:build e2e

package e2e

import (
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// lockFreeWithin is the longest time from the loss of a run's pods to the window of the next run on its target.
const lockFreeWithin = 30 * time.Second

// checkLostNode stops the kubelet and kills the client pods of a run. The API server still shows the pods as running. A
// run without a cluster that waits for the lock of the target must measure soon.
func checkLostNode(t *testing.T) {
	holder := newEndless(namespace(t, "lost-node"), holderName)
	holder.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsQueue
	holder = awaitMeasuring(t, create(t, holder))
	local := runLocally(t, suite.side)
	resume := stopKubelet(t)
	lost := time.Now()
	for index := range int(holder.Spec.Load.Pods) {
		signalPod(index, syscall.SIGKILL)(t, victim{run: holder, target: suite.side})
	}
	next := local()
	pods, err := podsOf(suite.ctx, holder)
	if err != nil {
		t.Fatal(err)
	}
	if len(pods) != int(holder.Spec.Load.Pods) {
		t.Fatalf("wanted %d pods of the lost run, found %d", holder.Spec.Load.Pods, len(pods))
	}
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodRunning {
			t.Errorf("%s: wanted the phase Running while the kubelet is stopped, found %s", pod.Name, pod.Status.Phase)
		}
	}
	summary := next.Status.Summary
	if summary == nil || summary.WindowStart == nil {
		t.Fatalf("wanted the next run to measure, found %+v", next.Status.Conditions)
	}
	if after := summary.WindowStart.Sub(lost); after < 0 || after > lockFreeWithin {
		t.Errorf("the next run began to measure %s after the loss, wanted at most %s", after, lockFreeWithin)
	}
	resume()
	requireReason(t, awaitEnd(t, holder), v1alpha1.ReasonPodFailed)
	awaitKeysDeleted(t, holder)
	if keys := mustStore(t, suite.side, holder.KeyPrefix()); len(keys) > 0 {
		t.Errorf("%d keys of the lost run are left", len(keys))
	}
}

// stopKubelet stops the kubelet until resume or the end of the test.
func stopKubelet(t *testing.T) (resume func()) {
	t.Helper()
	thaw := freeze(t, daemonProcess(t, "kubelet"))
	return func() {
		t.Helper()
		thaw()
		mustKubectl(t, "wait", "--for=condition=Ready", "nodes", "--all", "--timeout=2m")
	}
}
