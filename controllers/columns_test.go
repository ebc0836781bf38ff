package controllers

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// printed reads an object together with what `kubectl get -o wide` prints for it. The API server makes this table.
// usual are the columns that kubectl prints without -o wide.
func printed(t *testing.T, resource string, o client.Object) (usual []string, cells map[string]string) {
	t.Helper()
	config := rest.CopyConfig(cluster.config)
	config.GroupVersion, config.APIPath, config.NegotiatedSerializer = &v1alpha1.GroupVersion, "/apis", serializer.NewCodecFactory(cluster.scheme).WithoutConversion()
	c, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	data, err := c.Get().Namespace(o.GetNamespace()).Resource(resource).Name(o.GetName()).Param("includeObject", string(metav1.IncludeObject)).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(data, &table); err != nil || len(table.Rows) != 1 {
		t.Fatalf("wanted a table of one row, found %v\n%s", err, data)
	}
	if err := json.Unmarshal(table.Rows[0].Object.Raw, o); err != nil {
		t.Fatal(err)
	}
	cells = map[string]string{}
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			usual = append(usual, column.Name)
		}
		if cell := table.Rows[0].Cells[i]; cell != nil {
			cells[column.Name] = fmt.Sprint(cell)
		}
	}
	return usual, cells
}

func requireColumns(t *testing.T, usual []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, usual); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

// requireCells compares all cells but the age.
func requireCells(t *testing.T, got, want map[string]string) {
	t.Helper()
	if got["Age"] == "" {
		t.Error("wanted an age")
	}
	delete(got, "Age")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

func TestColumnsOfASuite(t *testing.T) {
	h := newSuiteHarness(t, func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Rounds = 3
		s.Spec.Compare = &v1alpha1.SuiteCompare{Axis: v1alpha1.AxisLoads, Baseline: v1alpha1.SuiteBaseline{Entry: "c1"}, Metrics: []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}}}
	}).create()
	// The first run misses an objective. The load of ten clients is slower than that of one.
	end := func(run *v1alpha1.EtcdBenchmark, changes ...func(*v1alpha1.EtcdBenchmarkStatus)) {
		perSecond := map[int32]int{1: 1000, 10: 500}[run.Spec.Load.Clients]
		h.finish(run, v1alpha1.ReasonCompleted, append(changes, throughputOf(perSecond))...)
	}
	end(h.next(), func(s *v1alpha1.EtcdBenchmarkStatus) {
		s.Conditions = append(s.Conditions, metav1.Condition{
			Type: v1alpha1.ConditionPassed, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonObjectivesMissed, LastTransitionTime: metav1.Now(),
		})
	})
	second := h.next()
	usual, cells := printed(t, "etcdbenchmarksuites", h.suite)
	requireColumns(t, usual, "Name", "State", "Passed", "Runs", "Cells", "Regressed", "ETA", "Age")
	if h.suite.Status.EstimatedEnd == nil {
		t.Fatal("wanted an estimate while the suite runs")
	}
	requireCells(t, cells, map[string]string{
		"Name": "nightly", "State": v1alpha1.StageRunning, "Runs": "1/6", "Cells": "2", "Regressed": "0",
		"ETA": h.suite.Status.EstimatedEnd.UTC().Format(time.RFC3339), "Current": second.Name, "Invalid": "0", "Missed": "1",
	})
	end(second)
	for range 4 {
		end(h.next())
	}
	h.awaitFinished(v1alpha1.ReasonCompleted)
	_, cells = printed(t, "etcdbenchmarksuites", h.suite)
	requireCells(t, cells, map[string]string{
		"Name": "nightly", "State": v1alpha1.ReasonCompleted, "Passed": "False", "Runs": "6/6", "Cells": "2", "Regressed": "1", "Invalid": "0", "Missed": "1",
	})
}

func TestColumnsOfARun(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Load.Rate = &spec.Rate{PerSecond: 100}
		run.Spec.Objectives = []v1alpha1.Objective{{Name: "rate", Type: spec.ObjectiveThroughput, Throughput: &v1alpha1.ThroughputObjective{MinPerSecond: 1}}}
	})
	s.playPreparing()
	usual, cells := printed(t, "etcdbenchmarks", s.run)
	requireColumns(t, usual, "Name", "Workload", "Target", "State", "Passed", "Throughput", "P99", "Errors", "Pods", "Age")
	prepared := map[string]string{"Name": "put", "Workload": "Put", "Target": "http://127.0.0.1:2379", "State": v1alpha1.StagePreparing, "Load": "2×2", "Rate": "100/s"}
	for column, want := range prepared {
		if cells[column] != want {
			t.Errorf("%s: wanted %q, found %q", column, want, cells[column])
		}
	}
	s.playReady()
	s.playRunning()
	s.playCleaning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	_, cells = printed(t, "etcdbenchmarks", s.run)
	d := s.run.Status.Display
	requireCells(t, cells, map[string]string{
		"Name": "put", "Workload": "Put", "Target": "http://127.0.0.1:2379", "State": v1alpha1.ReasonCompleted, "Passed": "True",
		"Throughput": d.Throughput, "P99": d.P99, "Errors": "0", "Pods": "2/2", "Load": "2×2", "Rate": "100/s", "P50": d.P50,
		"Client": string(s.run.Status.Summary.Validity.Verdict),
	})
	if d.Throughput == "" || d.P99 == "" || d.P50 == "" || d.P50 == d.P99 {
		t.Errorf("wanted different numbers, found %+v", d)
	}
}

func TestColumnsOfASchedule(t *testing.T) {
	h := newScheduleHarness(t)
	h.nextDay()
	suite := h.active()
	usual, cells := printed(t, "etcdbenchmarkschedules", h.schedule)
	requireColumns(t, usual, "Name", "Schedule", "Suspend", "Active", "Last", "Passed", "Suspect", "Broken", "Stalled", "Age")
	// How long ago the session started depends on the clock of the API server.
	if cells["Last"] == "" {
		t.Error("wanted the time of the last session")
	}
	delete(cells, "Last")
	next := h.schedule.Status.NextScheduleTime
	requireCells(t, cells, map[string]string{
		"Name": "nightly", "Schedule": "0 3 * * *", "Suspend": "false", "Active": suite.Name, "Suspect": "Unknown", "Broken": "Unknown",
		"Next": next.UTC().Format(time.RFC3339),
	})
	suite.Status.Conditions = append(suite.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionPassed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonObjectivesMet, LastTransitionTime: metav1.Now(),
	})
	h.finish(suite, 1000)
	h.await("no active suite", func() bool { return h.status().Active == "" })
	_, cells = printed(t, "etcdbenchmarkschedules", h.schedule)
	if cells["Active"] != "" || cells["Passed"] != "True" {
		t.Errorf("wanted no active suite, and that the last session passed, found %v", cells)
	}
}
