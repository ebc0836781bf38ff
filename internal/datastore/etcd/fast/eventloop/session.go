package eventloop

import "github.com/etcdbench/etcd-benchmark-operator/internal/load"

// Session is a protocol on one link: it turns calls into bytes to write, and bytes read into responses. Only the link's
// loop uses it.
type Session interface {
	// Receive handles the complete messages in the bytes read, and returns their length. The rest, of MaxPartial at
	// most, is passed again at the beginning of the next call. After an error only Output, Wrote and Fail may be
	// called.
	Receive(read []byte) (consumed int, err error)
	// Output returns the bytes to write. They are valid until Wrote or another method is called.
	Output() []byte
	// Wrote reports that the first n bytes of Output were written, at this instant.
	Wrote(n int, at load.Instant)
	// Established returns whether the server has shown that it speaks the protocol.
	Established() bool
	// Introduce sends the requests that must be answered before the link takes calls, and returns whether there are
	// any. If so, the session calls Link.Introduced later. Otherwise calls may start at once.
	Introduce() bool
	// Open returns whether calls may be started. Once it is false it stays false.
	Open() bool
	// NearlyUsedUp returns whether the link is nearly out of stream IDs and needs a successor.
	NearlyUsedUp() bool
	// Drain makes the session take no more calls.
	Drain()
	// Idle returns whether the session has no call.
	Idle() bool
	// Ping sends a PING. Any bytes from the server count as a response.
	Ping()
	// TakeWaiting returns the calls that were never sent, to be started on another link. It ends the session's own
	// waiting requests with the detail why.
	TakeWaiting(why string) []Call
	// Fail ends all calls as Unavailable, because the link is lost.
	Fail(why string)
}

// Call is the request of a slot. A protocol's slot embeds Slot and implements the rest.
type Call interface {
	load.Slot
	// Start puts the call on the session of an open link.
	Start(*Link)
	// Cancel ends the call on its link's session with this code, and returns whether the session had the call. If not,
	// the call waits for a link.
	Cancel(code, detail string) bool
	// Failed ends a call that is on no link.
	Failed(code, detail string)

	base() *Slot
}
