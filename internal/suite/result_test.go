package suite

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

const flushed = "a flush of the log takes less than 5µs on m0"

func TestResult(t *testing.T) {
	s := table(compared)
	s.Spec.Compare.Metrics = append(s.Spec.Compare.Metrics, v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP99})
	p := Plan(s)[0]
	got := Result(s, p, finished("5000.5", passed(metav1.ConditionTrue), func(run *v1alpha1.EtcdBenchmark) {
		run.Status.Target = &v1alpha1.TargetStatus{Members: []v1alpha1.MemberStatus{{ResidentMemoryBytes: new(int64(10))}, {}, {ResidentMemoryBytes: new(int64(30))}}}
		run.Status.Summary.Validity = &v1alpha1.Validity{Shared: v1alpha1.SharedNode}
		run.Status.Summary.Members = []v1alpha1.MemberSummary{{}, {WALFsync: &v1alpha1.MemberDuration{Count: 100, MeanNanoseconds: 700}}}
		run.Status.Summary.Warnings = []string{flushed, "They ran on one machine and shared its CPUs", flushed, "news"}
	}))
	want := v1alpha1.SuiteResult{
		Name: "nightly-1-1", Cell: "old/put/c1", Round: 1, Reason: v1alpha1.ReasonCompleted, Passed: metav1.ConditionTrue, ServerMemoryBytes: 20,
		Environment: v1alpha1.Environment{Client: "a", DataInMemory: true}, Warnings: []string{"OneMachine", "DataInMemory", "Other"},
		Operations: []v1alpha1.SuiteOperation{{
			Operation: spec.OperationPut, Succeeded: 990, Failed: 10, ThroughputMilliPerSecond: 5_000_500, MeanMicroseconds: 1500, P50Microseconds: 1000, P90Microseconds: 2000,
		}},
		Values: []v1alpha1.SuiteValue{{Value: 5_000_500}, {Value: 9000, AtLeast: true, ErrorPerMillion: 56, Reason: v1alpha1.ReasonComparedTailTooThin}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Result(s, p, &v1alpha1.EtcdBenchmark{}); got.Invalid == "" || len(got.Operations) > 0 {
		t.Errorf("got %+v of a run without a result", got)
	}
}

// A repetition does not hide that the first run missed an objective, or failed because of the target.
func TestRepetitionsHideNothing(t *testing.T) {
	failing := func(run *v1alpha1.EtcdBenchmark) { run.Status.Summary.FailedRequests = 100 }
	s := table(rounds(3), compared, func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Workloads[0].Objectives = []v1alpha1.Objective{{Name: "no-errors"}}
	})
	play(t, s, func(p Planned) *v1alpha1.EtcdBenchmark {
		if p.Cell.Name == "new/put/c1" && !p.Repeats {
			return finished("5000", failing, passed(metav1.ConditionFalse))
		}
		return finished("5000", passed(metav1.ConditionTrue))
	})
	if c := s.Status.Comparisons[0]; c.Verdict != v1alpha1.NotCompared || c.Reason != v1alpha1.ReasonExclusionsDiffer || c.Rounds != 3 {
		t.Errorf("got %+v, wanted that the failures make it Unknown", c)
	}
	if c := Judge(s); c.Status != metav1.ConditionFalse {
		t.Errorf("got %+v, wanted the missed objective", c)
	}
	if n := Unmeasured(s); n != 0 {
		t.Errorf("%d runs are unmeasured, wanted none", n)
	}
}

// A run without a success is no result, however it ended.
func TestNothingSucceeded(t *testing.T) {
	s := table()
	play(t, s, func(Planned) *v1alpha1.EtcdBenchmark {
		return finished("0", func(run *v1alpha1.EtcdBenchmark) { run.Status.Summary.Operations[0].Succeeded = 0 })
	})
	if n := Unmeasured(s); n != 8 {
		t.Errorf("%d runs are unmeasured, wanted all 8", n)
	}
}

