package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// table is a suite of two targets, two workloads and two loads.
func table(changes ...func(*v1alpha1.EtcdBenchmarkSuite)) *v1alpha1.EtcdBenchmarkSuite {
	s := &v1alpha1.EtcdBenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "etcd", Name: "nightly"}}
	s.Spec.Rounds, s.Spec.OnRunFailed = 1, v1alpha1.RunFailedContinue
	s.Status.Seed = new(int64(42))
	for _, name := range []v1alpha1.EntryName{"old", "new"} {
		s.Spec.Targets = append(s.Spec.Targets, v1alpha1.SuiteTarget{Name: name, Target: v1alpha1.Target{Endpoints: []string{string(name) + ":2379"}}})
	}
	for _, name := range []v1alpha1.EntryName{"put", "range"} {
		s.Spec.Workloads = append(s.Spec.Workloads, v1alpha1.SuiteWorkload{Name: name, Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{}}})
	}
	for _, clients := range []int32{1, 100} {
		s.Spec.Loads = append(s.Spec.Loads, v1alpha1.SuiteLoad{Name: v1alpha1.EntryName(fmt.Sprint("c", clients)), Load: spec.Load{Clients: clients}})
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

func rounds(n int32) func(*v1alpha1.EtcdBenchmarkSuite) {
	return func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Rounds = n }
}

func compared(s *v1alpha1.EtcdBenchmarkSuite) {
	s.Spec.Compare = &v1alpha1.SuiteCompare{Axis: v1alpha1.AxisTargets, Baseline: v1alpha1.SuiteBaseline{Entry: "old"}, Metrics: []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}}}
}

func cellNames(s *v1alpha1.EtcdBenchmarkSuite) (names []string) {
	for _, c := range Cells(s) {
		names = append(names, c.Name)
	}
	return names
}

func TestCells(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.EtcdBenchmarkSuite)
		want   []string
	}{
		"all": {func(*v1alpha1.EtcdBenchmarkSuite) {}, []string{
			"old/put/c1", "new/put/c1", "old/put/c100", "new/put/c100", "old/range/c1", "new/range/c1", "old/range/c100", "new/range/c100",
		}},
		"an axis of one entry is not named": {func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Targets = s.Spec.Targets[:1] }, []string{"put/c1", "put/c100", "range/c1", "range/c100"}},
		"one cell": {func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Spec.Targets, s.Spec.Workloads, s.Spec.Loads = s.Spec.Targets[:1], s.Spec.Workloads[:1], s.Spec.Loads[:1]
		}, []string{"put"}},
		"exclusions": {func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Spec.Exclude = []v1alpha1.SuiteExclusion{{Target: "old", Workload: "range"}, {Load: "c1"}}
		}, []string{"old/put/c100", "new/put/c100", "new/range/c100"}},
	} {
		if diff := cmp.Diff(tc.want, cellNames(table(tc.change))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A round has each cell once. Rounds have different orders, and a seed always the same ones.
func TestPlanShufflesRounds(t *testing.T) {
	s := table(rounds(4))
	plan := Plan(s)
	if len(plan) != 32 {
		t.Fatalf("%d runs are planned, wanted 32", len(plan))
	}
	orders, names := map[string]bool{}, map[string]bool{}
	for round := range 4 {
		var order []string
		for _, p := range plan[8*round : 8*round+8] {
			if p.Round != int32(round+1) || names[p.Name] {
				t.Errorf("%+v is in the wrong round, or its name is not unique", p)
			}
			names[p.Name] = true
			order = append(order, p.Cell.Name)
		}
		orders[fmt.Sprint(order)] = true
		slices.Sort(order)
		if got := len(slices.Compact(order)); got != 8 {
			t.Errorf("round %d has %d different cells, wanted 8", round+1, got)
		}
	}
	if len(orders) != 4 {
		t.Errorf("%d of 4 rounds have an order of their own", len(orders))
	}
	if diff := cmp.Diff(plan, Plan(table(rounds(4))), cmp.AllowUnexported(Cell{})); diff != "" {
		t.Errorf("the same seed has another order:\n%s", diff)
	}
	s.Status.Seed = new(int64(43))
	if cmp.Equal(plan, Plan(s), cmp.AllowUnexported(Cell{})) {
		t.Error("another seed has the same order")
	}
}

// The name of a run does not depend on what else is excluded or on the order.
func TestNamesOfRuns(t *testing.T) {
	s := table(func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Exclude = []v1alpha1.SuiteExclusion{{Target: "old"}} })
	if got := Plan(s)[0]; got.Name != "nightly-2-1" || got.Cell.Name != "new/put/c1" {
		t.Errorf("got %+v", got)
	}
}

func TestRunTakesEachFieldFromOnePlace(t *testing.T) {
	s := table(func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Template = v1alpha1.SuiteTemplate{TimeoutSeconds: 77, OnPodLost: v1alpha1.PodLossContinue, Guard: &spec.Guard{AcceptWrites: true}}
		s.Spec.Workloads[0].Objectives = []v1alpha1.Objective{{Name: "fast"}}
	})
	run := Plan(s)[3].Run(s)
	if run.Spec.Target.Endpoints[0] != "new:2379" || run.Spec.Load.Clients != 100 || run.Spec.Objectives[0].Name != "fast" ||
		run.Spec.TimeoutSeconds != 77 || run.Spec.OnPodLost != v1alpha1.PodLossContinue || !run.Spec.Guard.AcceptWrites {
		t.Errorf("got %+v", run.Spec)
	}
	if run.Namespace != "etcd" || run.Labels[v1alpha1.LabelSuite] != "nightly" || run.Labels[v1alpha1.LabelCell] != "new.put.c100" || run.Labels[v1alpha1.LabelRound] != "1" {
		t.Errorf("got %+v", run.ObjectMeta)
	}
	run.Spec.Guard.AcceptWrites, run.Spec.Target.Endpoints[0] = false, "changed"
	if !s.Spec.Template.Guard.AcceptWrites || s.Spec.Targets[1].Target.Endpoints[0] != "new:2379" {
		t.Error("a change of the run has changed the suite")
	}
}

