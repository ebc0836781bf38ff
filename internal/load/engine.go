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
	permit   *permit
	// matcher is notified of measured puts; nil if the run has no watchers.
	matcher *eventMatcher

	warmup, measured *loadPhase
	// cut is when the drain was cut off, as Instant; 0 if it was not.
	cut atomic.Int64
	// unsent counts the arrivals that were taken from the schedule and never sent. skipped counts those of them for
	// which a client was free.
	unsent, skipped atomic.Int64
	// free holds since when clients are free; nil in a closed loop.
	free *freeTimes
	// burst is set if each client has one task.
	burst *workload.Burst
	// runners run the clients if their connections have loops. Otherwise each client has a goroutine.
	runners []*runner
}

func newEngine(p plan.Plan, w *workload.Workload, clients []*client, r *recorder, permit *permit) *engine {
	return &engine{plan: p, workload: w, clients: clients, recorder: r, permit: permit, burst: p.Burst()}
}

// sendGrace is how long after the window's end free clients still send arrivals that were due in it. Without it, a late
// wake-up would lose requests.
const sendGrace = 100 * time.Millisecond

// prepare creates the phases of a load that starts at an instant. The caller must call close.
func (e *engine) prepare(part plan.Part, start Instant) {
	w0 := start.Add(e.plan.Load.Warmup())
	end, limit := never, part.Requests
	if e.plan.Load.Requests == nil {
		end, limit = w0.Add(e.plan.Load.Duration()), unlimited
	}
	if e.plan.Load.OpenLoop() {
		e.free = newFreeTimes(len(e.clients))
	}
	e.warmup = newLoadPhase(results.PhaseWarmup, workload.Warmup, part, e.walk(workload.Warmup, part), e.free, start, w0, unlimited)
	e.measured = newLoadPhase(results.PhaseMeasured, workload.Measured, part, e.walk(workload.Measured, part), e.free, w0, end, limit)
	e.measured.grace = sendGrace
}

// walk returns this pod's arrivals in the schedule of a phase; nil in a closed loop.
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

// schedule returns the rate of a phase. A warm-up has the rate at which the window begins.
func (e *engine) schedule(stream workload.Stream) arrival.Schedule {
	stages := e.plan.Load.Stages()
	if stream == workload.Warmup || len(stages) == 0 {
		return arrival.PerSecond(e.plan.Load.WarmupPerSecond())
	}
	return arrival.Stages(stages...)
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
	// The order matters: a client that finds the warm-up over goes on to the window.
	e.measured.stop(now)
	e.warmup.stop(now)
	e.wakeRunners()
}

