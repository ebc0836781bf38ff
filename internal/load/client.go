package load

import (
	"context"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/workload"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// client is one of the plan's clients: it has one request in flight at a time.
type client struct {
	// shard is where its results are recorded, see recorder.
	shard    int
	conn     Conn
	workload *workload.Workload
	request  Request
	response Response
	key, end []byte
	// pause is how long the client waited after its last request, because the
	// target could not be reached.
	pause time.Duration
}

// newClient returns the client with this number in the pod, from 0.
func newClient(number int, conn Conn, w *workload.Workload, p plan.Plan) *client {
	return &client{
		shard:    number,
		conn:     conn,
		workload: w,
		request:  newRequest(p),
		key:      make([]byte, 0, w.KeyBytes()),
	}
}

// newRequest returns what all requests of a client have in common.
func newRequest(p plan.Plan) Request {
	interval := p.Workload.Interval
	return Request{
		Limit: interval.Limit, KeysOnly: interval.KeysOnly, CountOnly: interval.CountOnly, Keys: interval.Width(),
		Serializable: p.Workload.Serializable, Timeout: p.Load.RequestTimeout(),
	}
}

// do sends one operation and waits for its end.
func (c *client) do(ctx context.Context, op workload.Operation) {
	c.prepare(op)
	c.conn.Do(ctx, &c.request, &c.response)
}

// prepare makes the request of an operation.
func (c *client) prepare(op workload.Operation) {
	c.key = c.workload.AppendKey(c.key[:0], op.Key)
	c.request.Operation, c.request.Key, c.request.Value, c.request.End = op.Kind, c.key, nil, nil
	switch op.Kind {
	case results.OperationPut:
		c.request.Value = c.workload.Value(op.Value)
	case results.OperationRange:
		c.end = c.workload.AppendEnd(c.end[:0], op.Key)
		c.request.End = c.end
	}
}

// Pauses of a closed-loop client whose target can not be reached.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = time.Second
)

// rest returns when a closed-loop client wants to send its next request: at
// once, but after its pauses.
func (c *client) rest(done <-chan struct{}) Instant {
	if c.nextPause() == 0 {
		return c.response.Received
	}
	timer := time.NewTimer(c.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	}
	return Now()
}

// nextPause returns how long the client is to wait before its next request: no
// time, but growing pauses while requests come back unsent. Otherwise a dead
// target would be dialled, and failures counted, as fast as this machine can.
func (c *client) nextPause() time.Duration {
	if c.refused() {
		c.pause = min(max(2*c.pause, firstPause), longestPause)
	} else {
		c.pause = 0
	}
	return c.pause
}

// refused says whether the last request failed so fast that it can not have
// waited for anything.
func (c *client) refused() bool {
	return c.response.Code == CodeUnavailable && c.response.Received.Sub(c.response.Sent) < firstPause
}
