package load

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// The loops of an open loop wake up by themselves: each knows when its next turn is.
func TestLoopsDoNotWakeEachOtherForArrivals(t *testing.T) {
	for _, arrivals := range []spec.Arrival{spec.ArrivalConstant, spec.ArrivalPoisson} {
		synctest.Test(t, func(t *testing.T) {
			const loops = 3
			rate := &spec.Rate{PerSecond: 1000, Arrival: arrivals}
			e := newTrial(t, spec.Load{Clients: 300, DurationSeconds: new(int32(1)), WarmupSeconds: 1, Rate: rate}, loops, quickly, nil)
			<-e.start(t.Context())
			r := e.recorder.results(spec.OperationPut)
			if n := r.Lateness.Count(); n < 900 || r.Lateness.Max() > 0 {
				t.Errorf("%s: %d requests were up to %v late, wanted about 1000 on time", arrivals, n, r.Lateness.Max())
			}
			// Each loop is posted its start, and each end of a phase by each other loop.
			for i, l := range e.loops {
				if posts := l.posts.Load(); posts > 1+2*(loops-1) {
					t.Errorf("%s: loop %d was woken %d times", arrivals, i, posts)
				}
			}
		})
	}
}

// The target never answers the clients of two of three loops. When they are all busy, the third loop sends all arrivals,
// on time. The first loop has more clients than the last one, so it can run out of them at a turn of the last one. Any
// loop may send the first arrival, because all wake up then. So there are two numbers of clients.
func TestALoopWithoutFreeClientsLeavesItsTurns(t *testing.T) {
	for _, first := range []int{5, 6} {
		synctest.Test(t, func(t *testing.T) { leaveTurns(t, first) })
	}
}

// leaveTurns gives the first loop this many clients, the last one four, and the other one the rest.
func leaveTurns(t *testing.T, first int) {
	const last = 4
	e := newTrial(t, spec.Load{Clients: 3 * last, DurationSeconds: new(int32(1)), Rate: perSecond(100)}, 3, quickly, nil)
	more := first - last
	for i, c := range e.clients {
		conn := c.conn.(*asyncConn)
		if i >= 3 && conn.loop == e.loops[1] && more > 0 {
			conn.loop = e.loops[0]
			more--
		}
		if conn.loop != e.loops[1] {
			conn.answer = func(*Request) (string, time.Duration) { return "", time.Hour }
		}
	}
	ctx, abort := context.WithCancel(t.Context())
	done := e.start(ctx)
	e.drain(t.Context(), done, 5*time.Second, abort)
	answered := 100 - first - last
	if diff := cmp.Diff(counts{Latency: answered, InWindow: answered, Censored: first + last}, e.counts()); diff != "" {
		t.Error(diff)
	}
	r := e.recorder.results(spec.OperationPut)
	if r.Lateness.Max() > 0 || r.Backlog.Count() > 0 {
		t.Errorf("a request was %v late, and %d waited for a client: wanted none", r.Lateness.Max(), r.Backlog.Count())
	}
}
