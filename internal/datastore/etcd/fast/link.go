package fast

import (
	"errors"
	"net"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// link is one HTTP/2 connection of a conn, from its handshake to its end.
type link struct {
	conn   *Conn
	loop   *loop
	socket socket
	http   *unary.Conn
	// token is what the next calls carry.
	token string
	// partial is the beginning of a frame of which more is to come.
	partial []byte
	// dirty: it is on the loop's list of links that may have something to
	// write, or to change.
	dirty bool
	// answered: a response has come, so that the server is not only pretending
	// to be there.
	answered bool
	// stalled: there is more to write than the kernel takes now. The link is
	// ready when it takes more, too.
	stalled bool
	closed  bool
	alive   keepAlive
}

// newLink takes over a connection that has shaken hands.
func newLink(c *Conn, d dialed) (*link, error) {
	k := &link{conn: c, loop: c.loop}
	s, err := c.loop.poller.adopt(d.tcp, k)
	if err != nil {
		return nil, err
	}
	k.socket = s
	if d.tls != nil {
		k.socket = d.tls.attach(s, c.loop)
	}
	k.http = unary.New(c.httpConfig(), c.loop.pool)
	k.setToken(c.client.tokens.current())
	k.touch()
	return k, nil
}

// touch lets the loop look after the link before it waits.
func (k *link) touch() {
	if !k.dirty {
		k.dirty = true
		k.loop.dirty = append(k.loop.dirty, k)
	}
}

// Reads of a link until it is the next one's turn, and when it has broken. The
// latter are more than a kernel keeps.
const (
	readsAtOnce = 8
	lastReads   = 1000
)

// serve acts on what there is to read. What is too much for now it leaves for the
// loop's next turn.
func (k *link) serve() {
	if k.closed {
		return
	}
	k.touch()
	// A stalled link is ready again and again as long as it does not write: the
	// loop would find no moment to flush.
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

// read reads so many times, or until there is no more to read for now. It says
// whether there may be more.
func (k *link) read(times int) (more bool, err error) {
	for range times {
		buffer := k.loop.buffer
		kept := copy(buffer, k.partial)
		n, err := k.socket.read(buffer[kept:])
		if errors.Is(err, errNotReady) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		k.loop.now = load.Now()
		k.alive.heard = k.loop.now
		k.receive(buffer[:kept+n])
		if k.closed || kept+n < len(buffer) && !k.socket.buffers() {
			return false, nil
		}
	}
	return true, nil
}

func (k *link) receive(read []byte) {
	consumed, err := k.http.Receive(read)
	if err != nil {
		// The server may still hear what it did.
		_ = k.write()
		k.lose("the server broke the protocol: " + err.Error())
		return
	}
	k.keep(read[consumed:])
}

// keep keeps what is not a whole frame yet.
func (k *link) keep(rest []byte) {
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

// flush writes what there is, and retires the link when it takes no more
// calls.
func (k *link) flush() {
	if k.closed {
		return
	}
	if !k.tryWrite() {
		return
	}
	k.conn.greeted(k)
	if k.http.Open() {
		return
	}
	k.conn.retire(k, "")
	if k.http.Idle() && len(k.http.Output()) == 0 {
		k.close()
	}
}

// tryWrite writes what there is, and says whether the link is still there.
func (k *link) tryWrite() bool {
	err := k.write()
	if err != nil {
		k.hearOut()
		k.lose("the connection was lost: " + err.Error())
	}
	return err == nil
}

// hearOut acts on what came before the connection broke: calls that the server
// has answered are answered, and it may have said why it closed.
func (k *link) hearOut() {
	if k.closed {
		return
	}
	k.http.Drain()
	_, _ = k.read(lastReads)
}

func (k *link) write() error {
	if k.socket.pending() {
		if _, err := k.socket.write(nil); err != nil && !errors.Is(err, errNotReady) {
			return err
		}
	}
	for out := k.http.Output(); len(out) > 0; out = k.http.Output() {
		at := load.Now()
		n, err := k.socket.write(out)
		if errors.Is(err, errNotReady) {
			break
		}
		if err != nil {
			return err
		}
		k.http.Wrote(n, int64(at))
	}
	k.stalled = k.socket.pending() || len(k.http.Output()) > 0
	k.socket.notifyWritable(k.stalled)
	return nil
}

// lose ends the link and the calls on it. Those that were never sent go to the
// next link.
func (k *link) lose(why string) {
	if k.closed {
		return
	}
	k.loop.now = load.Now()
	k.close()
	k.conn.lost(k, why)
	k.http.Fail(unary.Unavailable, why)
}

// drain lets the calls on the link end and then closes it.
func (k *link) drain() {
	k.http.Drain()
	k.touch()
}

func (k *link) close() {
	if k.closed {
		return
	}
	k.closed = true
	k.alive.stop()
	k.socket.close()
	k.keep(nil)
	delete(k.conn.links, k)
}

// dialed is a connection that has shaken hands: over TCP, and over TLS if tls
// is not nil.
type dialed struct {
	tcp net.Conn
	tls *tlsTransport
}
