package fast

import (
	"context"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// Pauses between two tries of what a server has refused: to dial, or to log in.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

// longer is the pause that follows one.
func longer(pause time.Duration) time.Duration {
	return min(max(2*pause, firstPause), longestPause)
}

// attempt is one try to connect to an address. It counts as long as it is its
// conn's: what comes of another one is thrown away.
type attempt struct {
	address string
	// cancel ends it early.
	cancel context.CancelFunc
	// link is what it has led to and whose server has yet to say which member it
	// is; nil if it need not.
	link *link
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
	var k *link
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
	if want := c.client.config.Members[t.address]; want != 0 {
		c.introduce(t, k, want)
		return
	}
	c.attempt = nil
	c.use(k)
}

// use sends all calls over a link from now on.
func (c *Conn) use(k *link) {
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
// which member it is.
func (c *Conn) expectGreeting(k *link) {
	limit := c.client.config.DialTimeout
	time.AfterFunc(limit, func() {
		c.loop.Post(func() {
			switch {
			case !k.http.Greeted():
				k.lose("the server sent no HTTP/2 settings within " + limit.String())
			case c.attempt != nil && c.attempt.link == k:
				k.lose("it gave no answer within " + limit.String())
			}
		})
	})
}

// hold keeps the connection from dialing for a while.
func (c *Conn) hold() {
	c.pause = longer(c.pause)
	c.retryAt = load.Now().Add(c.pause)
}
