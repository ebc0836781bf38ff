package load

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// runner runs the clients whose connections share a loop, on that loop. It corresponds to engine.run, which runs a
// client in its own goroutine; a runner's clients are called back when their requests have ended:
//
//	closed loop: done → pause, if refused → resume → draw → send
//	open loop:   done → free ──► pump: the next arrival is due → send
//
// In an open loop, arrivals are dealt to the runners in turn, so that all connections get an equal share. Each runner
// that has a free client wakes up when the first of its arrivals is due. Whatever is due then, it sends: also the
// arrival of a runner that was blocked. A runner without a free client leaves its turns to the next one that has some.
type runner struct {
	engine *engine
	// index among the runners, and the shard of the recorder.
	index   int
	loop    Loop
	phases  [2]*loadPhase
	clients []*asyncClient
	running *sync.WaitGroup
	// launched is how many clients of a burst have begun their tasks, and launching is launch as a func value.
	launched  int
	launching func()

	// The rest is for open loops. at is the index of the current phase.
	at   int
	free clientQueue
	// idle is the number of free clients, for the other runners.
	idle atomic.Int64
	// pumping and hasTurn are pump and isSender as func values, allocated once.
	pumping func()
	hasTurn func(ordinal int64) bool
}

// newRunners returns a runner for each loop, or nil if a connection has no loop.
func newRunners(e *engine, running *sync.WaitGroup) []*runner {
	byLoop := map[Loop]*runner{}
	var runners []*runner
	for _, c := range e.clients {
		conn, ok := c.conn.(AsyncConn)
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
		r.clients = append(r.clients, newAsyncClient(c, conn, r))
	}
	return runners
}

func newRunner(e *engine, index int, loop Loop, running *sync.WaitGroup) *runner {
	r := &runner{
		engine: e, index: index, loop: loop, running: running,
		phases: [2]*loadPhase{e.warmup, e.measured},
	}
	r.pumping, r.hasTurn, r.launching = r.pump, r.isSender, r.launch
	return r
}

// startRunners starts all clients. When ctx ends, requests in flight are aborted.
func (e *engine) startRunners(ctx context.Context) {
	e.deal()
	for _, r := range e.runners {
		r.running.Add(len(r.clients))
	}
	for _, r := range e.runners {
		e.permit.onRenewal(func() { r.loop.Post(r.permitted) })
		r.loop.Post(r.start)
	}
	context.AfterFunc(ctx, func() {
		for _, r := range e.runners {
			r.loop.Post(r.abort)
		}
	})
}

// deal prepares the phases of an open loop for several runners.
func (e *engine) deal() {
	if n := len(e.runners); n > 1 && e.measured.scheduled() {
		for _, s := range []*loadPhase{e.warmup, e.measured} {
			s.deal(n, e.walk(s.stream, s.part))
		}
	}
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

// wakeRunners makes the runners notice that a phase is over.
func (e *engine) wakeRunners() {
	for _, r := range e.runners {
		if e.burst != nil {
			r.loop.Post(r.launching)
			continue
		}
		r.loop.Post(r.pumping)
	}
}

func (r *runner) start() {
	if r.engine.burst != nil {
		r.launch()
		return
	}
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
		c.abort()
	}
}

// permitted lets clients send that wait for the permission.
func (r *runner) permitted() {
	for _, c := range r.clients {
		c.permitted()
	}
}

// pump lets free clients send due arrivals. After the last arrival, the clients are done.
func (r *runner) pump() {
	for r.engine.measured.scheduled() && r.at < len(r.phases) {
		if !r.serve(r.phases[r.at]) {
			return
		}
		r.at++
	}
	for r.free.length > 0 {
		r.takeFree()
		r.running.Done()
	}
}

// serve sends due arrivals and reports whether the phase is over.
func (r *runner) serve(s *loadPhase) (over bool) {
	for {
		if _, _, ok := s.peek(); !ok || s.closed(Now()) {
			r.engine.wakeOthers(r)
			return true
		}
		if r.free.length == 0 {
			r.engine.passTurns(r)
			return false
		}
		ordinal, at, ok := s.takeDue(Now())
		if !ok {
			r.loop.Alarm(s.turn(r.hasTurn), r.pumping)
			return false
		}
		r.takeFree().send(s, ordinal, at)
	}
}

// isSender reports whether the runner is the one that wakes up for an arrival: of all runners with free clients, it is
// the first from the one whose turn it is.
func (r *runner) isSender(ordinal int64) bool {
	runners := r.engine.runners
	for i := int(ordinal % int64(len(runners))); ; i++ {
		if next := runners[i%len(runners)]; next == r || next.idle.Load() > 0 {
			return next == r
		}
	}
}

func (r *runner) takeFree() *asyncClient {
	r.idle.Add(-1)
	return r.free.take()
}

// putFree takes a client back. It counts the client as idle before it looks for other runners' turns. A runner without
// free clients passes its turns on after it has counted them. So one of the two always sees the other.
func (r *runner) putFree(c *asyncClient) {
	r.engine.free.put(c.client.free())
	r.free.put(c)
	r.idle.Add(1)
	r.pump()
}

// passTurns makes the next runner with free clients notice that a runner has none.
func (e *engine) passTurns(from *runner) {
	for i := 1; i < len(e.runners); i++ {
		if r := e.runners[(from.index+i)%len(e.runners)]; r.idle.Load() > 0 {
			r.loop.Post(r.pumping)
			return
		}
	}
}

// wakeOthers makes the other runners notice that a phase is over.
func (e *engine) wakeOthers(from *runner) {
	for _, r := range e.runners {
		if r != from {
			r.loop.Post(r.pumping)
		}
	}
}
