package controllers

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestJobDeleted(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.must(s.api.Delete(t.Context(), s.loadJob(), client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	for _, a := range s.pods {
		a.exits(0, a.reports(results.StageDone, measured, withKeysDeleted, func(s *results.Snapshot) { s.Stopped = true }))
	}
	s.awaitFinished(v1alpha1.ReasonJobDeleted)
	s.later(time.Minute)
	if jobs := s.jobs(v1alpha1.ComponentLoad); len(jobs) != 1 || jobs[0].DeletionTimestamp == nil {
		t.Errorf("wanted no Job but the one that is being deleted, found %d", len(jobs))
	}
	if summary := s.status().Summary; summary == nil || !summary.Partial || s.condition(v1alpha1.ConditionStalled) == "" {
		t.Errorf("wanted the numbers that were measured, as a part, and Stalled, found %+v", s.status())
	}
}

// TestPodsForbidden: pods that the API server refuses exist only as an event on the Job.
func TestPodsForbidden(t *testing.T) {
	s := newHarness(t)
	job := s.loadJob()
	s.must(s.api.Create(t.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: job.Namespace, GenerateName: "e-"},
		InvolvedObject: corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID},
		Reason:         "FailedCreate", Message: "exceeded quota: compute", FirstTimestamp: metav1.Now(), Type: corev1.EventTypeWarning,
	}))
	// The grace begins when the operator has seen the event.
	s.await("the run to end", func() bool {
		s.later(time.Second)
		return s.condition(v1alpha1.ConditionFinished) == "True/"+v1alpha1.ReasonPodsForbidden
	})
	s.checkMessage("exceeded quota: compute")
	s.await("the Job to be deleted, so that no pod is created", func() bool { return len(s.jobs(v1alpha1.ComponentLoad)) == 0 })
	s.awaitCondition(v1alpha1.ConditionCleaned, "True/"+v1alpha1.ReasonNothingWritten)
}

// TestEventsAreNotListedForAYoungJob: its pods are about to be created. The reconciler has no reader for events.
func TestEventsAreNotListedForAYoungJob(t *testing.T) {
	r := &EtcdBenchmarkReconciler{Clock: &movedClock{}}
	o := lifecycle.Observed{
		Run: newRun("ns", "run"), Job: lifecycle.Job{Exists: true, Seen: time.Now()}, Pods: []lifecycle.Pod{{State: lifecycle.PodMissing}},
	}
	if err := r.observeRefusal(t.Context(), &o); err != nil || o.Job.Refused != "" {
		t.Errorf("wanted no look at events, found %v and %q", err, o.Job.Refused)
	}
}

// checkMessage wants the cause in the message.
func (s *harness) checkMessage(want string) {
	s.t.Helper()
	if got := s.message(); !contains(got, want) {
		s.t.Errorf("wanted a message that says %q, found %q", want, got)
	}
}

func (s *harness) message() string {
	s.t.Helper()
	return meta.FindStatusCondition(s.status().Conditions, v1alpha1.ConditionFinished).Message
}

// TestJobRefused: the API server checks pod settings in the Job that admission of the run cannot check.
func TestJobRefused(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Pod = &v1alpha1.PodSettings{NodeSelector: map[string]string{"not a label!": "x"}}
	})
	s.awaitFinished(v1alpha1.ReasonPodsForbidden)
	s.checkMessage("not a label!")
	s.await("the finalizer to go", func() bool { return !s.hasFinalizer() })
}

func TestPodsThatCannotStart(t *testing.T) {
	tests := map[string]struct {
		status  corev1.PodStatus
		after   time.Duration
		reason  string
		reports string
	}{
		"no image": {
			corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "loadgen", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "example.org/loadgen:v1 not found"}}}}},
			25 * time.Second, v1alpha1.ReasonImageUnavailable, "example.org/loadgen:v1 not found",
		},
		"no room": {
			corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available"}}},
			301 * time.Second, v1alpha1.ReasonUnschedulable, "0/3 nodes are available",
		},
		"slow": {corev1.PodStatus{}, 301 * time.Second, v1alpha1.ReasonPodsNotReady, "waits for its container to start"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t)
			s.makePods()
			s.pods[0].runs()
			s.pods[0].ready()
			s.pods[1].kubelet(func(status *corev1.PodStatus) { *status = tc.status })
			s.await("status to say what the run waits for", func() bool { return contains(s.message(), tc.reports) })
			s.later(tc.after)
			s.await("the pod that lives to be asked to stop", func() bool { return s.pods[0].seen().Annotations[plan.AnnotationStop] == "true" })
			s.pods[0].exits(0, s.pods[0].reports(results.StageDone, func(s *results.Snapshot) { s.Stopped = true }))
			s.awaitFinished(tc.reason)
			s.checkMessage(tc.reports)
			s.await("the Job to be deleted, so that no pod starts late", func() bool { return len(s.jobs(v1alpha1.ComponentLoad)) == 0 })
		})
	}
}

