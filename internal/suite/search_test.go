package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// searching is a suite of two targets and one workload, with a search.
func searching(changes ...func(*v1alpha1.EtcdBenchmarkSuite)) *v1alpha1.EtcdBenchmarkSuite {
	s := table()
	s.Spec.Loads, s.Spec.Workloads = nil, s.Spec.Workloads[:1]
	s.Spec.Workloads[0].Objectives = []v1alpha1.Objective{{
		Name: "p99", Type: spec.ObjectiveLatency,
		Latency: &v1alpha1.LatencyObjective{Operation: spec.OperationPut, Statistic: spec.StatisticP99, MaxMicroseconds: 25000},
	}}
	s.Spec.Search = &v1alpha1.SuiteSearch{
		Load: spec.Load{Clients: 100, DurationSeconds: new(int32(30)), WarmupSeconds: 3, Seed: 7}, Arrival: spec.ArrivalPoisson,
		MinPerSecond: 10, MaxPerSecond: 1_000_000, TolerancePercent: 5, Confirmations: 3, MaxProbes: 40,
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

// highest plays a target that meets the objectives up to this rate.
func highest(perSecond int64) func(Planned) *v1alpha1.EtcdBenchmark {
	return func(p Planned) *v1alpha1.EtcdBenchmark {
		throughput := min(p.Step.PerSecond, 2*perSecond)
		if p.Step.PerSecond == 0 {
			throughput = 2 * perSecond
		}
		return finished(fmt.Sprint(throughput), func(run *v1alpha1.EtcdBenchmark) {
			c := metav1.Condition{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonObjectivesMet}
			if p.Step.PerSecond == 0 {
				return
			}
			if p.Step.PerSecond > perSecond {
				c.Status = metav1.ConditionFalse
				run.Status.Objectives = []v1alpha1.ObjectiveStatus{{Name: "p99", Result: v1alpha1.ObjectiveMissed, Wanted: "≤25ms", Got: "40ms"}}
			}
			run.Status.Conditions = append(run.Status.Conditions, c)
		})
	}
}

// playSearch runs a suite to its end. Each cell has a target of its own.
func playSearch(t *testing.T, s *v1alpha1.EtcdBenchmarkSuite, targets map[string]func(Planned) *v1alpha1.EtcdBenchmark) (order []string) {
	t.Helper()
	Start(s, 1, now)
	for range 500 {
		p, more := Then(s, false)
		if !more {
			SetFinished(s, false, now)
			return order
		}
		order = append(order, p.Cell.Name)
		Created(s, p, now)
		if again, found := find(s, p.Name); !found || again.Step != p.Step {
			t.Fatalf("the run %s of status is %+v, wanted %+v", p.Name, again, p)
		}
		run := targets[p.Cell.Name](p)
		run.Name = p.Name
		Track(s, run, now)
	}
	t.Fatal("the search does not end")
	return nil
}

func capacityOf(t *testing.T, s *v1alpha1.EtcdBenchmarkSuite, cell string) v1alpha1.SuiteCapacity {
	t.Helper()
	i := slices.IndexFunc(s.Status.Capacities, func(c v1alpha1.SuiteCapacity) bool { return c.Cell == cell })
	if i < 0 {
		t.Fatalf("no capacity of %s: %+v", cell, s.Status.Capacities)
	}
	return s.Status.Capacities[i]
}

// TestSearch: each cell has its answer, and cells take turns.
func TestSearch(t *testing.T) {
	s := searching()
	order := playSearch(t, s, map[string]func(Planned) *v1alpha1.EtcdBenchmark{"old": highest(1000), "new": highest(4000)})
	for cell, want := range map[string]int64{"old": 1000, "new": 4000} {
		c := capacityOf(t, s, cell)
		if c.State != v1alpha1.CapacityFound || c.RatePerSecond > want || float64(c.RatePerSecond) < 0.95*float64(want) || c.Confirmed != 3 || c.Tried != 3 {
			t.Errorf("%s: found %+v, wanted %d", cell, c, want)
		}
		if c.FirstMissedPerSecond <= want || c.LimitedBy != "p99 (wanted ≤25ms, got 40ms)" || c.CeilingMilliPerSecond != 2000*want {
			t.Errorf("%s: found %+v", cell, c)
		}
	}
	if got := strings.Join(order[:6], " "); got != "old new old new old new" {
		t.Errorf("the first probes are of %s, wanted that the cells take turns", got)
	}
	if r := s.Status.Runs; int(r.Finished) != len(s.Status.Results) || r.Planned != r.Finished || r.Repeated != 0 || r.Cells != 2 {
		t.Errorf("found %+v of %d results", r, len(s.Status.Results))
	}
	passed := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPassed)
	if passed == nil || passed.Status != metav1.ConditionTrue || !strings.Contains(passed.Message, "old 9") || !strings.Contains(passed.Message, "new 3,") && !strings.Contains(passed.Message, "new 4,") {
		t.Errorf("found %+v, wanted that Passed names the rates", passed)
	}
}

// TestEndsOfSearches: Passed says whether each cell has a rate.
func TestEndsOfSearches(t *testing.T) {
	unreachable := func(p Planned) *v1alpha1.EtcdBenchmark {
		if p.Round < 3 {
			return highest(1000)(p)
		}
		return finished("0", func(run *v1alpha1.EtcdBenchmark) {
			run.Status.Summary = nil
			run.Status.Conditions[0].Reason, run.Status.Conditions[0].Message = v1alpha1.ReasonTargetUnreachable, "no member answers"
		})
	}
	for name, tc := range map[string]struct {
		target func(Planned) *v1alpha1.EtcdBenchmark
		state  v1alpha1.CapacityState
		passed metav1.ConditionStatus
		limit  string
	}{
		"no limit":       {highest(2_000_000), v1alpha1.CapacityAtLeast, metav1.ConditionTrue, ""},
		"below":          {highest(5), v1alpha1.CapacityBelowMinimum, metav1.ConditionFalse, "p99 (wanted ≤25ms, got 40ms)"},
		"a broken probe": {unreachable, v1alpha1.CapacityUnknown, metav1.ConditionUnknown, "a probe ended as TargetUnreachable: no member answers"},
	} {
		t.Run(name, func(t *testing.T) {
			s := searching(func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Targets = s.Spec.Targets[:1] })
			playSearch(t, s, map[string]func(Planned) *v1alpha1.EtcdBenchmark{"put": tc.target})
			if c := capacityOf(t, s, "put"); c.State != tc.state || c.LimitedBy != tc.limit {
				t.Errorf("found %+v", c)
			}
			if passed := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPassed); passed.Status != tc.passed {
				t.Errorf("found %+v", passed)
			}
			if failed := Unmeasured(s) > 0; failed != (tc.state == v1alpha1.CapacityUnknown) {
				t.Errorf("Unmeasured is %d", Unmeasured(s))
			}
		})
	}
}

