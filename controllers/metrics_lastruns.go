package controllers

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Gauges of the last run of each name that has ended. Runs of suites are left out: schedules have series of their own.
var (
	lastRunEnded = prometheus.NewDesc("etcdbench_last_run_timestamp_seconds",
		"When the last EtcdBenchmark of this name ended. The name of a run with generateName is that, without the dash at its end.",
		[]string{"namespace", "run"}, nil)
	lastRunCompleted = prometheus.NewDesc("etcdbench_last_run_completed",
		"1 if the last EtcdBenchmark of this name completed, else 0.",
		[]string{"namespace", "run"}, nil)
	lastRunPassed = prometheus.NewDesc("etcdbench_last_run_passed",
		"1 if the last EtcdBenchmark of this name met its objectives, 0 if it missed one. Absent if that is not known.",
		[]string{"namespace", "run"}, nil)
	lastRunRate = prometheus.NewDesc("etcdbench_last_run_requests_per_second",
		"Successful requests per second of the last EtcdBenchmark of this name. Absent if it measured nothing.",
		[]string{"namespace", "run", "operation"}, nil)
	lastRunErrors = prometheus.NewDesc("etcdbench_last_run_unsuccessful_ratio",
		"Share of the measured requests of the last EtcdBenchmark of this name that failed or had no response. Absent if it measured nothing.",
		[]string{"namespace", "run", "operation"}, nil)
	lastRunLatency = prometheus.NewDesc("etcdbench_last_run_latency_seconds",
		"Latency of the last EtcdBenchmark of this name. A percentile is absent if too few requests were slower.",
		[]string{"namespace", "run", "operation", "statistic"}, nil)
)

// maxLastRuns bounds the names that have gauges: those with the newest runs.
const maxLastRuns = 100

// lastRunStatistics are the statistics that have a gauge.
var lastRunStatistics = []spec.Statistic{spec.StatisticP50, spec.StatisticP99}

func collectLastRuns(runs []v1alpha1.EtcdBenchmark, gauge gaugeFunc) {
	for _, run := range lastRuns(runs) {
		labels := []string{run.Namespace, seriesOf(run)}
		finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
		gauge(lastRunEnded, float64(run.Status.CompletionTime.Unix()), labels...)
		gauge.flag(lastRunCompleted, statusOf(finished.Reason == v1alpha1.ReasonCompleted), labels...)
		if passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed); passed != nil {
			gauge.flag(lastRunPassed, passed.Status, labels...)
		}
		if run.Status.Summary == nil {
			continue
		}
		for _, o := range run.Status.Summary.Operations {
			collectOperation(o, gauge, append(labels, string(o.Operation)))
		}
	}
}

func collectOperation(o v1alpha1.OperationSummary, gauge gaugeFunc, labels []string) {
	gauge(lastRunRate, o.ThroughputPerSecond.Float64(), labels...)
	if unsuccessful := float64(o.Failed + o.Censored); o.Succeeded > 0 || unsuccessful > 0 {
		gauge(lastRunErrors, unsuccessful/(float64(o.Succeeded)+unsuccessful), labels...)
	}
	if o.Latency == nil || o.Latency.Count == 0 {
		return
	}
	for _, statistic := range lastRunStatistics {
		if !slices.Contains(o.Latency.Thin, statistic) {
			gauge(lastRunLatency, float64(o.Latency.Micros(statistic))/1e6, append(labels, string(statistic))...)
		}
	}
}

// lastRuns returns the run of each namespace and name that ended last, the newest first, at most maxLastRuns.
func lastRuns(runs []v1alpha1.EtcdBenchmark) (last []*v1alpha1.EtcdBenchmark) {
	newest := map[[2]string]*v1alpha1.EtcdBenchmark{}
	for i := range runs {
		run := &runs[i]
		if !run.HasFinished() || run.Status.CompletionTime == nil || belongsToSuite(run) {
			continue
		}
		name := [2]string{run.Namespace, seriesOf(run)}
		if known := newest[name]; known == nil || newestFirst(run, known) < 0 {
			newest[name] = run
		}
	}
	for _, run := range newest {
		last = append(last, run)
	}
	slices.SortFunc(last, newestFirst)
	return last[:min(len(last), maxLastRuns)]
}

// newestFirst orders runs of the same second by name, so that each scrape shows the same ones.
func newestFirst(a, b *v1alpha1.EtcdBenchmark) int {
	return cmp.Or(b.Status.CompletionTime.Compare(a.Status.CompletionTime.Time), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// seriesOf is the name that repetitions of a run share.
func seriesOf(run *v1alpha1.EtcdBenchmark) string {
	return cmp.Or(strings.TrimRight(run.GenerateName, "-."), run.Name)
}

func belongsToSuite(run *v1alpha1.EtcdBenchmark) bool { return run.Labels[v1alpha1.LabelSuite] != "" }

// slimSummary keeps what the gauges of a run show.
func slimSummary(run *v1alpha1.EtcdBenchmark) *v1alpha1.Summary {
	if run.Status.Summary == nil || belongsToSuite(run) {
		return nil
	}
	slim := &v1alpha1.Summary{}
	for _, o := range run.Status.Summary.Operations {
		kept := v1alpha1.OperationSummary{
			Operation: o.Operation, Succeeded: o.Succeeded, Failed: o.Failed, Censored: o.Censored,
			ThroughputPerSecond: o.ThroughputPerSecond, Latency: o.Latency,
		}
		slim.Operations = append(slim.Operations, kept)
	}
	return slim
}
