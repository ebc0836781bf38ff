package controllers

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/history"
)

// throughputOf is the throughput of a run that the test plays.
func throughputOf(perSecond int) func(*v1alpha1.EtcdBenchmarkStatus) {
	return func(s *v1alpha1.EtcdBenchmarkStatus) {
		s.Summary.ThroughputPerSecond = spec.Decimal(fmt.Sprint(perSecond))
		s.Summary.Operations[0].ThroughputPerSecond = s.Summary.ThroughputPerSecond
	}
}

// playAll plays all runs of a suite.
func (h *suiteHarness) playAll(runs, perSecond int) {
	h.t.Helper()
	for i := range runs {
		h.finish(h.next(), v1alpha1.ReasonCompleted, throughputOf(perSecond+i))
	}
	h.awaitFinished(v1alpha1.ReasonCompleted)
}

// comparedWith is another suite of the namespace that is compared with one that has finished.
func (h *suiteHarness) comparedWith(name, baseline string, changes ...func(*v1alpha1.EtcdBenchmarkSuite)) *suiteHarness {
	out := newSuiteHarnessOf(h.t, h.suite.Namespace, name)
	out.ended = map[string]bool{}
	out.suite.Spec.Compare = &v1alpha1.SuiteCompare{
		Baseline: v1alpha1.SuiteBaseline{Suite: &v1alpha1.BaselineSuite{Name: baseline}}, Metrics: []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}},
	}
	for _, change := range changes {
		change(out.suite)
	}
	return out.create()
}

func threeRounds(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Rounds, s.Spec.Loads = 3, s.Spec.Loads[:1] }

// A suite keeps the numbers of its baseline when it starts. Later, the baseline can change and be deleted.
func TestSuiteIsComparedWithAnEarlierOne(t *testing.T) {
	h := newSuiteHarness(t, threeRounds).create()
	h.playAll(3, 1000)
	later := h.comparedWith("later", "nightly")
	run := later.next()
	h.must(h.api.Delete(t.Context(), h.suite))
	later.finish(run, v1alpha1.ReasonCompleted, throughputOf(500))
	later.playAll(2, 500)
	status := later.status()
	if b := status.Baseline; b == nil || b.Suite != "nightly" || b.CompletionTime == nil || len(b.Cells) != 1 || b.Cells[0].Values[0].Rounds != 3 {
		t.Fatalf("found the baseline %+v", b)
	}
	if len(status.Comparisons) != 1 || status.Comparisons[0].Reason != v1alpha1.ReasonNotConcurrent || *status.Comparisons[0].ChangePerMillion > -490_000 {
		t.Errorf("found %+v, wanted the change and no verdict", status.Comparisons)
	}
	if passed := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionPassed); passed == nil || passed.Status != metav1.ConditionUnknown {
		t.Errorf("found %+v, wanted Passed Unknown", passed)
	}
}

// The history of the schedule that created the baseline says how much equal sessions differ.
func TestTheHistoryOfAScheduleDecides(t *testing.T) {
	h := newSuiteHarness(t, threeRounds)
	sch := &v1alpha1.EtcdBenchmarkSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: h.suite.Namespace, Name: "weekly"}}
	sch.Spec.Schedule, sch.Spec.SuiteTemplate.Spec = "0 3 * * *", h.suite.Spec
	h.must(h.api.Create(t.Context(), sch))
	h.suite.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(sch, v1alpha1.GroupVersion.WithKind(scheduleKind))}
	h.create()
	h.playAll(3, 1000)
	h.keepHistory(sch, history.TemplateID(h.suite.Spec))
	for name, tc := range map[string]struct {
		perSecond int
		want      v1alpha1.ComparisonVerdict
	}{"worse": {500, v1alpha1.Regressed}, "same": {1000, v1alpha1.NotRegressed}} {
		later := h.comparedWith(name, "nightly")
		later.playAll(3, tc.perSecond)
		status := later.status()
		if status.Baseline.Schedule != "weekly" || status.Baseline.Cells[0].Values[0].Sessions != 7 || status.Comparisons[0].Verdict != tc.want {
			t.Errorf("%s: found %+v and %+v, wanted %s", name, status.Baseline, status.Comparisons, tc.want)
		}
	}
}

// keepHistory writes seven sessions of a template into a schedule.
func (h *suiteHarness) keepHistory(sch *v1alpha1.EtcdBenchmarkSchedule, template string) {
	h.t.Helper()
	before := sch.DeepCopy()
	series := v1alpha1.ScheduleSeries{Cell: "put", Type: v1alpha1.SeriesThroughput, TolerancePercent: 5}
	for i := range 7 {
		sch.Status.Sessions = append(sch.Status.Sessions, v1alpha1.ScheduleSession{
			Name: fmt.Sprint("weekly-", i), StartTime: metav1.Now(), Reason: v1alpha1.ReasonCompleted, Template: template,
			Environment: v1alpha1.Environment{Client: "usual"},
		})
		series.Values = append(series.Values, int64(1_000_000+5_000*i))
	}
	sch.Status.Series = []v1alpha1.ScheduleSeries{series}
	h.must(h.api.Status().Patch(h.t.Context(), sch, client.MergeFrom(before)))
}

