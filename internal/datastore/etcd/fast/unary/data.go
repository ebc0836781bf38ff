package unary

import (
	"encoding/binary"
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

func (c *Conn) onData(h frame.Header, payload []byte) error {
	if c.idle(h.Stream) {
		return violation(frame.ProtocolError, "a DATA is for a stream that was never opened")
	}
	if err := c.consume(h.Length); err != nil {
		return err
	}
	content, ok := frame.Content(h, payload)
	if !ok {
		return violation(frame.ProtocolError, "the padding of a DATA is longer than its payload")
	}
	// Frames of a stream that has ended count only for the connection's window.
	if s := c.streams.at(h.Stream); s != nil {
		c.onStreamData(s, h, content)
	}
	return nil
}

// consume counts received bytes against the connection's window, and returns them to the server when half of it is
// used.
func (c *Conn) consume(bytes int) error {
	c.receiveWindow -= bytes
	if c.receiveWindow < 0 {
		return violation(frame.FlowControlError, "the server sends more than the connection's window")
	}
	if used := c.config.ConnWindow - c.receiveWindow; used > c.config.ConnWindow/2 {
		out := c.output()
		out.bytes = frame.AppendWindowUpdate(out.bytes, 0, used)
		c.receiveWindow = c.config.ConnWindow
	}
	return nil
}

func (c *Conn) onStreamData(s *Stream, h frame.Header, content []byte) {
	s.receiveWindow -= h.Length
	switch {
	case s.receiveWindow < 0:
		c.reset(s, frame.FlowControlError, Internal, "the server sent more than the stream's window")
	case !s.gotHeaders:
		c.reset(s, frame.ProtocolError, Internal, "the server sent data before headers")
	case h.Flags.Has(frame.EndStream):
		c.finish(s, Internal, "the server ended the stream without trailers")
	default:
		if code, detail := c.collect(s, content); code != OK {
			c.reset(s, frame.Cancel, code, detail)
			return
		}
		c.returnWindow(s)
	}
}

// returnWindow returns the bytes of a stream to the server when half of its window is used.
func (c *Conn) returnWindow(s *Stream) {
	if used := c.config.StreamWindow - s.receiveWindow; used > c.config.StreamWindow/2 {
		out := c.output()
		out.bytes = frame.AppendWindowUpdate(out.bytes, s.id, used)
		s.receiveWindow = c.config.StreamWindow
	}
}

// collect assembles the response. A message in a single frame, as nearly all are, is read without copying.
func (c *Conn) collect(s *Stream, content []byte) (Code, string) {
	if len(content) == 0 {
		return OK, ""
	}
	if s.gotMessage {
		return Internal, "the server sent more than one response"
	}
	if s.partial == nil && (content[0] != 0 || complete(content)) {
		return c.deliver(s, content)
	}
	if code, detail := c.buffer(s, content); code != OK {
		return code, detail
	}
	code, detail := c.deliver(s, s.partial)
	if s.gotMessage {
		c.dropPartial(s)
	}
	return code, detail
}

// buffer keeps a part of a response. It reserves room for the whole response once its length is known.
func (c *Conn) buffer(s *Stream, content []byte) (Code, string) {
	if s.partial == nil {
		s.partial = c.pool.Take()
	}
	room := len(s.partial) + len(content)
	if room >= messagePrefix && s.reserved == 0 {
		var prefix [messagePrefix]byte
		begun := copy(prefix[:], s.partial)
		copy(prefix[begun:], content)
		declared := messagePrefix + int64(binary.BigEndian.Uint32(prefix[1:]))
		if declared-messagePrefix > int64(c.config.MaxMessage) {
			return tooLong(declared-messagePrefix, c.config.MaxMessage)
		}
		if !c.config.Unread.take(declared) {
			return ResourceExhausted, "the responses that have arrived in part are too long together: they exceed the client's memory limit"
		}
		s.reserved = declared
		if int64(cap(s.partial)) < declared {
			whole := c.pool.TakeRoom(int(declared))
			whole = append(whole, s.partial...)
			c.pool.Give(s.partial)
			s.partial = whole
		}
	}
	s.partial = append(s.partial, content...)
	return OK, ""
}

// dropPartial frees the buffer and the reservation of an incomplete response, if there is one.
func (c *Conn) dropPartial(s *Stream) {
	c.pool.Give(s.partial)
	c.config.Unread.give(s.reserved)
	s.partial, s.reserved = nil, 0
}

func tooLong(bytes int64, atMost int) (Code, string) {
	return ResourceExhausted, fmt.Sprintf("the response has %d bytes, more than the limit of %d", bytes, atMost)
}

// complete returns whether the bytes are exactly one message with its prefix.
func complete(b []byte) bool {
	return len(b) >= messagePrefix && len(b)-messagePrefix == int(binary.BigEndian.Uint32(b[1:]))
}

// deliver hands over a message if it is complete, and fails if there are extra bytes.
func (c *Conn) deliver(s *Stream, b []byte) (Code, string) {
	if b[0] != 0 {
		return Internal, "the response is compressed, which this client has not offered"
	}
	if len(b) < messagePrefix {
		return OK, ""
	}
	declared := binary.BigEndian.Uint32(b[1:])
	if uint64(declared) > uint64(c.config.MaxMessage) {
		return tooLong(int64(declared), c.config.MaxMessage)
	}
	length := int(declared)
	switch {
	case len(b)-messagePrefix < length:
		return OK, ""
	case len(b)-messagePrefix > length:
		return Internal, "the server sent more than one response"
	}
	s.gotMessage = true
	if err := s.call.Received(b[messagePrefix:]); err != nil {
		return Internal, "the response cannot be read: " + err.Error()
	}
	return OK, ""
}
