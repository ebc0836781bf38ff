package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

type change = func(*v1alpha1.EtcdBenchmarkSuite)

// session plays a suite of three rounds in which all runs have about this throughput.
func session(perSecond float64, changes ...change) *v1alpha1.EtcdBenchmarkSuite {
	return played(table(append([]change{rounds(3)}, changes...)...), perSecond)
}

func played(s *v1alpha1.EtcdBenchmarkSuite, perSecond float64) *v1alpha1.EtcdBenchmarkSuite {
	Start(s, 1, now)
	for p, more := Then(s, false); more; p, more = Then(s, false) {
		Add(s, p, finished(string(spec.DecimalOf(perSecond+float64(p.Round)))), now)
	}
	SetFinished(s, false, now)
	return s
}

// storedBaseline compares with another suite.
func storedBaseline(metrics ...v1alpha1.Metric) change {
	return func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Compare = &v1alpha1.SuiteCompare{Baseline: v1alpha1.SuiteBaseline{Suite: &v1alpha1.BaselineSuite{Name: "release"}}, Metrics: metrics}
	}
}

var throughput = v1alpha1.Metric{Type: v1alpha1.MetricThroughput}

// known is a history of equal sessions with this spread.
func known(sessions int, spread float64) Histories {
	return Histories{Schedule: "weekly", Rounds: 3, Of: func(string, v1alpha1.Metric, v1alpha1.Environment) (int, float64) { return sessions, spread }}
}

func TestAStoredBaseline(t *testing.T) {
	for name, tc := range map[string]struct {
		perSecond float64
		history   Histories
		verdict   v1alpha1.ComparisonVerdict
		reason    v1alpha1.ComparisonReason
		passed    metav1.ConditionStatus
	}{
		"no history":          {4000, Histories{}, v1alpha1.NotCompared, v1alpha1.ReasonNotConcurrent, metav1.ConditionUnknown},
		"a short history":     {4000, known(4, 0.01), v1alpha1.NotCompared, v1alpha1.ReasonNotConcurrent, metav1.ConditionUnknown},
		"worse":               {4000, known(9, 0.01), v1alpha1.Regressed, "", metav1.ConditionFalse},
		"the same":            {5000, known(9, 0.01), v1alpha1.NotRegressed, "", metav1.ConditionTrue},
		"in differing nights": {4000, known(9, 0.2), v1alpha1.NotCompared, v1alpha1.ReasonNoisy, metav1.ConditionUnknown},
	} {
		baseline := session(5000)
		s := table(rounds(3), storedBaseline(throughput))
		if err := Keep(s, baseline, tc.history); err != nil {
			t.Fatal(err)
		}
		// What happens to the baseline afterwards changes nothing.
		baseline.Status.Results = nil
		played(s, tc.perSecond)
		if got := len(s.Status.Comparisons); got != len(Cells(s)) {
			t.Errorf("%s: %d comparisons, wanted one for each cell", name, got)
		}
		for _, c := range s.Status.Comparisons {
			if c.Verdict != tc.verdict || c.Reason != tc.reason || c.Rounds != 3 || c.Baseline < 5_000_000 || c.BaselineCell != c.Cell {
				t.Errorf("%s: found %+v, wanted %s %s", name, c, tc.verdict, tc.reason)
			}
			if want := int64(tc.perSecond-5000) * 200; c.ChangePerMillion == nil || *c.ChangePerMillion < want-5000 || *c.ChangePerMillion > want+5000 {
				t.Errorf("%s: found a change of %v, wanted about %d", name, c.ChangePerMillion, want)
			}
		}
		if got := Judge(s).Status; got != tc.passed {
			t.Errorf("%s: Passed is %s, wanted %s", name, got, tc.passed)
		}
	}
}

