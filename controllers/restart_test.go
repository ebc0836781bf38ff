package controllers

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// TestRestart ends the operator after each act of a run and starts another: the
// run must complete as if nothing had been.
func TestRestart(t *testing.T) {
	acts := []struct {
		name string
		play func(*stage)
	}{
		{"Pending", func(s *stage) { s.loadJob() }},
		{"Preparing", (*stage).playPreparing},
		{"Ready", (*stage).playReady},
		{"Running", (*stage).playRunning},
		{"Cleaning", (*stage).playCleaning},
		{"Done", (*stage).playDone},
	}
	for i, after := range acts {
		t.Run(after.name, func(t *testing.T) {
			s := newStage(t)
			for j, act := range acts {
				act.play(s)
				if i == j {
					s.restart()
				}
			}
			s.awaitFinished(v1alpha1.ReasonCompleted)
			s.checkResult(v1alpha1.RoadScrape)
		})
	}
}

// patchFault lets some pods be told this, and then no more.
func patchFault(annotation string, allowed int32, refused *atomic.Int32) func(*EtcdBenchmarkReconciler) {
	var seen atomic.Int32
	return func(r *EtcdBenchmarkReconciler) {
		r.Client = faultyClient{Client: r.Client, mayPatch: func(o client.Object) error {
			if _, isPod := o.(*corev1.Pod); !isPod || o.GetAnnotations()[annotation] == "" || seen.Add(1) <= allowed {
				return nil
			}
			refused.Add(1)
			return errors.New("the line went dead")
		}}
	}
}

// TestRestartWhileArmed ends the operator between the write of the start and
// the last pod that is told it.
func TestRestartWhileArmed(t *testing.T) {
	tests := map[string]struct {
		// told is how many pods hear the start before the operator is gone.
		told        int32
		wantNewTime bool
	}{
		"nobody knows the start": {0, true},
		"one pod knows it":       {1, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.playPreparing()
			var refused atomic.Int32
			s.restart(patchFault(plan.AnnotationStartAt, tc.told, &refused))
			s.playReady()
			s.await("a start that cannot be told", func() bool { return refused.Load() > 0 })
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
			s.checkResult(v1alpha1.RoadScrape)
		})
	}
}

// TestRestartBeforeJobIsRecorded: an operator that created the Job and did not
// live to write that down is followed by one that finds it.
func TestRestartBeforeJobIsRecorded(t *testing.T) {
	s := newStage(t)
	first := s.loadJob()
	s.end()
	run := &v1alpha1.EtcdBenchmark{}
	s.must(s.api.Get(t.Context(), client.ObjectKeyFromObject(s.run), run))
	before := run.DeepCopy()
	run.Status.Job = nil
	s.must(s.api.Status().Patch(t.Context(), run, client.MergeFrom(before)))
	s.restart()
	if found := s.loadJob(); found.UID != first.UID || s.status().Job.UID != first.UID {
		t.Errorf("wanted the first Job %s to be taken over, found %s", first.UID, found.UID)
	}
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	s.checkResult(v1alpha1.RoadScrape)
}

// TestRestartAfterTheEnd: the results are in status before the pods are let
// go, so that an operator that knows nothing of them changes nothing.
func TestRestartAfterTheEnd(t *testing.T) {
	s := newStage(t)
	s.playPreparing()
	var refused atomic.Int32
	s.playReady()
	s.playRunning()
	s.restart(patchFault(plan.AnnotationCollected, 0, &refused))
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	s.await("pods that cannot be let go", func() bool { return refused.Load() > 0 })
	s.end()
	want := s.status()
	s.restart()
	s.await("the pods to be let go", func() bool { return s.allHave(plan.AnnotationCollected) })
	if got := s.status(); !got.CompletionTime.Equal(want.CompletionTime) || got.Summary.MeasuredRequests != want.Summary.MeasuredRequests {
		t.Errorf("wanted the status to stay, found %+v", got)
	}
}