// TestStoppedSearch: what was found so far stays, as Unknown.
func TestStoppedSearch(t *testing.T) {
	s := searching()
	Start(s, 1, now)
	for range 6 {
		p, _ := Then(s, false)
		Add(s, p, highest(1000)(p), now)
	}
	if c := capacityOf(t, s, "new"); c.State != v1alpha1.CapacitySearching || c.RatePerSecond != 400 {
		t.Errorf("found %+v, wanted the highest rate so far", c)
	}
	if left := s.Status.Runs.Planned - s.Status.Runs.Finished; left != 2*40-6 {
		t.Errorf("%d probes may follow, wanted 74", left)
	}
	SetFinished(s, true, now)
	if c := capacityOf(t, s, "new"); c.State != v1alpha1.CapacityUnknown || c.RatePerSecond != 400 || c.LimitedBy == "" {
		t.Errorf("found %+v", c)
	}
	finished := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionFinished)
	passed := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPassed)
	if finished.Reason != v1alpha1.ReasonStopped || passed.Status != metav1.ConditionUnknown {
		t.Errorf("found %+v", s.Status.Conditions)
	}
}

// TestRunOfAProbe: a probe has the rate of its step and lasts as long as its percentiles need; each has its own seed.
func TestRunOfAProbe(t *testing.T) {
	s := searching()
	examples := Examples(s)
	if len(examples) != 4 {
		t.Fatalf("found %d examples, wanted two of each cell", len(examples))
	}
	ceiling, slow := examples[0].Run(s), examples[2].Run(s)
	if ceiling.Spec.Load.Rate != nil || ceiling.Spec.Objectives != nil || *ceiling.Spec.Load.DurationSeconds != 30 || ceiling.Spec.Load.Seed != 7 {
		t.Errorf("found %+v", ceiling.Spec)
	}
	if l := slow.Spec.Load; l.Rate.PerSecond != 10 || l.Rate.Arrival != spec.ArrivalPoisson || *l.DurationSeconds != 120 || l.Seed != 8 || len(slow.Spec.Objectives) != 1 {
		t.Errorf("found %+v: 10 requests per second need 120 s for the 1,200 requests of a p99", slow.Spec.Load)
	}
	if len(s.Spec.Workloads[0].Objectives) != 1 || *s.Spec.Search.Load.DurationSeconds != 30 {
		t.Error("a run has changed the suite")
	}
}

