package load

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/process"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// task is the state of a client's only task in a burst: a sequence of requests that is measured as one operation.
type task struct {
	// number is the task's among those of all pods, and ordinal among those of its pod, in the order in which they are due.
	number, ordinal int64
	// begun: a request was sent. due and sent are the times of the first one. added is how long the later ones, together,
	// waited after the response before.
	begun       bool
	due         requestTime
	sent, added Instant
	// attempts of the current request that timed out, and timeouts of all requests.
	attempts, timeouts int
	// read is how many keys were read.
	read int64
}

// ramp is the time over which the tasks of a burst are due; 0 for other loads.
func (e *engine) ramp() time.Duration {
	if e.burst == nil {
		return 0
	}
	return e.burst.Ramp
}

// dueOf is when a task is due: the tasks of all pods are spread evenly over the ramp.
func (e *engine) dueOf(c *client) Instant {
	if e.burst.Ramp == 0 {
		return e.measured.start
	}
	place := float64(e.measured.part.Number(c.task.ordinal)) / float64(e.plan.Load.Clients)
	return e.measured.start.Add(time.Duration(min(place, 1) * float64(e.burst.Ramp)))
}

// launch starts the goroutine of each client when its task is due.
func (e *engine) launch(ctx context.Context, running *sync.WaitGroup) {
	ctx = WithPhase(ctx, e.measured.name)
	for _, c := range e.clients {
		due := e.dueOf(c)
		if due > Now() {
			e.measured.alarm.wait(due)
		}
		if e.measured.over(Now()) {
			return
		}
		ordinal, _ := e.measured.draw()
		running.Go(func() { e.send(ctx, c, e.measured, ordinal, dueAt(due)) })
	}
}

// launchedAtOnce bounds the tasks that a loop starts before it reads the clock again.
const launchedAtOnce = 256

// launch sends the tasks that are due. It does not look at clients whose tasks are not.
func (r *runner) launch() {
	e := r.engine
	for range launchedAtOnce {
		if r.launched == len(r.clients) {
			return
		}
		c := r.clients[r.launched]
		due, now := e.dueOf(c.client), Now()
		switch {
		case e.measured.over(now):
			r.running.Add(r.launched - len(r.clients))
			r.launched = len(r.clients)
			return
		case due > now:
			r.loop.Alarm(due, r.launching)
			return
		}
		r.launched++
		ordinal, _ := e.measured.draw()
		c.send(e.measured, ordinal, dueAt(due))
	}
	r.loop.Post(r.launching)
}

// taskEnded counts the outcome of a request of a task, and of the task with its last one. An attempt that timed out is
// repeated at once. After the end of the load nothing is sent: a task that is not done then is cut off.
func (e *engine) taskEnded(c *client) (due Instant, more bool) {
	t, r := &c.task, &c.response
	if t.begun {
		t.added += max(r.Sent-c.time.ready, 0)
	} else {
		t.begun, t.sent, t.due = true, r.Sent, c.time
	}
	step, _, more := e.workload.Next(c.operation, r.Code)
	switch {
	case r.Succeeded():
		t.attempts = 0
		t.read += c.operation.Needs
		e.recorder.succeeded(c.shard, r.Received)
	case r.Code == CodeDeadlineExceeded:
		t.timeouts++
		t.attempts++
		step, more = c.operation, t.attempts < e.burst.Attempts
	}
	if more && !e.measured.over(r.Received) {
		c.next(step, dueAt(r.Received))
		return r.Received, true
	}
	e.endTask(c, more)
	return 0, false
}

// endTask records a task. What the load generator has added between its requests counts as lateness, not as service time.
func (e *engine) endTask(c *client, isCutOff bool) {
	t, r := &c.task, &c.response
	e.recorder.task(c.shard, func(b *results.Burst) {
		b.Count(t.timeouts)
		b.Values += uint64(t.read * e.bytesOfKey())
		if r.Code == CodeUnavailable && t.read == 0 && e.burst.Connects {
			b.Unavailable++
		}
	})
	r.Sent = t.sent + t.added
	if isCutOff {
		e.recorder.cutOff(c.shard, e.burst.Measured, e.outcome(c, c.phase, t.due), r.Received)
		return
	}
	op := c.operation
	op.Kind = e.burst.Measured
	e.account(c, c.phase, op, t.due)
}

