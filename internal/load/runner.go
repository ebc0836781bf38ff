package load

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// runner runs the clients whose connections share a loop, on that loop. What
// engine.run is for a client with a goroutine of its own, it is for clients
// that are called when their requests have ended:
//
//	closed loop: done → pause, if refused → resume → draw → send
//	open loop:   done → free ──► pump: the next arrival is due → send
//
// The free clients of all runners compete for the turn of an open loop's stint
// as goroutines do: the runner that holds it waits for the next arrival, and
// passes it on after each, so that all connections have their part.
type runner struct {
	engine *engine
	// index among the runners, and the shard of the recorder.
	index   int
	loop    Loop
	stages  [2]stage
	clients []*laneClient
	running *sync.WaitGroup

	// The rest is for open loops. at is the index of the stage that lasts.
	at   int
	free clientQueue
	// idle is the number of free clients, for the other runners.
	idle atomic.Int64
	// holding: this runner has the turn of its stage's stint.
	holding bool
	// pumping is pump as a value.
	pumping func()
}

// stage is a stint and the phase of its requests.
type stage struct {
	*stint
	phase results.Phase
}

// newRunners returns a runner for each loop, or none unless all connections
// have one.
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
		stages: [2]stage{{e.warmup, results.PhaseWarmup}, {e.measured, results.PhaseMeasured}},
	}
	r.pumping = r.pump
	return r
}

// startRunners lets all clients go. Those in flight when ctx ends are aborted.
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

// wakeRunners lets the runners see that a stint is over.
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

// abort ends what is in flight, and all pauses.
func (r *runner) abort() {
	for _, c := range r.clients {
		c.lane.Abort()
		c.wakeUp()
	}
}

// pump lets free clients send what is due, and lets them go when nothing more
// will be.
func (r *runner) pump() {
	for r.engine.measured.scheduled() && r.at < len(r.stages) {
		if !r.serve(r.stages[r.at]) {
			return
		}
		r.at++
	}
	for r.free.length > 0 {
		r.takeFree()
		r.running.Done()
	}
}

// serve sends what is due and says whether the stint is over.
func (r *runner) serve(s stage) (over bool) {
	for taken := 0; ; taken++ {
		if _, _, ok := s.peek(); !ok || s.closed(Now()) {
			r.release(s)
			r.engine.wakeOthers(r)
			return true
		}
		if !r.hold(s) {
			return false
		}
		// Somebody else may have moved on before this runner held the turn.
		ordinal, due, ok := s.peek()
		if !ok {
			continue
		}
		if due > Now() {
			r.waitFor(s, due, taken > 0)
			return false
		}
		s.take()
		r.takeFree().send(s, ordinal, due)
	}
}

// hold gets the turn, if it is to be had and there is a client to use it.
func (r *runner) hold(s stage) bool {
	if r.free.length == 0 {
		r.release(s)
		r.engine.passTurn(r)
		return false
	}
	r.holding = r.holding || s.turn.TryLock()
	return r.holding
}

func (r *runner) release(s stage) {
	if r.holding {
		r.holding = false
		s.turn.Unlock()
	}
}

// waitFor lets this runner wait for the next arrival, or another one if this
// one has had its part.
func (r *runner) waitFor(s stage, due Instant, hadPart bool) {
	if hadPart {
		r.release(s)
		if r.engine.passTurn(r) {
			return
		}
		if r.holding = s.turn.TryLock(); !r.holding {
			return
		}
	}
	r.loop.Alarm(due, r.pumping)
}

func (r *runner) takeFree() *laneClient {
	r.idle.Add(-1)
	return r.free.take()
}

// putFree takes a client back. That is said before the turn is tried for: a
// runner that gives the turn up looks afterwards who has free clients, so that
// one of the two sees the other.
func (r *runner) putFree(c *laneClient) {
	r.free.put(c)
	r.idle.Add(1)
	r.pump()
}

// passTurn lets the next runner that has free clients try for the turn, which
// the caller does not hold, and says whether there is one.
func (e *engine) passTurn(from *runner) bool {
	for i := 1; i < len(e.runners); i++ {
		if r := e.runners[(from.index+i)%len(e.runners)]; r.idle.Load() > 0 {
			r.loop.Post(r.pumping)
			return true
		}
	}
	return false
}

// wakeOthers lets the other runners see that a stint is over.
func (e *engine) wakeOthers(from *runner) {
	for _, r := range e.runners {
		if r != from {
			r.loop.Post(r.pumping)
		}
	}
}