// A schedule compares each session with a suite that a user has run. Its own history decides.
func TestTheHistoryOfTheSessionsDecides(t *testing.T) {
	h := newSuiteHarness(t, threeRounds).create()
	h.playAll(3, 1000)
	sch := &v1alpha1.EtcdBenchmarkSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: h.suite.Namespace, Name: "weekly"}}
	session := h.comparedWith("weekly-7", "nightly", func(s *v1alpha1.EtcdBenchmarkSuite) {
		sch.Spec.Schedule, sch.Spec.SuiteTemplate.Spec = "0 3 * * *", s.Spec
		h.must(h.api.Create(t.Context(), sch))
		h.keepHistory(sch, history.TemplateID(s.Spec))
		s.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(sch, v1alpha1.GroupVersion.WithKind(scheduleKind))}
	})
	session.playAll(3, 500)
	status := session.status()
	if status.Baseline.Schedule != "weekly" || status.Comparisons[0].Verdict != v1alpha1.Regressed || status.Comparisons[0].LowPerMillion == nil {
		t.Errorf("found %+v and %+v, wanted Regressed by the history of the schedule", status.Baseline, status.Comparisons)
	}
}

// A forged owner of another uid has no history.
func TestAForgedScheduleDecidesNothing(t *testing.T) {
	h := newSuiteHarness(t, threeRounds)
	sch := &v1alpha1.EtcdBenchmarkSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: h.suite.Namespace, Name: "weekly"}}
	sch.Spec.Schedule, sch.Spec.SuiteTemplate.Spec = "0 3 * * *", h.suite.Spec
	h.must(h.api.Create(t.Context(), sch))
	owner := *metav1.NewControllerRef(sch, v1alpha1.GroupVersion.WithKind(scheduleKind))
	owner.UID = "00000000-0000-0000-0000-000000000000"
	h.suite.OwnerReferences = []metav1.OwnerReference{owner}
	h.create()
	h.keepHistory(sch, history.TemplateID(h.suite.Spec))
	h.playAll(3, 1000)
	later := h.comparedWith("later", "nightly")
	later.playAll(3, 500)
	if status := later.status(); status.Baseline.Schedule != "" || status.Comparisons[0].Reason != v1alpha1.ReasonNotConcurrent {
		t.Errorf("found %+v and %+v, wanted no history", status.Baseline, status.Comparisons)
	}
}

func TestSuiteRefusesABaseline(t *testing.T) {
	h := newSuiteHarness(t, threeRounds).create()
	running := h.comparedWith("early", "nightly")
	if c := running.awaitFinished(v1alpha1.ReasonInvalidCell); !contains(c.Message, "the EtcdBenchmarkSuite nightly cannot be the baseline: it has not finished") {
		t.Errorf("found: %s", c.Message)
	}
	h.playAll(3, 1000)
	for name, tc := range map[string]struct {
		baseline string
		change   func(*v1alpha1.EtcdBenchmarkSuite)
		want     string
	}{
		"absent":   {"release", threeRounds, "the EtcdBenchmarkSuite release cannot be the baseline: it does not exist"},
		"itself":   {"itself", threeRounds, "it is this suite itself"},
		"workload": {"nightly", func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Workloads[0].Workload.Put.Values.SizeBytes = 99 }, "its cell put did not do the same, so it cannot be compared. It differs in workload.put.values.sizeBytes (256, 99)"},
		"more-work": {"nightly", func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Spec.Workloads = append(s.Spec.Workloads, v1alpha1.SuiteWorkload{Name: "more", Workload: s.Spec.Workloads[0].Workload})
		}, "it has no cell more"},
	} {
		later := h.comparedWith(name, tc.baseline, tc.change)
		if c := later.awaitFinished(v1alpha1.ReasonInvalidCell); !contains(c.Message, tc.want) {
			t.Errorf("%s: found: %s\nwanted %q", name, c.Message, tc.want)
		}
		if later.status().StartTime != nil {
			t.Errorf("%s: the suite has started", name)
		}
	}
}

// What decides is in the status of the suite: neither a changed report nor a deleted run changes a verdict. The changed
// reports say that the load of ten clients has become slower.
func TestReportsOnlyDisplay(t *testing.T) {
	h := newSuiteHarness(t, func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Rounds = 3
		s.Spec.Compare = &v1alpha1.SuiteCompare{Axis: v1alpha1.AxisLoads, Baseline: v1alpha1.SuiteBaseline{Entry: "c1"}, Metrics: []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}}}
	}).create()
	for i := range 6 {
		run := h.next()
		report := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: run.ReportConfigMapName()}, Data: map[string]string{"report.json": "{}"}}
		h.must(h.api.Create(t.Context(), report))
		h.finish(run, v1alpha1.ReasonCompleted, throughputOf(1000+i%2), func(s *v1alpha1.EtcdBenchmarkStatus) { s.ReportName = report.Name })
		h.await("the result", func() bool { return len(h.status().Results) == i+1 })
		h.change(report, func() {
			report.Data = map[string]string{"report.json": fmt.Sprintf(`{"throughput": %d}`, 1000/run.Spec.Load.Clients)}
		})
		if i%2 == 1 {
			h.must(h.api.Delete(t.Context(), run))
		}
		h.restart()
	}
	h.awaitFinished(v1alpha1.ReasonCompleted)
	if c := h.status().Comparisons; len(c) != 1 || c[0].Verdict != v1alpha1.NotRegressed || c[0].Rounds != 3 {
		t.Errorf("found %+v, wanted the verdict of the runs as they ended", c)
	}
}
