package frame

import (
	"encoding/binary"
	"strconv"
)

// HeaderLen is the length of a frame's header in bytes.
const HeaderLen = 9

// Preface is what a client sends before its first frame.
const Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Limits of the protocol.
const (
	// MinMaxFrameLen is the payload length that every peer accepts, in bytes. It is the limit until a peer's settings
	// raise it.
	MinMaxFrameLen = 1 << 14
	// MaxMaxFrameLen is the highest limit that a peer's settings may set, in bytes.
	MaxMaxFrameLen = 1<<24 - 1
	// DefaultWindow is the initial size of a flow-control window, in bytes.
	DefaultWindow = 1<<16 - 1
	// MaxWindow is the maximum size of a flow-control window, in bytes.
	MaxWindow = 1<<31 - 1
	// MaxStream is the last stream ID of a connection.
	MaxStream = 1<<31 - 1
	// DefaultTableSize is the initial size of a header table, in bytes.
	DefaultTableSize = 4096
)

// Kind is a frame's type.
type Kind uint8

// The frames of RFC 9113. Frames of other types are ignored.
const (
	Data Kind = iota
	Headers
	Priority
	ResetStream
	Settings
	PushPromise
	Ping
	GoAway
	WindowUpdate
	Continuation
)

// Flags are a frame's flags. Their meaning depends on the kind.
type Flags uint8

// The flags of RFC 9113.
const (
	EndStream   Flags = 0x1
	Ack         Flags = 0x1
	EndHeaders  Flags = 0x4
	Padded      Flags = 0x8
	HasPriority Flags = 0x20
)

// Has returns whether all of these flags are set.
func (f Flags) Has(flags Flags) bool { return f&flags == flags }

// Header is the header of a frame.
type Header struct {
	// Length of the payload in bytes.
	Length int
	Kind   Kind
	Flags  Flags
	// Stream is 0 for the connection as a whole.
	Stream uint32
}

// Parse reads a header from the first HeaderLen bytes of b.
func Parse(b []byte) Header {
	_ = b[HeaderLen-1]
	return Header{
		Length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]),
		Kind:   Kind(b[3]),
		Flags:  Flags(b[4]),
		Stream: binary.BigEndian.Uint32(b[5:]) & MaxStream,
	}
}

// Put writes a header over the first HeaderLen bytes of b.
func (h Header) Put(b []byte) {
	_ = b[HeaderLen-1]
	b[0], b[1], b[2] = byte(h.Length>>16), byte(h.Length>>8), byte(h.Length)
	b[3], b[4] = byte(h.Kind), byte(h.Flags)
	binary.BigEndian.PutUint32(b[5:], h.Stream)
}

// Append appends a header.
func (h Header) Append(dst []byte) []byte {
	dst = append(dst, byte(h.Length>>16), byte(h.Length>>8), byte(h.Length), byte(h.Kind), byte(h.Flags))
	return binary.BigEndian.AppendUint32(dst, h.Stream)
}

// ErrorCode is the reason why a stream or a connection ended.
type ErrorCode uint32

// The error codes of RFC 9113, section 7.
const (
	NoError ErrorCode = iota
	ProtocolError
	InternalError
	FlowControlError
	SettingsTimeout
	StreamClosed
	FrameSizeError
	RefusedStream
	Cancel
	CompressionError
	ConnectError
	EnhanceYourCalm
	InadequateSecurity
	HTTP11Required
)

var errorNames = [...]string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
	"FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
	"INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
}

// String returns the name that RFC 9113 gives the code.
func (c ErrorCode) String() string {
	if uint64(c) < uint64(len(errorNames)) {
		return errorNames[c]
	}
	return "error code " + strconv.FormatUint(uint64(c), 10)
}
