package eventloop

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// Conn is a connection as clients see it: it dials again when a link is lost. Its fields belong to its loop.
type Conn struct {
	client  *Client
	loop    *loop
	address string

	// current is the link that takes calls; nil if there is none. links are all open links: the others finish their
	// calls.
	current *Link
	links   map[*Link]struct{}
	// queue are the calls that wait for a link.
	queue []Call
	// attempt is the dial in progress; nil if there is none.
	attempt *attempt
	closed  bool
	// pause is how long to wait before the next dial, after links that answered no call. It lasts until retryAt.
	// Meanwhile calls fail with the detail why. If why is empty, the server closed the link in an orderly way, and
	// calls wait.
	pause   time.Duration
	retryAt load.Instant
	why     string
	// opened receives one value: nil when the first link is ready, or an error.
	opened chan error
}

// Loop implements load.AsyncConn.
func (c *Conn) Loop() load.Loop { return c.loop }

// Slot implements load.AsyncConn.
func (c *Conn) Slot(done func()) load.Slot { return c.client.config.Slot(c, done) }

// Move posts a move to another host:port. Calls in flight end on the old link. The errors of the old address are
// forgotten, and queued calls wait for the new address.
func (c *Conn) Move(address string) {
	c.loop.Post(func() {
		if c.closed {
			return
		}
		c.abandon()
		c.address = address
		c.pause, c.retryAt, c.why = 0, 0, ""
		if k := c.current; k != nil {
			c.current = nil
			k.drain()
		}
		c.connect()
	})
}

// submit sends a call on the current link, or queues it until there is one.
func (c *Conn) submit(a Call) {
	if k := c.current; k != nil {
		if k.session.Open() {
			c.start(a, k)
			c.replace(k)
			return
		}
		c.retire(k, "")
	}
	if c.attempt == nil && c.why != "" && load.Now() < c.retryAt {
		c.refuse(a)
		return
	}
	c.queue = append(c.queue, a)
	c.connect()
}

// start puts a call on a link.
func (c *Conn) start(a Call, k *Link) {
	a.base().Link = k
	a.Start(k)
	k.Touch()
}

// replace dials the successor of a link that is nearly out of stream IDs, so that no call has to wait for it.
func (c *Conn) replace(k *Link) {
	if k.session.NearlyUsedUp() && c.attempt == nil && load.Now() >= c.retryAt {
		c.dial()
	}
}

// refuse posts the failure of a call: a slot must not end within its own Send.
func (c *Conn) refuse(a Call) {
	own := a.base()
	why, serial := c.why, own.serial
	c.loop.Post(func() {
		if own.inFlight && own.serial == serial {
			a.Failed(load.CodeUnavailable, why)
		}
	})
}

// unqueue takes a call out of the queue.
func (c *Conn) unqueue(a Call) {
	c.queue = slices.DeleteFunc(c.queue, func(q Call) bool { return q == a })
}

// failed ends the queued calls, and makes later calls fail until the next dial.
func (c *Conn) failed(err error) {
	c.why = err.Error()
	c.backOff()
	c.signalOpened(err)
	queue := c.queue
	c.queue = nil
	for _, a := range queue {
		a.Failed(load.CodeUnavailable, c.why)
	}
}

// signalOpened reports the result of the first link to Connect.
func (c *Conn) signalOpened(err error) {
	if c.opened != nil {
		c.opened <- err
		c.opened = nil
	}
}

// established is called after each flush of a link. It reports the first greeting, and ends the back-off once the link has
// answered a call.
func (c *Conn) established(k *Link) {
	if k == c.current && k.session.Established() {
		c.signalOpened(nil)
	}
	if k.answered {
		c.pause = 0
	}
}

// retire stops sending calls to a link that takes no more: it broke, and why says how, or the server is closing it in
// an orderly way. Calls that were not sent go to the next link.
func (c *Conn) retire(k *Link, why string) {
	if c.current == k {
		c.current = nil
		if !k.answered {
			c.why = why
			c.backOff()
		}
	}
	for _, a := range k.session.TakeWaiting(why) {
		a.base().Link = nil
		c.submit(a)
	}
}

