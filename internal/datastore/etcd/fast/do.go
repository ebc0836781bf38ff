package fast

import (
	"context"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// waiter is a goroutine that waits for a call.
type waiter struct {
	lane  *Lane
	done  chan struct{}
	phase results.Phase
	req   *load.Request
	resp  *load.Response
	// The methods that are posted, so that posting allocates nothing.
	send, abort func()
}

func newWaiter() *waiter {
	w := &waiter{done: make(chan struct{}, 1)}
	w.lane = newLane(nil, func() { w.done <- struct{}{} })
	w.send = func() { w.lane.Send(w.phase, w.req, w.resp) }
	w.abort = func() { w.lane.Abort() }
	return w
}

// wait waits for the call to end, or for its loop.
func (w *waiter) wait(l *loop) {
	select {
	case <-w.done:
		return
	case <-l.done:
	}
	select {
	case <-w.done:
	default:
		now := load.Now()
		*w.resp = load.Response{Sent: now, Received: now, Code: load.CodeCanceled, Detail: closedDetail}
	}
}

// do lets the calling goroutine wait for a call.
func (c *Client) do(ctx context.Context, conn *Conn, req *load.Request, resp *load.Response) {
	w, ok := c.waiters.Get().(*waiter)
	if !ok {
		w = newWaiter()
	}
	w.lane.conn, w.phase, w.req, w.resp = conn, load.PhaseOf(ctx), req, resp
	conn.loop.Post(w.send)
	select {
	case <-w.done:
	case <-ctx.Done():
		// The loop may come to the abort when the call has ended in another way:
		// this waiter must not carry another call then.
		conn.loop.Post(w.abort)
		w.wait(conn.loop)
		return
	case <-conn.loop.done:
		w.wait(conn.loop)
		return
	}
	w.req, w.resp = nil, nil
	c.waiters.Put(w)
}
