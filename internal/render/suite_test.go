package render

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// ranSuite is a finished suite of puts and reads at two targets, of which the second is a tenth slower.
func ranSuite(rounds int32, change func(*v1alpha1.EtcdBenchmarkSuite)) *v1alpha1.EtcdBenchmarkSuite {
	s := &v1alpha1.EtcdBenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "etcd", Name: "nightly"}}
	s.Spec.Rounds = rounds
	s.Spec.Targets = []v1alpha1.SuiteTarget{{Name: "old"}, {Name: "new"}}
	s.Spec.Workloads = []v1alpha1.SuiteWorkload{
		{Name: "put", Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{}}},
		{Name: "range", Workload: spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{Consistency: spec.Serializable}}},
	}
	s.Spec.Loads = []v1alpha1.SuiteLoad{{Name: "many", Load: spec.Load{Clients: 1000, Connections: 100}}}
	s.Status.Seed = new(int64(1))
	change(s)
	for _, p := range suite.Plan(s) {
		perSecond, operation := 10_000+int64(p.Round), spec.OperationPut
		if p.Cell.Target.Name == "new" {
			perSecond -= 1000
		}
		if p.Cell.Workload.Name == "range" {
			operation = spec.OperationRange
		}
		s.Status.Results = append(s.Status.Results, v1alpha1.SuiteResult{
			Name: p.Name, Cell: p.Cell.Name, Round: p.Round, Reason: v1alpha1.ReasonCompleted, ServerMemoryBytes: 48_000_000, Environment: v1alpha1.Environment{Client: "a"},
			Operations: []v1alpha1.SuiteOperation{{
				Operation: operation, Succeeded: 100_000, ThroughputMilliPerSecond: 1000 * perSecond, MeanMicroseconds: 1600, P99Microseconds: 9000,
			}},
			Values: []v1alpha1.SuiteValue{{Value: 1000 * perSecond}},
		})
	}
	s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted, Message: "All runs have ended."}}
	suite.Update(s)
	return s
}

func written(t *testing.T, s *v1alpha1.EtcdBenchmarkSuite) string {
	t.Helper()
	var out strings.Builder
	if err := WriteSuite(&out, s); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// lineWith returns the fields of the only line with these texts.
func lineWith(t *testing.T, page string, texts ...string) string {
	t.Helper()
	var found []string
	for line := range strings.Lines(page) {
		has := true
		for _, text := range texts {
			has = has && strings.Contains(line, text)
		}
		if has {
			found = append(found, strings.Join(strings.Fields(line), " "))
		}
	}
	if len(found) != 1 {
		t.Fatalf("wanted one line with %q, found %d in\n%s", texts, len(found), page)
	}
	return found[0]
}

func TestSuiteHasTheColumnsOfThePage(t *testing.T) {
	page := written(t, ranSuite(1, func(*v1alpha1.EtcdBenchmarkSuite) {}))
	for _, tc := range []struct {
		texts []string
		want  string
	}{
		{[]string{"CELL", "TARGET"}, "CELL PUTS CONNECTIONS CLIENTS TARGET WRITE QPS AVG LATENCY P99 AVG SERVER RSS"},
		{[]string{"old/put"}, "old/put Put 100,000 100 1,000 all members 10,001 1.6ms 9ms 48 MB"},
		{[]string{"CELL", "CONSISTENCY"}, "CELL REQUESTS CONNECTIONS CLIENTS CONSISTENCY READ QPS AVG LATENCY P99 AVG SERVER RSS"},
		{[]string{"new/range"}, "new/range Range 100,000 100 1,000 Serializable 9,001 1.6ms 9ms 48 MB"},
	} {
		if got := lineWith(t, page, tc.texts...); got != tc.want {
			t.Errorf("got  %s\nwanted %s", got, tc.want)
		}
	}
	if strings.Contains(page, "±") {
		t.Errorf("one round has a spread:\n%s", page)
	}
}

func TestSuiteShowsSpreadAndComparisons(t *testing.T) {
	page := written(t, ranSuite(3, func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Compare = &v1alpha1.SuiteCompare{Axis: v1alpha1.AxisTargets, Baseline: v1alpha1.SuiteBaseline{Entry: "old"}, Metrics: []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}}}
	}))
	if got := lineWith(t, page, "old/put", "100,000"); !strings.Contains(got, "10,002 ±0 %") {
		t.Errorf("got %s", got)
	}
	if got := lineWith(t, page, "new/put", "Throughput"); !strings.Contains(got, "-10.0 %") || !strings.HasSuffix(got, "Regressed") {
		t.Errorf("got %s", got)
	}
}

