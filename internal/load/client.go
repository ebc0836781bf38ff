package load

import (
	"context"
	"fmt"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
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
	// keys are the numbers of the keys in request.Pairs.
	keys  []int64
	taken workload.Taken
	// pod is the index of the client's pod. value is the buffer for values that are marked with it.
	pod   int
	value []byte
	// permit is looked at before each request.
	permit *permit
	// phase, operation and time are those of the current request. began is when the first request of its sequence was
	// sent; 0 before.
	phase     *loadPhase
	operation workload.Operation
	time      requestTime
	began     Instant
	// pause is how long the client waited after its last request because the target could not be reached.
	pause time.Duration
	// task is the client's only one in a burst.
	task task
	// alarm times how long the client holds a lock or a leadership; nil until the first one.
	alarm *boundAlarm
}

// newClient returns the client with this number in the pod, from 0.
func newClient(number int, conn Conn, w *workload.Workload, p plan.Plan, permit *permit) *client {
	c := &client{
		permit:   permit,
		shard:    number,
		conn:     conn,
		workload: w,
		request:  newRequest(p, w),
		key:      make([]byte, 0, w.KeyBytes()),
		task:     task{number: int64(number), ordinal: int64(number)},
	}
	return c
}

// subject names the key or lease of the client's last request.
func (c *client) subject(op workload.Operation) string {
	if op.Subject == workload.OnLease {
		return fmt.Sprintf("lease %x", op.Lease)
	}
	return fmt.Sprintf("key %q", c.key)
}

// newRequest returns the fields that all requests of a client share.
func newRequest(p plan.Plan, w *workload.Workload) Request {
	return Request{Pairs: make([]Pair, w.KeysAtOnce()), Consistency: p.Consistency()}
}

// next makes a request the current one.
func (c *client) next(op workload.Operation, at requestTime) {
	c.operation, c.time = op, at
	c.prepare(op)
}

// transmit sends the prepared request and waits for its response. If it had to wait for the permission to send, it
// returns when that wait ended, else 0.
func (c *client) transmit(ctx context.Context) (waited Instant) {
	waited, ok := c.permit.await(ctx)
	if !ok {
		c.response.cancel()
		return 0
	}
	c.conn.Do(ctx, &c.request, &c.response)
	return waited
}

// prepare makes the request of an operation.
func (c *client) prepare(op workload.Operation) {
	c.request.Operation, c.request.Preload, c.request.Needs = op.Kind, op.Stream == 0, op.Needs
	c.request.Timeout = c.workload.Timeout(op)
	switch op.Subject {
	case workload.OnSeveral:
		c.preparePairs(op)
	case workload.OnLease:
		c.request.Lease = op.Lease
	case workload.OnObject:
		c.prepareObject(op)
	case workload.OnName, workload.OnMember:
		// The client's connection knows it.
	case workload.OnLog:
		c.request.Value = c.valueOf(op)
	case workload.OnFolder:
		c.key = c.workload.AppendFolder(c.key[:0], op.Key)
		c.end = c.workload.AppendFolderEnd(c.end[:0], op.Key)
		c.request.Key, c.request.Value, c.request.End = c.key, nil, c.end
	default:
		c.prepareKey(op)
	}
}

func (c *client) prepareKey(op workload.Operation) {
	c.key = c.workload.AppendKey(c.key[:0], op.Key)
	c.request.Key, c.request.Value, c.request.End = c.key, nil, nil
	if op.Writes {
		c.request.Value = c.valueOf(op)
		return
	}
	c.end = c.workload.AppendEnd(c.end[:0], op.Key)
	c.request.End = c.end
}

// prepareObject makes a request on an object, or on all objects of a resource.
func (c *client) prepareObject(op workload.Operation) {
	c.request.Create, c.request.Expires, c.request.PageSize = op.Create, op.Resource == workload.Events, op.PageSize
	c.request.Value = nil
	if op.PageSize > 0 {
		c.key = c.workload.AppendResource(c.key[:0], op.Resource)
	} else {
		c.key = c.workload.AppendObject(c.key[:0], op.Resource, op.Key)
	}
	if c.request.Key = c.key; op.Writes {
		c.request.Value = c.valueOf(op)
	}
}

func (c *client) valueOf(op workload.Operation) []byte {
	switch {
	case c.workload.Marked():
		c.value = c.workload.AppendMarked(c.value[:0], op, c.pod)
	case c.workload.Shared():
		return c.workload.Value(op.Value)
	default:
		c.value = c.workload.AppendValue(c.value[:0], op.Value)
	}
	return c.value
}

func (c *client) preparePairs(op workload.Operation) {
	c.keys = c.workload.AppendKeys(c.keys[:0], op, &c.taken)
	c.request.Writes = c.workload.WritesOf(op)
	for i, number := range c.keys {
		p, value := &c.request.Pairs[i], op.Value*int64(len(c.keys))+int64(i)
		p.Key = c.workload.AppendKey(p.Key[:0], number)
		if c.workload.Shared() {
			p.Value = c.workload.Value(value)
		} else {
			p.Value = c.workload.AppendValue(p.Value[:0], value)
		}
	}
}

// waitUntil waits until an instant, or until ctx, the context of the load, ends.
func (c *client) waitUntil(ctx context.Context, until Instant) {
	if until <= Now() {
		return
	}
	if c.alarm == nil {
		c.alarm = newBoundAlarm(ctx)
	}
	c.alarm.wait(until)
}

// close frees the client's alarm after its last request.
func (c *client) close() {
	if c.alarm != nil {
		c.alarm.close()
	}
}

// Limits of the pause of a closed-loop client whose target cannot be reached.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = time.Second
)

// free is when the client's last request had ended and was cleaned up.
func (c *client) free() Instant { return max(c.response.Received, c.response.Cleared) }

// nextDue returns when a closed-loop client's next request is due: at once, or after its pause.
func (c *client) nextDue(done <-chan struct{}) Instant {
	if c.nextPause() == 0 {
		return c.free()
	}
	timer := time.NewTimer(c.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	}
	return Now()
}

// nextPause returns how long the client waits before its next request. The pause is 0 normally and grows while requests
// come back unsent. Without it, the client would dial a dead target and count failures at full speed.
func (c *client) nextPause() time.Duration {
	if c.refused() {
		c.pause = min(max(2*c.pause, firstPause), longestPause)
	} else {
		c.pause = 0
	}
	return c.pause
}

// refused reports whether the last request failed too fast to have waited for a response.
func (c *client) refused() bool {
	return c.response.Code == CodeUnavailable && c.response.Received.Sub(c.response.Sent) < firstPause
}
