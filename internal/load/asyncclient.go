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
	l := &asyncClient{client: c, runner: r}
	l.slot = conn.Slot(l.done)
	return l
}

// send begins an operation.
func (l *asyncClient) send(s *loadPhase, ordinal int64, at requestTime) {
	l.runner.engine.begin(l.client, s, ordinal, at)
	l.transmit()
}

// transmit sends the prepared request, or waits for the permission to send it.
func (l *asyncClient) transmit() {
	if !l.permit.isOpen() {
		l.waiting = waitingForPermit
		return
	}
	l.waiting = waitingForNothing
	l.slot.Send(l.phase.name, &l.request, &l.response)
}

// permitted sends the request that waits for the permission.
func (l *asyncClient) permitted() {
	if l.waiting == waitingForPermit && l.permit.isOpen() {
		l.time = l.time.notBefore(Now())
		l.transmit()
	}
}

// abort ends the request in flight, or what the client waits for instead. The step after a hold is still sent: the
// client releases what it acquired.
func (l *asyncClient) abort() {
	if l.waiting == waitingForNothing {
		l.slot.Abort()
		return
	}
	l.wakeUp()
	if l.waiting == waitingForPermit {
		l.waiting = waitingForNothing
		l.response.cancel()
		l.done()
	}
}

// done is called back when the request has ended.
func (l *asyncClient) done() {
	if due, more := l.runner.engine.ended(l.client); more {
		l.wait(waitingForHold, due.Sub(Now()))
		return
	}
	if l.phase.scheduled() {
		l.runner.putFree(l)
		return
	}
	if pause := l.nextPause(); pause > 0 {
		l.wait(waitingForPause, pause)
		return
	}
	l.resume(l.free())
}

// wait wakes the client up after a while.
func (l *asyncClient) wait(what waiting, while time.Duration) {
	l.waiting = what
	switch {
	case while <= 0:
		l.wakeUp()
	case l.timer == nil:
		wakeUp := l.wakeUp
		l.timer = time.AfterFunc(while, func() { l.runner.loop.Post(wakeUp) })
	default:
		l.timer.Reset(while)
	}
}

// wakeUp ends a pause or a hold.
func (l *asyncClient) wakeUp() {
	switch l.waiting {
	case waitingForPause:
		l.waiting = waitingForNothing
		now := Now()
		l.runner.engine.recordPause(l.client, l.free(), now)
		l.resume(now)
	case waitingForHold:
		l.transmit()
	}
}

// resume sends the next request of a closed loop, which is due now. After the last one, the client is done.
func (l *asyncClient) resume(due Instant) {
	for ; l.at < len(l.runner.phases); l.at++ {
		s := l.runner.phases[l.at]
		if s.over(due) {
			continue
		}
		if ordinal, ok := s.draw(); ok {
			l.send(s, ordinal, dueAt(due))
			return
		}
	}
	l.runner.running.Done()
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
