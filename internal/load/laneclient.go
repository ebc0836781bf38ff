package load

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// laneClient is a client that is called back when its request has ended.
type laneClient struct {
	*client
	runner *runner
	lane   Lane

	// current, operation and time belong to the request in flight.
	current   phaseStint
	operation workload.Operation
	time      requestTime
	// at is the index of the client's stint in a closed loop.
	at int
	// pausing: the client waits before its next request. parked: it waits for the permission to send its request.
	pausing, parked bool
}

func newLaneClient(c *client, conn LaneConn, r *runner) *laneClient {
	l := &laneClient{client: c, runner: r}
	l.lane = conn.Lane(l.done)
	return l
}

func (l *laneClient) send(s phaseStint, ordinal int64, at requestTime) {
	l.current, l.time = s, at
	l.operation = l.workload.At(s.stream, s.part.Number(ordinal))
	l.prepare(l.operation)
	if l.parked = !l.permit.isOpen(); !l.parked {
		l.lane.Send(s.phase, &l.request, &l.response)
	}
}

// unpark sends the request that waits for the permission.
func (l *laneClient) unpark() {
	if l.parked && l.permit.isOpen() {
		l.parked, l.time = false, l.time.notBefore(Now())
		l.lane.Send(l.current.phase, &l.request, &l.response)
	}
}

// abort ends the request in flight, or the wait for the permission to send it.
func (l *laneClient) abort() {
	if l.parked {
		l.parked = false
		l.response.cancel()
		l.done()
		return
	}
	l.lane.Abort()
}

// done is called back when the request has ended.
func (l *laneClient) done() {
	l.runner.engine.account(l.client, l.current.stint, l.operation, l.time)
	if l.current.scheduled() {
		l.runner.engine.occupied(l.client, l.current.stint, l.response.Sent)
		l.runner.putFree(l)
		return
	}
	if pause := l.nextPause(); pause > 0 {
		l.pausing = true
		time.AfterFunc(pause, func() { l.runner.loop.Post(l.wakeUp) })
		return
	}
	l.resume(l.free())
}

// wakeUp ends a pause.
func (l *laneClient) wakeUp() {
	if l.pausing {
		l.pausing = false
		now := Now()
		l.runner.engine.recordPause(l.client, l.free(), now)
		l.resume(now)
	}
}

// resume sends the next request of a closed loop, which is due now. After the last one, the client is done.
func (l *laneClient) resume(due Instant) {
	for ; l.at < len(l.runner.stints); l.at++ {
		s := l.runner.stints[l.at]
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
	clients       []*laneClient
	first, length int
}

func (q *clientQueue) put(c *laneClient) {
	q.clients[(q.first+q.length)%len(q.clients)] = c
	q.length++
}

func (q *clientQueue) take() *laneClient {
	c := q.clients[q.first]
	q.first = (q.first + 1) % len(q.clients)
	q.length--
	return c
}
