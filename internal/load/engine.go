package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/arrival"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// engine sends one pod's warm-up and measured window, and records the window.
type engine struct {
	plan     plan.Plan
	workload *workload.Workload
	clients  []*client
	recorder *recorder
	// ledger is told of measured puts; nil where nobody watches.
	ledger *ledger

	warmup, measured *stint
	// cut is when the drain was cut off, as Instant; 0 if it was not.
	cut atomic.Int64
	// owed counts the arrivals that were taken from the schedule and never sent.
	owed atomic.Int64
	// runners run the clients if their connections have loops; else each client
	// has a goroutine.
	runners []*runner
}

func newEngine(p plan.Plan, w *workload.Workload, clients []*client, r *recorder) *engine {
	return &engine{plan: p, workload: w, clients: clients, recorder: r}
}

// sendGrace is how long after the window's end what was due in it is still
// sent, as clients are free: a wake-up that comes late must not look like a
// client that never was free. What is owed after that is owed for want of clients.
const sendGrace = 100 * time.Millisecond

// prepare lays out the stints of a load that starts at an instant. close must
// follow.
func (e *engine) prepare(part plan.Part, start Instant) {
	w0 := start.Add(e.plan.Load.Warmup())
	end, limit := never, part.Requests
	if e.plan.Load.Requests == nil {
		end, limit = w0.Add(e.plan.Load.Duration()), unlimited
	}
	e.warmup = newStint(workload.Warmup, part, e.walk(workload.Warmup, part), start, w0, unlimited)
	e.measured = newStint(workload.Measured, part, e.walk(workload.Measured, part), w0, end, limit)
	e.measured.grace = sendGrace
}

// walk returns this pod's way through the schedule of a stint, nil in a closed
// loop.
func (e *engine) walk(stream workload.Stream, part plan.Part) *arrival.Walk {
	if !e.plan.Load.OpenLoop() {
		return nil
	}
	schedule, share := e.schedule(stream), arrival.Share{Pods: part.Pods, Index: part.Index}
	if e.plan.Load.Rate.Arrival == spec.ArrivalPoisson {
		return schedule.Poisson(uint64(e.plan.Load.Seed), uint64(stream), share)
	}
	return schedule.Even(share)
}

// schedule returns the rate of a stint. A warm-up keeps the rate with which the
// window begins.
func (e *engine) schedule(stream workload.Stream) arrival.Schedule {
	stretches := e.plan.Load.Stretches()
	if stream == workload.Warmup || len(stretches) == 0 {
		return arrival.PerSecond(e.plan.Load.WarmupPerSecond())
	}
	return arrival.Stages(stretches...)
}

func (e *engine) close() {
	e.warmup.close()
	e.measured.close()
	for _, c := range e.clients {
		c.close()
	}
}

// stop ends the load now: nothing new is sent.
func (e *engine) stop() {
	now := Now()
	// In this order: who finds the warm-up over goes on to the window.
	e.measured.stop(now)
	e.warmup.stop(now)
	e.wakeRunners()
}

// start lets all clients go and returns a channel that is closed when the last
// of them is done. They end by themselves when both stints are over, or soon
// after ctx ends.
func (e *engine) start(ctx context.Context) <-chan struct{} {
	var running sync.WaitGroup
	if e.runners = newRunners(e, &running); e.runners != nil {
		e.startRunners(ctx)
	} else {
		for _, c := range e.clients {
			running.Go(func() { e.run(ctx, c) })
		}
	}
	done := make(chan struct{})
	go func() {
		running.Wait()
		close(done)
	}()
	return done
}

// isCoarse says whether arrivals are waited for by timers that are late by up to a
// millisecond. It is known once the load has started.
func (e *engine) isCoarse() bool {
	if !e.measured.scheduled() {
		return false
	}
	for _, r := range e.runners {
		if !r.loop.Exact() {
			return true
		}
	}
	return e.runners == nil && !e.measured.alarm.exact()
}

func (e *engine) run(ctx context.Context, c *client) {
	warmup, measured := WithPhase(ctx, results.PhaseWarmup), WithPhase(ctx, results.PhaseMeasured)
	if e.measured.scheduled() {
		e.openLoop(warmup, c, e.warmup)
		e.openLoop(measured, c, e.measured)
		return
	}
	due := e.closedLoop(warmup, c, e.warmup, Now())
	e.closedLoop(measured, c, e.measured, due)
}

// closedLoop sends one request after the other; each is due when the response
// of the one before was there, and what it left is cleared. It returns when the next one would be due.
func (e *engine) closedLoop(ctx context.Context, c *client, s *stint, due Instant) Instant {
	for !s.over(due) {
		ordinal, ok := s.draw()
		if !ok {
			break
		}
		e.send(ctx, c, s, ordinal, due)
		due = c.rest(ctx.Done())
	}
	return due
}

