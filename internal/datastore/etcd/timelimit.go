package etcd

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// timeLimit bounds the requests of one client, one at a time. A context and a timer for each request would cost the
// client an eighth of its processor time. So one context serves until a request times out, and one timer checks from
// time to time whether the request in flight is overdue.
//
//	begin ──► deadline = d ──► end: deadline = idle
//	              │
//	     timer, past d: d ──► expired, and the context ends
type timeLimit struct {
	// parent is the context from which ctx was made; nil if ctx has ended.
	parent context.Context
	ctx    context.Context
	// deadline of the request in flight, as load.Instant, or idle, or expired.
	deadline atomic.Int64
	// next is when the timer fires, as load.Instant, or idle if it is not set.
	next atomic.Int64
	// arming is held while next and the timer change together.
	arming sync.Mutex
	timer  *time.Timer

	// renewing is held while cancel is replaced or called.
	renewing sync.Mutex
	cancel   context.CancelFunc
}

// Values of deadline that are not times. Instants count from the start of the process, so a deadline is above 0.
const (
	idle    = 0
	expired = -1
)

func newTimeLimit() *timeLimit {
	l := &timeLimit{cancel: func() {}}
	l.timer = time.AfterFunc(math.MaxInt64, l.look)
	return l
}

// begin returns the context of a request. end must follow.
func (l *timeLimit) begin(parent context.Context, timeout time.Duration) context.Context {
	if l.parent != parent {
		l.renew(parent)
	}
	deadline := int64(load.Now().Add(timeout))
	l.deadline.Store(deadline)
	l.arm(deadline)
	return l.ctx
}

// end returns whether the request timed out.
func (l *timeLimit) end() bool {
	if l.deadline.Swap(idle) != expired {
		return false
	}
	l.parent = nil
	return true
}

func (l *timeLimit) renew(parent context.Context) {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	l.cancel()
	l.parent = parent
	l.ctx, l.cancel = context.WithCancel(parent)
}

// arm sets the timer to an instant, unless it fires earlier. While all requests have the same timeout, the timer always
// fires earlier, and arm does nothing.
func (l *timeLimit) arm(at int64) {
	if l.firesBefore(at) {
		return
	}
	l.arming.Lock()
	defer l.arming.Unlock()
	if l.firesBefore(at) {
		return
	}
	l.next.Store(at)
	l.timer.Reset(load.Instant(at).Sub(load.Now()))
}

func (l *timeLimit) firesBefore(at int64) bool {
	next := l.next.Load()
	return next != idle && next <= at
}

// look ends the request in flight if it is overdue, and otherwise sets the timer again.
func (l *timeLimit) look() {
	// From here on a request that begins arms the timer itself.
	l.next.Store(idle)
	deadline := l.deadline.Load()
	switch left := load.Instant(deadline).Sub(load.Now()); {
	case deadline <= idle:
	case left > 0:
		l.arm(deadline)
	default:
		l.expire(deadline)
	}
}

// expire ends the request with this deadline, unless it has ended meanwhile.
func (l *timeLimit) expire(deadline int64) {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	if l.deadline.CompareAndSwap(deadline, expired) {
		l.cancel()
	}
}

// caller is a connection with the time limit of one client.
type caller struct {
	*conn
	limit *timeLimit
}

// Do implements load.Conn.
func (c *caller) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	c.carry(c.limit.begin(ctx, req.Timeout), req, resp)
	c.limit.finish(req, resp)
}

// finish ends a request that begin has begun.
func (l *timeLimit) finish(req *load.Request, resp *load.Response) {
	if l.end() && !resp.Succeeded() {
		resp.Code, resp.Detail = load.CodeDeadlineExceeded, fmt.Sprintf("no response within %v", req.Timeout)
	}
}
