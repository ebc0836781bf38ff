package history

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// waited makes the load generator of a session a limit that has added at most this share of the latency, in per cent.
func waited(percent int64) func(*v1alpha1.EtcdBenchmarkSuite) {
	return func(s *v1alpha1.EtcdBenchmarkSuite) {
		for i := range s.Status.Results {
			s.Status.Results[i].ClientBound, s.Status.Results[i].AddedPerMillion = true, 10_000*percent
		}
	}
}

// Sessions whose load generators may have added much more than that of the last one are no reference for it: their numbers
// may differ by that alone.
func TestSessionsOfUnlikeLoadGenerators(t *testing.T) {
	for name, tc := range map[string]struct {
		history, last int64
		want          string
	}{
		"alike": {20, 24, worse}, "more": {20, 30, tooFew}, "less": {30, 20, tooFew},
	} {
		sch := nightly()
		for i := range 10 {
			end(sch, 1000+int64(i*7%5), 9000, waited(tc.history))
		}
		end(sch, 800, 9000, waited(tc.last))
		if got := condition(sch, v1alpha1.ConditionSuspect); got != tc.want {
			t.Errorf("%s: Suspect is %s, wanted %s", name, got, tc.want)
		}
	}
}

// A percentile may be that of the load generator, so it is no number of the target.
func TestPercentilesOfALimitedLoadGenerator(t *testing.T) {
	sch := nightly(func(sch *v1alpha1.EtcdBenchmarkSchedule) {
		sch.Spec.Metrics = []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}, {Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP99}}
	})
	end(sch, 1000, 9000, waited(20))
	for _, s := range sch.Status.Series {
		if got, want := s.Values[0] > 0, s.Type == v1alpha1.SeriesThroughput; got != want {
			t.Errorf("%s %s has a number: %v, wanted %v", s.Cell, nameOf(s), got, want)
		}
	}
}
