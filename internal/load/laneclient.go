package load

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// laneClient is a client that is called when its request has ended.
type laneClient struct {
	*client
	runner *runner
	lane   Lane

	// stage, operation and due belong to the request in flight.
	stage     stage
	operation workload.Operation
	due       Instant
	// at is the index of the client's stage in a closed loop.
	at int
	// pausing: the client waits before its next request.
	pausing bool
}

func newLaneClient(c *client, conn LaneConn, r *runner) *laneClient {
	l := &laneClient{client: c, runner: r}
	l.lane = conn.Lane(l.done)
	return l
}

func (l *laneClient) send(s stage, ordinal int64, due Instant) {
	l.stage, l.due = s, due
	l.operation = l.workload.At(s.stream, s.part.Number(ordinal))
	l.prepare(l.operation)
	l.lane.Send(s.phase, &l.request, &l.response)
}

// done is called when the request has ended.
func (l *laneClient) done() {
	l.runner.engine.account(l.client, l.stage.stint, l.operation, l.due)
	if l.stage.scheduled() {
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
		l.resume(Now())
	}
}

// resume sends the next request of a closed loop, which is due now. After the
// last one it lets the client go.
func (l *laneClient) resume(due Instant) {
	for ; l.at < len(l.runner.stages); l.at++ {
		s := l.runner.stages[l.at]
		if s.over(due) {
			continue
		}
		if ordinal, ok := s.draw(); ok {
			l.send(s, ordinal, due)
			return
		}
	}
	l.runner.running.Done()
}

// clientQueue is a queue with room for all clients of a runner. Clients serve
// in turns, and so do their connections.
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
