package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// measured is a completed run of two pods with its report. All of its requests took this long, or up to twice as long.
func measured(t *testing.T, name string, latency time.Duration, change ...func(*v1alpha1.EtcdBenchmark)) Run {
	t.Helper()
	b := runtest.Puts(append([]func(*v1alpha1.EtcdBenchmark){runtest.Objectives(runtest.MaxLatency(spec.StatisticP99, 50_000))}, change...)...)
	b.Name, b.Namespace, b.UID, b.ResourceVersion = name, "etcd", "0f5e1f2a-uid", "1"
	b.Status.Target = benchmark.TargetStatus(b, []string{"etcd-0.etcd.prod.example:2379"}, &results.Target{ClusterID: "cafe0001", Members: []results.Member{
		{ID: "aa01", Name: "etcd-0", Endpoint: "etcd-0.etcd.prod.example:2379", Version: "3.7.3", Leader: true}, {ID: "bb02", Name: "etcd-1", Version: "3.7.3"},
	}})
	b.Status.Pods = []v1alpha1.PodStatus{{Index: 0, Name: name + "-0-x7k", Node: "worker-7"}}
	var pods []*results.Snapshot
	for index := range 2 {
		pods = append(pods, runtest.Measured(index, 50, runtest.Told(runtest.Flushed(100), runtest.Flushed(40)), runtest.Failing(1, "Unavailable", time.Millisecond), func(s *results.Snapshot) {
			op := s.Operations[spec.OperationPut]
			for i := range 5000 {
				took := latency + latency*time.Duration(i%100)/100
				op.Latency.Record(int64(took))
				op.Service.Record(int64(took))
				s.Timeline.Record(time.Duration(i)*time.Millisecond, took, true)
			}
			s.Heatmap = results.Heatmap{Interval: s.Timeline.Interval}
			for range s.Timeline.Points {
				var column results.Histogram
				column.Record(int64(latency))
				column.Record(int64(3 * latency))
				s.Heatmap.Columns = append(s.Heatmap.Columns, column)
			}
			s.Samples = map[string]*results.Samples{"aa01": {
				At:     []time.Duration{0, time.Second, 2 * time.Second},
				Values: map[results.Figure][]float64{results.FigurePendingNow: {0, 3, 1}, results.FigureDatabaseNowBytes: {1e6, 2e6, results.NoValue}},
			}}
		}))
	}
	s := results.Summarize(pods)
	s.Length = 5 * time.Second
	b.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted}}
	b.Status.Summary = benchmark.Summary(b, s)
	var passed *metav1.Condition
	b.Status.Objectives, passed = verdict.Judge(b, &s, v1alpha1.ReasonCompleted)
	if passed != nil {
		b.Status.Conditions = append(b.Status.Conditions, *passed)
	}
	stored, err := benchmark.Report(b, s)
	if err != nil {
		t.Fatal(err)
	}
	return NewRun(b, stored)
}

// compared is a finished suite of two targets, of which the second is slower by this factor, with its runs.
func compared(t *testing.T, rounds int32, factor float64, change ...func(*v1alpha1.EtcdBenchmark)) *Document {
	t.Helper()
	s := &v1alpha1.EtcdBenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "etcd", Name: "versions", UID: "5af-uid", ResourceVersion: "1"}}
	s.Spec.Rounds = rounds
	s.Spec.Targets = []v1alpha1.SuiteTarget{{Name: "old"}, {Name: "new"}}
	s.Spec.Targets[0].Target.Endpoints = []string{"old.etcd.prod.example:2379"}
	s.Spec.Workloads = []v1alpha1.SuiteWorkload{{Name: "put", Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{}}}}
	s.Spec.Loads = []v1alpha1.SuiteLoad{{Name: "c10", Load: spec.Load{Clients: 10}}}
	s.Spec.Compare = &v1alpha1.SuiteCompare{Axis: v1alpha1.AxisTargets, Baseline: v1alpha1.SuiteBaseline{Entry: "old"}, Metrics: []v1alpha1.Metric{
		{Type: v1alpha1.MetricThroughput}, {Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP50},
	}}
	start := time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
	suite.Start(s, 1, start)
	var runs []Run
	for p, more := suite.Then(s, false); more; p, more = suite.Then(s, false) {
		latency := time.Millisecond + time.Duration(p.Round)*10*time.Microsecond
		perSecond := 10_000 + 10*float64(p.Round%3)
		if p.Cell.Target.Name == "new" {
			latency, perSecond = time.Duration(float64(latency)*factor), perSecond/factor+float64(p.Round)
		}
		r := measured(t, p.Name, latency)
		r.Object.Status.Summary.ThroughputPerSecond = spec.Decimal(fmt.Sprintf("%.0f", perSecond))
		r.Object.Status.Summary.Validity.Verdict = v1alpha1.ValidityValid
		r.Object.Status.Summary.FailedRequests = 0
		r.Object.Status.Summary.Fingerprint.Client = "c"
		for _, c := range change {
			c(r.Object)
		}
		suite.Add(s, p, r.Object, start.Add(time.Minute))
		runs = append(runs, r)
	}
	suite.SetFinished(s, false, start.Add(time.Hour))
	return OfSuite(s, runs)
}

