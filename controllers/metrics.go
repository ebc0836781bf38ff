package controllers

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// runsFinished counts by reason; the set of reasons is fixed.
var runsFinished = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "etcdbench_runs_finished_total",
	Help: "EtcdBenchmarks that this operator saw finish, by the reason of their condition Finished.",
}, []string{"reason"})

func init() { metrics.Registry.MustRegister(runsFinished) }
