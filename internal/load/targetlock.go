package load

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// renewEvery is the interval at which the lock is renewed; four renewals may fail before the store frees it.
	renewEvery = LockTTL / 5
	// lockAgain is the interval at which a waiting pod looks whether the lock is free. A look is a read.
	lockAgain = time.Second
	// maxFailedLocks is how often a store that answers looks may fail to lock in a row: an attempt to lock is a write.
	maxFailedLocks = 5
	// unlockLimit bounds freeing the lock; without it the store frees the lock after LockTTL.
	unlockLimit = 5 * time.Second
)

// targetLock is a pod's part in holding the lock of the target. Client pod 0 takes the lock and frees it at the end. The
// other pods renew it if the store tells them that their run holds it.
type targetLock struct {
	locker Locker
	// first: this is client pod 0. waits: the run writes only while it holds the lock. held: the run has the lock, or had
	// it and may take it again at once.
	first, waits, held bool
	// silent: the last look was not answered, and answered is when one was. yields is until when a free lock is left to the
	// run that had it.
	silent           bool
	answered, yields time.Time
	// failed counts the attempts to lock in a row that failed.
	failed       int
	wait         time.Duration
	again, renew time.Duration
	ttl          time.Duration

	stop    context.CancelFunc
	renewal sync.WaitGroup
}

// newTargetLock returns nil if the plan does not use the lock, or if the driver has none.
func newTargetLock(c Config) *targetLock {
	locker, ok := c.Driver.(Locker)
	if !ok || c.Plan.Lock == nil {
		return nil
	}
	return &targetLock{
		locker: locker, first: c.Index == 0, waits: c.Plan.AwaitsLock(), held: c.Index > 0 && c.Plan.AwaitsLock(),
		wait: time.Duration(c.Plan.Lock.WaitSeconds) * time.Second, again: lockAgain, renew: renewEvery, ttl: LockTTL,
	}
}

// take takes the lock if it is free. If the run waits for the lock, take waits until the run holds it, and calls waiting
// when it finds that another run does. It returns false if the store has no lock.
func (l *targetLock) take(ctx context.Context, waiting func(Holder)) (exists bool, err error) {
	deadline := time.Now().Add(l.wait)
	for told := false; ; {
		holder, err := l.look(ctx)
		switch {
		case ctx.Err() != nil:
			return true, ctx.Err()
		case err == nil && holder.State == NoLock:
			return false, nil
		case l.held, !l.waits:
			return true, nil
		case err != nil && (refuses(FailureOf(err).Reason) || FailureOf(err).Reason == results.FailureAlarmRaised || l.failed >= maxFailedLocks):
			return true, err
		case time.Now().After(deadline):
			return true, l.busy(holder, err)
		}
		if err == nil && !told {
			told = true
			waiting(holder)
		}
		waitFor(ctx, Now().Add(l.again), nil)
	}
}

// cleanWait is how long the deletion of keys that a run has left waits for the lock. After that the keys are deleted all
// the same: keys that stay are worse than a run that is disturbed for a moment.
const cleanWait = LockTTL + 10*time.Second

// Clean deletes what the run's pods left behind, once they send nothing any more, and holds the lock of the target
// meanwhile. While a pod shows that it lives, Clean waits for podTimeout, and then fails as PodStillWrites. It leaves the
// lock to expire then.
func Clean(ctx context.Context, p plan.Plan, d Driver, podTimeout time.Duration) error {
	w := newSignWatch(d, p.Load.RequestTimeout(), podTimeout)
	l := newTargetLock(Config{Plan: p, Driver: d})
	if l == nil {
		return w.clean(ctx)
	}
	l.waits, l.wait = true, cleanWait
	if exists, err := l.take(ctx, func(Holder) {}); err == nil && exists {
		l.waits = false
		l.keep(func(error) {})
	}
	err := w.clean(ctx)
	// A lock that cannot be freed expires.
	_ = l.release(ctx, !StillWrites(err))
	return err
}

// look takes or renews the lock, with a limit, so that a frozen store costs one renewal and not all of them. A run that
// does not have the lock only looks after the store did not answer: the run that had it may take it again first.
func (l *targetLock) look(ctx context.Context) (holder Holder, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.renew)
	defer cancel()
	if !l.held {
		if holder, err = l.see(ctx); err != nil || holder.State != Free {
			return holder, err
		}
	}
	holder, err = l.locker.Lock(ctx)
	if l.failed++; err == nil {
		l.failed = 0
	}
	if err == nil && (holder.State == Held || !l.waits) {
		l.held = holder.State == Held
	}
	return holder, err
}

// see returns Free if the lock is free, and is not left to another run. Only a store that answered no look for long can have
// kept that run from renewing its lock. One that answers some looks has, for example, one member that does not answer.
func (l *targetLock) see(ctx context.Context) (Holder, error) {
	holder, err := l.locker.Look(ctx)
	if err != nil {
		l.silent = true
		return holder, err
	}
	now := time.Now()
	if l.silent && now.Sub(l.answered) > l.ttl/2 {
		l.yields = now.Add(l.renew + l.again)
	}
	l.silent, l.answered = false, now
	if holder.State == Free && now.Before(l.yields) {
		holder = Holder{State: HeldByUnknown}
	}
	return holder, nil
}

// busy is the error of a run that has waited too long. A target that did not answer to the end has its own error.
func (l *targetLock) busy(holder Holder, err error) error {
	if err != nil {
		return err
	}
	return Errorf(results.FailureTargetBusy,
		"%s, and still held it after %s (spec.schedulingTimeoutSeconds). Wait until that run has ended, or set spec.target.concurrentRuns: Allow to load the target beside it.",
		holder, text.Duration(l.wait))
}

// String says who holds the lock.
func (h Holder) String() string {
	if h.State != HeldByOther {
		return "another run holds the lock of the target"
	}
	return fmt.Sprintf("the run with the UID %s has held the lock of the target since %s", h.RunUID, h.Since.UTC().Format(time.RFC3339))
}

// keep renews the lock until release. If the run must hold the lock and another run has taken it, keep calls taken once.
func (l *targetLock) keep(taken func(error)) {
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	l.renewal.Go(func() {
		ticker := time.NewTicker(l.renew)
		defer ticker.Stop()
		lost := time.Time{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			holder, err := l.look(ctx)
			switch {
			case err != nil || !l.waits:
			case holder.State == HeldByOther:
				taken(l.takenBy(holder))
				return
			case holder.State != HeldByUnknown || !l.first:
				lost = time.Time{}
			case lost.IsZero():
				lost = time.Now()
			case time.Since(lost) > l.ttl+l.renew:
				// This run does not renew a lock whose holder is unknown. So another run does.
				taken(l.takenBy(holder))
				return
			}
		}
	})
}

func (l *targetLock) takenBy(holder Holder) error {
	return Errorf(results.FailureTargetTaken,
		"this run could not renew its lock of the target for %s, and now %s: the numbers from then on are those of two loads. Check why the target did not answer.",
		text.Duration(l.ttl), holder)
}

// end ends the renewal.
func (l *targetLock) end() {
	if l != nil && l.stop != nil {
		l.stop()
		l.renewal.Wait()
	}
}

// release ends the renewal, and frees the lock if no pod of the run may write any more. Otherwise the lock expires: the
// other pods, or the cleanup Job of the run, may need it next.
func (l *targetLock) release(ctx context.Context, isOver bool) error {
	if l == nil {
		return nil
	}
	l.end()
	if !l.first || !l.held || !isOver {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockLimit)
	defer cancel()
	return l.locker.Unlock(ctx)
}
