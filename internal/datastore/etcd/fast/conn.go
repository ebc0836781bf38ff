package fast

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
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
	current *link
	links   map[*link]struct{}
	// queue are the calls that wait for a link.
	queue []*Lane
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

var _ load.LaneConn = (*Conn)(nil)

// Loop implements load.LaneConn.
func (c *Conn) Loop() load.Loop { return c.loop }

// Lane implements load.LaneConn.
func (c *Conn) Lane(done func()) load.Lane { return newLane(c, done) }

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

// httpConfig is how the connection speaks HTTP/2 with its address.
func (c *Conn) httpConfig() *unary.Config {
	own := &c.client.config
	scheme, authority := "http", c.address
	if own.TLS != nil {
		scheme, authority = "https", cmp.Or(own.TLS.ServerName, authority)
	}
	return &unary.Config{
		Scheme: scheme, Authority: authority, UserAgent: "etcd-benchmark-operator", Methods: methods,
		MaxMessage: own.MaxMessage, StreamWindow: own.StreamWindow, ConnWindow: own.ConnWindow,
		LastStream: own.LastStream,
	}
}

// submit sends a call on the current link, or lets it wait for one.
func (c *Conn) submit(a *Lane) {
	if k := c.current; k != nil {
		if k.http.Open() {
			a.startOn(k)
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

// replace dials the successor of a link whose streams are nearly used up, so
// that no call has to wait for it.
func (c *Conn) replace(k *link) {
	if k.http.NearlyUsedUp() && c.attempt == nil && load.Now() >= c.retryAt {
		c.dial()
	}
}

// refuse fails a call soon: a lane never ends in its own Send.
func (c *Conn) refuse(a *Lane) {
	why, serial := c.why, a.serial
	c.loop.Post(func() {
		if a.flying && a.serial == serial {
			a.Ended(unary.Unavailable, why)
		}
	})
}

// unqueue takes a call out of the queue.
func (c *Conn) unqueue(a *Lane) {
	c.queue = slices.DeleteFunc(c.queue, func(q *Lane) bool { return q == a })
}

// failed ends the calls that waited for a link, and those that come soon.
func (c *Conn) failed(err error) {
	c.why = err.Error()
	c.hold()
	c.open(err)
	queue := c.queue
	c.queue = nil
	for _, a := range queue {
		a.Ended(unary.Unavailable, c.why)
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
func (c *Conn) greeted(k *link) {
	if k == c.current && k.http.Greeted() {
		c.open(nil)
	}
	if k.answered {
		c.pause = 0
	}
}

// retire makes a link no longer the current one, because it takes no more
// calls: it broke, and why says how, or the server said so politely. The calls
// that it never sent go to the next one.
func (c *Conn) retire(k *link, why string) {
	if c.current == k {
		c.current = nil
		if !k.answered {
			c.why = why
			c.hold()
		}
	}
	for _, call := range k.http.TakeWaiting() {
		a, ok := call.(*Lane)
		if !ok {
			// The question which member it is was for this link alone.
			call.Ended(unary.Unavailable, why)
			continue
		}
		a.link = nil
		c.submit(a)
	}
}

// lost hears that a link has broken.
func (c *Conn) lost(k *link, why string) {
	c.retire(k, why)
	if !k.http.Greeted() {
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
		a.Ended(unary.Canceled, c.why)
	}
}

// Do implements load.Conn.
func (c *Conn) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	c.client.do(ctx, c, req, resp)
}