// searched is a finished search of two targets, with the runs of a few probes. The second target answers twice as many
// requests per second. The latency of a probe grows with its rate.
func searched(t *testing.T) *Document {
	t.Helper()
	d := compared(t, 0, 1)
	s := d.Suite
	d.Runs = nil
	s.Name, s.Spec.Loads, s.Spec.Compare, s.Status = "highest", nil, nil, v1alpha1.EtcdBenchmarkSuiteStatus{}
	s.Spec.Workloads[0].Objectives = []v1alpha1.Objective{runtest.MaxLatency(spec.StatisticP99, 50_000)}
	s.Spec.Search = &v1alpha1.SuiteSearch{
		Load: spec.Load{Clients: 100, DurationSeconds: new(int32(30)), Seed: 7}, Arrival: spec.ArrivalPoisson,
		MinPerSecond: 100, MaxPerSecond: 1_000_000, TolerancePercent: 5, Confirmations: 3, MaxProbes: 40,
	}
	start := time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
	suite.Start(s, 1, start)
	for p, more := suite.Then(s, false); more; p, more = suite.Then(s, false) {
		r := probed(t, p)
		suite.Created(s, p, start)
		suite.Track(s, r.Object, start)
		if p.Round < 3 {
			d.Runs = append(d.Runs, r)
		}
	}
	suite.SetFinished(s, false, start.Add(time.Hour))
	return d
}

// probed is the run of a probe.
func probed(t *testing.T, p suite.Planned) Run {
	t.Helper()
	most := 9000.0
	if p.Cell.Target.Name == "new" {
		most *= 2
	}
	asked := float64(p.Step.PerSecond)
	answered, busy := min(asked, most), min(asked/most, 0.99)
	if asked == 0 {
		answered, busy = most, 0.9
	}
	r := measured(t, p.Name, time.Duration(float64(time.Millisecond)/(1-busy)))
	r.Object.Status.Summary.ThroughputPerSecond = spec.Decimal(fmt.Sprintf("%.0f", answered))
	r.Object.Status.Summary.Validity.Verdict = v1alpha1.ValidityValid
	return r
}

// nightly is a schedule with a history of this many sessions.
func nightly(sessions int) *v1alpha1.EtcdBenchmarkSchedule {
	s := &v1alpha1.EtcdBenchmarkSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: "etcd", Name: "nightly"}}
	s.Spec.Schedule = "0 3 * * *"
	series := v1alpha1.ScheduleSeries{Cell: "put", Type: v1alpha1.SeriesThroughput, Verdict: v1alpha1.SeriesWorse, Expected: &v1alpha1.ValueRange{Mean: 1e7, Low: 9e6, High: 11e6}}
	for i := range sessions {
		s.Status.Sessions = append(s.Status.Sessions, v1alpha1.ScheduleSession{Name: fmt.Sprintf("nightly-%d", i), StartTime: metav1.Time{Time: time.Date(2026, 11, 1+i, 3, 0, 0, 0, time.UTC)}, Reason: v1alpha1.ReasonCompleted})
		series.Values = append(series.Values, 10_000_000+int64(i%7)*1000)
	}
	s.Status.Series = []v1alpha1.ScheduleSeries{series}
	s.Status.Changes = []v1alpha1.ScheduleChange{{Cell: "put", Metric: "Throughput", Session: "nightly-3", ChangePerMillion: -120_000, Worse: true}}
	s.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionTrendBroken, Status: metav1.ConditionTrue, Message: "The numbers have changed for the worse."},
		{Type: v1alpha1.ConditionSuspect, Status: metav1.ConditionTrue, Message: "Worse than expected."},
	}
	return s
}

