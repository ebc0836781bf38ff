package controllers

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// TestAwayUntilTheTimeIsOver: an operator that comes back after the run's time asks
// the pods before it judges them.
func TestAwayUntilTheTimeIsOver(t *testing.T) {
	s := newStage(t)
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.end()
	s.playDone()
	s.clock.move(601 * time.Second)
	s.restart()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	s.checkResult(v1alpha1.RoadScrape)
}

// TestStopWhileAway: the stop is the first that an operator sees which comes back,
// and the pods had done their whole load before. Whether they still wait to be asked
// or have ended, the run has completed.
func TestStopWhileAway(t *testing.T) {
	for name, ends := range map[string]bool{"they wait": false, "they wait, and end when they are told": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.playPreparing()
			s.playReady()
			s.playRunning()
			s.end()
			s.change(func(run *v1alpha1.EtcdBenchmark) { run.Spec.Stop = true })
			if !ends {
				s.playDone()
			}
			s.restart()
			s.await("the pods to be told to stop", func() bool { return s.allHave(plan.AnnotationStop) })
			for _, a := range s.pods {
				if ends {
					a.exits(0, a.says(results.StageDone, measured, withKeysDeleted))
				}
			}
			s.awaitFinished(v1alpha1.ReasonCompleted)
			if summary := s.status().Summary; summary == nil || summary.Partial || summary.MeasuredRequests != 100 {
				t.Errorf("wanted the whole result, found %+v", summary)
			}
		})
	}
}

// TestPodsEndByTheirOwnTimers while nobody is there to end the run: nobody has
// evicted them.
func TestPodsEndByTheirOwnTimers(t *testing.T) {
	s := newStage(t)
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.end()
	s.clock.move(601 * time.Second)
	for _, a := range s.pods {
		a.exits(1, a.says(results.StageDone, measured, withKeysDeleted, func(s *results.Snapshot) {
			s.Stopped, s.Failure = true, &results.Failure{Reason: results.FailureTimedOut, Message: "600 s passed"}
		}))
	}
	s.restart()
	s.awaitFinished(v1alpha1.ReasonTimedOut)
	status := s.status()
	if status.Summary == nil || !status.Summary.Partial || status.Summary.MeasuredRequests != 100 {
		t.Errorf("wanted what was measured, as a part, found %+v", status.Summary)
	}
	s.awaitCondition(v1alpha1.ConditionCleaned, "True/"+v1alpha1.ReasonKeysDeleted)
}

// TestRestartWhileKeysAreWritten for longer than the pods may take to be scheduled:
// that they are at it is in status, and a new operator that cannot hear them knows it.
func TestRestartWhileKeysAreWritten(t *testing.T) {
	s := newStage(t)
	s.playPreparing()
	for _, a := range s.pods {
		a.says(results.StagePreloading)
	}
	s.await("the stage in status", func() bool {
		pods := s.status().Pods
		return len(pods) == 2 && pods[0].Stage == string(results.StagePreloading) && pods[1].Stage == pods[0].Stage
	})
	s.clock.move(301 * time.Second)
	speak := s.silence()
	s.restart()
	s.await("the new operator to say what status knows", func() bool {
		return contains(s.message(), "writes the keys") && !contains(s.message(), "until now")
	})
	s.later(time.Minute)
	speak()
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
}

// silence has no pod answer, until the returned function is called.
func (s *stage) silence() (speak func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	servers := s.servers
	s.servers = map[string]string{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.servers = servers
	}
}
