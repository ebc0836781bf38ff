package unary

import (
	"math"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

func (c *Conn) onSettings(h frame.Header, payload []byte) error {
	if h.Flags.Has(frame.Ack) {
		return c.onSettingsAck(payload)
	}
	if !c.established {
		c.peer.streams = math.MaxUint32
	}
	var err error
	whole := frame.ParseSettings(payload, func(s frame.Setting) bool {
		err = c.set(s)
		return err == nil
	})
	if !whole {
		err = violation(frame.FrameSizeError, "a SETTINGS is not a list of settings")
	}
	if err != nil {
		return err
	}
	out, err := c.ack()
	if err != nil {
		return err
	}
	out.bytes = frame.AppendSettingsAck(out.bytes)
	c.established = true
	c.unblock()
	c.admit()
	return nil
}

func (c *Conn) onSettingsAck(payload []byte) error {
	if !c.established {
		return violation(frame.ProtocolError, "the first frame is not SETTINGS but its acknowledgement")
	}
	if len(payload) > 0 {
		return violation(frame.FrameSizeError, "the acknowledgement of SETTINGS is not empty")
	}
	return nil
}

// set applies one setting. Settings without meaning for a client are ignored.
func (c *Conn) set(s frame.Setting) error {
	switch s.ID {
	case frame.EnablePush:
		if s.Value != 0 {
			return violation(frame.ProtocolError, "SETTINGS_ENABLE_PUSH is not 0, the only value that a server may send")
		}
	case frame.HeaderTableSize:
		c.blocks.setTableSize(s.Value)
	case frame.MaxConcurrentStreams:
		c.peer.streams = s.Value
	case frame.InitialWindowSize:
		return c.setWindow(s.Value)
	case frame.MaxFrameSize:
		if s.Value < frame.MinMaxFrameLen || s.Value > frame.MaxMaxFrameLen {
			return violation(frame.ProtocolError, "SETTINGS_MAX_FRAME_SIZE is out of its range")
		}
		c.peer.frame = int(s.Value)
	}
	return nil
}

// setWindow changes the send window of all streams. Open streams change by the difference, which can make their windows
// negative.
func (c *Conn) setWindow(value uint32) error {
	if value > frame.MaxWindow {
		return violation(frame.FlowControlError, "SETTINGS_INITIAL_WINDOW_SIZE is out of its range")
	}
	more := int(value) - c.peer.window
	c.peer.window = int(value)
	for s := range c.streams.all() {
		if !grow(&s.sendWindow, more) {
			return violation(frame.FlowControlError, "SETTINGS_INITIAL_WINDOW_SIZE overflows a stream's window")
		}
	}
	return nil
}

func (c *Conn) onWindowUpdate(h frame.Header, payload []byte) error {
	if len(payload) != 4 {
		return violation(frame.FrameSizeError, "a WINDOW_UPDATE is not 4 bytes long")
	}
	increment := frame.ParseUint31(payload)
	if h.Stream == 0 {
		return c.growWindow(increment)
	}
	if c.idle(h.Stream) {
		return violation(frame.ProtocolError, "a WINDOW_UPDATE is for a stream that was never opened")
	}
	s := c.streams.at(h.Stream)
	if s == nil {
		return nil
	}
	switch {
	case increment == 0:
		c.reset(s, frame.ProtocolError, Internal, "the server sent a WINDOW_UPDATE of 0")
	case !grow(&s.sendWindow, increment):
		c.reset(s, frame.FlowControlError, Internal, "the server overflowed the stream's window")
	default:
		c.unblock()
	}
	return nil
}

func (c *Conn) growWindow(increment int) error {
	if increment == 0 {
		return violation(frame.ProtocolError, "a WINDOW_UPDATE of the connection is 0")
	}
	if !grow(&c.sendWindow, increment) {
		return violation(frame.FlowControlError, "a WINDOW_UPDATE overflows the connection's window")
	}
	c.unblock()
	return nil
}

// grow adds to a window, and returns false if the sum is above MaxWindow. Both numbers may be negative. The sum may not
// fit into an int of 32 bits.
func grow(window *int, more int) bool {
	sum := int64(*window) + int64(more)
	if sum > frame.MaxWindow {
		return false
	}
	*window = int(sum)
	return true
}
