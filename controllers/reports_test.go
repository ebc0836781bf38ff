package controllers

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// A suite says which of its runs write a report. A run that is on its own writes one.
func TestWhichReportsAreKept(t *testing.T) {
	keep := func(policy string) func(*v1alpha1.EtcdBenchmark) {
		return func(run *v1alpha1.EtcdBenchmark) {
			run.Annotations = map[string]string{v1alpha1.AnnotationKeepReport: policy}
		}
	}
	missed := func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Objectives = []v1alpha1.Objective{{Name: "fast", Type: spec.ObjectiveThroughput, Throughput: &v1alpha1.ThroughputObjective{MinPerSecond: 1_000_000}}}
	}
	for name, tc := range map[string]struct {
		changes []func(*v1alpha1.EtcdBenchmark)
		want    bool
	}{
		"on its own":               {nil, true},
		"all":                      {[]func(*v1alpha1.EtcdBenchmark){keep("All")}, true},
		"none":                     {[]func(*v1alpha1.EtcdBenchmark){keep("None"), missed}, false},
		"failed, and it completed": {[]func(*v1alpha1.EtcdBenchmark){keep("Failed")}, false},
		"failed, and it missed":    {[]func(*v1alpha1.EtcdBenchmark){keep("Failed"), missed}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, tc.changes...)
			s.playPreparing()
			s.playReady()
			s.playRunning()
			s.playDone()
			s.awaitFinished(v1alpha1.ReasonCompleted)
			if got := s.status().ReportName != ""; got != tc.want || s.status().Summary == nil {
				t.Errorf("a report: %v, wanted %v, and a summary in any case", got, tc.want)
			}
		})
	}
}