// documents are one document of each kind.
func documents(t *testing.T) map[string]*Document {
	t.Helper()
	several := OfRun(measured(t, "first", time.Millisecond).Object, nil)
	several.Runs = append(several.Runs, measured(t, "second", 2*time.Millisecond, func(b *v1alpha1.EtcdBenchmark) { b.Spec.Load.Clients++ }))
	run := measured(t, "writes", time.Millisecond)
	return map[string]*Document{
		"run":                OfRun(run.Object, run.Report),
		"run without report": OfRun(run.Object, nil),
		"run without result": OfRun(failedRun(), nil),
		"several runs":       several,
		"suite":              compared(t, 3, 1.5),
		"search":             searched(t),
		"schedule":           OfSchedule(nightly(30)),
	}
}

// hostileName has markup, a character that reverses text, formulas, mentions, control characters, and no place to wrap.
const hostileName = "<script>alert(1)</script>\u202e=cmd|' /C calc'!A0 @everyone `x` |y| [z](http://a.example) " +
	"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\x00\x1b[31m"

// hostile are documents in which everything that users name has the hostile name.
func hostile(t *testing.T) map[string]*Document {
	t.Helper()
	run := measured(t, "writes", time.Millisecond)
	b := run.Object
	b.Name, b.Namespace = hostileName, hostileName
	b.Labels = map[string]string{v1alpha1.LabelCell: "=1+1", v1alpha1.LabelSuite: "@sum", v1alpha1.LabelRound: "-1"}
	b.Status.Target.Members[0].Name = hostileName
	b.Status.Objectives[0].Name, b.Status.Objectives[0].Message = hostileName, hostileName
	b.Status.Summary.Warnings = []string{hostileName}
	b.Status.Summary.Members[0].Name = hostileName
	b.Status.Conditions[0].Message, b.Status.Conditions[0].Reason = hostileName, v1alpha1.ReasonStopped
	s := compared(t, 3, 2)
	s.Suite.Name = hostileName
	for i := range s.Suite.Status.Results {
		s.Suite.Status.Results[i].Invalid = hostileName
	}
	for i := range s.Suite.Status.Comparisons {
		s.Suite.Status.Comparisons[i].Message, s.Suite.Status.Comparisons[i].Cell = hostileName, hostileName
	}
	several := OfRun(measured(t, hostileName, time.Millisecond).Object, nil)
	for _, name := range []string{strings.Repeat("W", 253), "\u05e9\u05dc\u05d5\u05dd z\u0310\u0321\u0336\u0489 \ufdfd \U0001f389"} {
		several.Runs = append(several.Runs, measured(t, name, 2*time.Millisecond, func(b *v1alpha1.EtcdBenchmark) { b.Spec.Load.Clients++ }))
	}
	nights, probes := nightly(30), searched(t)
	for i := range nights.Status.Sessions {
		nights.Status.Sessions[i].Name, nights.Status.Sessions[i].Invalid = hostileName, hostileName
	}
	nights.Status.Series[0].Cell, nights.Status.Changes[0].Cell = hostileName, strings.Repeat("W", 63)
	for i := range probes.Suite.Status.Results {
		r := &probes.Suite.Status.Results[i]
		r.Cell, r.Probe.LimitedBy = r.Cell+hostileName, hostileName
	}
	for i := range probes.Suite.Status.Capacities {
		c := &probes.Suite.Status.Capacities[i]
		c.Cell, c.LimitedBy = c.Cell+hostileName, hostileName
	}
	return map[string]*Document{"run": OfRun(b, run.Report), "suite": s, "several runs": several, "schedule": OfSchedule(nights), "search": probes}
}

// failedRun could not reach its target.
func failedRun() *v1alpha1.EtcdBenchmark {
	b := runtest.Puts()
	b.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonTargetUnreachable, Message: "No member answered.",
	}}
	return b
}

// again writes a document and reads it.
func again(t *testing.T, d *Document) *Document {
	t.Helper()
	data, err := d.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	out, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func pageOf(t *testing.T, d *Document) string {
	t.Helper()
	data, err := HTML(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func wantTexts(t *testing.T, in string, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(in, want) {
			t.Errorf("wanted %q", want)
		}
	}
}

func object(t *testing.T, v any, kind string, extra map[string]any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	fields["kind"] = kind
	for name, value := range extra {
		fields[name] = value
	}
	if data, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	return data
}
