package unary

import (
	"fmt"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

// Config is common to connections. It must not change while one of them is in use.
type Config struct {
	// Scheme is "http", or "https" over TLS.
	Scheme string
	// Authority is the value of the :authority header.
	Authority string
	UserAgent string
	// Methods are the paths of the methods. Calls refer to them by index.
	Methods []string
	// MaxMessage is the longest response, in bytes. A longer one fails as ResourceExhausted.
	MaxMessage int
	// Unread bounds the total length of the responses that have arrived in part, over all connections that share it;
	// nil is no bound.
	Unread *Budget
	// StreamWindow and ConnWindow are how many bytes the peer may send before this side returns window; ConnWindow is
	// DefaultWindow at least.
	StreamWindow, ConnWindow int
	// LastStream is the last stream ID; 0 is the protocol's.
	LastStream uint32
}

// Conn is one connection. Its owner writes the bytes of Output and reports that to Wrote, passes the bytes read to
// Receive, and ends the connection with Fail.
type Conn struct {
	config *Config
	pool   *Pool
	out    *output
	failed bool
	// draining: no more streams are opened.
	draining bool

	// The sending half.
	blocks     headerBlocks
	nextStream uint32
	// firstUnsent is the first stream whose headers are not yet written, so that the peer cannot know it.
	firstUnsent uint32
	streams     table
	waiting     queue
	blocked     []*Stream
	sendWindow  int
	peer        peerSettings

	// The receiving half.
	established   bool
	header        headerReader
	continued     continuation
	receiveWindow int
}

// peerSettings are the limits that the peer has set.
type peerSettings struct {
	streams uint32
	window  int
	frame   int
}

// New returns a connection whose output is the client's preface. Calls wait until the peer's SETTINGS have arrived.
func New(config *Config, pool *Pool) *Conn {
	c := &Conn{
		config: config, pool: pool,
		nextStream: 1, firstUnsent: 1, sendWindow: frame.DefaultWindow,
		peer:          peerSettings{window: frame.DefaultWindow, frame: frame.MinMaxFrameLen},
		receiveWindow: config.ConnWindow,
	}
	c.blocks.init(config)
	c.header.init()
	out := c.output()
	out.bytes = append(out.bytes, frame.Preface...)
	out.next = len(out.bytes)
	out.bytes = frame.AppendSettings(out.bytes,
		frame.Setting{ID: frame.EnablePush, Value: 0},
		frame.Setting{ID: frame.InitialWindowSize, Value: uint32(config.StreamWindow)},
		frame.Setting{ID: frame.MaxHeaderListSize, Value: maxHeaderList})
	if more := config.ConnWindow - frame.DefaultWindow; more > 0 {
		out.bytes = frame.AppendWindowUpdate(out.bytes, 0, more)
	}
	return c
}

// Established returns whether the peer's SETTINGS have arrived.
func (c *Conn) Established() bool { return c.established }

// Open returns whether calls may be started. Once it is false it stays false.
func (c *Conn) Open() bool { return !c.failed && !c.draining }

// Drain makes the connection take no more calls.
func (c *Conn) Drain() { c.draining = true }

// Idle returns whether the connection has no call.
func (c *Conn) Idle() bool { return c.streams.length == 0 && c.waiting.length == 0 }

// SetToken sets the authentication token of later calls; "" is none.
func (c *Conn) SetToken(token string) { c.blocks.setToken(token) }

// Output returns the bytes to write. They are valid until Wrote or another method is called.
func (c *Conn) Output() []byte {
	if c.out == nil {
		return nil
	}
	return c.out.bytes[c.out.written:]
}

// Wrote reports that the first n bytes of Output were written. The calls whose last byte was among them get at.
func (c *Conn) Wrote(n int, at int64) {
	o := c.out
	o.written += n
	sent := 0
	for ; sent < len(o.marks) && o.marks[sent].end <= o.written; sent++ {
		if m := o.marks[sent]; m.stream.conn == c && m.stream.id == m.id {
			m.stream.call.Sent(at)
		}
	}
	if o.written == len(o.bytes) {
		c.out, c.firstUnsent = nil, c.nextStream
		c.pool.giveOutput(o)
	} else {
		o.marks = slices.Delete(o.marks, 0, sent)
		c.trackFrames(o)
		o.compact()
	}
	if c.waiting.length > 0 {
		c.admit()
	}
}

// trackFrames looks at the frames that are completely written, while more output is left.
func (c *Conn) trackFrames(o *output) {
	for o.next+frame.HeaderLen <= o.written {
		h := frame.Parse(o.bytes[o.next:])
		end := o.next + frame.HeaderLen + h.Length
		if end > o.written {
			return
		}
		o.next = end
		switch {
		case h.Kind == frame.Headers:
			c.firstUnsent = h.Stream + 2
		case isAck(h):
			o.acks--
		}
	}
}

func (c *Conn) output() *output {
	if c.out == nil {
		c.out = c.pool.takeOutput()
	}
	return c.out
}

// Fail ends all calls, because the connection is lost.
func (c *Conn) Fail(code Code, detail string) {
	c.failed = true
	for _, call := range c.TakeWaiting() {
		call.Ended(code, detail)
	}
	for _, s := range c.after(0) {
		c.end(s, code, detail)
	}
	c.pool.Give(c.continued.block)
	c.continued = continuation{}
}

// after returns the open streams with an id above last, in order.
func (c *Conn) after(last uint32) []*Stream {
	var after []*Stream
	for s := range c.streams.all() {
		if s.id > last {
			after = append(after, s)
		}
	}
	slices.SortFunc(after, func(a, b *Stream) int { return int(a.id) - int(b.id) })
	return after
}

// Error is a violation of the protocol that ends a connection. The GOAWAY for the peer is in the output.
type Error struct {
	Code   frame.ErrorCode
	Reason string
}

// Error describes the violation.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Reason) }

func violation(code frame.ErrorCode, reason string) error { return &Error{Code: code, Reason: reason} }

// Ping sends a PING. Any frame from the peer shows that it is alive.
func (c *Conn) Ping() {
	out := c.output()
	out.bytes = frame.AppendPing(out.bytes, make([]byte, frame.PingLen))
}