// A probe that ended early has missed: the search goes on as if it had run to its end. Only probes with a rate end early.
func TestProbesThatEndEarly(t *testing.T) {
	for early, reason := range map[bool]string{false: v1alpha1.ReasonCompleted, true: v1alpha1.ReasonMissedEarly} {
		s := searching(func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Targets = s.Spec.Targets[:1] })
		playSearch(t, s, map[string]func(Planned) *v1alpha1.EtcdBenchmark{"put": func(p Planned) *v1alpha1.EtcdBenchmark {
			run := highest(1000)(p)
			if run.Status.Objectives != nil {
				run.Status.Conditions[0].Reason = reason
			}
			want := v1alpha1.ObjectiveMissedStop
			if p.Step.PerSecond == 0 {
				want = ""
			}
			if got := p.Run(s).Spec.OnObjectiveMissed; got != want {
				t.Errorf("%+v has onObjectiveMissed %q, wanted %q", p.Step, got, want)
			}
			return run
		}})
		c := capacityOf(t, s, "put")
		if c.State != v1alpha1.CapacityFound || c.RatePerSecond < 950 || c.RatePerSecond > 1000 || s.Status.Runs.Invalid != 0 {
			t.Errorf("ending early %v: found %+v, wanted about 1,000/s, and no invalid probe of %+v", early, c, s.Status.Runs)
		}
	}
}

// After each probe but the last, the target rests. A suite that compares or sweeps goes on at once.
func TestTheTargetRestsBetweenProbes(t *testing.T) {
	s := searching(func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Targets, s.Spec.Search.PauseSeconds = s.Spec.Targets[:1], new(int32(20))
	})
	at := now.Add(300 * time.Millisecond)
	Start(s, 1, at)
	if Rest(s, at) != 0 {
		t.Error("the first probe has to wait")
	}
	for p, more := Then(s, false); more; p, more = Then(s, false) {
		Created(s, p, at)
		if Rest(s, at) != 0 || s.Status.PausedUntil != nil {
			t.Errorf("there is a pause while %s runs", p.Name)
		}
		Track(s, highest(1000)(p), at)
		_, more := Then(s, false)
		if got := Rest(s, at); more && (got < 20*time.Second || got > 21*time.Second) || !more && got != 0 {
			t.Errorf("after %s the rest is %s, wanted about 20 s unless it was the last (more: %v)", p.Name, got, more)
		}
		if Rest(s, at.Add(21*time.Second)) != 0 {
			t.Error("the rest does not end")
		}
	}
	SetFinished(s, false, at)
	if s.Status.PausedUntil != nil {
		t.Error("a suite that has ended is paused")
	}
	other := table()
	Start(other, 1, at)
	p, _ := Then(other, false)
	Add(other, p, finished("5000"), at)
	if Rest(other, at) != 0 {
		t.Error("a suite without a search pauses")
	}
}

// TestAProbeThatCouldNotBeJudged: why it was not judged says more than that it ended early.
func TestAProbeThatCouldNotBeJudged(t *testing.T) {
	run := &v1alpha1.EtcdBenchmark{}
	run.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonMissedEarly, Message: "p99 cannot be met any more"},
		{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonClientBound, Message: "the load generator was a limit"},
	}
	if got := limitOf(run); !strings.Contains(got, "the load generator was a limit") {
		t.Errorf("got %q", got)
	}
	run.Status.Conditions[0].Reason = v1alpha1.ReasonTargetLost
	if got := limitOf(run); !strings.Contains(got, "cannot be met") {
		t.Errorf("got %q", got)
	}
}
