package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// All metrics of the operator keep Prometheus's rules.
func TestMetricsAreWellFormed(t *testing.T) {
	runsFinished.WithLabelValues("Completed")
	own := ownMetrics(t)
	problems, err := promlint.NewWithMetricFamilies(own).Lint()
	if err != nil || len(problems) > 0 || len(own) < 3 {
		t.Errorf("wanted 3 metrics or more that keep Prometheus's rules, found %d, %v, %v", len(own), problems, err)
	}
	queued := runIn("etcd", "queued", finishedCondition(metav1.ConditionFalse, v1alpha1.StageQueued), startedAt(1_790_000_000))
	objects := []client.Object{queued, runIn("etcd", "done", finishedCondition(metav1.ConditionTrue, v1alpha1.ReasonCompleted), endedAt(1_790_000_000), puts(1, 1)), scheduleOf("etcd", "nightly"), suiteOf("etcd", "nightly-1", "", metav1.ConditionTrue)}
	for _, c := range []prometheus.Collector{historyCollector{fakeCache(objects...)}, stateCollector{fakeCache(objects...)}} {
		if problems, err := testutil.CollectAndLint(c); err != nil || len(problems) > 0 {
			t.Errorf("wanted metrics that keep Prometheus's rules, found %v, %v", problems, err)
		}
	}
}

// ownMetrics are those of the operator itself, without the ones of controller-runtime.
func ownMetrics(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	all, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool { return !strings.HasPrefix(f.GetName(), "etcdbench_") })
}