// openLoop sends what is due whenever this client is free.
func (e *engine) openLoop(ctx context.Context, c *client, s *stint) {
	for {
		ordinal, due, ok := s.await()
		if !ok {
			return
		}
		e.send(ctx, c, s, ordinal, due)
	}
}

func (e *engine) send(ctx context.Context, c *client, s *stint, ordinal int64, due Instant) {
	op := e.workload.At(s.stream, s.part.Number(ordinal))
	e.announce(s, op, due)
	c.do(ctx, op)
	e.account(c, s, op, due)
	next, hold, ok := e.workload.After(op)
	if !ok || !c.response.Succeeded() {
		return
	}
	due = c.response.Received.Add(hold)
	// What was won is given up even if the load was cut off meanwhile.
	c.hold(ctx, due)
	c.do(ctx, next)
	e.account(c, s, next, due)
}

// follow lets a ledger know of the measured puts from now on; nil is nobody.
func (e *engine) follow(l *ledger) {
	if e.ledger = l; l != nil {
		l.inWindow = e.inWindow
	}
}

// announce tells the ledger of a measured put before it can have an event.
func (e *engine) announce(s *stint, op workload.Operation, due Instant) {
	if e.ledger == nil || s != e.measured {
		return
	}
	if op.Watched != 0 {
		e.ledger.announce(op.Watched, op.Value, due)
	}
}

// account counts how the client's request has ended, and records it if it was
// measured.
func (e *engine) account(c *client, s *stint, op workload.Operation, due Instant) {
	cut := e.cutUnder(&c.response)
	if cut == 0 {
		e.recorder.tally(c.shard, c.response.Succeeded())
	}
	switch measured := s == e.measured; {
	case !measured:
		e.carry(c, op)
	case cut > 0:
		e.settle(c, op)
		e.recorder.cutOff(c.shard, op.Kind, e.outcome(c, s, due), cut)
	default:
		e.settle(c, op)
		e.recorder.record(c.shard, op.Kind, e.outcome(c, s, due))
	}
}

// cutUnder is when the drain was cut off under a request, 0 if that was answered
// or has failed by itself.
func (e *engine) cutUnder(r *Response) Instant {
	if r.Succeeded() {
		return 0
	}
	return Instant(e.cut.Load())
}

// settle tells the ledger how a measured put has ended.
func (e *engine) settle(c *client, op workload.Operation) {
	if e.ledger == nil {
		return
	}
	if op.Watched != 0 {
		e.ledger.settle(op.Watched, op.Value, &c.response)
	}
}

func (e *engine) outcome(c *client, s *stint, due Instant) requestOutcome {
	return requestOutcome{
		start: s.start, due: due, response: &c.response, scheduled: s.scheduled(), inWindow: e.inWindow(c.response.Received),
	}
}

// carry counts the answer to a request of the warm-up that came in a window of
// some duration: for throughput it stands for one that the window's end cuts off.
func (e *engine) carry(c *client, op workload.Operation) {
	r := &c.response
	if e.plan.Load.Requests == nil && r.Succeeded() && r.Received >= e.measured.start && e.inWindow(r.Received) {
		e.recorder.carry(c.shard, op.Kind)
	}
}

// inWindow says whether a response came in the window. A window that requests
// bound lasts until its last response.
func (e *engine) inWindow(received Instant) bool {
	return e.plan.Load.Requests != nil || !e.measured.over(received)
}

// drain waits until all clients are done, for at most a while, and less once
// ctx has ended; then it cuts off what is in flight and counts it, and what
// the schedule still owes, as censored. Nothing is in flight when it returns.
func (e *engine) drain(ctx context.Context, done <-chan struct{}, atMost time.Duration, abort context.CancelFunc) {
	if !waitFor(ctx, Now().Add(atMost), done) {
		waitFor(context.WithoutCancel(ctx), Now().Add(min(atMost, interruptedDrain)), done)
	}
	if !isClosed(done) {
		e.cut.Store(int64(Now()))
		abort()
		<-done
	}
	e.censorOwed()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// censorOwed counts the arrivals that were due before the window's end and
// were never sent, because all clients were busy.
func (e *engine) censorOwed() {
	if !e.measured.scheduled() {
		return
	}
	end := Instant(e.cut.Load())
	if end == 0 {
		end = Now()
	}
	e.measured.takeOwed(func(ordinal int64, due Instant, n int64) {
		op := e.workload.At(e.measured.stream, e.measured.part.Number(ordinal))
		e.recorder.censor(uint64(n), op.Kind, end-due)
		e.owed.Add(n)
	})
}

// started is how many measured requests were sent so far.
func (e *engine) started() uint64 {
	// Clients that find nothing left in a closed loop draw beyond the limit.
	taken := min(e.measured.next.Load(), e.measured.limit)
	return uint64(max(taken-e.owed.Load(), 0))
}
