package load

import (
	"context"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// minProbing is how long a target that is silent is asked again before it counts as lost, at least.
	minProbing = 5 * time.Second
	// probeEvery is the pause between two probes.
	probeEvery = 500 * time.Millisecond
	// maxSilence is how long a run bound by requests goes on without a success before it asks whether the target is
	// lost. Such a run would not end otherwise.
	maxSilence = 30 * time.Second
)

// watchForLoss ends the load of a run bound by requests if the target is lost. It returns when the window is over.
func (s *Session) watchForLoss(ctx context.Context, e *engine, done <-chan struct{}) error {
	asked := e.measured.start
	for {
		next := max(asked, s.recorder.lastSuccess()).Add(maxSilence)
		if !waitFor(ctx, next, done) {
			return nil
		}
		if Now() < max(asked, s.recorder.lastSuccess()).Add(maxSilence) {
			continue
		}
		if s.isLost(ctx) {
			return s.lost(e)
		}
		asked = Now()
	}
}

// checkForLoss returns an error if the target stopped answering in the window and is lost. Nothing is in flight any more.
func (s *Session) checkForLoss(ctx context.Context, e *engine) error {
	if !s.recorder.endedInSilence() && e.unsent.Load() == 0 || ctx.Err() != nil || !s.isLost(ctx) {
		return nil
	}
	return s.lost(e)
}

// isLost probes the target until it answers, or for long enough.
func (s *Session) isLost(ctx context.Context) bool {
	prober, ok := s.driver.(Prober)
	if !ok {
		return false
	}
	probing, cancel := context.WithTimeout(ctx, max(minProbing, s.plan.Load.RequestTimeout()))
	defer cancel()
	for {
		if prober.Answers(probing) {
			return false
		}
		if !waitFor(probing, Now().Add(probeEvery), nil) {
			return ctx.Err() == nil
		}
	}
}

// lost is the error of a target that is lost since the last success.
func (s *Session) lost(e *engine) error {
	since := max(s.recorder.lastSuccess(), e.measured.start)
	return Errorf(results.FailureTargetLost,
		"no request succeeded from %s on, %s after the start of the measured window, and then no member of the target answered a linearizable read for %s: check that the members run, have a quorum, and can be reached from the client pods.",
		since.Wall().UTC().Format(time.RFC3339), text.Duration(since.Sub(e.measured.start)), max(minProbing, s.plan.Load.RequestTimeout()))
}
