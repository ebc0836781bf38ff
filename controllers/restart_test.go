package controllers

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// TestRestart restarts the operator after each act of a run. The run must complete as without restarts.
func TestRestart(t *testing.T) {
	acts := []struct {
		name string
		play func(*harness)
	}{
		{"Pending", func(s *harness) { s.loadJob() }},
		{"Preparing", (*harness).playPreparing},
		{"Ready", (*harness).playReady},
		{"Running", (*harness).playRunning},
		{"Cleaning", (*harness).playCleaning},
		{"Done", (*harness).playDone},
	}
	for i, after := range acts {
		t.Run(after.name, func(t *testing.T) {
			s := newHarness(t)
			for j, act := range acts {
				act.play(s)
				if i == j {
					s.restart()
				}
			}
			s.awaitFinished(v1alpha1.ReasonCompleted)
			s.checkResult(v1alpha1.SourceScrape)
		})
	}
}

// patchFault allows this change on some pods and then fails.
func patchFault(annotation string, allowed int32, refused *atomic.Int32) func(*EtcdBenchmarkReconciler) {
	var seen atomic.Int32
	return func(r *EtcdBenchmarkReconciler) {
		r.Client = faultyClient{Client: r.Client, mayPatch: func(o client.Object) error {
			if _, isPod := o.(*metav1.PartialObjectMetadata); !isPod || o.GetAnnotations()[annotation] == "" || seen.Add(1) <= allowed {
				return nil
			}
			refused.Add(1)
			return errors.New("connection lost")
		}}
	}
}

// TestRestartWhileArmed restarts the operator between the write of the start to status and to the last pod.
func TestRestartWhileArmed(t *testing.T) {
	tests := map[string]struct {
		// found is how many pods get the start before the restart.
		found       int
		wantNewTime bool
	}{
		"no pod has the start": {0, true},
		"one pod has it":       {1, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t)
			s.playPreparing()
			var refused atomic.Int32
			s.restart(patchFault(plan.AnnotationStartAt, int32(tc.found), &refused))
			s.playReady()
			s.await("a start that cannot be set on all pods", func() bool {
				return refused.Load() > 0 && s.countHaving(plan.AnnotationStartAt) == tc.found
			})
			s.end()
			before := *s.status().StartAt
			s.clock.move(time.Until(before.Time) + 5*time.Second)
			s.restart()
			s.playRunning()
			s.checkStart()
			if got := !s.status().StartAt.Equal(&before); got != tc.wantNewTime {
				t.Errorf("wanted another start: %v, found %s after %s", tc.wantNewTime, s.status().StartAt, before)
			}
			s.playDone()
			s.awaitFinished(v1alpha1.ReasonCompleted)
			s.checkResult(v1alpha1.SourceScrape)
		})
	}
}

// TestRestartBeforeJobIsRecorded: the operator ends after creating the Job and before recording it. The next one adopts
// the Job.
func TestRestartBeforeJobIsRecorded(t *testing.T) {
	s := newHarness(t)
	first := s.loadJob()
	s.end()
	run := &v1alpha1.EtcdBenchmark{}
	s.must(s.api.Get(t.Context(), client.ObjectKeyFromObject(s.run), run))
	before := run.DeepCopy()
	run.Status.Job = nil
	s.must(s.api.Status().Patch(t.Context(), run, client.MergeFrom(before)))
	s.restart()
	if found := s.loadJob(); found.UID != first.UID || s.status().Job.UID != first.UID {
		t.Errorf("wanted the first Job %s to be adopted, found %s", first.UID, found.UID)
	}
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	s.checkResult(v1alpha1.SourceScrape)
}

// TestRestartAfterTheEnd: the results are in status before the pods are released, so a restarted operator changes
// nothing.
func TestRestartAfterTheEnd(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	var refused atomic.Int32
	s.playReady()
	s.playRunning()
	s.restart(patchFault(plan.AnnotationCollected, 0, &refused))
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	s.await("pods that cannot be released", func() bool { return refused.Load() > 0 })
	s.end()
	want := s.status()
	s.restart()
	s.await("the pods to be released", func() bool { return s.allHave(plan.AnnotationCollected) })
	if got := s.status(); !got.CompletionTime.Equal(want.CompletionTime) || got.Summary.MeasuredRequests != want.Summary.MeasuredRequests {
		t.Errorf("wanted the status to stay, found %+v", got)
	}
}