// finished is a run with this throughput.
func finished(perSecond string, change ...func(*v1alpha1.EtcdBenchmark)) *v1alpha1.EtcdBenchmark {
	run := &v1alpha1.EtcdBenchmark{}
	run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted}}
	run.Status.Summary = &v1alpha1.Summary{
		MeasuredRequests: 1000, ThroughputPerSecond: spec.Decimal(perSecond), Fingerprint: &v1alpha1.Fingerprint{Client: "a"},
		Operations: []v1alpha1.OperationSummary{{
			Operation: spec.OperationPut, Succeeded: 990, Failed: 4, Censored: 6, ThroughputPerSecond: spec.Decimal(perSecond),
			Latency: &v1alpha1.LatencySummary{MeanMicroseconds: 1500, P50Microseconds: 1000, P90Microseconds: 2000, P99Microseconds: 9000, Thin: []spec.Statistic{spec.StatisticP99}},
		}},
	}
	for _, c := range change {
		c(run)
	}
	return run
}

func clientBound(run *v1alpha1.EtcdBenchmark) {
	run.Status.Summary.Validity = &v1alpha1.Validity{Verdict: v1alpha1.ValidityClientBound}
}

// waited is a load generator that was a limit, and has added at most this share of the mean latency, in per cent.
func waited(percent int64) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Status.Summary.Validity = &v1alpha1.Validity{Verdict: v1alpha1.ValidityClientBound, AddedPerMillion: new(10_000 * percent)}
	}
}

func ended(reason string) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) { run.Status.Conditions[0].Reason = reason }
}

func passed(status metav1.ConditionStatus) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: status})
	}
}

// play runs a suite to its end. result gives the run of each name; nil is an ordinary one.
func play(t *testing.T, s *v1alpha1.EtcdBenchmarkSuite, result func(Planned) *v1alpha1.EtcdBenchmark) (order []string) {
	t.Helper()
	for range 1000 {
		p, more := Next(s)
		if !more {
			Update(s)
			return order
		}
		order = append(order, p.Name)
		run := result(p)
		if run == nil {
			run = finished("5000")
		}
		s.Status.Results = append(s.Status.Results, Result(s, p, run))
	}
	t.Fatal("the suite does not end")
	return nil
}

func ordinary(Planned) *v1alpha1.EtcdBenchmark { return nil }