func TestSuiteAsAMatrix(t *testing.T) {
	page := written(t, ranSuite(3, func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Table = &v1alpha1.SuiteTable{Form: v1alpha1.TableMatrix, Columns: v1alpha1.AxisTargets}
		s.Spec.Compare = &v1alpha1.SuiteCompare{Axis: v1alpha1.AxisTargets, Baseline: v1alpha1.SuiteBaseline{Entry: "old"}, Metrics: []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}}}
		s.Spec.Exclude = []v1alpha1.SuiteExclusion{{Target: "new", Workload: "range"}}
	}))
	for _, want := range []string{"THROUGHPUT old new", "put/many 10,002/s 9,002/s (-10.0 %)", "range/many 10,002/s"} {
		if got := lineWith(t, page, strings.Fields(want)[0], strings.Fields(want)[1]); got != want {
			t.Errorf("got %s, wanted %s", got, want)
		}
	}
}

func publishes(m v1alpha1.Metric, value int64) *v1alpha1.SuiteCompare {
	return &v1alpha1.SuiteCompare{Metrics: []v1alpha1.Metric{m}, Baseline: v1alpha1.SuiteBaseline{Values: &v1alpha1.PublishedFigures{
		Source: "https://example.org/page", Figures: []v1alpha1.PublishedFigure{{Cell: "old/put", Value: value}},
	}}}
}

// The table in the columns of etcd's page has the change, too; nothing is judged.
func TestThePageShowsTheChangeAgainstPublishedFigures(t *testing.T) {
	for _, tc := range []struct {
		metric v1alpha1.Metric
		value  int64
		want   string
	}{
		{v1alpha1.Metric{Type: v1alpha1.MetricThroughput}, 8_000, "10,002 ±0 % (+25.0 %)"},
		{v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticMean}, 2_000, "1.6ms ±0 % (-20.0 %)"},
		{v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP99}, 6_000, "9ms ±0 % (+50.0 %)"},
	} {
		s := ranSuite(3, func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Compare = publishes(tc.metric, tc.value) })
		page := written(t, s)
		if got := lineWith(t, page, "old/put"); !strings.Contains(got, tc.want) {
			t.Errorf("got %s, wanted %s", got, tc.want)
		}
		if got := lineWith(t, page, "new/put"); strings.Contains(got, "(") {
			t.Errorf("got %s, which has no figure", got)
		}
		if s.Status.Comparisons != nil || s.Status.Runs.Regressed != nil || suite.Judge(s) != nil {
			t.Errorf("published figures are judged: %+v", s.Status)
		}
	}
}

func TestAMatrixShowsTheChangeAgainstPublishedFigures(t *testing.T) {
	published := func(metric v1alpha1.Metric, value int64) string {
		return written(t, ranSuite(3, func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Spec.Table = &v1alpha1.SuiteTable{Form: v1alpha1.TableMatrix, Columns: v1alpha1.AxisTargets, Metric: &metric}
			s.Spec.Compare = publishes(metric, value)
		}))
	}
	page := published(v1alpha1.Metric{Type: v1alpha1.MetricThroughput}, 8_000)
	if got := lineWith(t, page, "put/many"); got != "put/many 10,002/s (+25.0 %) 9,002/s" {
		t.Errorf("got %s", got)
	}
	if !strings.Contains(page, "https://example.org/page") {
		t.Errorf("the source is missing:\n%s", page)
	}
	page = published(v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP99}, 10_000)
	if got := lineWith(t, page, "put/many"); got != "put/many 9ms (-10.0 %) 9ms" {
		t.Errorf("got %s", got)
	}
}

// The sum of a round is that of its cells; the order of the cells in a round does not matter.
func TestSuiteAddsUpThroughput(t *testing.T) {
	sum := func(sum v1alpha1.SuiteSum) func(*v1alpha1.EtcdBenchmarkSuite) {
		return func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Table = &v1alpha1.SuiteTable{Sum: &sum} }
	}
	page := written(t, ranSuite(3, sum(v1alpha1.SuiteSum{Axis: v1alpha1.AxisTargets})))
	for _, want := range []string{"sum/put Put 200,000 19,004 ±0 %", "sum/range Range 200,000 19,004 ±0 %"} {
		if got := lineWith(t, page, strings.Fields(want)[0]); got != want {
			t.Errorf("got %s, wanted %s", got, want)
		}
	}
	if page := written(t, ranSuite(1, sum(v1alpha1.SuiteSum{Axis: v1alpha1.AxisLoads}))); strings.Contains(page, "sum") {
		t.Errorf("the axis has one entry, and there is a sum:\n%s", page)
	}
	s := ranSuite(1, sum(v1alpha1.SuiteSum{Axis: v1alpha1.AxisTargets}))
	s.Status.Results = s.Status.Results[:1]
	if got := lineWith(t, written(t, s), "sum/put"); !strings.Contains(got, "a cell has no result") {
		t.Errorf("got %s", got)
	}
}

