package unary

import (
	"encoding/binary"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

// messagePrefix is the length of gRPC's prefix of a message: a flag for compression and the length.
const messagePrefix = 5

// Start sends a call on a free stream, immediately if the peer allows it. The connection must be Open.
func (c *Conn) Start(s *Stream, method int, call Call) {
	s.conn, s.call, s.method = c, call, method
	if c.waiting.length > 0 || !c.mayOpen() {
		c.waiting.put(s)
		return
	}
	c.open(s)
}

// maxUnwritten is how much output may be unwritten when a stream is opened, in bytes. It bounds the memory for a server
// that does not read.
const maxUnwritten = 4 << 20

// mayOpen returns whether one more stream may be opened now.
func (c *Conn) mayOpen() bool {
	return c.established && !c.draining && uint32(c.streams.length) < c.peer.streams && len(c.Output()) < maxUnwritten
}

// admit opens waiting streams, as far as the peer allows it.
func (c *Conn) admit() {
	for c.waiting.length > 0 && c.mayOpen() {
		c.open(c.waiting.take())
	}
}

// TakeWaiting returns the calls that were never sent, to be ended or to be started on another connection. Their streams
// are free.
func (c *Conn) TakeWaiting() []Call {
	calls := make([]Call, 0, c.waiting.length)
	for c.waiting.length > 0 {
		s := c.waiting.take()
		calls = append(calls, s.call)
		*s = Stream{}
	}
	c.waiting = queue{}
	return calls
}

func (c *Conn) open(s *Stream) {
	s.id = c.nextStream
	s.sendWindow, s.receiveWindow = c.peer.window, c.config.StreamWindow
	c.nextStream += 2
	if c.nextStream > c.lastStream() {
		c.draining = true
	}
	c.streams.put(s)
	c.sendHeaders(s)
	c.sendMessage(s)
}

// NearlyUsedUp returns whether the last thirty-second part of the stream IDs has begun, so that another connection is
// needed.
func (c *Conn) NearlyUsedUp() bool {
	last := c.lastStream()
	return c.nextStream > last-last/32
}

func (c *Conn) lastStream() uint32 {
	if c.config.LastStream != 0 {
		return c.config.LastStream
	}
	return frame.MaxStream
}

// sendHeaders appends the header block, in as many frames as it needs.
func (c *Conn) sendHeaders(s *Stream) {
	out := c.output()
	start := len(out.bytes)
	out.bytes = append(out.bytes, make([]byte, frame.HeaderLen)...)
	out.bytes = c.blocks.append(out.bytes, s.method)
	h := frame.Header{Length: len(out.bytes) - start - frame.HeaderLen, Kind: frame.Headers, Stream: s.id}
	if h.Length <= c.peer.frame {
		h.Flags = frame.EndHeaders
		h.Put(out.bytes[start:])
		return
	}
	block := slices.Clone(out.bytes[start+frame.HeaderLen:])
	out.bytes = appendFrames(out.bytes[:start], h, frame.Continuation, block, c.peer.frame)
}

// appendFrames splits a header block into frames of at most this length. The first is like h, the others are of another
// kind.
func appendFrames(dst []byte, h frame.Header, others frame.Kind, block []byte, atMost int) []byte {
	for {
		n := min(len(block), atMost)
		h.Length = n
		if n == len(block) {
			h.Flags |= frame.EndHeaders
		}
		dst = append(h.Append(dst), block[:n]...)
		if block = block[n:]; len(block) == 0 {
			return dst
		}
		h.Kind = others
	}
}

// sendMessage appends the request in one frame, written in place, if the windows have room for it and no other stream
// is blocked. Otherwise it stores the request in unsent.
func (c *Conn) sendMessage(s *Stream) {
	out := c.output()
	start := len(out.bytes)
	out.bytes = append(out.bytes, make([]byte, frame.HeaderLen+messagePrefix)...)
	out.bytes = s.call.AppendMessage(out.bytes)
	body := out.bytes[start+frame.HeaderLen:]
	binary.BigEndian.PutUint32(body[1:], uint32(len(body)-messagePrefix))
	if len(c.blocked) == 0 && len(body) <= min(c.peer.frame, c.sendWindow, s.sendWindow) {
		frame.Header{Length: len(body), Kind: frame.Data, Flags: frame.EndStream, Stream: s.id}.Put(out.bytes[start:])
		c.sent(s, len(body))
		return
	}
	s.unsent = append(c.pool.Take(), body...)
	out.bytes = out.bytes[:start]
	c.blocked = append(c.blocked, s)
	c.unblock()
}

// sent accounts for body bytes that end the request of a stream.
func (c *Conn) sent(s *Stream, bytes int) {
	c.sendWindow -= bytes
	s.sendWindow -= bytes
	c.out.marks = append(c.out.marks, mark{end: len(c.out.bytes), stream: s, id: s.id})
}

// unblock sends as much as the windows allow, in order. A stream whose own window is full does not block the others.
func (c *Conn) unblock() {
	c.blocked = slices.DeleteFunc(c.blocked, func(s *Stream) bool { return c.sendRest(s) })
}

// sendRest sends a part of a stored request, and returns whether it was the rest.
func (c *Conn) sendRest(s *Stream) bool {
	for s.sentBytes < len(s.unsent) {
		rest := s.unsent[s.sentBytes:]
		n := min(len(rest), c.peer.frame, c.sendWindow, s.sendWindow)
		if n <= 0 {
			return false
		}
		c.sendChunk(s, rest[:n], n == len(rest))
		s.sentBytes += n
	}
	c.pool.Give(s.unsent)
	s.unsent = nil
	return true
}

func (c *Conn) sendChunk(s *Stream, chunk []byte, last bool) {
	out := c.output()
	h := frame.Header{Length: len(chunk), Kind: frame.Data, Stream: s.id}
	if last {
		h.Flags = frame.EndStream
	}
	out.bytes = append(h.Append(out.bytes), chunk...)
	if last {
		c.sent(s, len(chunk))
		return
	}
	c.sendWindow -= len(chunk)
	s.sendWindow -= len(chunk)
}

// Cancel ends a call that has not ended, with this code, and sends RST_STREAM.
func (c *Conn) Cancel(s *Stream, code Code, detail string) {
	if call := s.call; s.id == 0 {
		c.waiting.remove(s)
		*s = Stream{}
		call.Ended(code, detail)
		return
	}
	c.reset(s, frame.Cancel, code, detail)
}

// reset ends a stream on both sides.
func (c *Conn) reset(s *Stream, reason frame.ErrorCode, code Code, detail string) {
	out := c.output()
	out.bytes = frame.AppendResetStream(out.bytes, s.id, reason)
	c.end(s, code, detail)
}

// end removes a stream from the connection and ends its call. The stream may be in use again when end returns.
func (c *Conn) end(s *Stream, code Code, detail string) {
	c.streams.remove(s)
	if s.unsent != nil {
		c.blocked = slices.DeleteFunc(c.blocked, func(b *Stream) bool { return b == s })
		c.pool.Give(s.unsent)
	}
	c.dropPartial(s)
	call := s.call
	*s = Stream{}
	c.admit()
	call.Ended(code, detail)
}
