package controllers

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func (s *harness) awaitQueued(behind *harness) {
	s.t.Helper()
	s.await("a place in the queue", func() bool {
		q := s.status().Queue
		return s.condition(v1alpha1.ConditionFinished) == "False/"+v1alpha1.StageQueued && q != nil && q.WaitsFor == v1alpha1.QueueAddresses && q.Behind == behind.run.Name
	})
}

// playAll plays an admitted run to its end.
func (s *harness) playAll() {
	s.t.Helper()
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
}

// version is the resourceVersion of the run.
func (s *harness) version() string {
	run := &v1alpha1.EtcdBenchmark{}
	s.must(s.api.Get(s.t.Context(), client.ObjectKeyFromObject(s.run), run))
	return run.ResourceVersion
}

// TestQueue: runs at one address run one after the other, in the order of their creation, also after a restart of the
// operator. No timeout counts the wait, and while others move, nothing is written into a waiting run.
func TestQueue(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	second := s.join("second", targets(v1alpha1.Target{Endpoints: []string{"127.0.0.1:2379", "127.0.0.9:2379"}}))
	second.awaitQueued(s)
	third := s.join("third", targets(v1alpha1.Target{Endpoints: []string{"127.0.0.9:2379"}}))
	third.awaitQueued(second)
	if q := third.status().Queue; q.Ahead != 1 || q.Since.IsZero() {
		t.Errorf("status.queue is %+v, wanted one run at its address in front", q)
	}
	unchanged := third.version()
	s.restart()
	for _, waiting := range []*harness{second, third} {
		if jobs := waiting.jobs(v1alpha1.ComponentLoad); len(jobs) > 0 || waiting.status().Admission != nil {
			t.Errorf("%s has %d Jobs while it waits", waiting.run.Name, len(jobs))
		}
	}
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	second.loadJob()
	if status := second.status(); status.Queue != nil {
		t.Errorf("it is in the queue although it was admitted: %+v", status)
	}
	second.playPreparing()
	if got := third.version(); got != unchanged {
		t.Errorf("the waiting run was written while the runs in front moved: %s became %s", unchanged, got)
	}
	second.playReady()
	second.playRunning()
	second.playDone()
	second.awaitFinished(v1alpha1.ReasonCompleted)
	third.playAll()
}

// TestRunsOfOneSecondKeepTheirOrder: creation times are in seconds. The names are in another order.
func TestRunsOfOneSecondKeepTheirOrder(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	var waiting []*harness
	for _, name := range []string{"zeta", "alpha", "midway", "beta"} {
		waiting = append(waiting, s.join(name))
	}
	for _, next := range waiting {
		next.await("a place in the queue", func() bool { return next.status().Queue != nil })
	}
	s.playReady()
	s.playRunning()
	s.playDone()
	for i, next := range waiting {
		next.loadJob()
		for _, later := range waiting[i+1:] {
			if later.status().Admission != nil {
				t.Fatalf("%s was admitted beside %s, which was created before it", later.run.Name, next.run.Name)
			}
		}
		next.change(func(run *v1alpha1.EtcdBenchmark) { run.Spec.Stop = true })
	}
}

// TestADeletedRunWakesTheNext: the end of a run that only waited is an event for the runs behind it, too.
func TestADeletedRunWakesTheNext(t *testing.T) {
	s := newHarness(t)
	s.loadJob()
	second := s.join("second")
	second.awaitQueued(s)
	s.must(s.api.Delete(t.Context(), s.run))
	second.loadJob()
}

// TestACleanupJobThatCannotStartBlocksForALimitedTime: for the first run's spec.schedulingTimeoutSeconds.
func TestACleanupJobThatCannotStartBlocksForALimitedTime(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) { run.Spec.SchedulingTimeoutSeconds = 10 })
	s.playPreparing()
	s.playReady()
	s.playRunning()
	second := s.join("second")
	second.awaitQueued(s)
	for _, a := range s.pods {
		a.exits(137, nil)
	}
	s.awaitFinished(v1alpha1.ReasonPodFailed)
	second.loadJob()
	if waited := second.status().Admission.At.Sub(s.status().CompletionTime.Time); waited < 10*time.Second {
		t.Errorf("wanted the second run to wait for 10 s after the first had ended, found %s", waited)
	}
}

func TestTimeoutsDoNotCountTheQueue(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) { run.Spec.TimeoutSeconds = 86400 })
	s.playPreparing()
	s.playReady()
	second := s.join("second", func(run *v1alpha1.EtcdBenchmark) {
		// The timeout counts from the Job's creation, which the API server dates by its own clock.
		run.Spec.SchedulingTimeoutSeconds = 86400
	})
	second.awaitQueued(s)
	s.playRunning()
	s.later(2 * time.Hour)
	second.awaitQueued(s)
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	second.playAll()
}

