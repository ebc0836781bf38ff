package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// The gauges follow from status alone. What is not known is absent.
func TestGaugesOfSchedules(t *testing.T) {
	schedule := func(name string, status v1alpha1.EtcdBenchmarkScheduleStatus) *v1alpha1.EtcdBenchmarkSchedule {
		return &v1alpha1.EtcdBenchmarkSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: "etcd", Name: name, CreationTimestamp: metav1.Unix(1_780_000_000, 0)}, Status: status}
	}
	paused := schedule("new", v1alpha1.EtcdBenchmarkScheduleStatus{})
	paused.Spec.Suspend = true
	paused.Status.NextScheduleTime = &metav1.Time{Time: time.Unix(1_790_086_400, 0)}
	paused.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionTrendBroken, Status: metav1.ConditionUnknown}, {Type: v1alpha1.ConditionStalled, Status: metav1.ConditionFalse},
	}
	success := metav1.Time{Time: time.Unix(1_790_000_000, 0)}
	client := fake.NewClientBuilder().WithScheme(cluster.scheme).WithObjects(
		paused,
		schedule("nightly", v1alpha1.EtcdBenchmarkScheduleStatus{
			LastPassed: metav1.ConditionFalse, LastSuccessfulTime: &success,
			NextScheduleTime: &metav1.Time{Time: time.Unix(1_790_086_400, 0)},
			Conditions: []metav1.Condition{
				{Type: v1alpha1.ConditionTrendBroken, Status: metav1.ConditionTrue}, {Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue},
			},
			Series: []v1alpha1.ScheduleSeries{
				{Cell: "put", Type: v1alpha1.SeriesThroughput, Values: []int64{1, 9_000_500}, Verdict: v1alpha1.SeriesWorse},
				{Cell: "put", Type: v1alpha1.SeriesLatency, Operation: "Put", Statistic: "P99", Values: []int64{2500}, Verdict: v1alpha1.SeriesBetter},
				{Cell: "range", Type: v1alpha1.SeriesHighestRate, Values: []int64{7, 0}, Verdict: v1alpha1.SeriesUnknown},
				{Cell: "stm", Type: v1alpha1.SeriesHighestRate, Values: []int64{4000}, Verdict: v1alpha1.SeriesStillWorse},
				{Cell: "txn", Type: v1alpha1.SeriesThroughput, Values: []int64{3000}, Verdict: v1alpha1.SeriesAsExpected},
			},
		}),
	).Build()
	const want = `
# HELP etcdbench_schedule_created_timestamp_seconds When an EtcdBenchmarkSchedule was created.
# TYPE etcdbench_schedule_created_timestamp_seconds gauge
etcdbench_schedule_created_timestamp_seconds{namespace="etcd",schedule="new"} 1.78e+09
etcdbench_schedule_created_timestamp_seconds{namespace="etcd",schedule="nightly"} 1.78e+09
# HELP etcdbench_schedule_last_success_timestamp_seconds When the last session of an EtcdBenchmarkSchedule ended that passed.
# TYPE etcdbench_schedule_last_success_timestamp_seconds gauge
etcdbench_schedule_last_success_timestamp_seconds{namespace="etcd",schedule="nightly"} 1.79e+09
# HELP etcdbench_schedule_next_timestamp_seconds When the next session of an EtcdBenchmarkSchedule should start. It is in the past if an earlier session still runs. Absent if no session will start.
# TYPE etcdbench_schedule_next_timestamp_seconds gauge
etcdbench_schedule_next_timestamp_seconds{namespace="etcd",schedule="nightly"} 1.7900864e+09
# HELP etcdbench_schedule_passed 1 if the last session of an EtcdBenchmarkSchedule passed, 0 if it did not. Absent if that is not known.
# TYPE etcdbench_schedule_passed gauge
etcdbench_schedule_passed{namespace="etcd",schedule="nightly"} 0
# HELP etcdbench_schedule_stalled 1 if an EtcdBenchmarkSchedule cannot start its sessions, or the last one could not run as planned (condition Stalled), else 0.
# TYPE etcdbench_schedule_stalled gauge
etcdbench_schedule_stalled{namespace="etcd",schedule="new"} 0
etcdbench_schedule_stalled{namespace="etcd",schedule="nightly"} 1
# HELP etcdbench_schedule_suspended 1 if an EtcdBenchmarkSchedule is suspended, else 0.
# TYPE etcdbench_schedule_suspended gauge
etcdbench_schedule_suspended{namespace="etcd",schedule="new"} 1
etcdbench_schedule_suspended{namespace="etcd",schedule="nightly"} 0
# HELP etcdbench_schedule_trend_broken 1 if the numbers of an EtcdBenchmarkSchedule have become worse for good (condition TrendBroken), 0 if not. Absent if that is not known.
# TYPE etcdbench_schedule_trend_broken gauge
etcdbench_schedule_trend_broken{namespace="etcd",schedule="nightly"} 1
# HELP etcdbench_schedule_value Last number of a series of an EtcdBenchmarkSchedule: seconds for a latency, requests per second for others. A series without a number in the last session is absent.
# TYPE etcdbench_schedule_value gauge
etcdbench_schedule_value{cell="put",namespace="etcd",operation="",schedule="nightly",statistic="",type="Throughput"} 9000.5
etcdbench_schedule_value{cell="put",namespace="etcd",operation="Put",schedule="nightly",statistic="P99",type="Latency"} 0.0025
etcdbench_schedule_value{cell="stm",namespace="etcd",operation="",schedule="nightly",statistic="",type="HighestRate"} 4
etcdbench_schedule_value{cell="txn",namespace="etcd",operation="",schedule="nightly",statistic="",type="Throughput"} 3
# HELP etcdbench_schedule_worse 1 if the last number of a series is worse than expected, 0 if it is not. Absent if that is not known.
# TYPE etcdbench_schedule_worse gauge
etcdbench_schedule_worse{cell="put",namespace="etcd",operation="",schedule="nightly",statistic="",type="Throughput"} 1
etcdbench_schedule_worse{cell="put",namespace="etcd",operation="Put",schedule="nightly",statistic="P99",type="Latency"} 0
etcdbench_schedule_worse{cell="stm",namespace="etcd",operation="",schedule="nightly",statistic="",type="HighestRate"} 1
etcdbench_schedule_worse{cell="txn",namespace="etcd",operation="",schedule="nightly",statistic="",type="Throughput"} 0
`
	if err := testutil.CollectAndCompare(historyCollector{client}, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
