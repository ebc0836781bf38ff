package load

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// fakeLock is the lock of a store: the UID of the run that holds it, or an empty string.
type fakeLock struct {
	mutex  sync.Mutex
	holder string
	// nameless: only the holder knows who holds it. missing: the store has no lock.
	nameless, missing bool
	err               error
	// refusal is the error of each attempt to lock, and attempts is their number.
	refusal  error
	attempts int
}

func (l *fakeLock) set(holder string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.holder = holder
}

func (l *fakeLock) heldBy() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.holder
}

// lockingDriver is a fakeDriver of one run, whose store has a lock.
type lockingDriver struct {
	*fakeDriver
	run  string
	lock *fakeLock
}

func (d lockingDriver) Look(context.Context) (Holder, error) {
	d.lock.mutex.Lock()
	defer d.lock.mutex.Unlock()
	if d.lock.err == nil && !d.lock.missing && (d.lock.holder == "" || d.lock.holder == d.run) {
		return Holder{State: Free}, nil
	}
	return d.holds()
}

func (d lockingDriver) Lock(context.Context) (Holder, error) {
	d.lock.mutex.Lock()
	defer d.lock.mutex.Unlock()
	d.lock.attempts++
	if d.lock.refusal != nil {
		return Holder{}, d.lock.refusal
	}
	return d.holds()
}

func (d lockingDriver) holds() (Holder, error) {
	switch {
	case d.lock.err != nil:
		return Holder{}, d.lock.err
	case d.lock.missing:
		return Holder{State: NoLock}, nil
	case d.lock.holder == "" || d.lock.holder == d.run:
		d.lock.holder = d.run
		return Holder{State: Held}, nil
	case d.lock.nameless:
		return Holder{State: HeldByUnknown}, nil
	}
	return Holder{State: HeldByOther, RunUID: d.lock.holder}, nil
}

func (d lockingDriver) Unlock(context.Context) error {
	d.lock.mutex.Lock()
	defer d.lock.mutex.Unlock()
	if d.lock.holder == d.run {
		d.lock.holder = ""
	}
	return nil
}

// lockSession is a session that looks at the lock every few milliseconds.
func lockSession(t *testing.T, index int, d lockingDriver, changes ...func(*plan.Plan)) *Session {
	t.Helper()
	s := newSession(t, planOf(changes...), index, d, newControl())
	s.lock.again, s.lock.renew, s.lock.ttl = time.Millisecond, 2*time.Millisecond, 10*time.Millisecond
	return s
}

func beside(p *plan.Plan) { p.Lock = &plan.Lock{} }

// awaitStage waits until a session is in a stage.
func awaitStage(t *testing.T, s *Session, stage results.Stage) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); s.Stage() != stage; {
		if time.Now().After(deadline) {
			t.Fatalf("the session is in stage %s, wanted %s", s.Stage(), stage)
		}
		<-time.After(time.Millisecond)
	}
}

// A run holds the lock from before its first write until its keys are deleted.
func TestARunHoldsTheLockWhileItWrites(t *testing.T) {
	lock := &fakeLock{}
	d := lockingDriver{run: "uid", lock: lock, fakeDriver: &fakeDriver{}}
	d.hook = func(_ context.Context, step string) error {
		if (step == "claim" || step == "release") && lock.heldBy() != "uid" {
			t.Errorf("at the step %s, the lock is held by %q", step, lock.heldBy())
		}
		return nil
	}
	if err := lockSession(t, 0, d, awaitingLock).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := lock.heldBy(); got != "" {
		t.Errorf("after the run, the lock is held by %q", got)
	}
}

// The lock of a run whose keys are left is not freed: its cleanup Job comes next.
func TestTheLockStaysWhileKeysAreLeft(t *testing.T) {
	lock := &fakeLock{}
	d := lockingDriver{run: "uid", lock: lock, fakeDriver: &fakeDriver{hook: func(_ context.Context, step string) error {
		if step == "release" {
			return errors.New("no answer")
		}
		return nil
	}}}
	if err := lockSession(t, 0, d, awaitingLock).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := lock.heldBy(); got != "uid" {
		t.Errorf("the lock is held by %q, wanted the run", got)
	}
}

// A client pod 0 that is refused has written nothing, but the other pods of its run may have.
func TestTheLockStaysForTheOtherPods(t *testing.T) {
	for pods, want := range map[int32]string{1: "", 2: "uid"} {
		lock := &fakeLock{}
		d := lockingDriver{run: "uid", lock: lock, fakeDriver: &fakeDriver{hook: func(_ context.Context, step string) error {
			if step == "claim" {
				return Errorf(results.FailurePrefixNotEmpty, "foreign keys")
			}
			return nil
		}}}
		s := lockSession(t, 0, d, awaitingLock, func(p *plan.Plan) { p.Load.Pods = pods })
		if f := FailureOf(s.Run(t.Context())); f == nil || f.Reason != results.FailurePrefixNotEmpty || lock.heldBy() != want {
			t.Errorf("%d pods: it ended with %+v, and the lock is held by %q, wanted %q", pods, f, lock.heldBy(), want)
		}
	}
}

