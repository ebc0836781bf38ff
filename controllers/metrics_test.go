package controllers

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

func TestMetricsAreWellFormed(t *testing.T) {
	runsFinished.WithLabelValues("Completed")
	problems, err := testutil.GatherAndLint(metrics.Registry, "etcdbench_runs_finished_total")
	if err != nil || len(problems) > 0 {
		t.Errorf("wanted metrics that keep Prometheus's rules, found %v, %v", problems, err)
	}
}
