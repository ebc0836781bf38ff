//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
)

// requireMessagesAgree computes the summary a second time, only from the pods' termination messages. It must have every
// request of the scraped one, and its percentiles may differ by the bound that each states.
func requireMessagesAgree(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	for _, pod := range b.Status.Pods {
		if pod.Source != v1alpha1.SourceScrape {
			t.Errorf("pod %d: wanted its result by Scrape, because scraping is possible; found %s", pod.Index, pod.Source)
		}
	}
	snapshots := terminationSnapshots(t, b)
	second := benchmark.Summary(b, results.Summarize(snapshots))
	first := b.Status.Summary
	if second.MeasuredRequests != first.MeasuredRequests || second.FailedRequests != first.FailedRequests {
		t.Errorf("requests: %d by scrape, %d by termination message", first.MeasuredRequests, second.MeasuredRequests)
	}
	for i, o := range first.Operations {
		requireSameLatency(t, string(o.Operation), o.Latency, second.Operations[i].Latency)
	}
}

// terminationSnapshots decodes the termination messages of the run's pods.
func terminationSnapshots(t *testing.T, b *v1alpha1.EtcdBenchmark) []*results.Snapshot {
	t.Helper()
	pods, err := podsOf(suite.ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	var snapshots []*results.Snapshot
	for _, pod := range pods {
		snapshot, err := wire.DecodeTerminationMessage([]byte(terminationMessage(&pod)))
		if err != nil {
			t.Fatalf("pod %s: %v", pod.Name, err)
		}
		snapshots = append(snapshots, snapshot)
	}
	return snapshots
}

func terminationMessage(pod *corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if status.State.Terminated != nil {
			return status.State.Terminated.Message
		}
	}
	return ""
}

func requireSameLatency(t *testing.T, operation string, first, second *v1alpha1.LatencySummary) {
	t.Helper()
	if second == nil || first.Count != second.Count || first.MinMicroseconds != second.MinMicroseconds || first.MaxMicroseconds != second.MaxMicroseconds {
		t.Errorf("%s: count, min and max differ: %+v by scrape, %+v by termination message", operation, first, second)
		return
	}
	bound := float64(first.ErrorBoundPerMillion+second.ErrorBoundPerMillion) / 1e6
	for name, pair := range map[string][2]int64{
		"p50":   {first.P50Microseconds, second.P50Microseconds},
		"p90":   {first.P90Microseconds, second.P90Microseconds},
		"p95":   {first.P95Microseconds, second.P95Microseconds},
		"p99":   {first.P99Microseconds, second.P99Microseconds},
		"p99.9": {first.P999Microseconds, second.P999Microseconds},
	} {
		// Both are rounded to whole microseconds.
		if diff := math.Abs(float64(pair[0] - pair[1])); diff > bound*float64(max(pair[0], pair[1]))+1 {
			t.Errorf("%s %s: %d µs by scrape, %d µs by termination message; wanted them within %.3f %%", operation, name, pair[0], pair[1], 100*bound)
		}
	}
}

// checkBlockedPort prevents scraping: packets from the operator to the run's pods are dropped in the operator's own
// network namespace. Only termination messages remain.
func checkBlockedPort(t *testing.T) {
	b := newSlow(suite.side, "blocked")
	create(t, b)
	blockPods(t, b)
	b = awaitEnd(t, b)
	requireCompleted(t, b)
	requireMeasured(t, b, *b.Spec.Load.Requests)
	requireOrderedPercentiles(t, b)
	requireSources(t, b, v1alpha1.SourceTerminationMessage)
}

// newSlow is a run that lasts long enough to be disturbed before it ends.
func newSlow(c *etcdCluster, name string) *v1alpha1.EtcdBenchmark {
	b := newPut(c, name, 2000)
	b.Spec.Load.WarmupSeconds = 8
	b.Spec.Load.Rate = &spec.Rate{PerSecond: 500}
	return b
}

// blockPods waits for the run's pods and blocks the operator's access to them. The run must not be over by then, or the
// test would prove nothing.
func blockPods(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	var addresses []string
	eventually(t, 2*time.Minute, "the pods' addresses", func(ctx context.Context) error {
		pods, err := podsOf(ctx, b)
		if err != nil {
			return err
		}
		addresses = nil
		for _, pod := range pods {
			if pod.Status.PodIP != "" {
				addresses = append(addresses, pod.Status.PodIP)
			}
		}
		if len(addresses) != int(b.Spec.Load.Pods) {
			return fmt.Errorf("%d pods have an address", len(addresses))
		}
		return nil
	})
	blockFromOperator(t, addresses)
	found, err := get(suite.ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, late := range []string{v1alpha1.StageCollecting, v1alpha1.ReasonCompleted} {
		if wantReason(found, v1alpha1.ConditionFinished, late) == nil {
			t.Fatalf("the pods were blocked too late: the run is already %s", late)
		}
	}
}

func requireSources(t *testing.T, b *v1alpha1.EtcdBenchmark, want v1alpha1.ResultSource) {
	t.Helper()
	for _, pod := range b.Status.Pods {
		if pod.Source != want {
			t.Errorf("%s: pod %d: wanted its result by %s, found %s", b.Name, pod.Index, want, pod.Source)
		}
	}
}