func TestPodReportsFailure(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	s.pods[1].reports(results.StageDone, func(s *results.Snapshot) {
		s.Failure = &results.Failure{Reason: results.FailureAuthenticationFailed, Message: "user bench: wrong password"}
		s.Requests = map[spec.RPC]map[results.Phase]uint64{spec.RPCPut: {results.PhasePreload: 7}}
	})
	s.await("the other pod to be asked to stop", func() bool { return s.pods[0].seen().Annotations[plan.AnnotationStop] == "true" })
	s.pods[0].reports(results.StageDone, func(s *results.Snapshot) { s.Stopped = true })
	s.awaitFinished(v1alpha1.ReasonAuthenticationFailed)
	s.checkMessage("user bench: wrong password")
	// There is no measurement, but the sent requests are reported.
	want := []v1alpha1.RequestCount{{RPC: "Put", Preload: 7}}
	if status := s.status(); status.Summary != nil || !slices.Equal(status.RequestCounts, want) {
		t.Errorf("got the summary %+v and sent %+v, wanted none and %+v", status.Summary, status.RequestCounts, want)
	}
}

// TestPodLost: the results of the other pods are kept, the run cannot pass, and keys that the lost pod may have left
// are deleted.
func TestPodLost(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Objectives = []v1alpha1.Objective{{Name: "rate", Type: spec.ObjectiveThroughput, Throughput: &v1alpha1.ThroughputObjective{MinPerSecond: 1}}}
	})
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.pods[1].exits(137, nil)
	s.pods[0].reports(results.StageDone, measured)
	s.awaitFinished(v1alpha1.ReasonPodFailed)
	status := s.status()
	if status.Summary == nil || !status.Summary.Partial || !status.Pods[1].Partial || status.Pods[1].Source != v1alpha1.SourceNone {
		t.Errorf("wanted a partial result, found %+v and %+v", status.Summary, status.Pods)
	}
	if got := s.condition(v1alpha1.ConditionPassed); got != "Unknown/"+v1alpha1.ReasonNotJudged {
		t.Errorf("wanted a run that lost a pod not to pass, found %s", got)
	}
	s.pods[0].exits(0, s.pods[0].reports(results.StageDone, measured))
	s.playCleanup(batchv1.JobStatus{Succeeded: 1})
	s.awaitCondition(v1alpha1.ConditionCleaned, "True/"+v1alpha1.ReasonKeysDeleted)
	s.await("the cleanup Job to be removed", func() bool { return len(s.jobs(v1alpha1.ComponentCleanup)) == 0 })
}

// playCleanup waits for the cleanup Job and ends it.
func (s *harness) playCleanup(status batchv1.JobStatus) {
	s.t.Helper()
	job := s.cleanupJob()
	if len(job.OwnerReferences) != 0 {
		s.t.Error("wanted a cleanup Job that does not go with the run")
	}
	s.endJob(job, status)
}