// bytesOfKey is the length of the value of a key that a task reads.
func (e *engine) bytesOfKey() int64 { return int64(e.plan.Values().SizeBytes) }

// censorTasks counts the tasks that were due before the end of the load at an instant and were never started.
func (e *engine) censorTasks(end Instant) {
	for _, c := range e.clients[min(e.measured.next.Load(), int64(len(e.clients))):] {
		if due := e.dueOf(c); !e.measured.over(due) {
			e.recorder.censor(1, e.burst.Measured, e.measured.start, due, end)
		}
	}
}

// connectLater prepares connections that their first requests open, and opens a few for the preload.
func (s *Session) connectLater(ctx context.Context, numbers []int) (err error) {
	late, ok := s.driver.(LateConnector)
	if !ok {
		return Errorf(results.FailureInvalidPlan, "%s cannot open connections when processes start: choose connect Before in workload.fetch", s.plan.Target.Datastore)
	}
	if s.early, err = s.open(ctx, s.plan.EarlyConnections(s.part)); err != nil {
		return err
	}
	s.conns = make([]Conn, len(numbers))
	for i, number := range numbers {
		if s.conns[i], err = late.ConnectLater(number); err != nil {
			return err
		}
	}
	return nil
}

// A preload has at most mostWriters clients: each has a goroutine. A connection that can carry several requests has
// writersPerConnection of them if it is opened for the preload, or if the members exist for this run alone. Otherwise the
// preload is no heavier than the load.
const (
	mostWriters          = 1000
	writersPerConnection = 32
)

// writers returns the clients of the preload.
func (s *Session) writers(clients []*client) []*client {
	conns, writers := s.early, []*client(nil)
	if conns == nil {
		conns, writers = s.conns, slices.Clip(clients[:min(len(clients), mostWriters)])
	}
	row, _ := s.plan.Target.Datastore.Store()
	perConnection := 1
	if (s.early != nil || s.plan.Ephemeral) && row.Multiplexed && s.plan.Load.Transport.Multiplexed() {
		perConnection = writersPerConnection
	}
	for i := len(writers); i < min(perConnection*len(conns), mostWriters); i++ {
		added := newClient(i, conns[i%len(conns)], s.workload, s.plan, &s.permit)
		added.pod = s.part.Index
		writers = append(writers, added)
	}
	return writers
}

// weighWire notes the bytes that were sent and received before the load.
func (s *Session) weighWire() {
	if w, ok := s.driver.(Weigher); ok {
		wire := w.Wire()
		s.state.set(func(s *state) { s.wire = &wire })
	}
}

// burst returns the counts of tasks so far.
func (s *Session) burst() results.Burst {
	sum := s.recorder.burst()
	s.state.mutex.Lock()
	before := s.state.wire
	s.state.mutex.Unlock()
	if w, ok := s.driver.(Weigher); ok && before != nil && s.plan.Burst() != nil {
		wire := w.Wire()
		sum.Wire = results.Bodies{Sent: wire.Sent - before.Sent, Received: wire.Received - before.Received}
	}
	return sum
}

// filesBeside are the files that a process opens beside its connections, at most about this many.
const filesBeside = 100

// checkFiles refuses more connections than the process may open files.
func (s *Session) checkFiles() error {
	sessions, connections := max(s.sessions, 1), s.part.Connections+len(s.part.OwnCarriers())
	most, known := process.OpenFiles()
	if want := uint64(sessions*connections + filesBeside); known && want > most {
		return Errorf(results.FailurePodFailed, "the client process may open %s files, and needs %s: %s connections, and %d beside them. Raise its limit (ulimit -n), "+
			"raise load.pods in a cluster, or lower load.connections",
			text.Grouped(most), text.Grouped(want), text.Grouped(sessions*connections), filesBeside)
	}
	return nil
}