// Runs and suites are counted in each namespace that has some. Suites of a schedule have no verdict of their own.
func TestGaugesOfRunsAndSuites(t *testing.T) {
	collector := stateCollector{fakeCache(
		runIn("etcd", "new"),
		runIn("etcd", "second", finishedCondition(metav1.ConditionFalse, v1alpha1.StageQueued), startedAt(1_790_000_060)),
		runIn("etcd", "first", finishedCondition(metav1.ConditionFalse, v1alpha1.StageQueued), startedAt(1_790_000_000)),
		runIn("etcd", "failed", finishedCondition(metav1.ConditionTrue, v1alpha1.ReasonTargetLost), startedAt(1_780_000_000)),
		// A stage of a later version of the operator.
		runIn("etcd", "unknown", finishedCondition(metav1.ConditionFalse, "Resting")),
		runIn("other", "done", finishedCondition(metav1.ConditionTrue, v1alpha1.ReasonCompleted)),
		suiteOf("etcd", "checked", "", metav1.ConditionFalse),
		suiteOf("etcd", "good", "", metav1.ConditionTrue),
		suiteOf("etcd", "not-judged", "", metav1.ConditionUnknown),
		suiteOf("etcd", "nightly-1", "nightly", metav1.ConditionFalse),
	)}
	const want = `
# HELP etcdbench_queue_oldest_timestamp_seconds When the operator first handled the run that is in the queue for the longest time. Absent if no run is queued.
# TYPE etcdbench_queue_oldest_timestamp_seconds gauge
etcdbench_queue_oldest_timestamp_seconds{namespace="etcd"} 1.79e+09
# HELP etcdbench_runs EtcdBenchmarks that exist, by state: the reason of their condition Finished while it is False, then Finished. Absent for namespaces without a run.
# TYPE etcdbench_runs gauge
etcdbench_runs{namespace="etcd",state="Armed"} 0
etcdbench_runs{namespace="etcd",state="Collecting"} 0
etcdbench_runs{namespace="etcd",state="Finished"} 1
etcdbench_runs{namespace="etcd",state="Pending"} 2
etcdbench_runs{namespace="etcd",state="Preparing"} 0
etcdbench_runs{namespace="etcd",state="Queued"} 2
etcdbench_runs{namespace="etcd",state="Running"} 0
etcdbench_runs{namespace="other",state="Armed"} 0
etcdbench_runs{namespace="other",state="Collecting"} 0
etcdbench_runs{namespace="other",state="Finished"} 1
etcdbench_runs{namespace="other",state="Pending"} 0
etcdbench_runs{namespace="other",state="Preparing"} 0
etcdbench_runs{namespace="other",state="Queued"} 0
etcdbench_runs{namespace="other",state="Running"} 0
# HELP etcdbench_suite_passed 1 if an EtcdBenchmarkSuite passed, 0 if it missed an objective or regressed. Absent until that is known, and for suites of a schedule.
# TYPE etcdbench_suite_passed gauge
etcdbench_suite_passed{namespace="etcd",suite="checked"} 0
etcdbench_suite_passed{namespace="etcd",suite="good"} 1
# HELP etcdbench_suites EtcdBenchmarkSuites that exist, by state, as for runs. Absent for namespaces without a suite.
# TYPE etcdbench_suites gauge
etcdbench_suites{namespace="etcd",state="Checking"} 0
etcdbench_suites{namespace="etcd",state="Finished"} 4
etcdbench_suites{namespace="etcd",state="Pending"} 0
etcdbench_suites{namespace="etcd",state="Running"} 0
`
	if err := testutil.CollectAndCompare(collector, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

// Each name shows its last run, also if that failed. A run of a suite shows nothing, and names with older runs give way.
func TestGaugesOfTheLastRuns(t *testing.T) {
	done := finishedCondition(metav1.ConditionTrue, v1alpha1.ReasonCompleted)
	night1 := runIn("etcd", "nightly-abc", done, endedAt(1_790_000_000), puts(9_000, 100_000))
	night2 := runIn("etcd", "nightly-xyz", done, endedAt(1_790_086_400), puts(5_000, 1_000))
	night1.GenerateName, night2.GenerateName = "nightly-", "nightly-"
	night2.Status.Conditions = append(night2.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionFalse})
	ofSuite := runIn("etcd", "cell", done, endedAt(1_790_086_400), puts(1, 1))
	ofSuite.Labels = map[string]string{v1alpha1.LabelSuite: "suite"}
	lost := runIn("etcd", "lost", finishedCondition(metav1.ConditionTrue, v1alpha1.ReasonTargetLost), endedAt(1_790_000_001))
	active := runIn("etcd", "active", finishedCondition(metav1.ConditionFalse, v1alpha1.StageRunning))
	const want = `
# HELP etcdbench_last_run_completed 1 if the last EtcdBenchmark of this name completed, else 0.
# TYPE etcdbench_last_run_completed gauge
etcdbench_last_run_completed{namespace="etcd",run="lost"} 0
etcdbench_last_run_completed{namespace="etcd",run="nightly"} 1
# HELP etcdbench_last_run_latency_seconds Latency of the last EtcdBenchmark of this name. A percentile is absent if too few requests were slower.
# TYPE etcdbench_last_run_latency_seconds gauge
etcdbench_last_run_latency_seconds{namespace="etcd",operation="Put",run="nightly",statistic="P50"} 0.005
# HELP etcdbench_last_run_passed 1 if the last EtcdBenchmark of this name met its objectives, 0 if it missed one. Absent if that is not known.
# TYPE etcdbench_last_run_passed gauge
etcdbench_last_run_passed{namespace="etcd",run="nightly"} 0
# HELP etcdbench_last_run_requests_per_second Successful requests per second of the last EtcdBenchmark of this name. Absent if it measured nothing.
# TYPE etcdbench_last_run_requests_per_second gauge
etcdbench_last_run_requests_per_second{namespace="etcd",operation="Put",run="nightly"} 1000
# HELP etcdbench_last_run_timestamp_seconds When the last EtcdBenchmark of this name ended. The name of a run with generateName is that, without the dash at its end.
# TYPE etcdbench_last_run_timestamp_seconds gauge
etcdbench_last_run_timestamp_seconds{namespace="etcd",run="lost"} 1.790000001e+09
etcdbench_last_run_timestamp_seconds{namespace="etcd",run="nightly"} 1.7900864e+09
# HELP etcdbench_last_run_unsuccessful_ratio Share of the measured requests of the last EtcdBenchmark of this name that failed or had no response. Absent if it measured nothing.
# TYPE etcdbench_last_run_unsuccessful_ratio gauge
etcdbench_last_run_unsuccessful_ratio{namespace="etcd",operation="Put",run="nightly"} 0.25
`
	collector := stateCollector{fakeCache(night2, night1, ofSuite, lost, active)}
	names := []string{"timestamp_seconds", "completed", "passed", "requests_per_second", "unsuccessful_ratio", "latency_seconds"}
	for i := range names {
		names[i] = "etcdbench_last_run_" + names[i]
	}
	if err := testutil.CollectAndCompare(collector, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}

func TestTheGaugesOfLastRunsAreBounded(t *testing.T) {
	var runs []v1alpha1.EtcdBenchmark
	for i := range maxLastRuns + 50 {
		runs = append(runs, *runIn("etcd", fmt.Sprint("run-", i), finishedCondition(metav1.ConditionTrue, v1alpha1.ReasonCompleted), endedAt(1_790_000_000+int64(i))))
	}
	shown := lastRuns(runs)
	if len(shown) != maxLastRuns || shown[0].Name != "run-149" || shown[maxLastRuns-1].Name != "run-50" {
		t.Errorf("wanted the newest %d runs, found %d, from %s to %s", maxLastRuns, len(shown), shown[0].Name, shown[len(shown)-1].Name)
	}
}

func endedAt(seconds int64) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Status.CompletionTime = &metav1.Time{Time: time.Unix(seconds, 0)}
	}
}

