package verdict

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// putsOf are as many fast and slow puts: 1 ms and 50 ms.
func putsOf(fast, slow int, change ...func(*results.Snapshot)) *results.Snapshot {
	s := runtest.Measured(0, 0)
	op := s.Operations[spec.OperationPut]
	for range fast {
		op.Latency.Record(time.Millisecond.Nanoseconds())
	}
	for range slow {
		op.Latency.Record((50 * time.Millisecond).Nanoseconds())
	}
	for _, c := range change {
		c(s)
	}
	return s
}

// At 1,000 requests per second for 10 s there are at most 10,610 requests, and 106 of them may be above the p99.
func TestMissedAlready(t *testing.T) {
	p99 := runtest.MaxLatency(spec.StatisticP99, 25_000)
	atRate := func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Load.Rate, b.Spec.Load.DurationSeconds, b.Spec.Load.Requests = &spec.Rate{PerSecond: 1000}, new(int32(10)), nil
	}
	asManyAs := func(n int64) func(*v1alpha1.EtcdBenchmark) {
		return func(b *v1alpha1.EtcdBenchmark) { atRate(b); b.Spec.Load.Requests = &n }
	}
	closedOf := func(n int64) func(*v1alpha1.EtcdBenchmark) {
		return func(b *v1alpha1.EtcdBenchmark) { atRate(b); b.Spec.Load.Rate, b.Spec.Load.Requests = nil, &n }
	}
	closed := func(b *v1alpha1.EtcdBenchmark) { atRate(b); b.Spec.Load.Rate = nil }
	ramp := func(b *v1alpha1.EtcdBenchmark) {
		atRate(b)
		b.Spec.Load.Rate = &spec.Rate{Ramp: &spec.Ramp{ToPerSecond: 1000}}
	}
	for name, tc := range map[string]struct {
		load      func(*v1alpha1.EtcdBenchmark)
		objective v1alpha1.Objective
		snapshots []*results.Snapshot
		want      bool
	}{
		"nothing yet":             {atRate, p99, []*results.Snapshot{nil, putsOf(0, 0)}, false},
		"one below":               {atRate, p99, []*results.Snapshot{putsOf(900, 106)}, false},
		"too many":                {atRate, p99, []*results.Snapshot{putsOf(900, 107)}, true},
		"too many among all":      {atRate, p99, []*results.Snapshot{putsOf(10_503, 107)}, true},
		"nothing but slow ones":   {atRate, p99, []*results.Snapshot{putsOf(0, 107)}, true},
		"too many of two pods":    {atRate, p99, []*results.Snapshot{putsOf(900, 54), putsOf(900, 53)}, true},
		"too many failed":         {atRate, p99, []*results.Snapshot{putsOf(900, 0, runtest.Failing(107, "Unavailable", time.Millisecond))}, true},
		"at the limit":            {atRate, runtest.MaxLatency(spec.StatisticP99, 50_000), []*results.Snapshot{putsOf(0, 2000)}, false},
		"a closed loop":           {closed, p99, []*results.Snapshot{putsOf(0, 2000)}, false},
		"a rate that changes":     {ramp, p99, []*results.Snapshot{putsOf(0, 55)}, true},
		"one below, of that rate": {ramp, p99, []*results.Snapshot{putsOf(0, 54)}, false},
		"a number of requests":    {asManyAs(5000), p99, []*results.Snapshot{putsOf(900, 51)}, true},
		"that, in a closed loop":  {closedOf(5000), p99, []*results.Snapshot{putsOf(900, 51)}, true},
		"a tenth of the requests": {asManyAs(1000), runtest.MaxLatency(spec.StatisticP90, 25_000), []*results.Snapshot{putsOf(800, 100)}, false},
		"more than a tenth":       {asManyAs(1000), runtest.MaxLatency(spec.StatisticP90, 25_000), []*results.Snapshot{putsOf(800, 101)}, true},
		"a mean":                  {atRate, runtest.MaxLatency(spec.StatisticMean, 25_000), []*results.Snapshot{putsOf(0, 2000)}, false},
		"an operation of no load": {atRate, rangeLatency(), []*results.Snapshot{putsOf(0, 2000)}, false},
	} {
		b := runtest.Puts(tc.load, runtest.Objectives(tc.objective))
		why := MissedAlready(b, tc.snapshots)
		if (why != "") != tc.want {
			t.Errorf("%s: found %q, wanted missed already: %v", name, why, tc.want)
		}
	}
	// However well the rest of the run goes, the objective is missed. With one slow request less it is not.
	for slow, want := range map[int]v1alpha1.ObjectiveResult{107: v1alpha1.ObjectiveMissed, 106: v1alpha1.ObjectiveMet} {
		s := results.Summarize([]*results.Snapshot{putsOf(10_610-slow, slow)})
		if got, _ := Judge(runtest.Puts(atRate, runtest.Objectives(p99)), &s, v1alpha1.ReasonCompleted); got[0].Result != want {
			t.Errorf("with %d slow requests of 10,610, found %+v, wanted %s", slow, got[0], want)
		}
	}
}
