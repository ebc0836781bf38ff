package controllers

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestRunCompletes(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Objectives = []v1alpha1.Objective{{Name: "rate", Type: spec.ObjectiveThroughput, Throughput: &v1alpha1.ThroughputObjective{MinPerSecond: 1}}}
	})
	s.playPreparing()
	s.checkPlan()
	s.playReady()
	s.playRunning()
	s.checkStart()
	s.playCleaning()
	s.await("a summary before the keys are deleted", func() bool { return s.status().Summary != nil })
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	s.checkResult(v1alpha1.SourceScrape)
	s.checkEvents()
	s.await("the pods to be released", func() bool { return s.allHave(plan.AnnotationCollected) })
	s.await("the finalizer to go", func() bool { return !s.hasFinalizer() })
}

func (s *harness) checkPlan() {
	s.t.Helper()
	configMap := &corev1.ConfigMap{}
	s.must(s.api.Get(s.t.Context(), client.ObjectKey{Namespace: s.run.Namespace, Name: s.run.PlanName()}, configMap))
	p, err := plan.Decode([]byte(configMap.Data[plan.File]))
	s.must(err)
	if p.RunUID != string(s.run.UID) || p.Pods() != 2 || !slices.Equal(p.Target.Endpoints, []string{"127.0.0.1:2379"}) {
		s.t.Errorf("wanted the plan of this run, found %+v", p)
	}
	if !metav1.IsControlledBy(configMap, s.run) || configMap.Immutable == nil || !*configMap.Immutable {
		s.t.Errorf("wanted an immutable ConfigMap of the run, found %+v", configMap)
	}
	if !s.hasFinalizer() {
		s.t.Error("wanted the finalizer while pods may write keys")
	}
}

func (s *harness) hasFinalizer() bool {
	run := &v1alpha1.EtcdBenchmark{}
	s.must(s.api.Get(s.t.Context(), client.ObjectKeyFromObject(s.run), run))
	return slices.Contains(run.Finalizers, v1alpha1.Finalizer)
}

func (s *harness) checkStart() {
	s.t.Helper()
	want := lifecycle.FormatStart(*s.status().StartAt)
	for _, a := range s.pods {
		if got := a.seen().Annotations[plan.AnnotationStartAt]; got != want {
			s.t.Errorf("pod %d: wanted the start in status, %s, found %s", a.index, want, got)
		}
	}
}

func (s *harness) checkResult(via v1alpha1.ResultSource) {
	s.t.Helper()
	status := s.status()
	completed := s.condition(v1alpha1.ConditionFinished) == "True/"+v1alpha1.ReasonCompleted
	if status.Summary == nil || status.Summary.MeasuredRequests != 100 || status.Summary.Partial == completed {
		s.t.Fatalf("wanted a summary of 100 requests, partial unless completed, found %+v", status.Summary)
	}
	for _, p := range status.Pods {
		if p.Source != via || p.Partial || p.MeasuredRequests != 50 || !p.KeysDeleted {
			s.t.Errorf("wanted the final result of 50 requests by %s, found %+v", via, p)
		}
	}
	if got := s.condition(v1alpha1.ConditionCleaned); got != "True/"+v1alpha1.ReasonKeysDeleted {
		s.t.Errorf("wanted Cleaned in the same write as Finished, found %q", got)
	}
	if s.condition(v1alpha1.ConditionReconciling)+s.condition(v1alpha1.ConditionStalled) != "" || status.Progress != nil {
		s.t.Errorf("wanted no trace of the active run, found %+v", status)
	}
	if n := len(s.jobs(v1alpha1.ComponentLoad)); n != 1 || len(status.Pods) != 2 || status.CompletionTime == nil {
		s.t.Errorf("wanted one load Job and two pods, found %d and %+v", n, status.Pods)
	}
	s.checkReport(status.ReportName)
}

func (s *harness) checkReport(name string) {
	s.t.Helper()
	report := &corev1.ConfigMap{}
	s.must(s.api.Get(s.t.Context(), client.ObjectKey{Namespace: s.run.Namespace, Name: name}, report))
	if !metav1.IsControlledBy(report, s.run) || len(report.Data) != 1 {
		s.t.Errorf("wanted a report of the run, found %+v", report)
	}
	detail, err := benchmark.ReadReport([]byte(report.Data[benchmark.ReportFile]))
	if err != nil || detail.Course == nil || results.Sum(detail.Course.Timeline.Points).Succeeded != 2*50 {
		s.t.Errorf("wanted the course of both pods, found %+v, %v", detail, err)
	}
}

// checkEvents: kubectl describe shows the course of the run.
func (s *harness) checkEvents() {
	s.t.Helper()
	want := []string{
		v1alpha1.StagePending, v1alpha1.StagePreparing, v1alpha1.StageArmed, v1alpha1.StageRunning, v1alpha1.StageCollecting,
		v1alpha1.ReasonCompleted, v1alpha1.ReasonObjectivesMet, v1alpha1.ReasonKeysDeleted,
	}
	slices.Sort(want)
	var got []string
	s.await("events", func() bool {
		got = s.eventReasons()
		return len(got) >= len(want)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("events, sorted (-wanted +found):\n%s", diff)
	}
}

func (s *harness) eventReasons() []string {
	s.t.Helper()
	list := &corev1.EventList{}
	s.must(s.api.List(s.t.Context(), list, client.InNamespace(s.run.Namespace), client.MatchingFields{"involvedObject.uid": string(s.run.UID)}))
	var reasons []string
	for _, e := range list.Items {
		reasons = append(reasons, e.Reason)
	}
	slices.Sort(reasons)
	return reasons
}

// TestResultsByTerminationMessage: nothing listens on the pods' port.
func TestResultsByTerminationMessage(t *testing.T) {
	s := newHarness(t)
	s.makePods()
	for _, a := range s.pods {
		a.runs()
		a.ready()
	}
	s.await("a start on every pod", func() bool { return s.allHave(plan.AnnotationStartAt) })
	s.awaitStage(v1alpha1.StageRunning)
	s.await("pods to be released without a scrape", func() bool { return s.allHave(plan.AnnotationCollected) })
	for _, a := range s.pods {
		a.exits(0, a.reports("Done", measured, withKeysDeleted))
	}
	s.awaitFinished(v1alpha1.ReasonCompleted)
	s.checkResult(v1alpha1.SourceTerminationMessage)
}

// TestTheTerminationMessageOutlivesThePod: the watch has saved the termination message of a pod whose object is gone
// when the run is reconciled.
func TestTheTerminationMessageOutlivesThePod(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.pods[0].reports("Done", measured, withKeysDeleted)
	s.pods[1].exits(0, s.pods[1].reports("Done", measured, withKeysDeleted))
	s.pods[1].vanishes()
	s.awaitFinished(v1alpha1.ReasonCompleted)
}

func TestTimeToLive(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) { run.Spec.TTLSecondsAfterFinished = new(int32(3600)) })
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	s.await("the finalizer to go", func() bool { return !s.hasFinalizer() })
	s.later(time.Hour)
	s.awaitGone()
}

func (s *harness) awaitGone() {
	s.t.Helper()
	s.await("the object to be gone", s.isGone)
}

func (s *harness) isGone() bool {
	list := &v1alpha1.EtcdBenchmarkList{}
	s.must(s.api.List(s.t.Context(), list, client.InNamespace(s.run.Namespace)))
	return len(list.Items) == 0
}