// Who measured the baseline, and how much of it was lost, decides whether it can be judged.
func TestDoubtsAboutAStoredBaseline(t *testing.T) {
	client := func(name string) change {
		return func(s *v1alpha1.EtcdBenchmarkSuite) {
			for i := range s.Status.Results {
				s.Status.Results[i].Client = name
			}
		}
	}
	lost := func(s *v1alpha1.EtcdBenchmarkSuite) { s.Status.Results[0].Invalid = "it failed" }
	added := func(percent int64) change {
		return func(s *v1alpha1.EtcdBenchmarkSuite) {
			for i := range s.Status.Results {
				s.Status.Results[i].ClientBound, s.Status.Results[i].AddedPerMillion = true, 10_000*percent
			}
		}
	}
	nothing := func(*v1alpha1.EtcdBenchmarkSuite) {}
	onlyFirst := func(s *v1alpha1.EtcdBenchmarkSuite) { s.Status.Results[0].DataInMemory = true }
	for name, tc := range map[string]struct {
		baseline, candidate change
		want                v1alpha1.ComparisonReason
	}{
		"the same clients":  {client("a"), client("a"), ""},
		"clients not known": {client(""), client("a"), v1alpha1.ReasonEnvironmentDiffers},
		"neither known":     {client(""), client(""), v1alpha1.ReasonEnvironmentDiffers},
		"data in memory": {nothing, func(s *v1alpha1.EtcdBenchmarkSuite) {
			for i := range s.Status.Results {
				s.Status.Results[i].DataInMemory = true
			}
		}, v1alpha1.ReasonEnvironmentDiffers},
		"data in memory in one round": {onlyFirst, func(s *v1alpha1.EtcdBenchmarkSuite) {
			for i := range s.Status.Results {
				s.Status.Results[i].DataInMemory = true
			}
		}, v1alpha1.ReasonEnvironmentDiffers},
		"data in memory in one round of each": {onlyFirst, onlyFirst, ""},
		"other clients":                       {client("a"), client("b"), v1alpha1.ReasonEnvironmentDiffers},
		"clients that changed": {func(s *v1alpha1.EtcdBenchmarkSuite) {
			client("a")(s)
			s.Status.Results[len(s.Status.Results)-1].Client = "b"
		}, client("a"), ""},
		"load generators that hide a change": {added(60), added(60), v1alpha1.ReasonComparedClientBound},
		"alike load generators":              {added(20), added(24), ""},
		"unlike load generators":             {added(20), added(26), v1alpha1.ReasonComparedClientBound},
		"a run lost":                         {nothing, lost, v1alpha1.ReasonExclusionsDiffer},
		"a run lost before":                  {lost, nothing, v1alpha1.ReasonExclusionsDiffer},
	} {
		baseline := session(5000)
		tc.baseline(baseline)
		s := table(rounds(3), storedBaseline(throughput))
		if err := Keep(s, baseline, known(9, 0.01)); err != nil {
			t.Fatal(err)
		}
		played(s, 5000)
		tc.candidate(s)
		Update(s)
		if got := s.Status.Comparisons[0]; got.Reason != tc.want {
			t.Errorf("%s: found %s %s, wanted %q", name, got.Verdict, got.Reason, tc.want)
		}
		if name == "clients that changed" && !slices.ContainsFunc(s.Status.Comparisons, func(c v1alpha1.SuiteComparison) bool { return c.Reason == v1alpha1.ReasonEnvironmentDiffers }) {
			t.Errorf("%s: no comparison says so", name)
		}
	}
}

func TestKeepRefuses(t *testing.T) {
	otherLoad := func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Loads[0].Load.Clients += 5 }
	fewer := func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Exclude = []v1alpha1.SuiteExclusion{{Target: "old", Load: "c1"}}
	}
	unfinished := session(5000)
	unfinished.Status.Conditions = nil
	search := session(5000)
	search.Spec.Search = &v1alpha1.SuiteSearch{}
	stopped := table(rounds(3))
	Start(stopped, 1, now)
	p, _ := Then(stopped, false)
	Add(stopped, p, finished("5000"), now)
	SetFinished(stopped, true, now)
	empty := table(rounds(3))
	EndAsInvalid(empty, "no cell", now)
	for name, tc := range map[string]struct {
		baseline *v1alpha1.EtcdBenchmarkSuite
		want     string
	}{
		"another load":      {session(5000, otherLoad), "old/put/c1 did not do the same, so it cannot be compared. It differs in load.clients (6, 1)"},
		"a cell is missing": {session(5000, fewer), "no cell old/put/c1"},
		"not finished":      {unfinished, "has not finished"},
		"a search":          {search, "a search"},
		"no results":        {empty, "no results"},
		"stopped":           {stopped, "23 of its 24 planned runs did not run"},
	} {
		s := table(rounds(3), storedBaseline(throughput))
		if err := Keep(s, tc.baseline, Histories{}); err == nil || !strings.Contains(err.Error(), tc.want) || s.Status.Baseline != nil {
			t.Errorf("%s: found %v and %+v, wanted an error with %q", name, err, s.Status.Baseline, tc.want)
		}
	}
}

