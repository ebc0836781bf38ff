package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

var now = time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)

// nightly is a schedule whose suite has puts with one and with a hundred clients.
func nightly(changes ...func(*v1alpha1.EtcdBenchmarkSchedule)) *v1alpha1.EtcdBenchmarkSchedule {
	sch := &v1alpha1.EtcdBenchmarkSchedule{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}}
	sch.Spec.HistoryLimit = 10
	sch.Spec.SuiteTemplate.Spec = v1alpha1.EtcdBenchmarkSuiteSpec{
		Rounds:    1,
		Targets:   []v1alpha1.SuiteTarget{{Name: "etcd"}},
		Workloads: []v1alpha1.SuiteWorkload{{Name: "put", Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{}}}},
		Loads:     []v1alpha1.SuiteLoad{{Name: "c1", Load: spec.Load{Clients: 1}}, {Name: "c100", Load: spec.Load{Clients: 100}}},
	}
	for _, change := range changes {
		change(sch)
	}
	return sch
}

// end adds a session with this throughput in both cells and this p99, as the controller does.
func end(sch *v1alpha1.EtcdBenchmarkSchedule, perSecond, p99 int64, changes ...func(*v1alpha1.EtcdBenchmarkSuite)) {
	n := len(sch.Status.Sessions)
	s := &v1alpha1.EtcdBenchmarkSuite{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("s", n), CreationTimestamp: metav1.Time{Time: now.AddDate(0, 0, n)}},
		Spec:       sch.Spec.SuiteTemplate.Spec,
	}
	s.Status.CompletionTime = &metav1.Time{Time: now.AddDate(0, 0, n).Add(time.Hour)}
	s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted}}
	for _, cell := range []string{"c1", "c100"} {
		for round := int32(1); round <= s.Spec.Rounds; round++ {
			s.Status.Results = append(s.Status.Results, v1alpha1.SuiteResult{
				Name: cell, Cell: cell, Round: round, Reason: v1alpha1.ReasonCompleted, Environment: v1alpha1.Environment{Client: "a"},
				Operations: []v1alpha1.SuiteOperation{{Operation: spec.OperationPut, Succeeded: 9, ThroughputMilliPerSecond: 1000 * perSecond, P99Microseconds: p99}},
			})
		}
	}
	for _, change := range changes {
		change(s)
	}
	sch.Status.Active, sch.Status.ActiveTemplate = s.Name, TemplateID(sch.Spec.SuiteTemplate.Spec)
	session := Of(sch, s)
	session.Confirming = Confirms(sch)
	Add(sch, session, s)
	Judge(sch, now)
}

// endWithout adds a session whose suite was deleted.
func endWithout(sch *v1alpha1.EtcdBenchmarkSchedule) {
	sch.Status.Active, sch.Status.ActiveTemplate = fmt.Sprint("s", len(sch.Status.Sessions)), TemplateID(sch.Spec.SuiteTemplate.Spec)
	Add(sch, Of(sch, nil), nil)
	Judge(sch, now)
}

func condition(sch *v1alpha1.EtcdBenchmarkSchedule, kind string) string {
	c := meta.FindStatusCondition(sch.Status.Conditions, kind)
	return string(c.Status) + "/" + c.Reason
}

func want(t *testing.T, sch *v1alpha1.EtcdBenchmarkSchedule, suspect, broken string) {
	t.Helper()
	if got := condition(sch, v1alpha1.ConditionSuspect); got != suspect {
		t.Errorf("after %d sessions, Suspect is %s, wanted %s", len(sch.Status.Sessions), got, suspect)
	}
	if got := condition(sch, v1alpha1.ConditionTrendBroken); got != broken {
		t.Errorf("after %d sessions, TrendBroken is %s, wanted %s: %+v", len(sch.Status.Sessions), got, broken, sch.Status.Changes)
	}
}

const (
	tooFew, usual, worse        = "Unknown/TooFewSessions", "False/AsExpected", "True/Worse"
	unchanged, confirmed, moved = "False/Unchanged", "True/Confirmed", "True/Changed"
)

// quiet adds sessions of about 1,000 requests per second.
func quiet(sch *v1alpha1.EtcdBenchmarkSchedule, n int) {
	for i := range n {
		end(sch, 1000+int64(i*7%5), 9000+int64(i*3%5))
	}
}

