//go:build e2e

package e2e

import (
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// lockFreeWithin is how long after the loss of a run's pods the next run on its target starts at the latest.
const lockFreeWithin = 30 * time.Second

// checkLostNode takes the node of a run away: its client pods are killed, and no kubelet reports it. The cluster goes on
// to show them as running, but a run elsewhere, which waits for the lock of the target, starts soon.
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
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodRunning {
			t.Errorf("wanted a pod of which the cluster knows no end, found %s", pod.Status.Phase)
		}
	}
	if next.Status.Summary == nil {
		t.Fatalf("wanted the next run to measure, found %+v", next.Status.Conditions)
	}
	if after := next.Status.Summary.WindowStart.Sub(lost); after > lockFreeWithin {
		t.Errorf("the next run began to measure %s after the loss, wanted at most %s", after, lockFreeWithin)
	}
	resume()
	requireReason(t, awaitEnd(t, holder), v1alpha1.ReasonPodFailed)
	if keys := mustStore(t, suite.side, holder.KeyPrefix()); len(keys) > 0 {
		t.Errorf("%d keys of the lost run are left", len(keys))
	}
}

// stopKubelet stops the kubelet until resume, or the end of the test: a stopped process does not end with its cluster.
func stopKubelet(t *testing.T) (resume func()) {
	t.Helper()
	pid := daemonProcess(t, "kubelet")
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		mustKubectl(t, "wait", "--for=condition=Ready", "nodes", "--all", "--timeout=2m")
	}
}