func TestASessionWaitsForTheLock(t *testing.T) {
	lock := &fakeLock{holder: "other"}
	d := lockingDriver{run: "uid", lock: lock, fakeDriver: &fakeDriver{}}
	s := lockSession(t, 0, d, awaitingLock)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(t.Context()) }()
	awaitStage(t, s, results.StageLocking)
	if got := s.Snapshot(); got.Cleaning != results.CleaningNothingWritten {
		t.Errorf("it has written while another run holds the lock: %s", got.Cleaning)
	}
	lock.set("")
	if err := <-ended; err != nil || lock.heldBy() != "" {
		t.Errorf("it ended with %v, and left the lock to %q", err, lock.heldBy())
	}
}

// When a target answers again that did not for a while, its lock may have expired. The run that had it may take it again
// first: its renewals are in flight, or follow soon.
func TestAFreeLockIsLeftToTheRunThatHadIt(t *testing.T) {
	lock := &fakeLock{err: Errorf(results.FailureTargetUnreachable, "no answer")}
	d := lockingDriver{run: "uid", lock: lock, fakeDriver: &fakeDriver{}}
	l := lockSession(t, 0, d, awaitingLock).lock
	l.renew = time.Hour
	if _, err := l.look(t.Context()); err == nil {
		t.Fatal("wanted the error of the store")
	}
	lock.err = nil
	for range 2 {
		if holder, err := l.look(t.Context()); err != nil || holder.State != HeldByUnknown || lock.holder != "" {
			t.Fatalf("got %v, %v, and the lock is held by %q: wanted it to be left alone", holder.State, err, lock.holder)
		}
	}
	l.yields = time.Now()
	if holder, err := l.look(t.Context()); err != nil || holder.State != Held {
		t.Errorf("got %v, %v after a while, wanted the lock", holder.State, err)
	}
}

// A store that answers only some looks, because one of its members does not, has not kept another run from renewing its
// lock. So a free lock is taken.
func TestALockIsTakenFromAStoreThatAnswersSomeLooks(t *testing.T) {
	lock := &fakeLock{holder: "other"}
	d := lockingDriver{run: "uid", lock: lock, fakeDriver: &fakeDriver{}}
	l := lockSession(t, 0, d, awaitingLock).lock
	l.ttl, l.renew = time.Hour, time.Hour
	noAnswer := Errorf(results.FailureTargetUnreachable, "no answer")
	for _, step := range []struct {
		err    error
		holder string
		want   LockState
	}{{nil, "other", HeldByOther}, {noAnswer, "", ""}, {nil, "", Held}} {
		lock.err, lock.holder = step.err, step.holder
		if holder, err := l.look(t.Context()); holder.State != step.want || !errors.Is(err, step.err) {
			t.Errorf("got %v, %v, wanted %v, %v", holder.State, err, step.want, step.err)
		}
	}
}

func TestAWaitForTheLockIsBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		lock *fakeLock
		want results.FailureReason
	}{
		"of another run":   {&fakeLock{holder: "other"}, results.FailureTargetBusy},
		"of an unknown":    {&fakeLock{holder: "other", nameless: true}, results.FailureTargetBusy},
		"no answer":        {&fakeLock{err: Errorf(results.FailureTargetUnreachable, "no answer")}, results.FailureTargetUnreachable},
		"a user not known": {&fakeLock{err: Errorf(results.FailureAuthenticationFailed, "no such user")}, results.FailureAuthenticationFailed},
	} {
		t.Run(name, func(t *testing.T) {
			d := lockingDriver{run: "uid", lock: tc.lock, fakeDriver: &fakeDriver{}}
			s := lockSession(t, 0, d, awaitingLock)
			s.lock.wait = 20 * time.Millisecond
			f := FailureOf(s.Run(t.Context()))
			if f == nil || f.Reason != tc.want || s.Snapshot().Cleaning != results.CleaningNothingWritten {
				t.Errorf("it ended with %+v, and the keys are %s: wanted %s, and nothing written", f, s.Snapshot().Cleaning, tc.want)
			}
			if tc.lock.heldBy() == "uid" {
				t.Error("it holds the lock after its end")
			}
		})
	}
}

