package faults

import (
	"syscall"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
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