var failedCleanup = batchv1.JobStatus{
	StartTime: &metav1.Time{Time: time.Now()},
	Conditions: []batchv1.JobCondition{
		{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded", Message: "too slow"},
		{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded", Message: "too slow"},
	},
}

// TestKeysLeft: the object reports the remaining keys and the command to delete them. Deleting the object tries once
// more.
func TestKeysLeft(t *testing.T) {
	s := newHarness(t)
	s.endWithKeys()
	s.playCleanupPods("first words", "Secret etcd-tls\n\x1b[31mdoes not exist")
	s.playCleanup(failedCleanup)
	s.awaitCondition(v1alpha1.ConditionCleaned, "False/"+v1alpha1.ReasonKeysLeft)
	c := meta.FindStatusCondition(s.status().Conditions, v1alpha1.ConditionCleaned)
	if !contains(c.Message, s.leftover()) || !contains(c.Message, "Secret etcd-tls  [31mdoes not exist") {
		t.Errorf("wanted why the keys are left, and the command that deletes them, found %q", c.Message)
	}
	s.must(s.api.Delete(t.Context(), s.run))
	s.endJob(s.cleanupJob(), failedCleanup)
	s.awaitGone()
	s.await("the second cleanup Job to be removed", func() bool { return len(s.jobs(v1alpha1.ComponentCleanup)) == 0 })
	s.await("an event with what is left", func() bool { return len(s.eventReasons()) > 0 && s.hasEvent(v1alpha1.ReasonKeysLeft) })
}

func (s *harness) hasEvent(reason string) bool {
	for _, r := range s.eventReasons() {
		if r == reason {
			return true
		}
	}
	return false
}

func TestStop(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.change(func(run *v1alpha1.EtcdBenchmark) { run.Spec.Stop = true })
	s.await("the pods to be asked to stop", func() bool { return s.allHave(plan.AnnotationStop) })
	for _, a := range s.pods {
		a.reports(results.StageDone, measured, withKeysDeleted, func(s *results.Snapshot) { s.Stopped = true })
	}
	s.awaitFinished(v1alpha1.ReasonStopped)
	s.checkResult(v1alpha1.SourceScrape)
}

func TestTimedOut(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	s.playReady()
	s.playRunning()
	now := func(s *results.Snapshot) { s.Clock = time.Now() }
	for _, a := range s.pods {
		a.reports(results.StageMeasuring, measured, now)
	}
	s.await("progress, and the pods' clocks", func() bool {
		status := s.status()
		return status.Progress != nil && status.Progress.Requests == 100 && status.Pods[0].ClockOffsetMicroseconds != nil && status.Pods[1].ClockOffsetMicroseconds != nil
	})
	for _, a := range s.pods {
		a.reports(results.StageMeasuring, measured, now, func(s *results.Snapshot) {
			s.Operations[spec.OperationPut].Latency.Record(int64(80 * time.Millisecond))
		})
	}
	s.await("the progress since the update before", func() bool {
		recent := s.status().Progress.Recent
		return recent != nil && recent.SucceededRequests == 2 && recent.P50Microseconds > 79_000 && recent.P50Microseconds < 81_000
	})
	s.later(601 * time.Second)
	s.await("the pods to be asked to stop", func() bool { return s.allHave(plan.AnnotationStop) })
	s.later(91 * time.Second)
	s.awaitFinished(v1alpha1.ReasonTimedOut)
	if status := s.status(); status.Summary == nil || !status.Summary.Partial {
		t.Errorf("wanted what was scraped, as a part, found %+v", status.Summary)
	}
}

func TestDeleteAmidTheRun(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.must(s.api.Delete(t.Context(), s.run))
	s.await("the pods to be asked to stop", func() bool { return s.allHave(plan.AnnotationStop) })
	s.playDone()
	s.awaitGone()
}

func TestDeleteBeforeThereIsAJob(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Target = v1alpha1.Target{Service: &v1alpha1.ServiceTarget{Name: "absent"}}
	})
	s.awaitSeen()
	s.must(s.api.Delete(t.Context(), s.run))
	s.awaitGone()
}

// TestForeignJob: a Job with the name of the load Job but another owner is not changed.
func TestForeignJob(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Target = v1alpha1.Target{Service: &v1alpha1.ServiceTarget{Name: "etcd"}}
	})
	s.awaitSeen()
	s.must(s.api.Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.run.Namespace, Name: s.run.LoadJobName()},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
		}}},
	}))
	s.makeService(service("etcd"), slice("etcd", "198.18.9.1"))
	s.awaitFinished(v1alpha1.ReasonPodsForbidden)
	s.checkMessage("does not belong to this run")
}

// TestResultsThatStatusCannotHold: a pod's results must not prevent its run from finishing, nor count as a success.
func TestResultsThatStatusCannotHold(t *testing.T) {
	message := func(s *v1alpha1.EtcdBenchmarkStatus) {
		s.Pods = []v1alpha1.PodStatus{{Name: "p", Message: strings.Repeat("x", v1alpha1.MaxPodMessageLength+1)}}
	}
	guard := func(s *v1alpha1.EtcdBenchmarkStatus) { s.Guard = &v1alpha1.GuardStatus{Rule: "Unknown"} }
	tests := map[string]struct {
		ended  string
		result func(*v1alpha1.EtcdBenchmarkStatus)
		want   string
		about  string
	}{
		"of all":          {v1alpha1.ReasonCompleted, message, v1alpha1.ReasonInvalidPlan, "pods[0].message"},
		"of some":         {v1alpha1.ReasonPartlyCompleted, message, v1alpha1.ReasonInvalidPlan, "pods[0].message"},
		"an unknown rule": {v1alpha1.ReasonGuardStopped, guard, v1alpha1.ReasonGuardStopped, "what a guard saw"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, targets(byService(intstr.FromString("client"))))
			s.awaitSeen()
			s.end()
			run := &v1alpha1.EtcdBenchmark{}
			s.must(s.api.Get(t.Context(), client.ObjectKeyFromObject(s.run), run))
			status := run.Status.DeepCopy()
			tc.result(status)
			status.Conditions = []metav1.Condition{{
				Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: tc.ended, Message: "what a guard saw", LastTransitionTime: metav1.Now(),
			}}
			r := &EtcdBenchmarkReconciler{Client: s.api}
			s.must(r.writeStatus(t.Context(), run, status))
			s.awaitFinished(tc.want)
			s.checkMessage(tc.about)
		})
	}
}
