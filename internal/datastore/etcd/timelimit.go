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

// timeLimit bounds the requests of one client, one at a time, without a context
// and a timer for each: these would cost the client an eighth of its processor
// time. One context serves until it has ended a request, and one timer looks
// now and then whether the request in flight has been for too long.
//
//	begin ──► deadline = d ──► end: deadline = idle
//	              │
//	     timer, past d: d ──► expired, and the context ends
type timeLimit struct {
	// parent is what ctx was made from; nil if ctx is used up.
	parent context.Context
	ctx    context.Context
	// deadline of the request in flight, as load.Instant, or idle, or expired.
	deadline atomic.Int64
	// next is when the timer will look, as load.Instant, or idle if it will not.
	next atomic.Int64
	// arming is held while next and the timer change together.
	arming sync.Mutex
	timer  *time.Timer

	// renewing is held while cancel is replaced or called.
	renewing sync.Mutex
	cancel   context.CancelFunc
}

// What deadline says beside a time. Instants count from the start of the
// process, so that none of a deadline is 0 or less.
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

// end says whether the request took too long.
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

// arm has the timer look at an instant at the latest. While all requests may take
// equally long, it looks before that anyhow, and nothing is done here.
func (l *timeLimit) arm(at int64) {
	if l.looksBefore(at) {
		return
	}
	l.arming.Lock()
	defer l.arming.Unlock()
	if l.looksBefore(at) {
		return
	}
	l.next.Store(at)
	l.timer.Reset(load.Instant(at).Sub(load.Now()))
}

func (l *timeLimit) looksBefore(at int64) bool {
	next := l.next.Load()
	return next != idle && next <= at
}

// look ends the request in flight if its time is over, and comes again if that
// is still to come.
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

// expire ends the request with this deadline, unless that has ended meanwhile.
func (l *timeLimit) expire(deadline int64) {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	if l.deadline.CompareAndSwap(deadline, expired) {
		l.cancel()
	}
}

// caller is a connection as one client has it.
type caller struct {
	*conn
	limit *timeLimit
}

// Do implements load.Conn.
func (c *caller) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	c.carry(c.limit.begin(ctx, req.Timeout), req, resp)
	if c.limit.end() && !resp.Succeeded() {
		resp.Code, resp.Detail = load.CodeDeadlineExceeded, fmt.Sprintf("no answer within %v", req.Timeout)
	}
}