func TestSuspicion(t *testing.T) {
	sch := nightly()
	quiet(sch, 8)
	want(t, sch, tooFew, tooFew)
	quiet(sch, 1)
	want(t, sch, usual, unchanged)
	end(sch, 800, 9000)
	want(t, sch, worse, unchanged)
	if s := sch.Status.Series[1]; s.Verdict != v1alpha1.SeriesWorse || s.Expected.Low < 900_000 || s.Expected.High > 1_100_000 || s.Expected.Mean < s.Expected.Low {
		t.Errorf("found %+v", s)
	}
	if c := meta.FindStatusCondition(sch.Status.Conditions, v1alpha1.ConditionSuspect); !strings.Contains(c.Message, "c100 Throughput: 800/s, expected 9") {
		t.Errorf("found %q", c.Message)
	}
	if !Confirms(sch) {
		t.Fatal("wanted a confirming session")
	}
	// The confirming session is as before.
	end(sch, 1001, 9000)
	if !sch.Status.Sessions[10].Confirming || Confirms(sch) {
		t.Errorf("found %+v", sch.Status.Sessions[10])
	}
	want(t, sch, usual, unchanged)
	// The outlier must not hide the next one, also after many good sessions.
	end(sch, 800, 9000)
	want(t, sch, worse, unchanged)
	end(sch, 1001, 9000)
	before := *sch.Status.Series[0].Expected
	quiet(sch, 30)
	end(sch, 800, 9000)
	want(t, sch, worse, unchanged)
	if after := *sch.Status.Series[0].Expected; after == before || !Confirms(sch) {
		t.Errorf("found %+v after 30 sessions more, and Confirms is %v", after, Confirms(sch))
	}
}

func TestConfirmedSuspicion(t *testing.T) {
	sch := nightly()
	quiet(sch, 8)
	end(sch, 800, 9000)
	end(sch, 810, 9000)
	want(t, sch, worse, confirmed)
	if Confirms(sch) {
		t.Error("a confirmed suspicion is confirmed again")
	}
	// It stays until the numbers are as before, or it is acknowledged; a session without numbers changes nothing.
	end(sch, 805, 9000)
	want(t, sch, worse, confirmed)
	endWithout(sch)
	want(t, sch, "Unknown/NoNumbers", confirmed)
	if Confirms(sch) {
		t.Error("a confirmed suspicion is confirmed again")
	}
	back := sch.DeepCopy()
	end(back, 1002, 9000)
	want(t, back, usual, unchanged)
	sch.Spec.Acknowledgements = []v1alpha1.Acknowledgement{{Session: "s8", Cell: "c1", Metric: "Throughput"}}
	Judge(sch, now)
	want(t, sch, "Unknown/NoNumbers", confirmed)
	sch.Spec.Acknowledgements = []v1alpha1.Acknowledgement{{Session: "s8"}}
	Judge(sch, now)
	want(t, sch, "Unknown/NoNumbers", tooFew)
	for i := range 8 {
		end(sch, 800+int64(i%4), 9000)
	}
	want(t, sch, usual, unchanged)
}

// After an improvement, worse sessions are confirmed by what has been usual since then.
func TestConfirmedAfterAChange(t *testing.T) {
	sch := nightly()
	quiet(sch, 15)
	for i := range 15 {
		end(sch, 1300+int64(i%4), 9000)
	}
	if len(sch.Status.Changes) != 2 {
		t.Fatalf("found %+v", sch.Status.Changes)
	}
	end(sch, 1100, 9000)
	want(t, sch, worse, unchanged)
	end(sch, 1105, 9000)
	want(t, sch, worse, confirmed)
}

// A break in one cell does not keep another one from being confirmed.
func TestSuspicionsOfCellsAreApart(t *testing.T) {
	sch := nightly()
	quiet(sch, 8)
	slow := func(c1, c100 int64) func(*v1alpha1.EtcdBenchmarkSuite) {
		return func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Status.Results[0].Operations[0].ThroughputMilliPerSecond, s.Status.Results[1].Operations[0].ThroughputMilliPerSecond = 1000*c1, 1000*c100
		}
	}
	end(sch, 0, 9000, slow(800, 1000))
	end(sch, 0, 9000, slow(800, 1001))
	want(t, sch, worse, confirmed)
	end(sch, 0, 9000, slow(800, 700))
	if !Confirms(sch) {
		t.Errorf("found %+v, wanted that the second cell is confirmed", sch.Status.Series)
	}
}