func TestAllowedRunsDoNotQueue(t *testing.T) {
	s := newHarness(t)
	s.loadJob()
	second := s.join("second", func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsAllow
	})
	second.loadJob()
	if second.status().Queue != nil {
		t.Errorf("it is in the queue: %+v", second.status().Queue)
	}
}

// A run that only observes waits for no other run, and none waits for it.
func TestRunsThatOnlyObserveDoNotQueue(t *testing.T) {
	observes := func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Workload = spec.Workload{Type: spec.WorkloadObserve}
		run.Spec.Load = spec.Load{Transport: spec.TransportClient, Pods: 1, Connections: 1, Clients: 1, DurationSeconds: new(int32(30)), RequestTimeoutSeconds: 10}
	}
	s := newHarness(t, observes)
	s.loadJob()
	for name, change := range map[string]func(*v1alpha1.EtcdBenchmark){"load": func(*v1alpha1.EtcdBenchmark) {}, "look": observes} {
		if other := s.join(name, change); other.loadJob() == nil || other.status().Queue != nil {
			t.Errorf("%s is in the queue: %+v", name, other.status().Queue)
		}
	}
}

func TestAStopEndsTheWaitInTheQueue(t *testing.T) {
	s := newHarness(t)
	s.loadJob()
	second := s.join("second")
	second.awaitQueued(s)
	second.change(func(run *v1alpha1.EtcdBenchmark) { run.Spec.Stop = true })
	second.awaitFinished(v1alpha1.ReasonStopped)
	if second.status().Queue != nil || len(second.jobs(v1alpha1.ComponentLoad)) > 0 {
		t.Errorf("wanted nothing to be left of its wait, found %+v", second.status().Queue)
	}
}

// connected makes pods that have checked the target and wait.
func (s *harness) connected() {
	s.t.Helper()
	s.makePods()
	for _, a := range s.pods {
		a.serve()
		a.runs()
	}
	s.pods[0].reports(results.StageWaiting)
}

func (s *harness) isAdmitted(pod int) bool {
	return s.pods[pod].seen().Annotations[plan.AnnotationAdmitted] == "true"
}

// TestClientPod0TakesTheLock: it may do so when all pods have connected. The others may write when status says that it
// has the lock. A restart of the operator changes nothing about that.
func TestClientPod0TakesTheLock(t *testing.T) {
	s := newHarness(t)
	s.connected()
	s.await("the message that a pod has not connected", func() bool {
		return s.condition(v1alpha1.ConditionFinished) == "False/"+v1alpha1.StagePreparing && s.status().Pods != nil
	})
	if s.isAdmitted(0) {
		t.Error("client pod 0 may take the lock, and client pod 1 has not connected")
	}
	s.pods[1].reports(results.StageWaiting)
	s.await("client pod 0 to be admitted", func() bool { return s.isAdmitted(0) })
	s.pods[0].reports(results.StageLocking)
	s.await("the wait for the lock", func() bool {
		q := s.status().Queue
		return q != nil && q.WaitsFor == v1alpha1.QueueLock && s.condition(v1alpha1.ConditionFinished) == "False/"+v1alpha1.StageQueued
	})
	s.restart()
	// Longer than timeoutSeconds, which does not count yet.
	s.later(11 * time.Minute)
	if s.isAdmitted(1) {
		t.Error("client pod 1 may write, and the run does not hold the lock")
	}
	s.pods[0].reports(results.StageClaiming)
	s.await("client pod 1 to be admitted", func() bool { return s.isAdmitted(1) })
	status := s.status()
	if a := status.Admission; a.LockedAt == nil || !a.At.Equal(a.LockedAt) || status.Queue != nil {
		t.Errorf("status has the admission %+v and the queue %+v, wanted the time of the lock, from which time-outs count, and no queue", a, status.Queue)
	}
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
}

// TestATargetThatStaysBusy: the run ends, and has written nothing.
func TestATargetThatStaysBusy(t *testing.T) {
	s := newHarness(t)
	s.connected()
	s.pods[1].reports(results.StageWaiting)
	s.await("client pod 0 to be admitted", func() bool { return s.isAdmitted(0) })
	s.pods[0].reports(results.StageDone, func(snap *results.Snapshot) {
		snap.Failure = &results.Failure{Reason: results.FailureTargetBusy, Message: "another run holds the lock of the target"}
		snap.Cleaning = results.CleaningNothingWritten
	})
	s.await("the other pod to be stopped", func() bool { return s.pods[1].seen().Annotations[plan.AnnotationStop] == "true" })
	s.pods[1].reports(results.StageDone, func(snap *results.Snapshot) { snap.Stopped, snap.Cleaning = true, results.CleaningNothingWritten })
	s.awaitFinished(v1alpha1.ReasonTargetBusy)
	s.awaitCondition(v1alpha1.ConditionCleaned, "True/"+v1alpha1.ReasonNothingWritten)
}