// The next run follows from the results in status alone: none is lost, and none runs twice.
func TestNextFollowsThePlan(t *testing.T) {
	s := table(rounds(3))
	var want []string
	for _, p := range Plan(s) {
		want = append(want, p.Name)
	}
	if diff := cmp.Diff(want, play(t, s, ordinary)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if run := Plan(s)[9].Run(s); run.Spec.Load.Seed != 1 {
		t.Errorf("the second round has the seed %d, wanted another than the first", run.Spec.Load.Seed)
	}
	if s.Status.Runs != (v1alpha1.SuiteRuns{Cells: 8, Planned: 24, Finished: 24}) {
		t.Errorf("got %+v", s.Status.Runs)
	}
}

// A suite that compares repeats a run with invalid numbers once, in the same round, and then counts the repetition.
func TestInvalidRunsAreRepeatedOnce(t *testing.T) {
	s := table(rounds(3), compared)
	bad := Plan(s)[9].Name
	order := play(t, s, func(p Planned) *v1alpha1.EtcdBenchmark {
		if p.Name == bad {
			return finished("10", clientBound)
		}
		return nil
	})
	if i := slices.Index(order, bad+again); i != 16 || len(order) != 25 {
		t.Errorf("%d runs, and the repetition is number %d, wanted 25, and 17: at the end of the second round", len(order), i+1)
	}
	for _, c := range s.Status.Comparisons {
		if c.Rounds != 3 || c.Verdict != v1alpha1.NotRegressed {
			t.Errorf("got %+v, wanted three equal rounds", c)
		}
	}
	if r := s.Status.Runs; r.Invalid != 1 || r.Finished != 24 || r.Repeated != 1 {
		t.Errorf("got %+v, wanted 24 runs, of which one invalid, and one repetition", r)
	}
	if again := play(t, table(rounds(2), compared), func(Planned) *v1alpha1.EtcdBenchmark { return finished("10", clientBound) }); len(again) != 32 {
		t.Errorf("%d runs if all are invalid, wanted 32", len(again))
	}
	if once := play(t, table(rounds(2)), func(Planned) *v1alpha1.EtcdBenchmark { return finished("10", clientBound) }); len(once) != 16 {
		t.Errorf("%d runs of a suite that compares nothing, wanted 16", len(once))
	}
}

// A load generator that has added a known part of the latency decides what it cannot have hidden: no run is repeated, and the
// suite has a verdict.
func TestASuiteBehindALoadGenerator(t *testing.T) {
	for name, tc := range map[string]struct {
		candidate float64
		want      metav1.ConditionStatus
		reason    v1alpha1.ComparisonReason
		runs      int
		share     int64
	}{
		"the same":       {5000, metav1.ConditionTrue, "", 24, 30},
		"a loss":         {4000, metav1.ConditionFalse, "", 24, 30},
		"a hidden loss":  {4800, metav1.ConditionUnknown, v1alpha1.ReasonComparedClientBound, 24, 30},
		"too much added": {5000, metav1.ConditionUnknown, v1alpha1.ReasonTooFewRounds, 48, 60},
	} {
		s := table(rounds(3), compared)
		order := play(t, s, func(p Planned) *v1alpha1.EtcdBenchmark {
			perSecond := 5000.0
			if p.Cell.Target.Name == "new" {
				perSecond = tc.candidate
			}
			return finished(fmt.Sprint(perSecond+float64(p.Round)), waited(tc.share))
		})
		c := s.Status.Comparisons[0]
		if got := Judge(s).Status; got != tc.want || c.Reason != tc.reason || len(order) != tc.runs {
			t.Errorf("%s: Passed is %s after %d runs, wanted %s after %d: %+v", name, got, len(order), tc.want, tc.runs, c)
		}
		if c.Reason == "" && (c.BaselineAddedPerMillion != 300_000 || c.CandidateAddedPerMillion != 300_000) {
			t.Errorf("%s: the shares are %d and %d", name, c.BaselineAddedPerMillion, c.CandidateAddedPerMillion)
		}
	}
}

// Only cells that differ in the compared axis alone are compared. One that lost more runs than its baseline is not
// judged.
func TestComparisons(t *testing.T) {
	s := table(rounds(3), compared, func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Exclude = []v1alpha1.SuiteExclusion{{Target: "old", Workload: "range", Load: "c1"}}
	})
	play(t, s, func(p Planned) *v1alpha1.EtcdBenchmark {
		switch {
		case p.Cell.Name == "new/put/c1":
			return finished(fmt.Sprint(4000 + 10*p.Round))
		case p.Cell.Name == "new/put/c100" && p.Round == 2:
			return finished("5000", clientBound)
		}
		return finished(fmt.Sprint(5000 + 10*p.Round))
	})
	var got []string
	for _, c := range s.Status.Comparisons {
		got = append(got, fmt.Sprintf("%s against %s: %s %s", c.Cell, c.BaselineCell, c.Verdict, c.Reason))
	}
	want := []string{
		"new/put/c1 against old/put/c1: Regressed ", "new/put/c100 against old/put/c100: Unknown ExclusionsDiffer", "new/range/c100 against old/range/c100: NotRegressed ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJudge(t *testing.T) {
	objectives := func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Workloads[0].Objectives = []v1alpha1.Objective{{Name: "fast"}}
	}
	slow := func(p Planned) *v1alpha1.EtcdBenchmark {
		if p.Cell.Target.Name == "new" {
			return finished(fmt.Sprint(3000 + p.Round))
		}
		return finished(fmt.Sprint(5000 + p.Round))
	}
	with := func(status metav1.ConditionStatus) func(Planned) *v1alpha1.EtcdBenchmark {
		return func(p Planned) *v1alpha1.EtcdBenchmark {
			if p.Cell.Workload.Name == "put" && p.Cell.Load.Name == "c1" {
				return finished("5000", passed(status))
			}
			return finished("5000", passed(metav1.ConditionTrue))
		}
	}
	for name, tc := range map[string]struct {
		suite  *v1alpha1.EtcdBenchmarkSuite
		result func(Planned) *v1alpha1.EtcdBenchmark
		want   metav1.ConditionStatus
		reason string
	}{
		"nothing to judge":   {table(), ordinary, "", ""},
		"met":                {table(objectives), with(metav1.ConditionTrue), metav1.ConditionTrue, v1alpha1.ReasonObjectivesMet},
		"missed":             {table(objectives), with(metav1.ConditionFalse), metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed},
		"not judged":         {table(objectives), with(metav1.ConditionUnknown), metav1.ConditionUnknown, v1alpha1.ReasonNotJudged},
		"no verdict":         {table(objectives), ordinary, metav1.ConditionUnknown, v1alpha1.ReasonNotJudged},
		"regressed":          {table(rounds(3), compared), slow, metav1.ConditionFalse, v1alpha1.ReasonRegressed},
		"not regressed":      {table(rounds(3), compared), ordinary, metav1.ConditionTrue, v1alpha1.ReasonObjectivesMet},
		"too few valid runs": {table(rounds(3), compared), func(Planned) *v1alpha1.EtcdBenchmark { return finished("5000", clientBound) }, metav1.ConditionUnknown, v1alpha1.ReasonNotJudged},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, tc.suite, tc.result)
			c := Judge(tc.suite)
			switch {
			case c == nil && tc.want != "":
				t.Errorf("there is no verdict, wanted %s", tc.want)
			case c != nil && (c.Status != tc.want || c.Reason != tc.reason):
				t.Errorf("got %+v, wanted %s %s", c, tc.want, tc.reason)
			}
		})
	}
}

