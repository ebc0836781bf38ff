package load

import (
	"context"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// connectParallel is how many connections, or clients of them, are opened at once: enough to hide the round trips of
// TLS, and few enough not to flood the target.
const connectParallel = 16

// connect opens this pod's connections: those of the load, and those of watchers. Of either kind, number j goes to
// eligible member j modulo members.
func (s *Session) connect(ctx context.Context) (err error) {
	own := make([]int, s.part.Connections)
	for i := range own {
		own[i] = s.part.FirstConnection + i
	}
	if err = s.checkFiles(); err != nil {
		return err
	}
	if b := s.plan.Burst(); b != nil && b.Connects {
		return s.connectLater(ctx, own)
	}
	if s.conns, err = s.open(ctx, own); err != nil {
		return err
	}
	s.carriers = s.conns
	if carriers := s.part.OwnCarriers(); len(carriers) > 0 {
		s.carriers, err = s.open(ctx, carriers)
	}
	return err
}

// open opens the connections with these numbers.
func (s *Session) open(ctx context.Context, numbers []int) ([]Conn, error) {
	conns := make([]Conn, len(numbers))
	err := inParallel(ctx, len(conns), func(ctx context.Context, i int) (err error) {
		conns[i], err = s.driver.Connect(ctx, numbers[i])
		return err
	})
	return conns, err
}

// inParallel calls open for each number below n, some concurrently. The first error cancels the others and is returned.
func inParallel(ctx context.Context, n int, open func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, connectParallel)
	var opening sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		opening.Go(func() {
			defer func() { <-slots }()
			if err := open(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	opening.Wait()
	return context.Cause(ctx)
}

// clients returns the pod's clients. Clients with neighbouring numbers start one after the other and are on different
// connections.
func (s *Session) clients(ctx context.Context) ([]*client, error) {
	var clients []*client
	var numbers []int
	for round := 0; len(clients) < s.part.Clients(); round++ {
		for i, conn := range s.conns {
			connection := s.part.FirstConnection + i
			if round >= s.part.ClientsOn(connection) {
				continue
			}
			added := newClient(len(clients), conn, s.workload, s.plan, &s.permit)
			added.pod = s.part.Index
			number := connection + round*int(s.plan.Load.Connections)
			added.task.number = int64(number)
			clients = append(clients, added)
			numbers = append(numbers, number)
		}
	}
	err := inParallel(ctx, len(clients), func(ctx context.Context, i int) (err error) {
		clients[i].conn, err = connOf(ctx, clients[i].conn, numbers[i])
		return err
	})
	return clients, err
}

// connOf returns the connection for the client with this global number.
func connOf(ctx context.Context, conn Conn, client int) (Conn, error) {
	if shared, ok := conn.(SharedConn); ok {
		return shared.Client(ctx, client)
	}
	return conn, nil
}

// load runs the clients from now until the window has ended and nothing is in flight any more. It returns an error if
// the run's timeout ended it.
func (s *Session) load(ctx context.Context, startAt time.Time, clients []*client) error {
	start := Now()
	e := newEngine(s.plan, s.workload, clients, s.recorder, &s.permit)
	e.setMatcher(s.matcher)
	e.prepare(s.part, start)
	defer e.close()
	s.engine.Store(e)
	s.weighWire()
	if w, ok := s.driver.(Weigher); ok && s.plan.Burst() != nil {
		defer s.traffic.begin(w, e.measured.start)()
	}
	planned := plannedWindow(startAt, start, s.plan.Load.Duration()+e.ramp(), s.part.Requests)
	s.state.set(func(s *state) { s.window = planned })
	flight, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	s.state.enter(results.StageWarmingUp)
	s.replay(ctx, e)
	s.endAtBreak(flight)
	done := e.start(flight)
	coarse := e.isCoarse()
	s.state.set(func(s *state) { s.coarsePacing = coarse })
	err := s.awaitWindow(ctx, e, done)
	// A window of fixed duration is over now, even if responses are outstanding. A window bound by requests is closed
	// again after the drain.
	s.closeWindow(e)
	s.state.enter(results.StageDraining)
	e.drain(ctx, done, s.plan.DrainLimit(), abort)
	if derr := s.awaitDiagnosis(); err == nil {
		err = derr
	}
	s.awaitEvents(ctx, s.plan.Load.RequestTimeout())
	s.closeWindow(e)
	if err == nil {
		err = s.checkForLoss(ctx, e)
	}
	s.sampler.end()
	return err
}

// awaitWindow waits for the start and the end of the window, or ends the load early when ctx ends. It returns an error
// if the run's timeout ended it.
func (s *Session) awaitWindow(ctx context.Context, e *engine, done <-chan struct{}) (err error) {
	waitFor(ctx, e.measured.start, done)
	begun := Now()
	measuring := begun >= e.measured.start
	waits := e.loopWaits()
	if measuring {
		s.state.set(func(s *state) { s.window.Start = e.measured.start.Wall() })
		s.meter.Begin()
		s.state.enter(results.StageMeasuring)
		if s.part.Index == 0 {
			s.sampler.begin(ctx)
			s.beginDiagnosis(ctx)
			s.disturber.begin(ctx, e.measured, &s.permit)
		}
		if s.plan.Load.Requests != nil {
			err = s.watchForLoss(ctx, e, done)
		} else {
			waitFor(ctx, Instant(e.measured.end.Load()), done)
		}
	}
	// Checked now: what fires later must not cut the drain short.
	if err != nil {
		s.watchdog.disarm()
		e.stop()
	} else if s.watchdog.disarm() || ctx.Err() != nil && !isClosed(done) && !e.measured.over(Now()) {
		s.state.set(func(s *state) { s.stopped = true })
		err = s.whyEnded(ctx)
		e.stop()
	}
	s.sampler.last()
	if measuring {
		s.meter.End()
		process := s.meter.Window()
		if ratio, known := e.busiestLoop(waits, Now().Sub(begun)); known {
			process.Set(results.ProcessLoopBusyRatio, ratio)
		}
		if s.sessions > 1 {
			process.Set(results.ProcessSessions, float64(s.sessions))
		}
		s.state.set(func(s *state) { s.process = process })
	}
	s.disturber.end()
	return err
}

// closeWindow records the end of the window, if it ever began.
func (s *Session) closeWindow(e *engine) {
	s.state.set(func(kept *state) {
		w := &kept.window
		if w.Start.IsZero() {
			return
		}
		w.End = Instant(e.measured.end.Load()).Wall()
		if last := s.recorder.last(); w.PlannedRequests > 0 && last > 0 {
			w.End = last.Wall()
		}
	})
}

// waitFor waits until an instant. It returns false if done was closed or ctx ended before.
func waitFor(ctx context.Context, until Instant, done <-chan struct{}) bool {
	timer := time.NewTimer(until.Sub(Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
	case <-ctx.Done():
	}
	return false
}

// Pause waits for a time, or until ctx ends. It may be late by a millisecond.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// sleepUntil waits until an instant, exactly, or until ctx ends.
func sleepUntil(ctx context.Context, until Instant) error {
	if ctx.Err() == nil && until > Now() {
		a := newBoundAlarm(ctx)
		defer a.close()
		a.wait(until)
	}
	return ctx.Err()
}
