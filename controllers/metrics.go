package controllers

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// runsFinished counts by reason; the set of reasons is fixed.
var runsFinished = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "etcdbench_runs_finished_total",
	Help: "EtcdBenchmarks that this operator saw finish, by the reason of their condition Finished.",
}, []string{"reason"})

func init() { metrics.Registry.MustRegister(runsFinished) }

// Gauges of the last session of each schedule. They are read from the status of the schedules, so that they are there
// again after a restart.
var (
	sessionValue = prometheus.NewDesc("etcdbench_schedule_value",
		"Last number of a series of an EtcdBenchmarkSchedule: seconds for a latency, requests per second for others. A series without a number in the last session is absent.",
		[]string{"namespace", "schedule", "cell", "type", "operation", "statistic"}, nil)
	sessionWorse = prometheus.NewDesc("etcdbench_schedule_worse",
		"1 if the last number of a series is worse than expected, 0 if it is not. Absent if that is not known.",
		[]string{"namespace", "schedule", "cell", "type", "operation", "statistic"}, nil)
	sessionPassed = prometheus.NewDesc("etcdbench_schedule_passed",
		"1 if the last session of an EtcdBenchmarkSchedule passed, 0 if it did not. Absent if that is not known.",
		[]string{"namespace", "schedule"}, nil)
	sessionBroken = prometheus.NewDesc("etcdbench_schedule_trend_broken",
		"1 if the numbers of an EtcdBenchmarkSchedule have become worse for good (condition TrendBroken), 0 if not. Absent if that is not known.",
		[]string{"namespace", "schedule"}, nil)
	sessionStalled = prometheus.NewDesc("etcdbench_schedule_stalled",
		"1 if an EtcdBenchmarkSchedule cannot start its sessions, or the last one could not run as planned (condition Stalled), else 0.",
		[]string{"namespace", "schedule"}, nil)
	nextStart = prometheus.NewDesc("etcdbench_schedule_next_timestamp_seconds",
		"When the next session of an EtcdBenchmarkSchedule should start. It is in the past if an earlier session still runs. Absent if no session will start.",
		[]string{"namespace", "schedule"}, nil)
	suspended = prometheus.NewDesc("etcdbench_schedule_suspended",
		"1 if an EtcdBenchmarkSchedule is suspended, else 0.",
		[]string{"namespace", "schedule"}, nil)
	created = prometheus.NewDesc("etcdbench_schedule_created_timestamp_seconds",
		"When an EtcdBenchmarkSchedule was created.",
		[]string{"namespace", "schedule"}, nil)
	lastSuccess = prometheus.NewDesc("etcdbench_schedule_last_success_timestamp_seconds",
		"When the last session of an EtcdBenchmarkSchedule ended that passed.",
		[]string{"namespace", "schedule"}, nil)
)

// maxScrape bounds how long a scrape waits for the cache.
const maxScrape = 5 * time.Second

// historyCollector reads the schedules at each scrape.
type historyCollector struct{ client client.Reader }

// RegisterMetrics makes the metrics endpoint show the gauges of all runs, suites and schedules that this client reads. The
// client should have a cache, because each scrape lists all of them.
func RegisterMetrics(c client.Reader) error {
	return errors.Join(metrics.Registry.Register(historyCollector{c}), metrics.Registry.Register(stateCollector{c}))
}

// Describe implements prometheus.Collector.
func (historyCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{sessionValue, sessionWorse, sessionPassed, sessionBroken, sessionStalled, nextStart, suspended, created, lastSuccess} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (h historyCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), maxScrape)
	defer cancel()
	list := &v1alpha1.EtcdBenchmarkScheduleList{}
	// The objects belong to the cache; the collector only reads them.
	if err := h.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		out <- prometheus.NewInvalidMetric(sessionPassed, err)
		return
	}
	for i := range list.Items {
		collect(&list.Items[i], gaugesTo(out))
	}
}

// collect writes the gauges of one schedule.
func collect(sch *v1alpha1.EtcdBenchmarkSchedule, gauge gaugeFunc) {
	s := sch.Status
	flag := func(d *prometheus.Desc, is metav1.ConditionStatus) { gauge.flag(d, is, sch.Namespace, sch.Name) }
	flag(sessionPassed, s.LastPassed)
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionTrendBroken); c != nil {
		flag(sessionBroken, c.Status)
	}
	flag(suspended, statusOf(sch.Spec.Suspend))
	flag(sessionStalled, statusOf(meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionStalled)))
	if s.NextScheduleTime != nil && !sch.Spec.Suspend {
		gauge(nextStart, float64(s.NextScheduleTime.Unix()), sch.Namespace, sch.Name)
	}
	gauge(created, float64(sch.CreationTimestamp.Unix()), sch.Namespace, sch.Name)
	if s.LastSuccessfulTime != nil {
		gauge(lastSuccess, float64(s.LastSuccessfulTime.Unix()), sch.Namespace, sch.Name)
	}
	for _, series := range s.Series {
		labels := []string{sch.Namespace, sch.Name, series.Cell, string(series.Type), string(series.Operation), string(series.Statistic)}
		if n := len(series.Values); n > 0 && series.Values[n-1] > 0 {
			gauge(sessionValue, float64(series.Values[n-1])/unitOf(series.Type), labels...)
		}
		switch series.Verdict {
		case v1alpha1.SeriesWorse, v1alpha1.SeriesStillWorse:
			gauge(sessionWorse, 1, labels...)
		case v1alpha1.SeriesAsExpected, v1alpha1.SeriesBetter:
			gauge(sessionWorse, 0, labels...)
		}
	}
}

func statusOf(is bool) metav1.ConditionStatus {
	if is {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// unitOf is what a value of a series is multiplied by in status.
func unitOf(t v1alpha1.SeriesType) float64 {
	if t == v1alpha1.SeriesLatency {
		return 1e6
	}
	return 1e3
}
