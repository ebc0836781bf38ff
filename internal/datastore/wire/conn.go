package wire

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// Conn is a connection as clients see it: it dials again when a link is lost.
// Its fields belong to its loop.
type Conn struct {
	client  *Client
	loop    *loop
	address string

	// current is the link that takes calls; nil if there is none. links are
	// all that live: others end their calls.
	current *Link
	links   map[*Link]struct{}
	// queue are the calls that wait for a link.
	queue []Call
	// attempt is the dial that goes on; nil if there is none.
	attempt *attempt
	closed  bool
	// pause is how long to wait before the next try to connect, after links that
	// were of no use. It lasts until retryAt. Meanwhile calls fail because of
	// why; they wait if that is empty, because the server was polite.
	pause   time.Duration
	retryAt load.Instant
	why     string
	// opened hears once that the first link is ready, or why there is none.
	opened chan error
}

// Loop implements load.LaneConn.
func (c *Conn) Loop() load.Loop { return c.loop }

// Lane implements load.LaneConn.
func (c *Conn) Lane(done func()) load.Lane { return c.client.config.Lane(c, done) }

// Move makes the connection go to another host:port, soon. The calls in flight
// end where they are. What was wrong with the old address is forgotten, and
// whoever waits for it waits for the new one.
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

// submit sends a call on the current link, or lets it wait for one.
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

// replace dials the successor of a link whose streams are nearly used up, so
// that no call has to wait for it.
func (c *Conn) replace(k *Link) {
	if k.session.NearlyUsedUp() && c.attempt == nil && load.Now() >= c.retryAt {
		c.dial()
	}
}

// refuse fails a call soon: a lane never ends in its own Send.
func (c *Conn) refuse(a Call) {
	own := a.base()
	why, serial := c.why, own.serial
	c.loop.Post(func() {
		if own.flying && own.serial == serial {
			a.Failed(load.CodeUnavailable, why)
		}
	})
}

// unqueue takes a call out of the queue.
func (c *Conn) unqueue(a Call) {
	c.queue = slices.DeleteFunc(c.queue, func(q Call) bool { return q == a })
}

// failed ends the calls that waited for a link, and those that come soon.
func (c *Conn) failed(err error) {
	c.why = err.Error()
	c.hold()
	c.open(err)
	queue := c.queue
	c.queue = nil
	for _, a := range queue {
		a.Failed(load.CodeUnavailable, c.why)
	}
}

// open tells who waits for the first link.
func (c *Conn) open(err error) {
	if c.opened != nil {
		c.opened <- err
		c.opened = nil
	}
}

// greeted hears of a link that works.
func (c *Conn) greeted(k *Link) {
	if k == c.current && k.session.Greeted() {
		c.open(nil)
	}
	if k.answered {
		c.pause = 0
	}
}

// retire makes a link no longer the current one, because it takes no more
// calls: it broke, and why says how, or the server said so politely. The calls
// that it never sent go to the next one.
func (c *Conn) retire(k *Link, why string) {
	if c.current == k {
		c.current = nil
		if !k.answered {
			c.why = why
			c.hold()
		}
	}
	for _, a := range k.session.TakeWaiting(why) {
		a.base().Link = nil
		c.submit(a)
	}
}

// lost hears that a link has broken.
func (c *Conn) lost(k *Link, why string) {
	c.retire(k, why)
	if !k.session.Greeted() {
		c.open(errors.New(why))
	}
}

const closedDetail = "the client has been closed"

// close ends all calls and links.
func (c *Conn) close() {
	c.closed = true
	c.abandon()
	c.retryAt, c.why = never, closedDetail
	c.open(errors.New(c.why))
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

// Pauses between two tries of what a server has refused: to dial, or to log in.
const (
	firstPause = 50 * time.Millisecond
	// LongestPause is the longest of them.
	LongestPause = 2 * time.Second
)

// Longer is the pause that follows one.
func Longer(pause time.Duration) time.Duration {
	return min(max(2*pause, firstPause), LongestPause)
}

// attempt is one try to connect to an address. It counts as long as it is its
// conn's: what comes of another one is thrown away.
type attempt struct {
	address string
	// cancel ends it early.
	cancel context.CancelFunc
	// link is what it has led to, and whose server has yet to say what has to be
	// known; nil before.
	link *Link
}

// connect dials, unless it does already or there is a link.
func (c *Conn) connect() {
	if c.current == nil {
		c.dial()
	}
}

// dial dials, unless it does already.
func (c *Conn) dial() {
	if c.attempt != nil || c.closed {
		return
	}
	ctx, cancel := context.WithCancel(c.client.living)
	t := &attempt{address: c.address, cancel: cancel}
	c.attempt = t
	pause := c.retryAt.Sub(load.Now())
	go func() {
		defer cancel()
		d, err := c.client.dialAfter(ctx, pause, t.address)
		c.client.deliver(c, t, d, err)
	}()
}

// abandon gives up the attempt that goes on.
func (c *Conn) abandon() {
	t := c.attempt
	if t == nil {
		return
	}
	c.attempt = nil
	t.cancel()
	if t.link != nil {
		t.link.lose("nobody wants the connection any more")
	}
}

// connected goes on when an attempt has ended.
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
	c.current, c.why = k, ""
	queue := c.queue
	c.queue = nil
	for _, a := range queue {
		c.submit(a)
	}
}

// expectGreeting gives up a link whose server does not greet in time, or not say
// what has to be known.
func (c *Conn) expectGreeting(k *Link) {
	limit := c.client.config.DialTimeout
	time.AfterFunc(limit, func() {
		c.loop.Post(func() {
			switch {
			case !k.session.Greeted():
				k.lose("the server sent no " + c.client.config.Greeting + " within " + limit.String())
			case c.attempt != nil && c.attempt.link == k:
				k.lose("it gave no answer within " + limit.String())
			}
		})
	})
}

// hold keeps the connection from dialing for a while.
func (c *Conn) hold() {
	c.pause = Longer(c.pause)
	c.retryAt = load.Now().Add(c.pause)
}
