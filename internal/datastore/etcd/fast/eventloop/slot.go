package eventloop

import (
	"context"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Slot is the common part of the slots of all protocols: the place of one client on a connection, with at most one
// call. It belongs to the connection's loop.
type Slot struct {
	conn *Conn
	call Call
	// Link carries the call; nil while the call waits for a link.
	Link  *Link
	timer timer
	// inFlight: a call was begun and has not ended. serial counts the calls.
	inFlight bool
	serial   uint64
	timeout  time.Duration
	// begun is when the call was begun.
	begun load.Instant
}

// Init sets the slot's connection and call.
func (l *Slot) Init(c *Conn, call Call) {
	l.conn, l.call = c, call
	l.timer.slot = l
}

func (l *Slot) base() *Slot { return l }

// Now is when the loop last read the clock.
func (l *Slot) Now() load.Instant { return l.conn.loop.now }

// Soon posts f to the loop: a slot must not end within its own Send.
func (l *Slot) Soon(f func()) { l.conn.loop.Post(f) }

// Count counts a request of the call.
func (l *Slot) Count(rpc spec.RPC, phase results.Phase) { l.conn.loop.requests.Add(rpc, phase) }

// Begin sends a call that ends within timeout.
func (l *Slot) Begin(timeout time.Duration) {
	l.inFlight, l.timeout, l.begun = true, timeout, l.Now()
	l.serial++
	l.conn.loop.wheel.start(&l.timer, l.Now().Add(timeout))
	l.conn.submit(l.call)
}

// Dialed returns from when on the call waits for a dial, or has waited for one: when the dial began, or the call, if that was
// later. It is 0 if there was no dial, or if it has not begun.
func (l *Slot) Dialed() load.Instant {
	at := load.Instant(0)
	if k := l.Link; k != nil && k.used > l.begun {
		at = k.dialed
	} else if t := l.conn.attempt; k == nil && t != nil {
		at = load.Instant(t.began.Load())
	}
	if at == 0 {
		return 0
	}
	return max(at, l.begun)
}

// Again sends the next part of the same request.
func (l *Slot) Again() {
	l.Link = nil
	l.conn.submit(l.call)
}

// Later calls f after a pause, unless the call has ended by then. The call has no link meanwhile.
func (l *Slot) Later(pause time.Duration, f func()) {
	l.Link = nil
	serial := l.serial
	time.AfterFunc(pause, func() {
		l.conn.loop.Post(func() {
			if l.inFlight && l.serial == serial {
				l.conn.loop.now = load.Now()
				f()
			}
		})
	})
}

// Finish must be called when the call has ended.
func (l *Slot) Finish() {
	l.conn.loop.wheel.stop(&l.timer)
	l.Link, l.inFlight = nil, false
}

// Abort implements load.Slot.
func (l *Slot) Abort() { l.cancel(load.CodeCanceled, "the request was canceled") }

// expire ends a call that has timed out.
func (l *Slot) expire() {
	l.cancel(load.CodeDeadlineExceeded, "no response came within "+l.timeout.Round(time.Millisecond).String())
}

func (l *Slot) cancel(code, detail string) {
	if !l.inFlight {
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
	slot  Call
	done  chan struct{}
	phase results.Phase
	req   *load.Request
	resp  *load.Response
	// The functions that are posted. They are made once, so that posting allocates nothing.
	send, abort func()
}

func (c *Client) newWaiter() *waiter {
	w := &waiter{done: make(chan struct{}, 1)}
	w.slot = c.config.Slot(nil, func() { w.done <- struct{}{} })
	w.send = func() { w.slot.Send(w.phase, w.req, w.resp) }
	w.abort = func() { w.slot.Abort() }
	return w
}

// wait waits until the call has ended, or its loop.
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

// do sends a call and blocks until it has ended.
func (c *Client) do(ctx context.Context, conn *Conn, req *load.Request, resp *load.Response) {
	w, ok := c.waiters.Get().(*waiter)
	if !ok {
		w = c.newWaiter()
	}
	w.slot.base().conn, w.phase, w.req, w.resp = conn, load.PhaseOf(ctx), req, resp
	conn.loop.Post(w.send)
	select {
	case <-w.done:
	case <-ctx.Done():
		// The call may end in another way before the loop handles the abort. So this waiter must not carry another
		// call.
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