func TestSuiteNamesProblems(t *testing.T) {
	s := ranSuite(1, func(*v1alpha1.EtcdBenchmarkSuite) {})
	s.Status.Results[1].Reason, s.Status.Results[1].Invalid = v1alpha1.ReasonTargetLost, "it ended as TargetLost"
	s.Status.Results[2].Passed = metav1.ConditionFalse
	page := written(t, s)
	for i, want := range map[int]string{1: "TargetLost it ended as TargetLost", 2: "Completed it missed an objective"} {
		r := s.Status.Results[i]
		if got := lineWith(t, page, r.Name); got != fmt.Sprintf("%s %s 1 %s", r.Name, r.Cell, want) {
			t.Errorf("got %s", got)
		}
	}
	if got := lineWith(t, page, s.Status.Results[1].Cell, "no result"); got == "" {
		t.Error("a cell without a result is missing")
	}
}

// A search has a sentence with its answer, and its probes from the lowest rate to the highest.
func TestSearchIsWritten(t *testing.T) {
	s := ranSuite(1, func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Targets, s.Spec.Workloads, s.Spec.Loads = s.Spec.Targets[:1], s.Spec.Workloads[:1], nil
		s.Spec.Search = &v1alpha1.SuiteSearch{MinPerSecond: 10, MaxPerSecond: 100_000, TolerancePercent: 5, Confirmations: 3, MaxProbes: 40}
	})
	s.Status.Results = nil
	for i, p := range []v1alpha1.SuiteProbe{
		{Role: v1alpha1.ProbeCeiling, ThroughputMilliPerSecond: 12_000_000},
		{Role: "Sweep", AskedPerSecond: 1200, ThroughputMilliPerSecond: 1_199_000},
		{Role: "Sweep", AskedPerSecond: 4800, ThroughputMilliPerSecond: 4_100_000, LimitedBy: "p99 (wanted ≤25ms, got 40ms)"},
		{Role: "Bisect", AskedPerSecond: 2400, ThroughputMilliPerSecond: 2_400_000},
	} {
		passed := metav1.ConditionTrue
		if p.LimitedBy != "" {
			passed = metav1.ConditionFalse
		}
		s.Status.Results = append(s.Status.Results, v1alpha1.SuiteResult{
			Name: "p", Cell: "put", Round: int32(i + 1), Reason: v1alpha1.ReasonCompleted, Passed: passed, Probe: &p,
			Operations: []v1alpha1.SuiteOperation{{Operation: spec.OperationPut, Succeeded: 4100, AtLeast: p.LimitedBy != "", P50Microseconds: 1000, P99Microseconds: 9000, MaxMicroseconds: 20_000}},
		})
	}
	s.Status.Capacities = []v1alpha1.SuiteCapacity{{
		Cell: "put", State: v1alpha1.CapacityFound, RatePerSecond: 4600, FirstMissedPerSecond: 4800, LimitedBy: "p99 (wanted ≤25ms, got 40ms)", Confirmed: 3, Tried: 3,
	}}
	out := written(t, s)
	if !strings.Contains(strings.Join(strings.Fields(out), " "), "Found. 4,600/s meets all objectives, and 3 of 3 further runs confirm it. 4,800/s misses p99 (wanted ≤25ms, got 40ms).") {
		t.Errorf("got\n%s", out)
	}
	for _, want := range []string{"1 Ceiling – 12,000/s 4,100 1ms 9ms – 20ms 0 –", "2 Sweep 1,200/s 1,199/s 4,100 1ms 9ms – 20ms 0 Met", "3 Sweep 4,800/s 4,100/s 4,100 ≥1ms ≥9ms – ≥20ms 0 Missed: p99"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("wanted %q in\n%s", want, out)
		}
	}
	if strings.Index(out, "Bisect") > strings.Index(out, "4,100/s") {
		t.Errorf("wanted the probes by rate in\n%s", out)
	}
}

// A cell says in its row if its numbers are not those of all rounds.
func TestRowsSayWhatIsMissing(t *testing.T) {
	s := ranSuite(3, func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Targets, s.Spec.Workloads = s.Spec.Targets[:1], s.Spec.Workloads[:1]
	})
	if out := written(t, s); strings.Contains(out, "round)") || strings.Contains(out, "(invalid)") || strings.Contains(out, "of 3 rounds)") {
		t.Errorf("got\n%s", out)
	}
	s.Status.Results[1].Invalid = "the client was a limit"
	if out := written(t, s); !strings.Contains(out, "put (2 of 3 rounds)") {
		t.Errorf("got\n%s", out)
	}
	s.Status.Results[0].Invalid, s.Status.Results[2].Invalid = "no", "no"
	if out := written(t, s); !strings.Contains(out, "put (invalid)") {
		t.Errorf("got\n%s", out)
	}
	s.Status.Results, s.Status.Conditions[0].Reason = nil, v1alpha1.ReasonInvalidCell
	if out := written(t, s); strings.Contains(out, "CELL") || strings.Contains(out, "planned") {
		t.Errorf("wanted no table of a suite that did not start, got\n%s", out)
	}
}
