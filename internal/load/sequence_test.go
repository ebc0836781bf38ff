package load

import (
	"context"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// sequenceTrial is a trial of the workload Lock on slots, which counts what was sent.
type sequenceTrial struct {
	*trial
	mutex sync.Mutex
	sent  map[spec.Operation]int
	// tooSoon counts the releases that were sent before the hold was over.
	tooSoon int
}

func newSequenceTrial(t *testing.T, loads spec.Load, hold time.Duration, codes map[spec.Operation]string) *sequenceTrial {
	s := &sequenceTrial{sent: map[spec.Operation]int{}}
	held := map[*Request]Instant{}
	answer := func(r *Request) (string, time.Duration) { return codes[r.Operation], 3 * time.Millisecond }
	s.trial = newTrialOf(t, loads, spec.Workload{
		Type: spec.WorkloadLock, Lock: &spec.Lock{Names: 2, HoldMilliseconds: int32(hold.Milliseconds())},
	}, 2, answer, func(r *Request) {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.sent[r.Operation]++
		// Each client has a request of its own.
		if r.Operation == spec.OperationLockRelease && Now().Sub(held[r]) < hold+3*time.Millisecond {
			s.tooSoon++
		}
		held[r] = Now()
	})
	return s
}

// wantSent checks how often each step was sent.
func (s *sequenceTrial) wantSent(t *testing.T, acquired, released int) {
	t.Helper()
	want := map[spec.Operation]int{spec.OperationLockAcquire: acquired, spec.OperationLockRelease: released}
	maps.DeleteFunc(want, func(_ spec.Operation, n int) bool { return n == 0 })
	if !maps.Equal(s.sent, want) {
		t.Errorf("sent %v, wanted %v", s.sent, want)
	}
}

// A client on a loop carries out both steps, as one in a goroutine does.
func TestALoopCarriesOutSequences(t *testing.T) {
	for name, tc := range map[string]struct {
		codes    map[spec.Operation]string
		released int
	}{
		"succeeds":         {nil, 50},
		"fails to acquire": {map[spec.Operation]string{spec.OperationLockAcquire: CodeDeadlineExceeded}, 0},
		"fails to release": {map[spec.Operation]string{spec.OperationLockRelease: CodeDeadlineExceeded}, 50},
	} {
		for _, rate := range []int64{0, 25} {
			synctest.Test(t, func(t *testing.T) {
				loads := spec.Load{Clients: 6, Rate: perSecond(rate)}
				if loads.DurationSeconds = new(int32(2)); rate == 0 {
					loads.DurationSeconds, loads.Requests = nil, new(int64(50))
				}
				s := newSequenceTrial(t, loads, 20*time.Millisecond, tc.codes)
				<-s.start(t.Context())
				s.wantSent(t, 50, tc.released)
				if s.tooSoon > 0 {
					t.Errorf("%d releases were sent before the hold was over", s.tooSoon)
				}
				if t.Failed() {
					t.Logf("%s, rate %d", name, rate)
				}
				release := s.recorder.results(spec.OperationLockRelease)
				if slowest := release.Latency.Max(); slowest > 4*time.Millisecond || release.Lateness.Max() > time.Millisecond {
					t.Errorf("a release took %v, and was late by %v: the hold must not count", slowest, release.Lateness.Max())
				}
			})
		}
	}
}

// If the load is cut off while a client holds a lock, the client releases it at once. Without the permission to send it
// gives up.
func TestALoopReleasesWhatItHoldsWhenTheLoadIsCutOff(t *testing.T) {
	for mayStillSend, released := range map[bool]int{true: 2, false: 0} {
		synctest.Test(t, func(t *testing.T) {
			s := newSequenceTrial(t, spec.Load{Clients: 2, DurationSeconds: new(int32(1))}, time.Hour, nil)
			ctx, abort := context.WithCancel(t.Context())
			done := s.start(ctx)
			time.Sleep(time.Second)
			if !mayStillSend {
				s.permit.end()
			}
			s.drain(t.Context(), done, time.Second, abort)
			s.wantSent(t, 2, released)
		})
	}
}