// start starts all clients and returns a channel that is closed when the last of them is done. Clients end when both
// phases are over, or soon after ctx ends.
func (e *engine) start(ctx context.Context) <-chan struct{} {
	var running sync.WaitGroup
	if e.runners = newRunners(e, &running); e.runners != nil {
		e.startRunners(ctx)
	} else if e.burst != nil {
		running.Go(func() { e.launch(ctx, &running) })
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

// isCoarse reports whether arrivals are paced by timers that are late by up to a millisecond. It is valid once the load
// has started.
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
	warmup, measured := WithPhase(ctx, e.warmup.name), WithPhase(ctx, e.measured.name)
	if e.measured.scheduled() {
		e.openLoop(warmup, c, e.warmup)
		e.openLoop(measured, c, e.measured)
		return
	}
	due := e.closedLoop(warmup, c, e.warmup, Now())
	e.closedLoop(measured, c, e.measured, due)
}

// closedLoop sends one request after the other. Each is due when the previous response was received and cleaned up. It
// returns when the next request would be due.
func (e *engine) closedLoop(ctx context.Context, c *client, s *loadPhase, due Instant) Instant {
	for !s.over(due) {
		ordinal, ok := s.draw()
		if !ok {
			break
		}
		e.send(ctx, c, s, ordinal, dueAt(due))
		free := c.free()
		if due = c.nextDue(ctx.Done()); due > free {
			e.recordPause(c, free, due)
		}
	}
	return due
}

// recordPause records the part of a client's pause that lies in the window.
func (e *engine) recordPause(c *client, from, to Instant) {
	e.recorder.pause(c.shard, e.measured.start, from, min(to, Instant(e.measured.end.Load())))
}

// openLoop sends the next due arrival each time this client is free.
func (e *engine) openLoop(ctx context.Context, c *client, s *loadPhase) {
	for {
		ordinal, at, ok := s.await()
		if !ok {
			return
		}
		e.send(ctx, c, s, ordinal, at)
		s.free.put(c.free())
	}
}

// send carries out an operation in the client's goroutine.
func (e *engine) send(ctx context.Context, c *client, s *loadPhase, ordinal int64, at requestTime) {
	e.begin(c, s, ordinal, at)
	for {
		c.time = c.time.notBefore(c.transmit(ctx))
		due, more := e.ended(c)
		if !more {
			return
		}
		// The wait ends early if the load is cut off. The client still releases what it acquired.
		c.waitUntil(ctx, due)
	}
}

// begin prepares the first request of an operation.
func (e *engine) begin(c *client, s *loadPhase, ordinal int64, at requestTime) {
	number := s.part.Number(ordinal)
	if e.burst != nil {
		number = c.task.number
	}
	op := e.workload.At(s.stream, number)
	e.announce(s, op, at.due)
	c.phase, c.began = s, 0
	c.next(op, at)
}

// ended counts the outcome of the client's request. If a step follows, ended prepares it and returns when it is due.
func (e *engine) ended(c *client) (due Instant, more bool) {
	if e.burst != nil {
		return e.taskEnded(c)
	}
	e.account(c, c.phase, c.operation, c.time)
	if c.began == 0 {
		c.began = c.response.Sent
	}
	step, hold, more := e.workload.Next(c.operation, c.response.Code)
	if !more {
		e.occupied(c)
		return 0, false
	}
	due = c.response.Received.Add(hold)
	c.next(step, dueAt(due))
	return due, true
}

// occupied records how long a measured operation of an open loop kept its client busy.
func (e *engine) occupied(c *client) {
	if c.phase == e.measured && c.phase.scheduled() {
		e.recorder.occupied(c.shard, c.free()-c.began)
	}
}

// setMatcher sets the matcher that is notified of measured puts; it may be nil.
func (e *engine) setMatcher(l *eventMatcher) {
	if e.matcher = l; l != nil {
		l.inWindow = e.inWindow
	}
}

// announce registers a measured put with the matcher before its events can arrive.
func (e *engine) announce(s *loadPhase, op workload.Operation, due Instant) {
	if e.matcher == nil || s != e.measured {
		return
	}
	if op.Watched != 0 {
		e.matcher.announce(op.Watched, op.Value, due)
	}
}

// account counts the outcome of the client's request, and records it if it was measured.
func (e *engine) account(c *client, s *loadPhase, op workload.Operation, at requestTime) {
	cut := e.cutUnder(&c.response)
	if cut == 0 {
		e.recorder.tally(c.shard, c.response.Succeeded())
	}
	switch measured := s == e.measured; {
	case !measured:
		e.carry(c, op)
	case cut > 0:
		e.settle(c, op)
		e.recorder.cutOff(c.shard, op.Kind, e.outcome(c, s, at), cut)
	default:
		e.settle(c, op)
		e.recorder.record(c.shard, op.Kind, e.outcome(c, s, at))
	}
}

// cutUnder returns when the drain was cut off; 0 if it was not, or if the request succeeded.
func (e *engine) cutUnder(r *Response) Instant {
	if r.Succeeded() {
		return 0
	}
	return Instant(e.cut.Load())
}

// settle reports the outcome of a measured put to the matcher.
func (e *engine) settle(c *client, op workload.Operation) {
	if e.matcher == nil {
		return
	}
	if op.Watched != 0 {
		e.matcher.settle(op.Watched, op.Value, &c.response)
	}
}

func (e *engine) outcome(c *client, s *loadPhase, at requestTime) requestOutcome {
	return requestOutcome{start: s.start, requestTime: at, response: &c.response, inWindow: e.inWindow(c.response.Received)}
}

// carry counts a response to a warm-up request that arrives in a window of fixed duration. For throughput it offsets a
// response that the window's end cuts off.
func (e *engine) carry(c *client, op workload.Operation) {
	r := &c.response
	if e.plan.Load.Requests == nil && r.Succeeded() && r.Received >= e.measured.start && e.inWindow(r.Received) {
		e.recorder.carry(c.shard, op.Kind)
	}
}

// inWindow reports whether a response arrived in the window. A window bound by requests lasts until its last response.
func (e *engine) inWindow(received Instant) bool {
	return e.plan.Load.Requests != nil || !e.measured.over(received)
}

// drain waits until all clients are done, for at most atMost, and for less after ctx has ended. Then it aborts the
// requests in flight and counts them, and the arrivals that were never sent, as censored. Nothing is in flight when it
// returns.
func (e *engine) drain(ctx context.Context, done <-chan struct{}, atMost time.Duration, abort context.CancelFunc) {
	if !waitFor(ctx, Now().Add(atMost), done) {
		waitFor(context.WithoutCancel(ctx), Now().Add(min(atMost, interruptedDrain)), done)
	}
	if !isClosed(done) {
		e.cut.Store(int64(Now()))
		abort()
		<-done
	}
	e.censorUnsent()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// censorUnsent counts the arrivals that were due before the window's end and were never sent, because all clients were
// busy.
func (e *engine) censorUnsent() {
	end := Instant(e.cut.Load())
	if end == 0 {
		end = Now()
	}
	if e.burst != nil {
		e.censorTasks(end)
	}
	if !e.measured.scheduled() {
		return
	}
	e.measured.takeUnsent(func(ordinal int64, due Instant, n int64) {
		op := e.workload.At(e.measured.stream, e.measured.part.Number(ordinal))
		e.recorder.censor(uint64(n), op.Kind, e.measured.start, due, end)
		e.unsent.Add(n)
	})
	e.skipped.Store(min(e.unsent.Load(), e.free.before(Instant(e.measured.end.Load()))))
}

// arrivals returns what became of arrivals that were not sent as scheduled. It is complete after the drain.
func (e *engine) arrivals() results.Arrivals {
	skipped := e.skipped.Load()
	return results.Arrivals{
		Lacking: uint64(e.measured.lacking.Load() + e.unsent.Load() - skipped),
		Skipped: uint64(skipped),
		Bunched: e.recorder.bunched(),
		Busy:    e.recorder.busy(),
	}
}

// started returns how many measured requests were sent so far.
func (e *engine) started() uint64 {
	// Closed-loop clients draw ordinals beyond the limit before they stop.
	taken := min(e.measured.next.Load(), e.measured.limit)
	return uint64(max(taken-e.unsent.Load(), 0))
}
