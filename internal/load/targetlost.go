package load

import (
	"context"
	"errors"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// minProbing is how long a silent target is asked again before it counts as lost, at least.
	minProbing = 5 * time.Second
	// maxSilence is how long a run bound by requests goes on without a success before it asks whether the target is
	// lost. Such a run would not end otherwise.
	maxSilence = 30 * time.Second
	// lookForSuccess is the interval at which a run that asks checks whether requests succeed again.
	lookForSuccess = 100 * time.Millisecond
)

// watchForLoss ends the load of a run bound by requests if the target is lost. It returns when the window is over.
func (s *Session) watchForLoss(ctx context.Context, e *engine, done <-chan struct{}) error {
	quiet := e.measured.start
	for {
		quiet = max(quiet, s.recorder.lastSuccess())
		if !waitFor(ctx, quiet.Add(s.silence), done) {
			return nil
		}
		if s.recorder.lastSuccess() > quiet {
			continue
		}
		if s.isLost(ctx, done) {
			return s.lost(e)
		}
		quiet = Now()
	}
}

// checkForLoss returns an error if the target stopped answering in the window and is lost. Nothing is in flight any
// more. If ctx ends meanwhile, everything was measured all the same, so the target does not count as lost.
func (s *Session) checkForLoss(ctx context.Context, e *engine) error {
	if s.recorder.lastSuccess() >= Instant(e.measured.end.Load()) || !e.endedInSilence() || !s.isLost(ctx, nil) {
		return nil
	}
	return s.lost(e)
}

// endedInSilence reports whether, after the last success, a request failed, was cut off or was not sent. A closed loop
// without a measured request had requests of the warm-up in flight all the time.
func (e *engine) endedInSilence() bool {
	r := e.recorder
	return r.last() > r.lastSuccess() || r.hasCensored() || e.unsent.Load() > 0 || r.last() == 0 && !e.measured.scheduled()
}

// isLost probes the target until it answers, or for long enough. It ends early when a request succeeds, when done is
// closed, or when ctx ends.
func (s *Session) isLost(ctx context.Context, done <-chan struct{}) bool {
	prober, ok := s.driver.(Prober)
	if !ok {
		return false
	}
	probing, cancel := context.WithTimeout(ctx, s.probingTime())
	defer cancel()
	before := s.recorder.lastSuccess()
	go func() {
		for waitFor(probing, Now().Add(lookForSuccess), done) {
			if s.recorder.lastSuccess() > before {
				break
			}
		}
		if !errors.Is(probing.Err(), context.DeadlineExceeded) {
			cancel()
		}
	}()
	return !prober.Answers(probing) && errors.Is(probing.Err(), context.DeadlineExceeded) && ctx.Err() == nil
}

func (s *Session) probingTime() time.Duration { return max(s.probing, s.plan.Load.RequestTimeout()) }

// endAtBreak ends the load if the driver says, before ctx ends, that the target is lost.
func (s *Session) endAtBreak(ctx context.Context) {
	b, ok := s.driver.(Breaker)
	if !ok {
		return
	}
	go func() {
		select {
		case err := <-b.Broken():
			s.abandon(err)
		case <-ctx.Done():
		}
	}()
}

// lost is the error of a target that is lost since the last success.
func (s *Session) lost(e *engine) error {
	since := max(s.recorder.lastSuccess(), e.measured.start)
	return Errorf(results.FailureTargetLost,
		"no request succeeded from %s on, %s after the start of the measured window, and then no member of the "+
			"target answered a read for %s: check that the members run, have a quorum, and can be "+
			"reached from the client pods.",
		since.Wall().UTC().Format(time.RFC3339), text.Duration(since.Sub(e.measured.start)), s.probingTime())
}
