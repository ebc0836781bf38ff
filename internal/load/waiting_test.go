package load

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Requests wait for a free client because the target is slow: 10 clients × 50 ms carry 200 of 300/s. None of that is the
// generator's own delay.
func TestAWaitForAFreeClientIsNoLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(*Request) (string, time.Duration) { return "", 50 * time.Millisecond }
		e := newTrial(t, spec.Load{Clients: 10, DurationSeconds: new(int32(2)), Rate: perSecond(300)}, 2, slow, nil)
		done := e.start(t.Context())
		e.drain(t.Context(), done, time.Hour, func() { t.Error("aborted") })
		r := e.recorder.results(spec.OperationPut)
		if late := r.Lateness.Max(); late > 0 || r.Lateness.Count() == 0 {
			t.Errorf("%d requests were up to %v late, wanted none", r.Lateness.Count(), late)
		}
		// The last arrival to be sent was due after about two thirds of the window, and waited for the rest.
		if wait := r.Backlog.Max(); wait < 600*time.Millisecond || wait > 800*time.Millisecond {
			t.Errorf("the longest wait for a client was %v", wait)
		}
		if net := r.NetLatency(); net.Count() != r.Latency.Count() || net.Max() != r.Latency.Max() || r.Service.Max() != 50*time.Millisecond {
			t.Errorf("latency is at most %v, net latency %v, service time %v", r.Latency.Max(), net.Max(), r.Service.Max())
		}
		got := e.arrivals()
		sentLate := uint64(e.started()) - 400
		busy := time.Duration(e.started()) * 50 * time.Millisecond
		if diff := cmp.Diff(results.Arrivals{Lacking: 200, Busy: busy}, got); diff != "" || sentLate > 20 {
			t.Errorf("%d were sent after the end: %s", sentLate, diff)
		}
	})
}

// The same with goroutines, whose alarms need a real clock.
func TestGoroutinesTellTheWaitForAFreeClientFromLateness(t *testing.T) {
	s := run(t, planOf(forOneSecond(300), putting, func(p *plan.Plan) { p.Load.Clients, p.Load.Connections = 10, 10 }), &fakeDriver{answer: answerAfter(50 * time.Millisecond)})
	r := s.Operations[spec.OperationPut]
	backlog, _ := r.Backlog.Quantile(0.5)
	lateness, _ := r.Lateness.Quantile(0.5)
	if backlog < 50*time.Millisecond || lateness > backlog || s.Arrivals.Lacking < 50 {
		t.Errorf("requests waited %v (p50) for a client and were %v late, and %d arrivals lacked a client: wanted over 50 ms, far less, and about 100", backlog, lateness, s.Arrivals.Lacking)
	}
}

// A loop is blocked before it sends a request, and the other loop has free clients. That one sends what becomes due
// meanwhile, at its own turns. The time is that of the test's bubble, and the sleep is the fault itself.
func TestABlockedLoopIsLateness(t *testing.T) {
	const blocked, gap = 50 * time.Millisecond, time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		var blocking atomic.Bool
		stall := func(*Request) {
			if blocking.CompareAndSwap(false, true) {
				time.Sleep(blocked)
			}
		}
		e := newTrial(t, spec.Load{Clients: 100, DurationSeconds: new(int32(1)), Rate: perSecond(int64(time.Second / gap))}, 2, quickly, stall)
		done := e.start(t.Context())
		e.drain(t.Context(), done, time.Hour, func() { t.Error("aborted") })
		r := e.recorder.results(spec.OperationPut)
		if r.Backlog.Count() > 0 || r.Lateness.Max() != blocked {
			t.Errorf("%d requests waited for a client, and the latest was %v late: wanted none, and %v", r.Backlog.Count(), r.Lateness.Max(), blocked)
		}
		if late, _ := r.Lateness.Over(2 * gap); late != 1 {
			t.Errorf("%d requests were late, wanted only the one that its loop had taken", late)
		}
		if got := e.arrivals(); got.Lacking > 0 || got.Skipped > 0 {
			t.Errorf("got %+v, wanted a client for each request", got)
		}
	})
}

// A closed loop has no backlog; its lateness is the generator's delay between a response and the next request.
func TestAClosedLoopHasALateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delay := func(*Request) { time.Sleep(time.Millisecond) }
		e := newTrial(t, spec.Load{Clients: 1, Requests: new(int64(100))}, 1, quickly, delay)
		<-e.start(t.Context())
		r := e.recorder.results(spec.OperationPut)
		if r.Lateness.Min() != time.Millisecond || r.Lateness.Count() != 100 || r.Backlog.Count() > 0 || r.Net.Count() > 0 {
			t.Errorf("got %d latenesses of at least %v and %d waits, wanted 100 of 1 ms and none", r.Lateness.Count(), r.Lateness.Min(), r.Backlog.Count())
		}
	})
}