// lost is called when a link has broken.
func (c *Conn) lost(k *Link, why string) {
	c.retire(k, why)
	if !k.session.Established() {
		c.signalOpened(errors.New(why))
	}
}

const closedDetail = "the client has been closed"

// close ends all calls and links.
func (c *Conn) close() {
	c.closed = true
	c.abandon()
	c.retryAt, c.why = never, closedDetail
	c.signalOpened(errors.New(c.why))
	for k := range c.links {
		k.lose(c.why)
	}
	queue := c.queue
	c.queue = nil
	for _, a := range queue {
		a.Failed(load.CodeCanceled, c.why)
	}
}

// Do implements load.Conn.
func (c *Conn) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	c.client.do(ctx, c, req, resp)
}

// Limits of the pause between two attempts to connect.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
)

// Longer returns the pause that follows a pause.
func Longer(pause time.Duration) time.Duration {
	return min(max(2*pause, firstPause), longestPause)
}

// attempt is one attempt to connect to an address. It is valid only while its conn refers to it: the result of another
// attempt is discarded.
type attempt struct {
	address string
	// began is when a dialer took it, as load.Instant; 0 before.
	began atomic.Int64
	// cancel ends it early.
	cancel context.CancelFunc
	// link is the attempt's link, while Session.Introduce is in progress; nil before.
	link *Link
}

// connect dials, unless a link exists or a dial is in progress.
func (c *Conn) connect() {
	if c.current == nil {
		c.dial()
	}
}

// dial dials, unless a dial is in progress.
func (c *Conn) dial() {
	if c.attempt != nil || c.closed {
		return
	}
	ctx, cancel := context.WithCancel(c.client.living)
	t := &attempt{address: c.address, cancel: cancel}
	c.attempt = t
	pause := c.retryAt.Sub(load.Now())
	c.client.dialLater(ctx, pause, t, func(d dialed, err error) {
		cancel()
		c.client.deliver(c, t, d, err)
	})
}

// abandon ends the attempt in progress.
func (c *Conn) abandon() {
	t := c.attempt
	if t == nil {
		return
	}
	c.attempt = nil
	t.cancel()
	if t.link != nil {
		t.link.lose("the connection is not needed any more")
	}
}

// connected is called when an attempt has ended.
func (c *Conn) connected(t *attempt, d dialed, err error) {
	if c.attempt != t {
		d.close()
		return
	}
	var k *Link
	if err == nil {
		k, err = newLink(c, d)
	}
	if err != nil {
		c.attempt = nil
		c.failed(err)
		return
	}
	c.links[k] = struct{}{}
	c.expectGreeting(k)
	k.alive.start(k)
	k.attempt, t.link = t, k
	if k.session.Introduce() {
		k.Touch()
		return
	}
	c.attempt = nil
	c.use(k)
}

// use sends all calls over a link from now on.
func (c *Conn) use(k *Link) {
	if c.current != nil {
		c.current.drain()
	}
	c.current, c.why, k.used = k, "", load.Now()
	queue := c.queue
	c.queue = nil
	for _, a := range queue {
		c.submit(a)
	}
}

// expectGreeting loses a link if the server does not greet in time, or if Session.Introduce does not finish in time.
func (c *Conn) expectGreeting(k *Link) {
	limit := c.client.config.DialTimeout
	time.AfterFunc(limit, func() {
		c.loop.Post(func() {
			switch {
			case !k.session.Established():
				k.lose("the server sent no " + c.client.config.Greeting + " within " + limit.String())
			case c.attempt != nil && c.attempt.link == k:
				k.lose("it gave no answer within " + limit.String())
			}
		})
	})
}

// backOff prevents dialing until retryAt.
func (c *Conn) backOff() {
	c.pause = Longer(c.pause)
	c.retryAt = load.Now().Add(c.pause)
}
