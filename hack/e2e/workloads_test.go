//go:build e2e

package e2e

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkWorkloads runs workloads that the quick scenarios leave out, and compares each with the server's counters.
func checkWorkloads(t *testing.T) {
	for name, build := range map[string]func() *v1alpha1.EtcdBenchmark{
		"range one key": func() *v1alpha1.EtcdBenchmark {
			b := newRange(suite.counted, "one-key", spec.Linearizable, 20_000)
			b.Spec.Workload.Range.Keys = spec.Keys{Count: 1, SizeBytes: 8}
			return b
		},
		"range serializable": func() *v1alpha1.EtcdBenchmark {
			return newRange(suite.counted, "serializable", spec.Serializable, 20_000)
		},
		"mixed": func() *v1alpha1.EtcdBenchmark {
			return newMixed("mixed")
		},
		"open loop": func() *v1alpha1.EtcdBenchmark {
			b := newPut(suite.counted, "open-loop", 5_000)
			b.Spec.Load.Rate = &spec.Rate{PerSecond: 1000}
			b.Spec.Load.WarmupSeconds = 2
			return b
		},
		"put to the leader": func() *v1alpha1.EtcdBenchmark {
			b := newPut(suite.counted, "leader-put", 10_000)
			b.Spec.Target.Members = spec.MembersLeader
			return b
		},
		// As many as fit on the node of a small machine.
		"eight pods": func() *v1alpha1.EtcdBenchmark {
			b := newPut(suite.counted, "eight-pods", 20_011)
			b.Spec.Load.Pods, b.Spec.Load.Connections, b.Spec.Load.Clients = 8, 40, 100
			return b
		},
	} {
		t.Run(name, func(t *testing.T) { runCounted(t, build()) })
	}
	t.Run("duration", checkDuration)
}

func newMixed(name string) *v1alpha1.EtcdBenchmark {
	b := newPut(suite.counted, name, 20_000)
	b.Spec.Workload = spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
		Consistency: spec.Linearizable, ReadPercent: 70, Keys: spec.Keys{Count: 500, SizeBytes: 8, Distribution: spec.Uniform}, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 64},
	}}
	return b
}

// checkDuration bounds an open loop by time. The schedule alone determines the number of requests, although some may be
// cut off at the end.
func checkDuration(t *testing.T) {
	b := newPut(suite.counted, "duration", 0)
	seconds := int32(6)
	b.Spec.Load.Requests, b.Spec.Load.DurationSeconds = nil, &seconds
	b.Spec.Load.Rate = &spec.Rate{PerSecond: 700}
	before := mustCounters(t, suite.counted)
	b = runToEnd(t, b)
	requireCompleted(t, b)
	if s := b.Status.Summary; s.MeasuredRequests != 4200 || s.FailedRequests != 0 {
		t.Errorf("wanted 4200 requests, none failed, for 700/s over 6 s; found %d, of which %d failed", s.MeasuredRequests, s.FailedRequests)
	}
	requireSameCounts(t, b, mustCounters(t, suite.counted).since(before))
}
