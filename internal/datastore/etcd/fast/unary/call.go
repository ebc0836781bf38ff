package unary

// Call is what a connection needs to know of a call. Its methods are called on
// the goroutine that is in a method of the Conn; they may start calls, this
// one again once it has ended, but must not feed, cancel or fail.
type Call interface {
	// AppendMessage appends the request. It is called once, when the call goes
	// on the wire.
	AppendMessage(dst []byte) []byte
	// Sent hears what Wrote was told when the request's last byte left.
	Sent(at int64)
	// Received reads the response, which is gone when it returns. It is not
	// called for a call that has no response.
	Received(message []byte) error
	// Ended is the last call. The detail says why a code is not OK.
	Ended(code Code, detail string)
}

// Stream is the place of a call on a connection. The zero value is ready, and
// may be used again when its call has ended.
type Stream struct {
	conn   *Conn
	call   Call
	method int
	// id is 0 while the stream waits to be opened.
	id uint32
	// unsent is a request that did not fit into the windows. So many of its bytes
	// have passed.
	unsent []byte
	passed int
	// sendWindow and receiveWindow are what each side may still send.
	sendWindow, receiveWindow int
	// partial is a response of which more is to come, and reserved its length once that
	// is known.
	partial  []byte
	reserved int64
	// headed: the response's headers have come. answered: its message has.
	headed, answered bool
}

// Started says whether a call is on the stream.
func (s *Stream) Started() bool { return s.conn != nil }
