package wire

import (
	"context"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Lane is what the lanes of all protocols have in common: the place of one client
// on a connection, with at most one call. It belongs to the connection's loop.
type Lane struct {
	conn *Conn
	call Call
	// Link that carries the call; nil while the call waits for one.
	Link  *Link
	timer timer
	// flying: a call has been sent and has not ended. serial counts the calls.
	flying  bool
	serial  uint64
	timeout time.Duration
}

// Init makes the lane that of a call, on a connection.
func (l *Lane) Init(c *Conn, call Call) {
	l.conn, l.call = c, call
	l.timer.lane = l
}

func (l *Lane) base() *Lane { return l }

// Now is the clock when the loop last read something.
func (l *Lane) Now() load.Instant { return l.conn.loop.now }

// Soon lets the loop call f soon: a lane never ends in its own Send.
func (l *Lane) Soon(f func()) { l.conn.loop.Post(f) }

// Count counts a request of the call.
func (l *Lane) Count(rpc spec.RPC, phase results.Phase) { l.conn.loop.requests.Add(rpc, phase) }

// Begin sends a call that ends within timeout.
func (l *Lane) Begin(timeout time.Duration) {
	l.flying, l.timeout = true, timeout
	l.serial++
	l.conn.loop.wheel.start(&l.timer, l.Now().Add(timeout))
	l.conn.submit(l.call)
}

// Again sends the call once more, as its next half.
func (l *Lane) Again() {
	l.Link = nil
	l.conn.submit(l.call)
}

// Finish says that the call has ended.
func (l *Lane) Finish() {
	l.conn.loop.wheel.stop(&l.timer)
	l.Link, l.flying = nil, false
}

// Abort implements load.Lane.
func (l *Lane) Abort() { l.cancel(load.CodeCanceled, "the request was given up") }

// expire ends a call whose time is over.
func (l *Lane) expire() {
	l.cancel(load.CodeDeadlineExceeded, "no response came within "+l.timeout.Round(time.Millisecond).String())
}

func (l *Lane) cancel(code, detail string) {
	if !l.flying {
		return
	}
	if k := l.Link; k != nil {
		l.conn.loop.now = load.Now()
		if l.call.Cancel(code, detail) {
			k.Touch()
			return
		}
	}
	l.conn.unqueue(l.call)
	l.call.Failed(code, detail)
}

// waiter is a goroutine that waits for a call.
type waiter struct {
	lane  Call
	done  chan struct{}
	phase results.Phase
	req   *load.Request
	resp  *load.Response
	// The methods that are posted, so that posting allocates nothing.
	send, abort func()
}

func (c *Client) newWaiter() *waiter {
	w := &waiter{done: make(chan struct{}, 1)}
	w.lane = c.config.Lane(nil, func() { w.done <- struct{}{} })
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
		w = c.newWaiter()
	}
	w.lane.base().conn, w.phase, w.req, w.resp = conn, load.PhaseOf(ctx), req, resp
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
