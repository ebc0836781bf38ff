package controllers

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Gauges of the runs and suites that exist. They are counted in the cache at each scrape, so that they are the same after
// a restart.
var (
	runsByState = prometheus.NewDesc("etcdbench_runs",
		"EtcdBenchmarks that exist, by state: the reason of their condition Finished while it is False, then Finished. Absent for namespaces without a run.",
		[]string{"namespace", "state"}, nil)
	suitesByState = prometheus.NewDesc("etcdbench_suites",
		"EtcdBenchmarkSuites that exist, by state, as for runs. Absent for namespaces without a suite.",
		[]string{"namespace", "state"}, nil)
	oldestQueued = prometheus.NewDesc("etcdbench_queue_oldest_timestamp_seconds",
		"When the operator first handled the run that is in the queue for the longest time. Absent if no run is queued.",
		[]string{"namespace"}, nil)
	suitePassed = prometheus.NewDesc("etcdbench_suite_passed",
		"1 if an EtcdBenchmarkSuite passed, 0 if it missed an objective or regressed. Absent until that is known, and for suites of a schedule.",
		[]string{"namespace", "suite"}, nil)
)

// stateFinished is the state of every run and suite that has ended.
const stateFinished = v1alpha1.ConditionFinished

// runStates and suiteStates are shown for each namespace, also with 0 objects, so that a rule can compare them.
var (
	runStates = []string{
		v1alpha1.StagePending, v1alpha1.StageQueued, v1alpha1.StagePreparing, v1alpha1.StageArmed,
		v1alpha1.StageRunning, v1alpha1.StageCollecting, stateFinished,
	}
	suiteStates = []string{v1alpha1.StagePending, v1alpha1.StageChecking, v1alpha1.StageRunning, stateFinished}
)

// stateCollector counts runs and suites at each scrape.
type stateCollector struct{ client client.Reader }

// Describe implements prometheus.Collector.
func (stateCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		runsByState, suitesByState, oldestQueued, suitePassed,
		lastRunEnded, lastRunCompleted, lastRunPassed, lastRunRate, lastRunErrors, lastRunLatency,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector. The objects of the lists belong to the cache; it only reads them.
func (s stateCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), maxScrape)
	defer cancel()
	runs, suites := &v1alpha1.EtcdBenchmarkList{}, &v1alpha1.EtcdBenchmarkSuiteList{}
	for list, desc := range map[client.ObjectList]*prometheus.Desc{runs: runsByState, suites: suitesByState} {
		if err := s.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			out <- prometheus.NewInvalidMetric(desc, err)
			return
		}
	}
	gauge := gaugesTo(out)
	collectRuns(runs.Items, gauge)
	collectLastRuns(runs.Items, gauge)
	collectSuites(suites.Items, gauge)
}

// gaugeFunc sends one gauge.
type gaugeFunc func(d *prometheus.Desc, value float64, labels ...string)

func gaugesTo(out chan<- prometheus.Metric) gaugeFunc {
	return func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
}

// flag sends 1 or 0, and nothing if it is unknown which.
func (gauge gaugeFunc) flag(d *prometheus.Desc, is metav1.ConditionStatus, labels ...string) {
	switch is {
	case metav1.ConditionTrue:
		gauge(d, 1, labels...)
	case metav1.ConditionFalse:
		gauge(d, 0, labels...)
	}
}

func collectRuns(runs []v1alpha1.EtcdBenchmark, gauge gaugeFunc) {
	counts, oldest := stateCounts{}, map[string]time.Time{}
	for i := range runs {
		run := &runs[i]
		state := counts.add(run.Namespace, run.Status.Conditions, runStates)
		if state != v1alpha1.StageQueued || run.Status.StartTime == nil {
			continue
		}
		if since, ok := oldest[run.Namespace]; !ok || run.Status.StartTime.Time.Before(since) {
			oldest[run.Namespace] = run.Status.StartTime.Time
		}
	}
	counts.send(runsByState, runStates, gauge)
	for namespace, since := range oldest {
		gauge(oldestQueued, float64(since.Unix()), namespace)
	}
}

func collectSuites(suites []v1alpha1.EtcdBenchmarkSuite, gauge gaugeFunc) {
	counts := stateCounts{}
	for i := range suites {
		s := &suites[i]
		counts.add(s.Namespace, s.Status.Conditions, suiteStates)
		passed := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPassed)
		if s.Labels[v1alpha1.LabelSchedule] != "" || passed == nil {
			continue
		}
		gauge.flag(suitePassed, passed.Status, s.Namespace, s.Name)
	}
	counts.send(suitesByState, suiteStates, gauge)
}

// stateCounts counts objects by namespace and state.
type stateCounts map[string]map[string]int

// add counts an object and returns its state. An object that the operator has not handled yet is Pending.
func (c stateCounts) add(namespace string, conditions []metav1.Condition, known []string) string {
	state := v1alpha1.StagePending
	if finished := meta.FindStatusCondition(conditions, v1alpha1.ConditionFinished); finished != nil {
		if state = finished.Reason; finished.Status == metav1.ConditionTrue {
			state = stateFinished
		}
	}
	if !slices.Contains(known, state) {
		state = v1alpha1.StagePending
	}
	if c[namespace] == nil {
		c[namespace] = map[string]int{}
	}
	c[namespace][state]++
	return state
}

func (c stateCounts) send(d *prometheus.Desc, states []string, gauge gaugeFunc) {
	for namespace, counts := range c {
		for _, state := range states {
			gauge(d, float64(counts[state]), namespace, state)
		}
	}
}
