package controllers

import (
	"slices"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/collector"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// TestARunGoesOnWithoutAPod: the live pod completes its load and reports, and the run reports the loss.
func TestARunGoesOnWithoutAPod(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.OnPodLost = v1alpha1.PodLossContinue
		run.Spec.Objectives = []v1alpha1.Objective{{Name: "rate", Type: spec.ObjectiveThroughput, Throughput: &v1alpha1.ThroughputObjective{MinPerSecond: 1}}}
	})
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.await("a scrape of every pod", func() bool { return s.measuredByAll() })
	s.pods[1].exits(137, nil)
	s.await("the loss to be reported", func() bool { return contains(s.message(), "spec.onPodLost") })
	s.restart()
	if s.pods[0].seen().Annotations[plan.AnnotationStop] != "" {
		t.Error("the pod that lives was asked to stop")
	}
	// After its measurement, it only waits for the dead pod.
	s.pods[0].reports(results.StageCleaning, measured)
	s.await("the pod that lives to be asked to stop waiting", func() bool { return s.pods[0].seen().Annotations[plan.AnnotationStop] != "" })
	s.pods[0].reports(results.StageDone, measured, withKeysDeleted)
	s.awaitFinished(v1alpha1.ReasonPartlyCompleted)
	s.checkMessage("Client pod 1")
	status := s.status()
	if status.Summary == nil || !status.Summary.Partial || status.Summary.MeasuredRequests != 100 || !status.Pods[1].Partial {
		t.Errorf("wanted what pod 0 measured, and what pod 1 did until its last scrape, as a part, found %+v and %+v", status.Summary, status.Pods)
	}
	if got := s.condition(v1alpha1.ConditionPassed); got != "Unknown/"+v1alpha1.ReasonNotJudged {
		t.Errorf("wanted a run that lost a pod not to pass, found %s", got)
	}
	if got := s.condition(v1alpha1.ConditionStalled); got != "" {
		t.Errorf("wanted a run that went on as it was asked to not to be stalled, found %s", got)
	}
}

// measuredByAll reports whether status has the measured numbers of every pod.
func (s *harness) measuredByAll() bool {
	pods := s.status().Pods
	return len(pods) == len(s.pods) && !slices.ContainsFunc(pods, func(p v1alpha1.PodStatus) bool { return p.MeasuredRequests == 0 })
}

// TestARestartLosesNothingOfAPodThatIsGone: the write that reports the loss also saves the pod's results, until they
// are in the summary.
func TestARestartLosesNothingOfAPodThatIsGone(t *testing.T) {
	tests := map[string]struct {
		goes                    func(*fakePod)
		reason                  string
		wantPartial, hasDeleted bool
	}{
		"killed, and its object deleted": {
			goes:   func(a *fakePod) { a.exits(137, nil); a.vanishes() },
			reason: v1alpha1.ReasonPartlyCompleted, wantPartial: true,
		},
		"done, and its object deleted": {
			goes: func(a *fakePod) {
				a.exits(0, a.reports(results.StageDone, measured, withKeysDeleted))
				a.vanishes()
			},
			reason: v1alpha1.ReasonCompleted, hasDeleted: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) { run.Spec.OnPodLost = v1alpha1.PodLossContinue })
			s.playPreparing()
			s.playReady()
			s.playRunning()
			s.await("a scrape of every pod", func() bool { return s.measuredByAll() })
			tc.goes(s.pods[1])
			s.await("its numbers in status", func() bool {
				p := s.status().Pods[1]
				return p.LastResult != "" && p.KeysDeleted == tc.hasDeleted
			})
			s.restart()
			s.pods[0].reports(results.StageDone, measured, withKeysDeleted)
			s.awaitFinished(tc.reason)
			status := s.status()
			pod := status.Pods[1]
			if status.Summary == nil || status.Summary.MeasuredRequests != 100 || status.Summary.Partial != tc.wantPartial {
				t.Errorf("wanted a summary of 100 requests, partial: %v, found %+v", tc.wantPartial, status.Summary)
			}
			if pod.Partial != tc.wantPartial || pod.MeasuredRequests != 50 || pod.KeysDeleted != tc.hasDeleted || (pod.Source == v1alpha1.SourceNone) != tc.wantPartial {
				t.Errorf("wanted the pod's results, found %+v", pod)
			}
			if pod.LastResult != "" {
				t.Error("wanted no packed result beside the summary that has it")
			}
		})
	}
}

// recordEvent gives a run of one pod this result, writes its status, and returns the pod as a restarted operator sees
// it, without a scrape.
func recordEvent(t *testing.T, p lifecycle.Pod, reported *results.Snapshot) (v1alpha1.PodStatus, lifecycle.Pod) {
	t.Helper()
	run := newRun("ns", "run", func(run *v1alpha1.EtcdBenchmark) { run.UID = "0123456789ab" })
	reported.RunUID, reported.Index, reported.Transport, reported.Cleaning = string(run.UID), p.Index, spec.TransportClient, results.CleaningKeysLeft
	p.Choose(reported, nil)
	lifecycle.SetStatus(run, lifecycle.Observed{Run: run, Pods: []lifecycle.Pod{p}}, lifecycle.Decision{}, &benchmark.Recent{}, time.Now())
	next := lifecycle.Pod{Index: p.Index, Name: p.Name, State: p.State, Unreachable: p.Unreachable}
	podResults{run: run, scraped: map[string]collector.Result{p.Name: {Unreachable: p.Unreachable}}}.addTo(&next, time.Now())
	return run.Status.Pods[0], next
}

func TestWhatIsKeptOfAPod(t *testing.T) {
	tests := map[string]struct {
		pod      lifecycle.Pod
		wantKept bool
	}{
		"runs":              {lifecycle.Pod{State: lifecycle.PodRunning}, false},
		"runs, and is hung": {lifecycle.Pod{State: lifecycle.PodRunning, Unreachable: true}, true},
		"ended":             {lifecycle.Pod{State: lifecycle.PodEnded}, true},
		"is gone":           {lifecycle.Pod{State: lifecycle.PodGone}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			reported := &results.Snapshot{Stage: results.StageMeasuring}
			measured(reported)
			tc.pod.Name = "pod"
			status, next := recordEvent(t, tc.pod, reported)
			known := next.Newest() != nil && next.Newest().Operations[spec.OperationPut].Latency.Count() == 50
			if known != tc.wantKept || (status.LastResult != "") != tc.wantKept {
				t.Errorf("wanted it to be kept: %v, found %+v, and %+v", tc.wantKept, status, next.Newest())
			}
		})
	}
}
