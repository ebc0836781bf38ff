package controllers

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// TestAwayUntilTheTimeIsOver: an operator that returns after the run's timeout scrapes the pods before it judges them.
func TestAwayUntilTheTimeIsOver(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.end()
	s.playDone()
	s.clock.move(601 * time.Second)
	s.restart()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	s.checkResult(v1alpha1.SourceScrape)
}

// TestStopWhileAway: the stop came while the operator was away, after the pods had done their whole load. The run is
// Completed, both if the pods still wait to be scraped and if they have ended.
func TestStopWhileAway(t *testing.T) {
	for name, ends := range map[string]bool{"they wait": false, "they wait, and end when asked": true} {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t)
			s.playPreparing()
			s.playReady()
			s.playRunning()
			s.end()
			s.change(func(run *v1alpha1.EtcdBenchmark) { run.Spec.Stop = true })
			if !ends {
				s.playDone()
			}
			s.restart()
			s.await("the pods to be asked to stop", func() bool { return s.allHave(plan.AnnotationStop) })
			for _, a := range s.pods {
				if ends {
					a.exits(0, a.reports(results.StageDone, measured, withKeysDeleted))
				}
			}
			s.awaitFinished(v1alpha1.ReasonCompleted)
			if summary := s.status().Summary; summary == nil || summary.Partial || summary.MeasuredRequests != 100 {
				t.Errorf("wanted the whole result, found %+v", summary)
			}
		})
	}
}

// TestPodsEndByTheirOwnTimers: pods that end by their own timers without an operator are not treated as evicted.
func TestPodsEndByTheirOwnTimers(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.end()
	s.clock.move(601 * time.Second)
	for _, a := range s.pods {
		a.exits(1, a.reports(results.StageDone, measured, withKeysDeleted, func(s *results.Snapshot) {
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

// TestRestartWhileKeysAreWritten: writing the keys takes longer than the scheduling timeout. The stage is in status, so
// a restarted operator knows it without a scrape.
func TestRestartWhileKeysAreWritten(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	for _, a := range s.pods {
		a.reports(results.StagePreloading)
	}
	s.await("the stage in status", func() bool {
		pods := s.status().Pods
		return len(pods) == 2 && pods[0].Stage == string(results.StagePreloading) && pods[1].Stage == pods[0].Stage
	})
	s.clock.move(301 * time.Second)
	speak := s.silence()
	s.restart()
	s.await("the new operator to report the stage in status", func() bool {
		return contains(s.message(), "is writing the keys") && !contains(s.message(), "so far")
	})
	s.later(time.Minute)
	speak()
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
}

// TestAPodThatCannotBeScraped: status counts the pods that answer, names the rate as theirs, and says why the other one
// does not. An event says so once.
func TestAPodThatCannotBeScraped(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	s.playReady()
	s.playRunning()
	both := s.status().Display.Throughput
	silent := s.pods[1]
	address := net.JoinHostPort(silent.ip(), strconv.Itoa(plan.MetricsPort))
	s.mu.Lock()
	server := s.servers[address]
	delete(s.servers, address)
	s.mu.Unlock()
	s.await("the silent pod to be counted", func() bool { p := s.status().Progress; return p != nil && p.SilentPods == 1 })
	status := s.status()
	if d := status.Display; d.Pods != "1/2" || d.Throughput == both || !strings.HasSuffix(d.Throughput, " of 1/2 pods") {
		t.Errorf("kubectl get shows %+v, and both pods had the rate %s", d, both)
	}
	if m := status.Pods[1].Message; !strings.Contains(m, "nothing listens on "+address) || status.Pods[0].Message != "" {
		t.Errorf("the messages of the pods are %q and %q", status.Pods[0].Message, m)
	}
	s.await("an event", func() bool { return s.hasEvent(v1alpha1.EventPodNotScraped) })
	s.mu.Lock()
	s.servers[address] = server
	s.mu.Unlock()
	s.await("both pods to answer", func() bool { p := s.status().Progress; return p != nil && p.SilentPods == 0 })
	if m := s.status().Pods[1].Message; m != "" {
		t.Errorf("the message of a pod that answers is %q", m)
	}
}

// silence makes the pods not answer until the returned function is called.
func (s *harness) silence() (speak func()) {
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
