package history

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Only equal sessions say how much equal sessions differ.
func TestSpreads(t *testing.T) {
	throughput := v1alpha1.Metric{Type: v1alpha1.MetricThroughput, TolerancePercent: 7}
	p99 := v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP99}
	of := func(sch *v1alpha1.EtcdBenchmarkSchedule) *v1alpha1.EtcdBenchmarkSuite {
		return &v1alpha1.EtcdBenchmarkSuite{Spec: *sch.Spec.SuiteTemplate.Spec.DeepCopy()}
	}
	spread := func(rates ...float64) float64 {
		for i := range rates {
			rates[i] = math.Log(rates[i])
		}
		return stat.StdDev(rates, nil)
	}
	onClient := func(name string) func(*v1alpha1.EtcdBenchmarkSuite) {
		return func(s *v1alpha1.EtcdBenchmarkSuite) {
			for i := range s.Status.Results {
				s.Status.Results[i].Client = name
			}
		}
	}
	for name, tc := range map[string]struct {
		sessions func(*v1alpha1.EtcdBenchmarkSchedule)
		m        v1alpha1.Metric
		client   string
		without  []string
		n        int
		want     float64
	}{
		"three sessions":        {func(sch *v1alpha1.EtcdBenchmarkSchedule) { end(sch, 5000, 9); end(sch, 5100, 9); end(sch, 4950, 9) }, throughput, "a", nil, 3, spread(5000, 5100, 4950)},
		"the compared ones":     {func(sch *v1alpha1.EtcdBenchmarkSchedule) { end(sch, 5000, 9); end(sch, 5100, 9); end(sch, 4950, 9) }, throughput, "a", []string{"s1"}, 2, spread(5000, 4950)},
		"one session":           {func(sch *v1alpha1.EtcdBenchmarkSchedule) { end(sch, 5000, 9) }, throughput, "a", nil, 1, 0},
		"none":                  {func(*v1alpha1.EtcdBenchmarkSchedule) {}, throughput, "a", nil, 0, 0},
		"a metric without them": {func(sch *v1alpha1.EtcdBenchmarkSchedule) { end(sch, 5000, 9); end(sch, 5100, 9) }, p99, "a", nil, 0, 0},
		"one without numbers":   {func(sch *v1alpha1.EtcdBenchmarkSchedule) { end(sch, 5000, 9); endWithout(sch); end(sch, 5100, 9) }, throughput, "a", nil, 2, spread(5000, 5100)},
		"other clients": {func(sch *v1alpha1.EtcdBenchmarkSchedule) {
			end(sch, 5000, 9, onClient("a"))
			end(sch, 3000, 9, onClient("b"))
			end(sch, 5100, 9, onClient("a"))
		}, throughput, "a", nil, 2, spread(5000, 5100)},
		"clients not known": {func(sch *v1alpha1.EtcdBenchmarkSchedule) {
			end(sch, 5000, 9, onClient(""))
			end(sch, 5100, 9, onClient(""))
		}, throughput, "", nil, 0, 0},
		"before a known change": {func(sch *v1alpha1.EtcdBenchmarkSchedule) {
			end(sch, 9000, 9)
			end(sch, 5000, 9)
			end(sch, 5100, 9)
			sch.Spec.Acknowledgements = []v1alpha1.Acknowledgement{{Session: "s1"}}
		}, throughput, "a", nil, 2, spread(5000, 5100)},
		"before a change that was found": {func(sch *v1alpha1.EtcdBenchmarkSchedule) {
			quiet(sch, 12)
			for range 6 {
				end(sch, 2000, 9)
			}
		}, throughput, "a", nil, 6, 0},
	} {
		sch := nightly()
		tc.sessions(sch)
		h := Spreads(sch, of(sch), tc.without...)
		n, got := h.Of("c1", tc.m, v1alpha1.Environment{Client: tc.client})
		if n != tc.n || math.Abs(got-tc.want) > 1e-6 || h.Schedule != "nightly" || h.Rounds != 1 {
			t.Errorf("%s: found %d sessions with a spread of %v, wanted %d with %v", name, n, got, tc.n, tc.want)
		}
	}
	sch := nightly()
	end(sch, 5000, 9)
	end(sch, 5100, 9)
	other := of(sch)
	other.Spec.Rounds = 7
	if n, _ := Spreads(sch, other).Of("c1", throughput, v1alpha1.Environment{Client: "a"}); n != 0 {
		t.Errorf("found %d sessions of another template", n)
	}
}
