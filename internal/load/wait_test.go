package load

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func awaitingLock(p *plan.Plan) { p.Lock = &plan.Lock{WaitSeconds: 60} }

// runWaiting runs a session until it waits for permission to write. It returns the steps of its driver so far.
func runWaiting(t *testing.T, s *Session, d *fakeDriver) (steps []string, ended chan error) {
	t.Helper()
	ended = make(chan error, 1)
	go func() { ended <- s.Run(t.Context()) }()
	for s.Stage() != results.StageWaiting {
		select {
		case err := <-ended:
			t.Fatalf("the session ended (%v) instead of waiting for permission to write", err)
		case <-time.After(time.Millisecond):
		}
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return slices.Clone(d.steps), ended
}

// While it waits, a session has reported the target and changed nothing in it. After the wait, it checks the target
// again.
func TestASessionWaitsForPermissionToWrite(t *testing.T) {
	// An election took place while it waited, and none since.
	var looks atomic.Uint64
	of := func(term uint64) members.View {
		return members.View{At: time.Now(), Members: map[string]members.State{"a": {Leader: "a", Term: term, Version: "3.7.3"}}}
	}
	d, control := &fakeDriver{first: func() members.View { return of(looks.Add(1)) }, view: func() members.View { return of(2) }}, newControl()
	control.admitted = make(chan struct{})
	s := newSession(t, planOf(awaitingLock), 0, d, control)
	steps, ended := runWaiting(t, s, d)
	if snapshot := s.Snapshot(); !slices.Equal(steps, []string{"preflight"}) || snapshot.Target == nil || snapshot.Cleaning != results.CleaningNothingWritten {
		t.Errorf("while waiting, the session did the steps %v, reported the target %+v and the cleaning %s: wanted the preflight and a target only", steps, snapshot.Target, snapshot.Cleaning)
	}
	if s.Ready() {
		t.Error("the session is ready while it still waits")
	}
	close(control.admitted)
	if err := <-ended; err != nil || s.Stage() != results.StageDone {
		t.Errorf("it ended with %v in %s", err, s.Stage())
	}
	if !slices.Equal(d.steps[:2], []string{"preflight", "preflight"}) || !slices.Contains(d.steps, "claim") {
		t.Errorf("the session did the steps %v, wanted a second preflight before the claim", d.steps)
	}
	if changes := s.Snapshot().Target.Changes; len(changes) > 0 {
		t.Errorf("got the changes %+v, wanted none from before the second preflight", changes)
	}
}

func TestAPlanWithoutAQueueDoesNotWait(t *testing.T) {
	control := newControl()
	control.admitted = make(chan struct{})
	s := newSession(t, planOf(), 0, &fakeDriver{}, control)
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAStopEndsTheWait(t *testing.T) {
	d, control := &fakeDriver{}, newControl()
	control.admitted = make(chan struct{})
	s := newSession(t, planOf(awaitingLock), 0, d, control)
	_, ended := runWaiting(t, s, d)
	close(control.stopped)
	if err := <-ended; err != nil || !s.Snapshot().Stopped || s.Snapshot().Cleaning != results.CleaningNothingWritten || d.released.Load() {
		t.Errorf("the session ended with %v and %+v, released %v: wanted a stop that wrote nothing", err, s.Snapshot().Cleaning, d.released.Load())
	}
}

// The wait does not count towards the run's time-out.
func TestTheWaitDoesNotCountTowardsTheTimeout(t *testing.T) {
	t.Parallel()
	d, control := &fakeDriver{}, newControl()
	control.admitted = make(chan struct{})
	s := newSession(t, planOf(awaitingLock, func(p *plan.Plan) { p.TimeoutSeconds = 5 }), 0, d, control)
	_, ended := runWaiting(t, s, d)
	wait, cancel := context.WithTimeout(t.Context(), 5500*time.Millisecond)
	defer cancel()
	select {
	case err := <-ended:
		t.Fatalf("the session ended with %v while it waited", err)
	case <-wait.Done():
	}
	close(control.admitted)
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}