// The numbers of a baseline are those that it kept for a comparison, else those of its table.
func TestNumbersOfABaseline(t *testing.T) {
	p50 := v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP50}
	of := func(statistic spec.Statistic) v1alpha1.Metric {
		return v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: statistic}
	}
	atRate := func(s *v1alpha1.EtcdBenchmarkSuite) {
		for i := range s.Spec.Loads {
			s.Spec.Loads[i].Load.Rate = &spec.Rate{PerSecond: 5000}
		}
	}
	for name, tc := range map[string]struct {
		baseline *v1alpha1.EtcdBenchmarkSuite
		m        v1alpha1.Metric
		value    int64
		reason   v1alpha1.ComparisonReason
		atLeast  bool
	}{
		"throughput":               {session(5000), throughput, 5_002_000, "", false},
		"the throughput of a rate": {session(5000, atRate), throughput, 5_002_000, v1alpha1.ReasonNotInformative, false},
		"a median":                 {session(5000), p50, 1000, "", false},
		"a mean with failures":     {session(5000), of(spec.StatisticMean), 1500, "", true},
		"a thin percentile":        {session(5000), of(spec.StatisticP99), 0, v1alpha1.ReasonComparedTailTooThin, false},
		"one that is not kept":     {session(5000), of(spec.StatisticP95), 0, v1alpha1.ReasonNotMeasured, false},
		"one that was compared":    {session(5000, compared, func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Compare.Metrics = []v1alpha1.Metric{p50} }), p50, 1000, "", false},
	} {
		cell := Cells(tc.baseline)[0]
		v := storedNumber(tc.baseline, cell, tc.m)
		got := keptStored(v, tc.m)
		if near := got.Value - tc.value; near < -1000 && tc.m.Type == v1alpha1.MetricThroughput || near > 1000 || got.Reason != tc.reason || got.AtLeast != tc.atLeast {
			t.Errorf("%s: found %+v, wanted %d %s", name, got, tc.value, tc.reason)
		}
		if tc.value > 0 && (got.Rounds != 3 || got.ErrorPerMillion == 0 && tc.m.Type == v1alpha1.MetricLatency) {
			t.Errorf("%s: found %+v, wanted three rounds and an error", name, got)
		}
	}
}

func TestAgainst(t *testing.T) {
	r, err := Against(session(5000), session(4000), nil, Histories{})
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]bool{}
	for _, c := range r.Comparisons {
		cells[c.Cell] = true
		if c.Verdict != v1alpha1.NotCompared || c.Reason != v1alpha1.ReasonNotConcurrent || c.Rounds != 3 || c.LowPerMillion != nil {
			t.Errorf("%s %s: found %+v, wanted no verdict on another session", c.Cell, c.Metric, c)
		}
		if c.Metric.Type == v1alpha1.MetricThroughput && (*c.ChangePerMillion > -195_000 || *c.ChangePerMillion < -205_000) {
			t.Errorf("%s: found the change %+v, wanted about -20 %%", c.Cell, c)
		}
	}
	if want := len(Cells(session(1))); len(cells) != want || r.Verdict != v1alpha1.NotCompared || len(r.Comparisons) != 2*want {
		t.Errorf("found %s about the cells %v, wanted %d with two metrics each", r.Verdict, cells, want)
	}
	r, err = Against(session(5000), session(4000), []v1alpha1.Metric{throughput}, known(9, 0.01))
	if err != nil || r.Verdict != v1alpha1.Regressed || r.Schedule != "weekly" {
		t.Errorf("found %+v, %v, wanted a verdict by the history", r, err)
	}
	fewer := func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Exclude = []v1alpha1.SuiteExclusion{{Target: "old"}} }
	r, err = Against(session(5000, fewer), session(4000), []v1alpha1.Metric{throughput}, Histories{})
	if err != nil || len(r.Comparisons) != 4 || fmt.Sprint(r.Left) != "[old/put/c1 old/put/c100 old/range/c1 old/range/c100]" {
		t.Errorf("found %+v, %v, wanted four cells compared and four left", r, err)
	}
}

func TestAgainstRefuses(t *testing.T) {
	other := func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Loads[0].Load.Clients += 5 }
	renamed := func(s *v1alpha1.EtcdBenchmarkSuite) {
		for i := range s.Spec.Workloads {
			s.Spec.Workloads[i].Name += "x"
		}
	}
	searching := session(1)
	searching.Spec.Search = &v1alpha1.SuiteSearch{}
	for name, tc := range map[string]struct {
		candidate *v1alpha1.EtcdBenchmarkSuite
		want      string
	}{
		"another load": {session(1, other), "load.clients"},
		"other names":  {session(1, renamed), "nothing that both suites have"},
		"a search":     {searching, "search"},
	} {
		if r, err := Against(session(1), tc.candidate, nil, Histories{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: found %v, %v, wanted an error with %q", name, r, err, tc.want)
		}
	}
}