func publishes(cell string) func(*v1alpha1.EtcdBenchmarkSuite) {
	return func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Compare = &v1alpha1.SuiteCompare{
			Baseline: v1alpha1.SuiteBaseline{Values: &v1alpha1.PublishedFigures{Figures: []v1alpha1.PublishedFigure{{Cell: cell, Value: 1}}}},
			Metrics:  []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}},
		}
	}
}

// Of a run and its repetition, the one that says more counts.
func TestCounted(t *testing.T) {
	r := func(name, reason, invalid string) v1alpha1.SuiteResult {
		return v1alpha1.SuiteResult{Name: name, Cell: "put", Round: 1, Reason: reason, Invalid: invalid}
	}
	for name, tc := range map[string]struct {
		first, repeated v1alpha1.SuiteResult
		want            string
	}{
		"a valid repetition":    {r("a", v1alpha1.ReasonCompleted, "ClientBound"), r("a-r", v1alpha1.ReasonCompleted, ""), "a-r"},
		"both are ClientBound":  {r("a", v1alpha1.ReasonCompleted, "ClientBound"), r("a-r", v1alpha1.ReasonCompleted, "ClientBound"), "a"},
		"the first was deleted": {r("a", v1alpha1.ReasonDeleted, "deleted"), r("a-r", v1alpha1.ReasonCompleted, "ClientBound"), "a-r"},
		"the second failed":     {r("a", v1alpha1.ReasonCompleted, "ClientBound"), r("a-r", v1alpha1.ReasonPodFailed, "failed"), "a"},
	} {
		if got, _ := Counted([]v1alpha1.SuiteResult{tc.first, tc.repeated}, "put", 1); got.Name != tc.want {
			t.Errorf("%s: %s counts, wanted %s", name, got.Name, tc.want)
		}
	}
}

func TestCheck(t *testing.T) {
	metric := func(m v1alpha1.Metric) func(*v1alpha1.EtcdBenchmarkSuite) {
		return func(s *v1alpha1.EtcdBenchmarkSuite) {
			compared(s)
			s.Spec.Compare.Metrics = []v1alpha1.Metric{m}
		}
	}
	exclude := func(target v1alpha1.EntryName) func(*v1alpha1.EtcdBenchmarkSuite) {
		return func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Spec.Exclude = append(s.Spec.Exclude, v1alpha1.SuiteExclusion{Target: target})
		}
	}
	of := func(o spec.Operation) v1alpha1.Metric {
		return v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: o, Statistic: spec.StatisticP99}
	}
	for name, tc := range map[string]struct {
		suite *v1alpha1.EtcdBenchmarkSuite
		want  string
	}{
		"good":                     {table(rounds(3), compared), ""},
		"no cell":                  {table(exclude("old"), exclude("new")), "leaves no cell"},
		"no baseline":              {table(rounds(3), compared, exclude("old")), "nothing to compare with the baseline old"},
		"an operation of none":     {table(rounds(3), metric(of(spec.OperationTxn))), "no workload of the suite has the operation Txn"},
		"an operation of some":     {table(rounds(3), metric(of(spec.OperationPut))), ""},
		"a figure of a cell":       {table(publishes("new/range/c100")), ""},
		"a figure of no cell":      {table(publishes("old/put/c1"), exclude("old")), "figures[0].cell: the suite has no cell old/put/c1"},
		"nothing is compared here": {table(exclude("old")), ""},
	} {
		if err := Check(tc.suite); tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: got %v, wanted %q", name, err, tc.want)
		}
	}
}

// A cell is compared only by metrics that its workload has.
func TestMetricsOfOtherWorkloads(t *testing.T) {
	s := table(rounds(3), compared, func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Workloads[0].Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{}}
		s.Spec.Compare.Metrics = []v1alpha1.Metric{{Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP50}}
	})
	play(t, s, ordinary)
	if len(s.Status.Comparisons) != 2 || s.Status.Comparisons[0].Cell != "new/range/c1" {
		t.Errorf("got %+v, wanted the two cells that put", s.Status.Comparisons)
	}
}