// A change is found with three values after it, in the direction that is worse or better.
func TestChanges(t *testing.T) {
	for name, tc := range map[string]struct {
		perSecond, p99 int64
		series         string
		broken         string
		worse          bool
	}{
		"less throughput": {800, 9000, "Throughput", moved, true},
		"more throughput": {1300, 9000, "Throughput", unchanged, false},
		"longer p99":      {1000, 12_000, "Put P99", moved, true},
		"shorter p99":     {1000, 6000, "Put P99", unchanged, false},
	} {
		t.Run(name, func(t *testing.T) {
			sch := nightly(func(sch *v1alpha1.EtcdBenchmarkSchedule) {
				sch.Spec.Metrics = []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}, {Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP99}}
			})
			quiet(sch, 20)
			for i := range 8 {
				end(sch, tc.perSecond+int64(i%3), tc.p99+int64(i%3))
			}
			if got := condition(sch, v1alpha1.ConditionTrendBroken); got != tc.broken {
				t.Errorf("TrendBroken is %s, wanted %s", got, tc.broken)
			}
			if len(sch.Status.Changes) != 2 {
				t.Fatalf("found %+v, wanted one of each cell", sch.Status.Changes)
			}
			for _, c := range sch.Status.Changes {
				if c.Session != "s20" || c.Metric != tc.series || c.Worse != tc.worse || (c.ChangePerMillion > 0) != (c.After > c.Before) {
					t.Errorf("found %+v", c)
				}
			}
			back := sch.DeepCopy()
			for i := range 12 {
				end(back, 1000+int64(i*7%5), 9000+int64(i*3%5))
			}
			if got := condition(back, v1alpha1.ConditionTrendBroken); tc.worse && got != unchanged {
				t.Errorf("TrendBroken is %s after the numbers came back: %+v", got, back.Status.Changes)
			}
			// The next sessions are compared with those since the change.
			if s := sch.Status.Series[0]; s.Verdict == v1alpha1.SeriesWorse {
				t.Errorf("found %+v", s)
			}
		})
	}
}

// Another template begins a new history; the same one continues it.
func TestAnotherTemplate(t *testing.T) {
	sch := nightly()
	quiet(sch, 9)
	sch.Spec.SuiteTemplate.Spec.Rounds = 2
	end(sch, 100, 9000)
	want(t, sch, tooFew, tooFew)
	if s := sch.Status.Series[0]; len(sch.Status.Sessions) != 10 || len(s.Values) != 10 || s.Values[9] != 100_000 {
		t.Errorf("found %+v of %d sessions", s, len(sch.Status.Sessions))
	}
}

// Sessions whose client pods ran on other processors are left out, and count again when these processors are back.
func TestAnotherClient(t *testing.T) {
	on := func(client string) func(*v1alpha1.EtcdBenchmarkSuite) {
		return func(s *v1alpha1.EtcdBenchmarkSuite) {
			for i := range s.Status.Results {
				s.Status.Results[i].Client = client
			}
		}
	}
	sch := nightly()
	for range 9 {
		end(sch, 1000, 9000, on("a"))
	}
	want(t, sch, usual, unchanged)
	end(sch, 500, 9000, on("b"))
	want(t, sch, tooFew, tooFew)
	end(sch, 500, 9000, on("b"))
	want(t, sch, tooFew, tooFew)
	end(sch, 1000, 9000, on("a"))
	want(t, sch, usual, unchanged)
	end(sch, 500, 9000, on("a"))
	want(t, sch, worse, unchanged)
	end(sch, 500, 9000, on("a"))
	broken := sch.DeepCopy()
	// Other processors cannot show that the numbers are as before.
	for range 3 {
		end(sch, 1000, 9000, on("b"))
		if got := condition(sch, v1alpha1.ConditionTrendBroken); got != condition(broken, v1alpha1.ConditionTrendBroken) || !strings.HasPrefix(got, "True") {
			t.Errorf("TrendBroken is %s after a session on other processors, wanted what it was: %s", got, condition(broken, v1alpha1.ConditionTrendBroken))
		}
	}
	// Two sessions on the usual processors can.
	for range 2 {
		end(sch, 1000, 9000, on("a"))
	}
	want(t, sch, usual, unchanged)
}

