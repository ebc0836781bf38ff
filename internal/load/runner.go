package load

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// runner runs the clients whose connections share a loop, on that loop. It corresponds to engine.run, which runs a
// client in its own goroutine; a runner's clients are called back when their requests have ended:
//
//	closed loop: done → pause, if refused → resume → draw → send
//	open loop:   done → free ──► pump: the next arrival is due → send
//
// In an open loop, the free clients of all runners compete for the pacing lock of the stint, as goroutines do. The
// runner that holds it waits for the next arrival, and passes it on after each, so that all connections get an equal
// share.
type runner struct {
	engine *engine
	// index among the runners, and the shard of the recorder.
	index   int
	loop    Loop
	stints  [2]phaseStint
	clients []*laneClient
	running *sync.WaitGroup

	// The rest is for open loops. at is the index of the current stint.
	at   int
	free clientQueue
	// idle is the number of free clients, for the other runners.
	idle atomic.Int64
	// pacing: this runner holds the pacing lock of its stint.
	pacing bool
	// pumping is pump as a func value, allocated once.
	pumping func()
}

// phaseStint is a stint and the phase of its requests.
type phaseStint struct {
	*stint
	phase results.Phase
}

// newRunners returns a runner for each loop, or nil if a connection has no loop.
func newRunners(e *engine, running *sync.WaitGroup) []*runner {
	byLoop := map[Loop]*runner{}
	var runners []*runner
	for _, c := range e.clients {
		conn, ok := c.conn.(LaneConn)
		if !ok {
			return nil
		}
		r := byLoop[conn.Loop()]
		if r == nil {
			r = newRunner(e, len(runners), conn.Loop(), running)
			byLoop[r.loop] = r
			runners = append(runners, r)
		}
		c.shard = r.index
		r.clients = append(r.clients, newLaneClient(c, conn, r))
	}
	return runners
}

func newRunner(e *engine, index int, loop Loop, running *sync.WaitGroup) *runner {
	r := &runner{
		engine: e, index: index, loop: loop, running: running,
		stints: [2]phaseStint{{e.warmup, results.PhaseWarmup}, {e.measured, results.PhaseMeasured}},
	}
	r.pumping = r.pump
	return r
}

// startRunners starts all clients. When ctx ends, requests in flight are aborted.
func (e *engine) startRunners(ctx context.Context) {
	for _, r := range e.runners {
		r.running.Add(len(r.clients))
	}
	for _, r := range e.runners {
		r.loop.Post(r.start)
	}
	context.AfterFunc(ctx, func() {
		for _, r := range e.runners {
			r.loop.Post(r.abort)
		}
	})
}

// loopWaits returns how long each loop has waited for events so far.
func (e *engine) loopWaits() []time.Duration {
	waits := make([]time.Duration, len(e.runners))
	for i, r := range e.runners {
		waits[i] = r.loop.Waited()
	}
	return waits
}

// busiestLoop returns the share of a period in which the busiest loop did not wait, given the waits before it; false if
// there are no loops.
func (e *engine) busiestLoop(before []time.Duration, period time.Duration) (ratio float64, known bool) {
	for i, waited := range e.loopWaits() {
		ratio = max(ratio, 1-float64(waited-before[i])/float64(period))
	}
	return ratio, len(e.runners) > 0 && period > 0
}

// wakeRunners makes the runners notice that a stint is over.
func (e *engine) wakeRunners() {
	for _, r := range e.runners {
		r.loop.Post(r.pumping)
	}
}

func (r *runner) start() {
	if r.engine.measured.scheduled() {
		r.free = clientQueue{clients: slices.Clone(r.clients), length: len(r.clients)}
		r.idle.Store(int64(len(r.clients)))
		r.pump()
		return
	}
	now := Now()
	for _, c := range r.clients {
		c.resume(now)
	}
}

// abort ends all requests in flight, and all pauses.
func (r *runner) abort() {
	for _, c := range r.clients {
		c.lane.Abort()
		c.wakeUp()
	}
}

// pump lets free clients send due arrivals. After the last arrival, the clients are done.
func (r *runner) pump() {
	for r.engine.measured.scheduled() && r.at < len(r.stints) {
		if !r.serve(r.stints[r.at]) {
			return
		}
		r.at++
	}
	for r.free.length > 0 {
		r.takeFree()
		r.running.Done()
	}
}

// serve sends due arrivals and reports whether the stint is over.
func (r *runner) serve(s phaseStint) (over bool) {
	for taken := 0; ; taken++ {
		if _, _, ok := s.peek(); !ok || s.closed(Now()) {
			r.release(s)
			r.engine.wakeOthers(r)
			return true
		}
		if !r.tryPace(s) {
			return false
		}
		// Another runner may have taken the arrival before this one got the pacing lock.
		ordinal, due, ok := s.peek()
		if !ok {
			continue
		}
		now := Now()
		if due > now {
			r.waitFor(s, due, taken > 0)
			return false
		}
		r.takeFree().send(s, ordinal, s.take())
	}
}

// tryPace tries to get the pacing lock, if there is a free client to use it.
func (r *runner) tryPace(s phaseStint) bool {
	if r.free.length == 0 {
		r.release(s)
		r.engine.passPacing(r)
		return false
	}
	r.pacing = r.pacing || s.pacing.tryLock()
	return r.pacing
}

func (r *runner) release(s phaseStint) {
	if r.pacing {
		r.pacing = false
		s.pacing.unlock()
	}
}

// waitFor waits for the next arrival. If this runner has just sent one, it first offers the pacing lock to the others.
func (r *runner) waitFor(s phaseStint, due Instant, justSent bool) {
	if justSent {
		r.release(s)
		if r.engine.passPacing(r) {
			return
		}
		if r.pacing = s.pacing.tryLock(); !r.pacing {
			return
		}
	}
	r.loop.Alarm(due, r.pumping)
}

func (r *runner) takeFree() *laneClient {
	r.idle.Add(-1)
	return r.free.take()
}

// putFree takes a client back. It counts the client as idle before it tries for the pacing lock. A runner that releases
// the lock checks for idle clients afterwards, so one of the two always sees the other.
func (r *runner) putFree(c *laneClient) {
	r.engine.free.put(c.client.free())
	r.free.put(c)
	r.idle.Add(1)
	r.pump()
}

// passPacing lets the next runner with free clients try for the pacing lock, which the caller must not hold. It reports
// whether there is such a runner.
func (e *engine) passPacing(from *runner) bool {
	for i := 1; i < len(e.runners); i++ {
		if r := e.runners[(from.index+i)%len(e.runners)]; r.idle.Load() > 0 {
			r.loop.Post(r.pumping)
			return true
		}
	}
	return false
}

// wakeOthers makes the other runners notice that a stint is over.
func (e *engine) wakeOthers(from *runner) {
	for _, r := range e.runners {
		if r != from {
			r.loop.Post(r.pumping)
		}
	}
}
