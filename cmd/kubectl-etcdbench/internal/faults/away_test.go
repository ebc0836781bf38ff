package faults

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// A member that does not come back ends the run as TargetLost, and the requests until then are kept.
func TestATargetThatGoesAway(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		transport spec.Transport
		signal    syscall.Signal
		change    func(*v1alpha1.EtcdBenchmark)
	}{
		"killed, one request a second":  {spec.TransportFast, syscall.SIGKILL, rateOf(1)},
		"stopped for good, closed loop": {spec.TransportClient, syscall.SIGSTOP, func(run *v1alpha1.EtcdBenchmark) { run.Spec.Load.Rate = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := start(t, fault{})
			run := puts(cluster, judgedBy, withShortTimeout, tc.change, func(run *v1alpha1.EtcdBenchmark) {
				run.Spec.Load.Transport, run.Spec.Load.Clients = tc.transport, 10
			})
			result(t, run, func() { cluster.signal(t, tc.signal, 0) })
			requireFinished(t, run, v1alpha1.ReasonTargetLost)
			if s := run.Status.Summary; s == nil || s.MeasuredRequests == 0 || !s.Partial {
				t.Errorf("got the summary %+v, wanted the requests until then", s)
			}
		})
	}
}

// Between listings of 3 s, no request succeeds for a long time. Only a target that does not come back is lost.
func TestATargetThatGoesAwayDuringListings(t *testing.T) {
	t.Parallel()
	for reason, inWindow := range map[string]func(*testing.T, *cluster){
		v1alpha1.ReasonTargetLost: func(t *testing.T, c *cluster) { c.signal(t, syscall.SIGKILL, 0) },
		v1alpha1.ReasonCompleted:  func(*testing.T, *cluster) {},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			cluster := start(t, fault{})
			run := puts(cluster, listing, rateOf(1))
			run.Spec.Target.Endpoints = []string{startSlowReads(t, cluster.endpoints[0], run.KeyPrefix(), 3*time.Second)}
			succeeded := func(seen *v1alpha1.EtcdBenchmark) bool {
				return seen.Status.Progress != nil && seen.Status.Progress.Requests > 0
			}
			resultWhen(t, run, succeeded, func() { inWindow(t, cluster) })
			requireFinished(t, run, reason)
			if s := run.Status.Summary; s == nil || s.MeasuredRequests == 0 || s.Operations[0].Latency.P50Microseconds < 3_000_000 {
				t.Errorf("got the summary %+v, wanted listings of 3 s", s)
			}
		})
	}
}

// listing makes each request read all keys.
func listing(run *v1alpha1.EtcdBenchmark) {
	const keys = 100
	run.Spec.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
		Keys:   spec.Keys{Count: keys, SizeBytes: 8, Distribution: spec.Sequential},
		Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 256}, KeysPerRequest: keys, Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole,
	}}
	run.Spec.Load.Clients, run.Spec.Load.WarmupSeconds, run.Spec.Objectives = 10, 0, nil
}

// startSlowReads serves in front of an etcd until the test ends. The reads of a run's load are delayed.
func startSlowReads(t *testing.T, upstream, prefix string, delay time.Duration) (address string) {
	return etcdtest.StartProxy(t, upstream, func(ctx context.Context, method string, in []byte, forward func() ([]byte, error)) ([]byte, error) {
		if _, ok := loadKey(prefix, method, in); ok {
			select {
			case <-time.After(delay):
			case <-ctx.Done():
			}
		}
		return forward()
	})
}