// The processors of runs that do not count are no part of a session's client.
func TestTheClientOfASession(t *testing.T) {
	sch := nightly()
	end(sch, 1000, 9000, func(s *v1alpha1.EtcdBenchmarkSuite) {
		for i := range s.Status.Results {
			s.Status.Results[i].Client = "a"
		}
		s.Status.Results[0].Client, s.Status.Results[0].Invalid = "b", "the client was a limit"
	})
	if got := sch.Status.Sessions[0].Client; got != "a" {
		t.Errorf("found the client %q, wanted that of the valid runs", got)
	}
}

// A stop is no part of the template, and other metrics keep the values of those that stay.
func TestWhatKeepsTheHistory(t *testing.T) {
	sch := nightly()
	quiet(sch, 8)
	end(sch, 1002, 9000, func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Stop = true })
	end(sch, 1001, 9000)
	want(t, sch, usual, unchanged)
	sch.Spec.Metrics = []v1alpha1.Metric{
		{Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP99}, {Type: v1alpha1.MetricThroughput, TolerancePercent: 50},
	}
	end(sch, 800, 9000)
	want(t, sch, usual, unchanged)
	if s := sch.Status.Series; len(s) != 4 || s[1].TolerancePercent != 50 || s[1].Values[0] == 0 || s[0].Values[9] != 0 || s[0].Values[10] != 9000 {
		t.Errorf("found %+v", s)
	}
}

func TestCheck(t *testing.T) {
	sch := nightly(func(sch *v1alpha1.EtcdBenchmarkSchedule) {
		sch.Spec.Metrics = []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}, {Type: v1alpha1.MetricLatency, Operation: spec.OperationRange, Statistic: spec.StatisticP99}}
	})
	if err := Check(sch); err == nil || !strings.Contains(err.Error(), "spec.metrics[1]") {
		t.Errorf("found %v, wanted that puts have no reads", err)
	}
	sch.Spec.Metrics = sch.Spec.Metrics[:1]
	if err := Check(sch); err != nil {
		t.Error(err)
	}
}

// The conditions say why a session has no numbers, and which acknowledged sessions do not exist.
func TestWhatTheConditionsExplain(t *testing.T) {
	sch := nightly(func(sch *v1alpha1.EtcdBenchmarkSchedule) {
		sch.Spec.Acknowledgements = []v1alpha1.Acknowledgement{{Session: "s0"}, {Session: "nope"}}
	})
	end(sch, 1000, 9000, func(s *v1alpha1.EtcdBenchmarkSuite) {
		for i := range s.Status.Results {
			s.Status.Results[i].Invalid = "the client was a limit"
		}
	})
	suspect, broken := meta.FindStatusCondition(sch.Status.Conditions, v1alpha1.ConditionSuspect), meta.FindStatusCondition(sch.Status.Conditions, v1alpha1.ConditionTrendBroken)
	if suspect.Reason != v1alpha1.ReasonNoNumbers || !strings.Contains(suspect.Message, "c1: the client was a limit.") {
		t.Errorf("found %+v", suspect)
	}
	if !strings.Contains(broken.Message, "no session nope,") {
		t.Errorf("found %+v", broken)
	}
}

// Runs that could not do their load are no success.
func TestSuccess(t *testing.T) {
	sch := nightly()
	end(sch, 1000, 9000, func(s *v1alpha1.EtcdBenchmarkSuite) {
		for i := range s.Status.Results {
			s.Status.Results[i].Reason, s.Status.Results[i].Operations = v1alpha1.ReasonTargetUnreachable, nil
		}
	})
	if sch.Status.LastSuccessfulTime != nil || sch.Status.Sessions[0].FailedRuns != 2 {
		t.Errorf("found %+v", sch.Status)
	}
}

// Sessions without numbers leave gaps; invalid rounds do not count.
func TestSessionsWithoutNumbers(t *testing.T) {
	sch := nightly(func(sch *v1alpha1.EtcdBenchmarkSchedule) { sch.Spec.SuiteTemplate.Spec.Rounds = 3 })
	end(sch, 1000, 9000, func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Status.Results[0].Operations[0].ThroughputMilliPerSecond = 4_000_000
		s.Status.Results[1].Invalid = "the client was a limit"
		s.Status.Results[1].Operations[0].ThroughputMilliPerSecond = 9_000_000
	})
	endWithout(sch)
	end(sch, 1000, 9000, func(s *v1alpha1.EtcdBenchmarkSuite) { s.Status.Results = s.Status.Results[:3] })
	if got := fmt.Sprint(sch.Status.Series[0].Values, sch.Status.Series[1].Values); got != "[2000000 0 1000000] [1000000 0 0]" {
		t.Errorf("found %s, wanted geometric means of valid rounds", got)
	}
	if sch.Status.LastSuccessfulTime == nil || sch.Status.LastPassed != "" {
		t.Errorf("found %+v", sch.Status)
	}
}

