package eventloop

import (
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop/buffer"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Link is one TCP connection of a Conn, from its handshake to its end.
type Link struct {
	conn    *Conn
	loop    *loop
	address string
	socket  Socket
	session Session
	// attempt is the dial that made this link, until Session.Introduce has finished.
	attempt *attempt
	// partial is the beginning of an incomplete message.
	partial []byte
	// dirty: the link is on the loop's list of links that may have something to write, or to change.
	dirty bool
	// answered: a response has come, so the server is not only accepting connections.
	answered bool
	// stalled: the kernel does not take all output now. The link becomes ready when it takes more, too.
	stalled bool
	closed  bool
	alive   keepAlive
	// dialed is when the dial of the link began, and used when the link was ready for calls.
	dialed, used load.Instant
}

// newLink takes over a connection after its handshake.
func newLink(c *Conn, d dialed) (*Link, error) {
	k := &Link{conn: c, loop: c.loop, address: c.address, dialed: d.began}
	s, err := c.loop.poller.adopt(d.tcp, k)
	if err != nil {
		return nil, err
	}
	if c.client.config.Wrap != nil {
		s = c.client.config.Wrap(s)
	}
	k.socket = s
	if d.tls != nil {
		k.socket = d.tls.attach(s, c.loop)
	}
	k.session = c.client.config.Session(k)
	k.Touch()
	return k, nil
}

// Session is the protocol on this link.
func (k *Link) Session() Session { return k.session }

// Address is the host:port of the link.
func (k *Link) Address() string { return k.address }

// Loop is the index of the link's loop.
func (k *Link) Loop() int { return k.loop.index }

// Buffers are those of the link's loop.
func (k *Link) Buffers() *buffer.Pool { return k.loop.pool }

// Count counts a request that the session itself sends.
func (k *Link) Count(rpc spec.RPC, phase results.Phase) { k.loop.requests.Add(rpc, phase) }

// Later posts f to the link's loop after this time.
func (k *Link) Later(after time.Duration, f func()) {
	time.AfterFunc(after, func() { k.loop.Post(f) })
}

// Answered records that a response has come.
func (k *Link) Answered() { k.answered = true }

// Wanted returns whether Session.Introduce is still needed, and may send requests.
func (k *Link) Wanted() bool {
	return k.attempt != nil && k.conn.attempt == k.attempt && !k.closed && k.session.Open()
}

// Introduced reports the result of Session.Introduce: nil if calls may be sent, or the error that makes the link
// useless.
func (k *Link) Introduced(err error) {
	c, t := k.conn, k.attempt
	if err != nil {
		// The link is in use by the caller, so it is ended later.
		c.loop.Post(func() { k.lose(err.Error()) })
	}
	if c.attempt != t {
		return
	}
	c.attempt = nil
	if err != nil {
		c.failed(err)
		return
	}
	k.answered = true
	c.use(k)
}

// Touch makes the loop flush the link before it waits.
func (k *Link) Touch() {
	if !k.dirty {
		k.dirty = true
		k.loop.dirty = append(k.loop.dirty, k)
	}
}

// readsAtOnce bounds the reads of a link before the next link is served, and lastReads the reads of a broken link: more
// than a kernel buffers.
const (
	readsAtOnce = 8
	lastReads   = 1000
)

// serve reads and handles responses. If more than readsAtOnce reads are needed, the loop continues in its next
// iteration.
func (k *Link) serve() {
	if k.closed {
		return
	}
	k.Touch()
	// A stalled link that does not write would always be ready, and the loop would never flush.
	if k.stalled && !k.tryWrite() {
		return
	}
	more, err := k.read(readsAtOnce)
	switch {
	case err != nil:
		k.lose("the connection was lost: " + err.Error())
	case more:
		k.loop.unread = append(k.loop.unread, k)
	}
}

// read reads up to this many times, or until nothing is left. It returns whether more may be left.
func (k *Link) read(times int) (more bool, err error) {
	for range times {
		buffer := k.loop.buffer
		kept := copy(buffer, k.partial)
		n, err := k.socket.Read(buffer[kept:])
		if errors.Is(err, ErrNotReady) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		k.loop.now = load.Now()
		k.alive.lastRead = k.loop.now
		k.receive(buffer[:kept+n])
		if k.closed || kept+n < len(buffer) && !k.socket.Buffers() {
			return false, nil
		}
	}
	return true, nil
}

func (k *Link) receive(read []byte) {
	consumed, err := k.session.Receive(read)
	if err != nil {
		// Send the session's output, such as a GOAWAY, so that the server learns the cause.
		_ = k.write()
		k.lose("the server broke the protocol: " + err.Error())
		return
	}
	if rest := len(read) - consumed; rest > MaxPartial {
		k.lose("the server broke the protocol: it has not ended a message after " + strconv.Itoa(rest) + " bytes")
		return
	}
	k.keep(read[consumed:])
}

// keep buffers an incomplete message.
func (k *Link) keep(rest []byte) {
	if len(rest) == 0 {
		k.loop.pool.Give(k.partial)
		k.partial = nil
		return
	}
	if k.partial == nil {
		k.partial = k.loop.pool.Take()
	}
	k.partial = append(k.partial[:0], rest...)
}

// flush writes the output, and retires the link once it takes no more calls.
func (k *Link) flush() {
	if k.closed {
		return
	}
	if !k.tryWrite() {
		return
	}
	k.conn.established(k)
	if k.session.Open() {
		return
	}
	k.conn.retire(k, "")
	if k.session.Idle() && len(k.session.Output()) == 0 {
		k.close()
	}
}

// tryWrite writes the output, and returns whether the link is still open.
func (k *Link) tryWrite() bool {
	err := k.write()
	if err != nil {
		k.drainReads()
		k.lose("the connection was lost: " + err.Error())
	}
	return err == nil
}

// drainReads handles what came before the connection broke: responses, and perhaps the reason for the close.
func (k *Link) drainReads() {
	if k.closed {
		return
	}
	k.session.Drain()
	_, _ = k.read(lastReads)
}

func (k *Link) write() error {
	if k.socket.Pending() {
		if _, err := k.socket.Write(nil); err != nil && !errors.Is(err, ErrNotReady) {
			return err
		}
	}
	for out := k.session.Output(); len(out) > 0; out = k.session.Output() {
		at := load.Now()
		n, err := k.socket.Write(out)
		if errors.Is(err, ErrNotReady) {
			break
		}
		if err != nil {
			return err
		}
		k.session.Wrote(n, at)
	}
	k.stalled = k.socket.Pending() || len(k.session.Output()) > 0
	k.socket.NotifyWritable(k.stalled)
	return nil
}

// lose ends the link and the calls on it. Calls that were not sent go to the next link.
func (k *Link) lose(why string) {
	if k.closed {
		return
	}
	k.loop.now = load.Now()
	k.close()
	k.conn.lost(k, why)
	k.session.Fail(why)
}

// drain lets the calls on the link end and then closes it.
func (k *Link) drain() {
	k.session.Drain()
	k.Touch()
}

func (k *Link) close() {
	if k.closed {
		return
	}
	k.closed = true
	k.alive.stop()
	k.socket.Close()
	k.keep(nil)
	delete(k.conn.links, k)
}

// dialed is a connection after its handshakes: TCP, and TLS if tls is not nil.
type dialed struct {
	tcp net.Conn
	tls *tlsTransport
	// began is when the dial began.
	began load.Instant
}
