package load

import (
	"context"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// release gives up the run's keys, unless nothing was written, and then the target's lock. Only client pod 0 renews the
// lock while keys are deleted: it waits for the deletion, and frees the lock after it.
func (s *Session) release(ctx context.Context) {
	if s.lock != nil && !s.lock.first {
		s.lock.end()
	}
	s.releaseKeys(ctx)
	over := s.state.cleaningIs(results.CleaningKeysDeleted) || s.plan.Pods() == 1 && s.state.cleaningIs(results.CleaningNothingWritten)
	if err := s.lock.release(ctx, over); err != nil {
		s.state.log.Warn("the lock of the target was not freed; it expires", "after", LockTTL.String(), "error", err)
	}
}

func (s *Session) releaseKeys(ctx context.Context) {
	s.signs.end()
	if s.state.cleaningIs(results.CleaningNothingWritten) {
		return
	}
	if s.Stage() != results.StageCleaning {
		s.state.enter(results.StageCleaning)
	}
	if s.plan.Ephemeral {
		return
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
	defer cancel()
	hurry := context.AfterFunc(ctx, func() { time.AfterFunc(interruptedRelease, cancel) })
	defer hurry()
	began := Now()
	cleaning, err := s.driver.Release(bounded)
	if err != nil && bounded.Err() != nil {
		err = Errorf(results.FailureTimedOut, "their deletion did not end within %s", text.Duration(Now().Sub(began).Round(time.Second)))
	}
	if err != nil {
		s.state.log.Warn("some keys remain under the prefix", "prefix", s.plan.Prefix, "error", err)
	}
	s.state.set(func(s *state) { s.cleaning, s.left = cleaning, err })
}

// WhyLeft returns why keys of the run may be left. It is known after Run.
func (s *Session) WhyLeft() error {
	s.state.mutex.Lock()
	defer s.state.mutex.Unlock()
	return s.state.left
}
