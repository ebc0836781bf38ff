//go:build prometheus

package dashboards

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/history"
)

const (
	// runsNamespace is where the runs are.
	runsNamespace = "etcd"
	// busyRun is the run that the dashboard of one run shows.
	busyRun = "busy"
	// maxRequestBytes of the target. Some values of busyRun are longer, so some of its requests fail. A request that deletes
	// all keys of a run is shorter.
	maxRequestBytes = 16 << 10
)

func create(t *testing.T, o client.Object) {
	t.Helper()
	if err := cluster.api.Create(t.Context(), o); err != nil {
		t.Fatalf("creating %T %s: %v", o, o.GetName(), err)
	}
}

func load(pods, durationSeconds int32) spec.Load {
	return spec.Load{Pods: pods, Connections: 2 * pods, Clients: 4 * pods, DurationSeconds: &durationSeconds}
}

func puts(longest int32) spec.Workload {
	return spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: spec.Keys{Count: 100, SizeBytes: 8}, Values: spec.Values{SizeBytes: longest, MinSizeBytes: new(int32(16)), SizeDistribution: spec.SizesLogUniform}}}
}

// createRuns creates a run whose requests fail in part, and one that waits for it in the queue.
func createRuns(t *testing.T, target v1alpha1.Target) {
	t.Helper()
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: runsNamespace}})
	for name, seconds := range map[string]int32{busyRun: 15, "next": 2} {
		b := &v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: runsNamespace, Name: name}}
		b.Spec = v1alpha1.EtcdBenchmarkSpec{Target: target, Workload: puts(2 * maxRequestBytes), Load: load(2, seconds)}
		b.Spec.Guard = &spec.Guard{AcceptWrites: true, StopOn: &spec.StopRules{}}
		create(t, b)
	}
}

// suiteSpec is a suite of one short run, with an objective that every target meets.
func suiteSpec(target v1alpha1.Target) v1alpha1.EtcdBenchmarkSuiteSpec {
	return v1alpha1.EtcdBenchmarkSuiteSpec{
		Targets: []v1alpha1.SuiteTarget{{Name: "etcd", Target: target}},
		Workloads: []v1alpha1.SuiteWorkload{{Name: "put", Workload: puts(64), Objectives: []v1alpha1.Objective{{
			Name: "rate", Type: spec.ObjectiveThroughput, Throughput: &v1alpha1.ThroughputObjective{MinPerSecond: 1},
		}}}},
		Loads: []v1alpha1.SuiteLoad{{Name: "c4", Load: load(1, 2)}},
	}
}

// createSchedule creates a schedule with the history of 14 sessions, of which the last one was worse. So the operator
// starts another session at once.
func createSchedule(t *testing.T, target v1alpha1.Target) {
	t.Helper()
	sch := &v1alpha1.EtcdBenchmarkSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: runsNamespace, Name: "nightly"},
		Spec: v1alpha1.EtcdBenchmarkScheduleSpec{
			Schedule: "0 3 * * *", Suspend: true, SuiteTemplate: v1alpha1.SuiteTemplateSpec{Spec: suiteSpec(target)},
			Metrics: []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}, {Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP50}},
		},
	}
	create(t, sch)
	await(t, "the operator to see the schedule", func(ctx context.Context) error {
		if err := cluster.api.Get(ctx, client.ObjectKeyFromObject(sch), sch); err != nil || sch.Status.ObservedGeneration == 0 {
			return fmt.Errorf("it was not observed: %v", err)
		}
		return nil
	})
	before := sch.DeepCopy()
	remember(sch)
	if err := cluster.api.Status().Patch(t.Context(), sch, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	before = sch.DeepCopy()
	sch.Spec.Suspend = false
	if err := cluster.api.Patch(t.Context(), sch, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// remember gives a schedule the history of earlier sessions, judged as the operator judges it.
func remember(sch *v1alpha1.EtcdBenchmarkSchedule) {
	const sessions = 14
	now := time.Now().Truncate(time.Second)
	series := []v1alpha1.ScheduleSeries{
		{Cell: "put", Type: v1alpha1.SeriesThroughput, TolerancePercent: 5},
		{Cell: "put", Type: v1alpha1.SeriesLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP50, TolerancePercent: 10},
	}
	for i := range sessions {
		ended := metav1.Time{Time: now.Add(time.Duration(i-sessions) * 24 * time.Hour)}
		sch.Status.Sessions = append(sch.Status.Sessions, v1alpha1.ScheduleSession{
			Name: fmt.Sprintf("%s-%d", sch.Name, ended.Unix()/60), StartTime: ended, CompletionTime: &ended, Reason: v1alpha1.ReasonCompleted,
			Passed: metav1.ConditionTrue, Template: history.TemplateID(sch.Spec.SuiteTemplate.Spec),
			Environment: v1alpha1.Environment{Client: "usual"},
		})
		throughput, latency := int64(1_000_000+3_000*(i%5)), int64(1_000+3*(i%5))
		if i == sessions-1 {
			throughput, latency = throughput/2, 2*latency
		}
		series[0].Values, series[1].Values = append(series[0].Values, throughput), append(series[1].Values, latency)
		sch.Status.LastScheduleTime, sch.Status.LastSuccessfulTime = &ended, &ended
	}
	sch.Status.Series, sch.Status.LastPassed = series, metav1.ConditionTrue
	history.Judge(sch, now)
}
