package unary

import (
	"errors"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

// Receive handles the complete frames in the bytes read, and returns their length: the rest must be passed again at the
// beginning of the next call. After an error only Output, Wrote and Fail may be called.
func (c *Conn) Receive(read []byte) (consumed int, err error) {
	for err == nil && len(read)-consumed >= frame.HeaderLen {
		h := frame.Parse(read[consumed:])
		if h.Length > frame.MinMaxFrameLen {
			err = violation(frame.FrameSizeError, "a frame is longer than the 16384 bytes that this client accepts")
			break
		}
		end := consumed + frame.HeaderLen + h.Length
		if end > len(read) {
			return consumed, nil
		}
		err = c.act(h, read[consumed+frame.HeaderLen:end])
		consumed = end
	}
	if err != nil {
		c.goAway(err)
	}
	return consumed, err
}

func (c *Conn) goAway(err error) {
	c.failed, c.draining = true, true
	if v, ok := errors.AsType[*Error](err); ok {
		out := c.output()
		out.bytes = frame.AppendGoAway(out.bytes, v.Code, v.Reason)
	}
}

// act handles one frame.
func (c *Conn) act(h frame.Header, payload []byte) error {
	if !c.established && h.Kind != frame.Settings {
		return violation(frame.ProtocolError, "the first frame is not SETTINGS")
	}
	if c.continued.frames > 0 && h.Kind != frame.Continuation {
		return violation(frame.ProtocolError, "a header block is interrupted")
	}
	switch h.Kind {
	case frame.Data:
		return c.onData(h, payload)
	case frame.Headers:
		return c.onHeaders(h, payload)
	case frame.Continuation:
		return c.onContinuation(h, payload)
	case frame.ResetStream:
		return c.onReset(h, payload)
	case frame.PushPromise:
		return violation(frame.ProtocolError, "the server pushes, which this client has forbidden")
	case frame.Priority:
		return c.onPriority(h)
	case frame.WindowUpdate:
		return c.onWindowUpdate(h, payload)
	}
	return c.onConnFrame(h, payload)
}

// onConnFrame handles frames for the whole connection. Frames of an unknown type are ignored.
func (c *Conn) onConnFrame(h frame.Header, payload []byte) error {
	if h.Kind > frame.Continuation {
		return nil
	}
	if h.Stream != 0 {
		return violation(frame.ProtocolError, "a frame for the connection names a stream")
	}
	switch h.Kind {
	case frame.Settings:
		return c.onSettings(h, payload)
	case frame.Ping:
		return c.onPing(h, payload)
	}
	return c.onGoAway(payload)
}

// idle returns whether, as far as the server can know, this client has never opened a stream with this id. The server
// must not send on such a stream.
func (c *Conn) idle(id uint32) bool { return id%2 == 0 || id >= c.firstUnsent }

func (c *Conn) onReset(h frame.Header, payload []byte) error {
	if len(payload) != 4 {
		return violation(frame.FrameSizeError, "a RST_STREAM is not 4 bytes long")
	}
	if c.idle(h.Stream) {
		return violation(frame.ProtocolError, "a RST_STREAM is for a stream that was never opened")
	}
	if s := c.streams.at(h.Stream); s != nil {
		code := frame.ParseErrorCode(payload)
		c.end(s, codeOfReset(code), "the server reset the stream with "+code.String())
	}
	return nil
}

func (c *Conn) onPriority(h frame.Header) error {
	if h.Stream == 0 {
		return violation(frame.ProtocolError, "a PRIORITY names no stream")
	}
	if h.Length != frame.PriorityLen {
		return violation(frame.FrameSizeError, "a PRIORITY is not 5 bytes long")
	}
	return nil
}

// maxAcks is how many acknowledgements may be unwritten. A server that exceeds it keeps sending and does not read.
const maxAcks = 10000

// isAck returns whether a frame of this client acknowledges one of the server's.
func isAck(h frame.Header) bool {
	return h.Flags.Has(frame.Ack) && (h.Kind == frame.Ping || h.Kind == frame.Settings)
}

// ack returns the output for an acknowledgement.
func (c *Conn) ack() (*output, error) {
	out := c.output()
	out.acks++
	if out.acks > maxAcks {
		return nil, violation(frame.EnhanceYourCalm, "the server does not read the acknowledgements of its frames")
	}
	return out, nil
}

func (c *Conn) onPing(h frame.Header, payload []byte) error {
	if len(payload) != frame.PingLen {
		return violation(frame.FrameSizeError, "a PING is not 8 bytes long")
	}
	if h.Flags.Has(frame.Ack) {
		return nil
	}
	out, err := c.ack()
	if err == nil {
		out.bytes = frame.AppendPingAck(out.bytes, payload)
	}
	return err
}

// onGoAway ends the calls that the server will not process, and lets the others finish.
func (c *Conn) onGoAway(payload []byte) error {
	if len(payload) < frame.GoAwayLen {
		return violation(frame.FrameSizeError, "a GOAWAY is shorter than 8 bytes")
	}
	last, code, why := frame.ParseGoAway(payload)
	c.draining = true
	detail := "the server closes the connection (GOAWAY, " + code.String()
	if len(why) > 0 {
		detail += ": " + string(why)
	}
	for _, s := range c.after(last) {
		c.end(s, Unavailable, detail+")")
	}
	return nil
}