// Pauses are counted, in total and over time.
func TestPausesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := func(*Request) (string, time.Duration) { return CodeUnavailable, 0 }
		e := newTrial(t, spec.Load{Clients: 2, DurationSeconds: new(int32(10)), WarmupSeconds: 1}, 1, refuse, nil)
		<-e.start(t.Context())
		pauses, got := e.recorder.pauses(), &results.Snapshot{}
		e.recorder.course(got)
		timeline := got.Timeline
		// Both clients do nothing but pause.
		if pauses.Total != 20*time.Second || pauses.Count < 10 {
			t.Errorf("got %+v, wanted 20 s", pauses)
		}
		for i, p := range timeline.Points {
			if p.Paused != 2*timeline.Interval {
				t.Errorf("in interval %d clients paused for %v, wanted %v", i, p.Paused, 2*timeline.Interval)
			}
		}
		if len(timeline.Points) != 100 {
			t.Errorf("got %d intervals", len(timeline.Points))
		}
	})
}

// A closed loop whose warm-up hangs until the window is over has no measured request at all.
func TestATargetThatHangsSinceTheWarmUpIsLost(t *testing.T) {
	d := &gone{}
	d.answer = func(ctx context.Context, _ *Request, resp *Response) {
		if PhaseOf(ctx) == results.PhaseWarmup {
			<-time.After(2500 * time.Millisecond)
			resp.Code = CodeDeadlineExceeded
		}
	}
	s := newSession(t, planOf(forOneSecond(0), func(p *plan.Plan) { p.Load.RequestTimeoutSeconds, p.Load.WarmupSeconds = 1, 1 }), 0, d, newControl())
	s.probing = time.Second
	if f := FailureOf(s.Run(t.Context())); f == nil || f.Reason != results.FailureTargetLost {
		t.Errorf("got %+v", f)
	}
}

// gone is a target that stops answering after some requests, and comes back after some probes, if ever.
type gone struct {
	fakeDriver
	probes, back atomic.Int64
}

func (g *gone) Answers(ctx context.Context) bool {
	for ctx.Err() == nil {
		if n := g.probes.Add(1); g.back.Load() > 0 && n >= g.back.Load() {
			return true
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// probingFor is how long a target is probed. On a busy machine, one that is wanted to recover takes longer.
func probingFor(want results.FailureReason) time.Duration {
	if want == "" {
		return time.Minute
	}
	return time.Second
}

// A run bound by requests would not end otherwise.
func TestALostTargetEndsARunBoundByRequests(t *testing.T) {
	for name, tc := range map[string]struct {
		// silent is how many measured requests fail after ten have succeeded.
		silent int64
		want   results.FailureReason
	}{
		"for good":       {1 << 40, results.FailureTargetLost},
		"for some while": {300, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, measured := &gone{}, atomic.Int64{}
			d.answer = func(ctx context.Context, _ *Request, resp *Response) {
				if PhaseOf(ctx) != results.PhaseMeasured {
					return
				}
				if n := measured.Add(1); n > 10 && n <= 10+tc.silent {
					<-time.After(5 * time.Millisecond)
					resp.Code = "ResourceExhausted"
				}
			}
			p := planOf(func(p *plan.Plan) {
				p.Load.Clients, p.Load.Connections, p.Load.Requests, p.Load.RequestTimeoutSeconds = 1, 1, new(int64(100_000)), 1
			})
			s := newSession(t, p, 0, d, newControl())
			s.silence, s.probing = 500*time.Millisecond, probingFor(tc.want)
			err := s.Run(t.Context())
			got := results.FailureReason("")
			if f := FailureOf(err); f != nil {
				got = f.Reason
			}
			if got != tc.want || d.probes.Load() == 0 {
				t.Errorf("the run ended with %v after %d probes, wanted %q", err, d.probes.Load(), tc.want)
			}
		})
	}
}

func TestALostTargetIsAFailure(t *testing.T) {
	for name, tc := range map[string]struct {
		// lastsFor is how many measured requests succeed.
		lastsFor, back int64
		change         func(*plan.Plan)
		want           results.FailureReason
	}{
		"closed loop":       {20, 0, forOneSecond(0), results.FailureTargetLost},
		"open loop":         {20, 0, forOneSecond(100), results.FailureTargetLost},
		"from the start on": {0, 0, forOneSecond(100), results.FailureTargetLost},
		"it comes back":     {20, 3, forOneSecond(100), ""},
		"it never went":     {1 << 40, 0, forOneSecond(100), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, measured := &gone{}, atomic.Int64{}
			d.back.Store(tc.back)
			d.answer = func(ctx context.Context, _ *Request, resp *Response) {
				if PhaseOf(ctx) == results.PhaseMeasured && measured.Add(1) > tc.lastsFor {
					resp.Code = CodeUnavailable
				}
			}
			s := newSession(t, planOf(tc.change, func(p *plan.Plan) { p.Load.RequestTimeoutSeconds = 1 }), 0, d, newControl())
			s.probing = probingFor(tc.want)
			err := s.Run(t.Context())
			got := results.FailureReason("")
			if f := FailureOf(err); f != nil {
				got = f.Reason
			}
			if got != tc.want || d.probes.Load() == 0 && tc.lastsFor < 1<<40 {
				t.Errorf("the run ended with %v after %d probes, wanted %q", err, d.probes.Load(), tc.want)
			}
			if !d.released.Load() {
				t.Error("the keys were not released")
			}
		})
	}
}
