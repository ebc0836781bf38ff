package load

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// At every stage, an end of the context makes Run end soon, without an error, and release its claim.
func TestAnInterruptionAtEachStage(t *testing.T) {
	endless := answerAfter(time.Minute)
	tests := map[string]struct {
		at      results.Stage
		step    string
		answer  func(context.Context, *Request, *Response)
		silent  bool
		release bool
	}{
		"preflight":  {step: "preflight"},
		"connect":    {step: "connect"},
		"claim":      {step: "claim", release: true},
		"preloading": {at: results.StagePreloading, answer: endless, release: true},
		"waiting":    {at: results.StageReady, silent: true, release: true},
		"warming up": {at: results.StageWarmingUp, release: true},
		"measuring":  {at: results.StageMeasuring, release: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			d := &fakeDriver{answer: tc.answer, hook: func(ctx context.Context, step string) error {
				if step != tc.step {
					return nil
				}
				cancel()
				<-ctx.Done()
				return ctx.Err()
			}}
			control := newControl()
			control.silent = tc.silent
			s := newSession(t, planOf(forOneSecond(0), func(p *plan.Plan) { p.Load.WarmupSeconds, p.Load.DurationSeconds = 2, new(int32(20)) }), 0, d, control)
			go cancelAt(ctx, cancel, s, tc.at)
			began := time.Now()
			if err := s.Run(ctx); err != nil {
				t.Errorf("got error %v, wanted none", err)
			}
			got := s.Snapshot()
			if !got.Stopped || got.Stage != results.StageDone || d.released.Load() != tc.release || !d.closed.Load() {
				t.Errorf("stopped %v, stage %s, released %v, closed %v", got.Stopped, got.Stage, d.released.Load(), d.closed.Load())
			}
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// If no stop arrives when the run's time-out has passed, each pod ends its own part, reports the time-out as the
// reason, and keeps its measurements.
func TestASessionEndsByItsOwnTimer(t *testing.T) {
	tests := map[string]struct {
		silent       bool
		wantMeasured bool
	}{
		"before the start": {silent: true},
		"amid the load":    {wantMeasured: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			control := newControl()
			control.silent = tc.silent
			p := planOf(forOneSecond(0), func(p *plan.Plan) { p.Load.DurationSeconds, p.TimeoutSeconds = new(int32(60)), 5 })
			s := newSession(t, p, 0, &fakeDriver{answer: answerAfter(time.Millisecond)}, control)
			f := FailureOf(s.Run(t.Context()))
			got := s.Snapshot()
			if f == nil || f.Reason != results.FailureTimedOut || got.Failure == nil || *got.Failure != *f {
				t.Errorf("the session ended with %+v and reports %+v, wanted %s", f, got.Failure, results.FailureTimedOut)
			}
			if has := !got.Window.End.IsZero() && got.Started > 0; has != tc.wantMeasured || !got.Stopped || got.Cleaning != results.CleaningKeysDeleted {
				t.Errorf("measured %v, stopped %v, keys %s; wanted measured %v, stopped, and no key left", has, got.Stopped, got.Cleaning, tc.wantMeasured)
			}
		})
	}
}

// The termination message of a pod that is killed while it deletes keys contains the complete measurement and timeline.
func TestTheMeasurementIsCompleteBeforeTheDeletion(t *testing.T) {
	var words []*results.Snapshot
	var s *Session
	s, err := NewSession(Config{
		Plan: planOf(), Driver: &fakeDriver{}, Control: newControl(),
		Measured: func() { words = append(words, s.Snapshot()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(words) != 1 || words[0].Stage != results.StageCleaning || !words[0].HasMeasured() || words[0].Timeline.Interval == 0 {
		t.Errorf("wanted one call of Measured with the complete window, got %+v", words)
	}
}

// cancelAt cancels once the session has reached a stage.
func cancelAt(ctx context.Context, cancel context.CancelFunc, s *Session, stage results.Stage) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for s.Stage() != stage {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	cancel()
}

func TestAStopKeepsWhatWasMeasured(t *testing.T) {
	control := newControl()
	var sent atomic.Int32
	d := &fakeDriver{answer: func(ctx context.Context, req *Request, resp *Response) {
		answerAfter(time.Millisecond)(ctx, req, resp)
		if PhaseOf(ctx) == results.PhaseMeasured && sent.Add(1) == 500 {
			close(control.stopped)
		}
	}}
	s := newSession(t, planOf(func(p *plan.Plan) { p.Load.Requests = new(int64(1_000_000)) }), 0, d, control)
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := s.Snapshot()
	e := endedOf(got)
	if !got.Stopped || e.Succeeded < 500 || e.Succeeded != sentIn(got, results.PhaseMeasured) || e.Failed+e.Censored > 0 {
		t.Errorf("stopped %v with %+v of %d sent", got.Stopped, e, sentIn(got, results.PhaseMeasured))
	}
	if got.Window.End.Before(got.Window.Start) || !got.Window.End.Equal(got.Window.LastResponse) {
		t.Errorf("window %+v, wanted its end at the last response", got.Window)
	}
}

// Requests that are outstanding at a stop do not extend the window.
func TestAWindowEndsBeforeItIsDrained(t *testing.T) {
	control := newControl()
	var s *Session
	seen := make(chan results.Window, 1)
	d := &fakeDriver{answer: func(ctx context.Context, req *Request, resp *Response) {
		if PhaseOf(ctx) != results.PhaseMeasured {
			answerAfter(0)(ctx, req, resp)
			return
		}
		close(control.stopped)
		cancelAt(ctx, func() { seen <- s.Snapshot().Window }, s, results.StageDraining)
		answerAfter(50*time.Millisecond)(ctx, req, resp)
	}}
	s = newSession(t, planOf(forOneSecond(0), func(p *plan.Plan) {
		p.Load.DurationSeconds, p.Load.Clients, p.Load.Connections = new(int32(60)), 1, 1
	}), 0, d, control)
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	while, after := <-seen, s.Snapshot().Window
	if while.End.IsZero() || !while.End.Equal(after.End) || !after.LastResponse.After(after.End) {
		t.Errorf("the window was %+v while an answer was awaited, and then %+v", while, after)
	}
}

func TestAnEndOfTheLoadIsNoStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := &fakeDriver{hook: func(_ context.Context, step string) error {
		if step == "release" {
			cancel()
		}
		return nil
	}}
	s := newSession(t, planOf(), 0, d, newControl())
	if err := s.Run(ctx); err != nil || s.Snapshot().Stopped {
		t.Errorf("error %v, stopped %v: wanted neither after a full window", err, s.Snapshot().Stopped)
	}
}

func TestFailuresKeepTheirReason(t *testing.T) {
	refused := Errorf(results.FailurePrefixNotEmpty, "the prefix holds keys")
	unreachable := Errorf(results.FailureTargetUnreachable, "connection refused")
	tests := map[string]struct {
		step     string
		err      error
		reason   results.FailureReason
		released bool
	}{
		"unreachable":            {"preflight", unreachable, results.FailureTargetUnreachable, false},
		"no connection":          {"connect", unreachable, results.FailureTargetUnreachable, false},
		"a prefix of others":     {"claim", refused, results.FailurePrefixNotEmpty, false},
		"a claim of unknown end": {"claim", unreachable, results.FailureTargetUnreachable, true},
		"an error with no name":  {"preflight", errors.New("boom"), results.FailurePodFailed, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := &fakeDriver{hook: func(_ context.Context, step string) error {
				if step == tc.step {
					return tc.err
				}
				return nil
			}}
			s := newSession(t, planOf(), 0, d, newControl())
			err := s.Run(t.Context())
			got := s.Snapshot()
			if !errors.Is(err, tc.err) || got.Failure == nil || got.Failure.Reason != tc.reason || got.Stopped {
				t.Errorf("got error %v, failure %+v, stopped %v; wanted the reason %s", err, got.Failure, got.Stopped, tc.reason)
			}
			if d.released.Load() != tc.released {
				t.Errorf("released %v, wanted %v", d.released.Load(), tc.released)
			}
		})
	}
}

func TestAStartThatNeverComesEndsAtThePlansTimeout(t *testing.T) {
	t.Parallel()
	control := newControl()
	control.silent = true
	d := &fakeDriver{}
	s := newSession(t, planOf(func(p *plan.Plan) { p.TimeoutSeconds = 5 }), 0, d, control)
	f := FailureOf(s.Run(t.Context()))
	if f == nil || f.Reason != results.FailureTimedOut || !d.released.Load() {
		t.Errorf("got failure %+v, released %v", f, d.released.Load())
	}
}

func TestKeysThatAreLeftAreReported(t *testing.T) {
	d := &fakeDriver{hook: func(_ context.Context, step string) error {
		if step == "release" {
			return errors.New("gone")
		}
		return nil
	}}
	if got := run(t, planOf(), d); got.Cleaning != results.CleaningKeysLeft {
		t.Errorf("the session reports %s, wanted %s", got.Cleaning, results.CleaningKeysLeft)
	}
}
