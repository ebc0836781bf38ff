package load

import "time"

// asyncClient is a client that is called back when its request has ended.
type asyncClient struct {
	*client
	runner *runner
	slot   Slot

	// at is the index of the client's phase in a closed loop.
	at int
	// waiting is what the client waits for instead of a response. timer ends pauses and holds; nil before the first.
	waiting waiting
	timer   *time.Timer
}

// waiting is what a client without a request in flight waits for.
type waiting uint8

const (
	waitingForNothing waiting = iota
	waitingForPermit
	// waitingForPause: the next request of a closed loop is due after a pause.
	waitingForPause
	// waitingForHold: the next step of a sequence is due later.
	waitingForHold
)

func newAsyncClient(c *client, conn AsyncConn, r *runner) *asyncClient {
	a := &asyncClient{client: c, runner: r}
	a.slot = conn.Slot(a.done)
	return a
}

// send begins an operation.
func (a *asyncClient) send(s *loadPhase, ordinal int64, at requestTime) {
	a.runner.engine.begin(a.client, s, ordinal, at)
	a.transmit()
}

// transmit sends the prepared request, or waits for the permission to send it.
func (a *asyncClient) transmit() {
	if !a.permit.isOpen() {
		a.waiting = waitingForPermit
		return
	}
	a.waiting = waitingForNothing
	a.slot.Send(a.phase.name, &a.request, &a.response)
}

// permitted sends the request that waits for the permission.
func (a *asyncClient) permitted() {
	if a.waiting == waitingForPermit && a.permit.isOpen() {
		a.time = a.time.notBefore(Now())
		a.transmit()
	}
}

// abort ends the request in flight, or what the client waits for instead. The step after a hold is still sent: the
// client releases what it acquired.
func (a *asyncClient) abort() {
	if a.waiting == waitingForNothing {
		a.slot.Abort()
		return
	}
	a.wakeUp()
	if a.waiting == waitingForPermit {
		a.waiting = waitingForNothing
		a.response.cancel()
		a.done()
	}
}

// done is called back when the request has ended.
func (a *asyncClient) done() {
	if due, more := a.runner.engine.ended(a.client); more {
		a.wait(waitingForHold, due.Sub(Now()))
		return
	}
	if a.runner.engine.burst != nil {
		a.runner.running.Done()
		return
	}
	if a.phase.scheduled() {
		a.runner.putFree(a)
		return
	}
	if pause := a.nextPause(); pause > 0 {
		a.wait(waitingForPause, pause)
		return
	}
	a.resume(a.free())
}

// wait wakes the client up after a while.
func (a *asyncClient) wait(what waiting, while time.Duration) {
	a.waiting = what
	switch {
	case while <= 0:
		a.wakeUp()
	case a.timer == nil:
		wakeUp := a.wakeUp
		a.timer = time.AfterFunc(while, func() { a.runner.loop.Post(wakeUp) })
	default:
		a.timer.Reset(while)
	}
}

// wakeUp ends a pause or a hold.
func (a *asyncClient) wakeUp() {
	switch a.waiting {
	case waitingForPause:
		a.waiting = waitingForNothing
		now := Now()
		a.runner.engine.recordPause(a.client, a.free(), now)
		a.resume(now)
	case waitingForHold:
		a.transmit()
	}
}

// resume sends the next request of a closed loop, which is due now. After the last one, the client is done.
func (a *asyncClient) resume(due Instant) {
	for ; a.at < len(a.runner.phases); a.at++ {
		s := a.runner.phases[a.at]
		if s.over(due) {
			continue
		}
		if ordinal, ok := s.draw(); ok {
			a.send(s, ordinal, dueAt(due))
			return
		}
	}
	a.runner.running.Done()
}

// clientQueue is a FIFO with room for all clients of a runner, so that clients, and their connections, send in
// rotation.
type clientQueue struct {
	clients       []*asyncClient
	first, length int
}

func (q *clientQueue) put(c *asyncClient) {
	q.clients[(q.first+q.length)%len(q.clients)] = c
	q.length++
}

func (q *clientQueue) take() *asyncClient {
	c := q.clients[q.first]
	q.first = (q.first + 1) % len(q.clients)
	q.length--
	return c
}
