package verdict

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// One of two pods is lost. The other sent 900 puts of 1 ms and 100 of 50 ms.
func TestJudgeAPart(t *testing.T) {
	pod := func(change ...func(*results.Snapshot)) *results.Snapshot { return putsOf(900, 100, change...) }
	requests := func(n int64) func(*v1alpha1.EtcdBenchmark) {
		return func(b *v1alpha1.EtcdBenchmark) { b.Spec.Load.Requests = &n }
	}
	closed := func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Load.Requests, b.Spec.Load.DurationSeconds = nil, new(int32(10))
	}
	rate := func(b *v1alpha1.EtcdBenchmark) { closed(b); b.Spec.Load.Rate = &spec.Rate{PerSecond: 200} }
	failing := runtest.Failing(100, "Unavailable", time.Millisecond)
	event := runtest.MaxLatency(spec.StatisticP50, 1)
	event.Latency.Operation = spec.OperationWatchEvent
	for name, tc := range map[string]struct {
		load      func(*v1alpha1.EtcdBenchmark)
		objective v1alpha1.Objective
		pod       *results.Snapshot
		want      v1alpha1.ObjectiveResult
	}{
		// Of 2,000 requests, 100 may be above the 95th percentile.
		"the other 1,000 could meet a p95":     {requests(2000), runtest.MaxLatency(spec.StatisticP95, 25_000), pod(), v1alpha1.ObjectiveUnknown},
		"the other 999 could not":              {requests(1999), runtest.MaxLatency(spec.StatisticP95, 25_000), pod(), v1alpha1.ObjectiveMissed},
		"no number of them could meet a p99":   {requests(2000), runtest.MaxLatency(spec.StatisticP99, 25_000), pod(), v1alpha1.ObjectiveMissed},
		"at a rate":                            {rate, runtest.MaxLatency(spec.StatisticP99, 25_000), pod(), v1alpha1.ObjectiveMissed},
		"at a rate, with enough others":        {rate, runtest.MaxLatency(spec.StatisticP95, 25_000), pod(), v1alpha1.ObjectiveUnknown},
		"in a closed loop, how many others?":   {closed, runtest.MaxLatency(spec.StatisticP99, 25_000), pod(), v1alpha1.ObjectiveUnknown},
		"a maximum that is exceeded":           {closed, runtest.MaxLatency(spec.StatisticMax, 25_000), pod(), v1alpha1.ObjectiveMissed},
		"a maximum that is not exceeded":       {closed, runtest.MaxLatency(spec.StatisticMax, 50_000), pod(), v1alpha1.ObjectiveUnknown},
		"a mean, in a closed loop":             {closed, runtest.MaxLatency(spec.StatisticMean, 1), pod(), v1alpha1.ObjectiveUnknown},
		"a mean of 5.9 ms among 2,000":         {requests(2000), runtest.MaxLatency(spec.StatisticMean, 2_950), pod(), v1alpha1.ObjectiveUnknown},
		"a mean of 5.9 ms among 1,999":         {requests(1999), runtest.MaxLatency(spec.StatisticMean, 2_950), pod(), v1alpha1.ObjectiveMissed},
		"a standard deviation":                 {requests(2000), runtest.MaxLatency(spec.StatisticStddev, 1), pod(), v1alpha1.ObjectiveUnknown},
		"failed requests rank last":            {requests(2000), runtest.MaxLatency(spec.StatisticP90, 60_000), pod(failing, failing, failing), v1alpha1.ObjectiveMissed},
		"a failed request is no maximum":       {closed, runtest.MaxLatency(spec.StatisticMax, 60_000), pod(failing), v1alpha1.ObjectiveMissed},
		"events, whose number is not known":    {requests(2000), event, pod(runtest.Events(0)), v1alpha1.ObjectiveUnknown},
		"errors that others could outweigh":    {requests(2000), runtest.MaxErrors(50_000), pod(failing), v1alpha1.ObjectiveUnknown},
		"errors that they could not":           {requests(2000), runtest.MaxErrors(49_999), pod(failing), v1alpha1.ObjectiveMissed},
		"errors in a closed loop":              {closed, runtest.MaxErrors(49_999), pod(failing), v1alpha1.ObjectiveUnknown},
		"any error, where none is allowed":     {closed, runtest.MaxErrors(0), pod(failing), v1alpha1.ObjectiveMissed},
		"a throughput only grows":              {requests(2000), runtest.MinThroughput(1_000_000), pod(), v1alpha1.ObjectiveUnknown},
		"a p95, if nothing else could be sent": {requests(1000), runtest.MaxLatency(spec.StatisticP95, 25_000), pod(), v1alpha1.ObjectiveMissed},
	} {
		t.Run(name, func(t *testing.T) {
			s := results.Summarize([]*results.Snapshot{tc.pod, nil})
			got, _ := Judge(runtest.Puts(tc.load, runtest.Objectives(tc.objective)), &s, v1alpha1.ReasonPartlyCompleted)
			if got[0].Result != tc.want {
				t.Errorf("found %+v, wanted %s", got[0], tc.want)
			}
		})
	}
}