func TestFinish(t *testing.T) {
	fail := func(Planned) *v1alpha1.EtcdBenchmark { return finished("0", ended(v1alpha1.ReasonTargetLost)) }
	stop := func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.OnRunFailed = v1alpha1.RunFailedStop }
	for name, tc := range map[string]struct {
		suite   *v1alpha1.EtcdBenchmarkSuite
		result  func(Planned) *v1alpha1.EtcdBenchmark
		stopped bool
		want    string
	}{
		"all ran":         {table(), ordinary, false, v1alpha1.ReasonCompleted},
		"stopped":         {table(), ordinary, true, v1alpha1.ReasonStopped},
		"failed, goes on": {table(), fail, false, v1alpha1.ReasonCompleted},
		"failed, stops":   {table(stop), fail, false, v1alpha1.ReasonRunFailed},
	} {
		play(t, tc.suite, tc.result)
		if got, message := Finish(tc.suite, tc.stopped); got != tc.want || message == "" {
			t.Errorf("%s: got %s %q, wanted %s", name, got, message, tc.want)
		}
	}
}

// A run that was invalid at first, and valid when it was repeated, is no reason for doubt.
func TestASuiteSaysHowManyNumbersCannotBeCompared(t *testing.T) {
	invalid := func(is func(Planned) bool) func(Planned) *v1alpha1.EtcdBenchmark {
		return func(p Planned) *v1alpha1.EtcdBenchmark {
			if p.Cell.Name == "old/put/c1" && p.Round == 1 && is(p) {
				return finished("5000", clientBound)
			}
			return ordinary(p)
		}
	}
	for name, tc := range map[string]struct {
		suite  *v1alpha1.EtcdBenchmarkSuite
		result func(Planned) *v1alpha1.EtcdBenchmark
		want   int
	}{
		"all valid":         {table(), ordinary, 0},
		"not repeated":      {table(), invalid(func(Planned) bool { return true }), 1},
		"repeated":          {table(rounds(3), compared), invalid(func(p Planned) bool { return !p.Repeats }), 0},
		"as its repetition": {table(rounds(3), compared), invalid(func(Planned) bool { return true }), 1},
	} {
		play(t, tc.suite, tc.result)
		if got, ended := Incomparable(tc.suite); got != tc.want || ended != len(Plan(tc.suite)) {
			t.Errorf("%s: got %d of %d, wanted %d of %d", name, got, ended, tc.want, len(Plan(tc.suite)))
		}
		told := fmt.Sprintf("%d of %d runs cannot be compared", tc.want, len(Plan(tc.suite)))
		if _, message := Finish(tc.suite, false); strings.Contains(message, told) != (tc.want > 0) {
			t.Errorf("%s: the suite ends with %q; is %q in it? Wanted %v", name, message, told, tc.want > 0)
		}
	}
}
