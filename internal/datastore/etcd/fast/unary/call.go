package unary

// Call is a call as a connection uses it. The Conn calls its methods during its own methods. They may start calls, this
// one only after it has ended. They must not call Receive, Cancel or Fail.
type Call interface {
	// AppendMessage appends the request. It is called once, when the call is written.
	AppendMessage(dst []byte) []byte
	// Sent gets the time that Wrote was given when the request's last byte was written.
	Sent(at int64)
	// Received reads the response, whose bytes are valid only until it returns. It is not called for a call without a
	// response.
	Received(message []byte) error
	// Ended is the last method called. The detail explains a code that is not OK.
	Ended(code Code, detail string)
}

// Stream is the place of a call on a connection. The zero value is ready, and may be used again when its call has
// ended.
type Stream struct {
	conn   *Conn
	call   Call
	method int
	// id is 0 while the stream waits to be opened.
	id uint32
	// unsent is a request that did not fit into the windows, and sentBytes how many of its bytes were sent.
	unsent    []byte
	sentBytes int
	// sendWindow and receiveWindow are how many bytes each side may still send.
	sendWindow, receiveWindow int
	// partial is an incomplete response, and reserved its length once that is known.
	partial  []byte
	reserved int64
	// gotHeaders: the response's headers have arrived. gotMessage: its message has.
	gotHeaders, gotMessage bool
}

// Started returns whether a call is on the stream.
func (s *Stream) Started() bool { return s.conn != nil }