// A run that allows others does not wait. It takes the lock as soon as it is free, so that others wait for it.
func TestARunBesideOthersTakesTheLockWhenItIsFree(t *testing.T) {
	lock := &fakeLock{holder: "other"}
	d := lockingDriver{run: "uid", lock: lock, fakeDriver: &fakeDriver{}}
	s := lockSession(t, 0, d, beside, forOneSecond(0), func(p *plan.Plan) { p.Load.DurationSeconds = new(int32(600)) })
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() { ended <- s.Run(ctx) }()
	awaitStage(t, s, results.StageMeasuring)
	lock.set("")
	for lock.heldBy() != "uid" {
		select {
		case err := <-ended:
			t.Fatalf("it ended (%v) and never took the lock", err)
		case <-time.After(time.Millisecond):
		}
	}
	// It goes on if it loses the lock, too.
	lock.set("other")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A run ends when another run has taken its lock, in each pod. A lock that is only gone is taken again.
func TestALockThatIsTakenEndsTheRun(t *testing.T) {
	for name, tc := range map[string]struct {
		index int
		lock  *fakeLock
		taken string
		want  results.FailureReason
	}{
		"pod 0":                  {0, &fakeLock{}, "other", results.FailureTargetTaken},
		"pod 1":                  {1, &fakeLock{}, "other", results.FailureTargetTaken},
		"by an unknown":          {0, &fakeLock{nameless: true}, "other", results.FailureTargetTaken},
		"unknown to pod 1":       {1, &fakeLock{nameless: true}, "other", ""},
		"expired, and not taken": {0, &fakeLock{}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := lockingDriver{run: "uid", lock: tc.lock, fakeDriver: &fakeDriver{}}
			s := lockSession(t, tc.index, d, awaitingLock, forOneSecond(0), func(p *plan.Plan) {
				p.Load.Pods, p.Load.DurationSeconds = 2, new(int32(600))
			})
			ended := make(chan error, 1)
			ctx, stop := context.WithCancel(t.Context())
			go func() { ended <- s.Run(ctx) }()
			awaitStage(t, s, results.StageMeasuring)
			tc.lock.set(tc.taken)
			if tc.want == "" {
				for tc.taken == "" && tc.lock.heldBy() != "uid" {
					<-time.After(time.Millisecond)
				}
				stop()
			}
			defer stop()
			f := FailureOf(<-ended)
			if tc.want == "" && f != nil || tc.want != "" && (f == nil || f.Reason != tc.want) {
				t.Errorf("it ended with %+v, wanted %q", f, tc.want)
			}
			if got := s.Snapshot(); !got.Window.End.After(got.Window.Start) || !got.Stopped {
				t.Errorf("stopped %v, window %+v: wanted the numbers until then", got.Stopped, got.Window)
			}
		})
	}
}

// A result says that the store has no lock.
func TestARunWithoutALockSaysSo(t *testing.T) {
	for name, d := range map[string]Driver{
		"the driver has none": &fakeDriver{},
		"the store has none":  lockingDriver{run: "uid", lock: &fakeLock{missing: true}, fakeDriver: &fakeDriver{}},
	} {
		s := newSession(t, planOf(awaitingLock), 0, d, newControl())
		if err := s.Run(t.Context()); err != nil || !s.Snapshot().Target.Unlocked {
			t.Errorf("%s: it ended with %v and %+v, wanted it to say that there is no lock", name, err, s.Snapshot().Target)
		}
	}
	s := lockSession(t, 0, lockingDriver{run: "uid", lock: &fakeLock{}, fakeDriver: &fakeDriver{}}, awaitingLock)
	if err := s.Run(t.Context()); err != nil || s.Snapshot().Target.Unlocked {
		t.Errorf("it ended with %v and %+v, although the store has a lock", err, s.Snapshot().Target)
	}
}

// An attempt to lock is a write. A store that answers looks and cannot be locked is not asked for the lock for minutes.
func TestAStoreThatCannotBeLockedEndsTheWait(t *testing.T) {
	tests := map[string]struct {
		refusal  error
		attempts int
	}{
		"an error without a known reason": {errors.New("an index out of range"), maxFailedLocks},
		"a full database":                 {Errorf(results.FailureAlarmRaised, "NOSPACE"), 1},
		"no permission":                   {Errorf(results.FailureAuthenticationFailed, "permission denied"), 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			lock := &fakeLock{refusal: tc.refusal}
			s := lockSession(t, 0, lockingDriver{run: "uid", lock: lock, fakeDriver: &fakeDriver{}}, awaitingLock)
			err := s.Run(t.Context())
			if f := FailureOf(err); f == nil || *f != *FailureOf(tc.refusal) || lock.attempts != tc.attempts {
				t.Errorf("it ended with %+v after %d attempts, wanted %v after %d", f, lock.attempts, tc.refusal, tc.attempts)
			}
		})
	}
}