// A search keeps the history of its rates.
func TestHistoryOfASearch(t *testing.T) {
	sch := nightly(func(sch *v1alpha1.EtcdBenchmarkSchedule) {
		s := &sch.Spec.SuiteTemplate.Spec
		s.Loads, s.Search = nil, &v1alpha1.SuiteSearch{TolerancePercent: 5}
	})
	for _, state := range []v1alpha1.CapacityState{v1alpha1.CapacityFound, v1alpha1.CapacityUnknown, v1alpha1.CapacityAtLeast} {
		end(sch, 0, 0, func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Status.Capacities = []v1alpha1.SuiteCapacity{{Cell: "put", State: state, RatePerSecond: 4600}}
		})
	}
	if s := sch.Status.Series; len(s) != 1 || s[0].Type != v1alpha1.SeriesHighestRate || fmt.Sprint(s[0].Values) != "[4600000 0 4600000]" {
		t.Errorf("found %+v", s)
	}
}

func TestKept(t *testing.T) {
	sch := nightly(func(sch *v1alpha1.EtcdBenchmarkSchedule) { sch.Spec.HistoryLimit = 2 })
	for i := range 6 {
		end(sch, 1000, 9000, func(s *v1alpha1.EtcdBenchmarkSuite) {
			passed := metav1.ConditionTrue
			if i == 2 {
				passed = metav1.ConditionFalse
			}
			s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: passed})
		})
	}
	endWithout(sch)
	if got := slices.Sorted(maps.Keys(Kept(sch))); !slices.Equal(got, []string{"s2", "s4", "s5"}) {
		t.Errorf("found %v, wanted the last two with a suite and the last one that did not pass", got)
	}
}

// TestHistoryAtItsMaxima: the oldest sessions go, and status has room in an object.
func TestHistoryAtItsMaxima(t *testing.T) {
	const most = 256 << 10
	sch := nightly(func(sch *v1alpha1.EtcdBenchmarkSchedule) {
		s := &sch.Spec.SuiteTemplate.Spec
		s.Loads = nil
		for i := range v1alpha1.MaxSeries {
			s.Loads = append(s.Loads, v1alpha1.SuiteLoad{Name: v1alpha1.EntryName(fmt.Sprintf("%020d", i))})
		}
		s.Targets = append(s.Targets, v1alpha1.SuiteTarget{Name: "another-target-of-20"})
	})
	template := sch.Spec.SuiteTemplate
	suite := &v1alpha1.EtcdBenchmarkSuite{Spec: template.Spec}
	for i := range v1alpha1.MaxSessions + 5 {
		session := Of(sch, suite)
		session.Template, session.Client = TemplateID(template.Spec), "12345678"
		session.Name, session.StartTime, session.CompletionTime = fmt.Sprintf("%063d", i), metav1.Time{Time: now}, &metav1.Time{Time: now}
		session.Reason, session.Passed, session.Confirming = v1alpha1.ReasonTargetUnreachable, metav1.ConditionUnknown, true
		session.Invalid, session.FailedRuns = strings.Repeat("x", maxInvalid), 500
		Add(sch, session, suite)
	}
	for i := range sch.Status.Series {
		for n := range sch.Status.Series[i].Values {
			sch.Status.Series[i].Values[n] = 1e15 + int64(n*n%17)*1e13 + int64(n/100)*1e15
		}
	}
	Judge(sch, now)
	if n := len(sch.Status.Sessions); n != v1alpha1.MaxSessions || !strings.HasSuffix(sch.Status.Sessions[0].Name, "05") || len(sch.Status.Series) != v1alpha1.MaxSeries || len(sch.Status.Changes) == 0 {
		t.Errorf("found %d sessions from %s, %d series, %d changes", n, sch.Status.Sessions[0].Name, len(sch.Status.Series), len(sch.Status.Changes))
	}
	text, err := json.Marshal(sch.Status)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(text))
	if len(text) > most {
		t.Errorf("the status has %d bytes, wanted at most %d", len(text), most)
	}
}