// puts gives a run one operation: three quarters of its requests succeeded, and too few were slow for a p99.
func puts(p50, rate int64) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Status.Summary = &v1alpha1.Summary{Operations: []v1alpha1.OperationSummary{{
			Operation: spec.OperationPut, Succeeded: 6, Failed: 1, Censored: 1, ThroughputPerSecond: spec.DecimalOf(float64(rate)),
			Latency: &v1alpha1.LatencySummary{Count: 6, P50Microseconds: p50, P99Microseconds: 2 * p50, Thin: []spec.Statistic{spec.StatisticP99}},
		}}}
		run.Status.Summary = slimSummary(run)
	}
}

// A run counts once, when it ends, by how it ended.
func TestFinishedRunsAreCounted(t *testing.T) {
	const reason = "OfThisTest"
	r := &EtcdBenchmarkReconciler{Recorder: events.NewFakeRecorder(9)}
	running := runIn("etcd", "run", finishedCondition(metav1.ConditionFalse, reason))
	r.announce(t.Context(), running, &v1alpha1.EtcdBenchmarkStatus{})
	if got := testutil.ToFloat64(runsFinished.WithLabelValues(reason)); got != 0 {
		t.Errorf("a run that goes on counts %v times", got)
	}
	ended := runIn("etcd", "run", finishedCondition(metav1.ConditionTrue, reason))
	ended.Status.CompletionTime = &metav1.Time{Time: time.Unix(1_790_000_000, 0)}
	r.announce(t.Context(), ended, &running.Status)
	r.announce(t.Context(), ended, &ended.Status)
	if got := testutil.ToFloat64(runsFinished.WithLabelValues(reason)); got != 1 {
		t.Errorf("a run that ended counts %v times", got)
	}
}

func fakeCache(objects ...client.Object) client.Client {
	return fake.NewClientBuilder().WithScheme(cluster.scheme).WithObjects(objects...).Build()
}

func runIn(namespace, name string, changes ...func(*v1alpha1.EtcdBenchmark)) *v1alpha1.EtcdBenchmark {
	run := &v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	for _, change := range changes {
		change(run)
	}
	return run
}

func finishedCondition(status metav1.ConditionStatus, reason string) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: status, Reason: reason}}
	}
}

func startedAt(seconds int64) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) { run.Status.StartTime = &metav1.Time{Time: time.Unix(seconds, 0)} }
}

// suiteOf is a finished suite, of this schedule unless it is empty.
func suiteOf(namespace, name, schedule string, passed metav1.ConditionStatus) *v1alpha1.EtcdBenchmarkSuite {
	s := &v1alpha1.EtcdBenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if schedule != "" {
		s.Labels = map[string]string{v1alpha1.LabelSchedule: schedule}
	}
	s.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted},
		{Type: v1alpha1.ConditionPassed, Status: passed},
	}
	return s
}

func scheduleOf(namespace, name string) *v1alpha1.EtcdBenchmarkSchedule {
	sch := &v1alpha1.EtcdBenchmarkSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	at := metav1.Unix(1_790_000_000, 0)
	sch.Status.LastPassed, sch.Status.LastSuccessfulTime, sch.Status.NextScheduleTime = metav1.ConditionTrue, &at, &at
	sch.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionTrendBroken, Status: metav1.ConditionFalse}}
	sch.Status.Series = []v1alpha1.ScheduleSeries{{Cell: "put", Type: v1alpha1.SeriesThroughput, Values: []int64{1}, Verdict: v1alpha1.SeriesWorse}}
	return sch
}
