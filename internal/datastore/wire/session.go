package wire

import "github.com/etcdbench/etcd-benchmark-operator/internal/load"

// Session speaks a protocol over one link: it turns calls into bytes to write,
// and bytes that were read into their answers. It is used on the link's loop alone.
type Session interface {
	// Receive acts on the whole messages among bytes that were read, and returns how
	// many bytes they are: the rest, of MaxPartial at most, comes first the next time.
	// After an error the session is good for nothing but to write its output and to Fail.
	Receive(read []byte) (consumed int, err error)
	// Output returns what is to be written, until Wrote or any other method.
	Output() []byte
	// Wrote says that the first n bytes of Output have been handed over, from this
	// instant on.
	Wrote(n int, at load.Instant)
	// Greeted says whether the server has shown that it speaks the protocol.
	Greeted() bool
	// Introduce asks the server what has to be known before calls go over the link,
	// and says whether it does; then the session calls Link.Introduced. Without
	// questions calls may be started at once.
	Introduce() bool
	// Open says whether calls may be started. Once it is false it stays false.
	Open() bool
	// NearlyUsedUp says that it is time for another link.
	NearlyUsedUp() bool
	// Drain makes the session take no more calls.
	Drain()
	// Idle says whether no call is on the session.
	Idle() bool
	// Ping asks for a sign of life. Whatever comes next is one.
	Ping()
	// TakeWaiting returns the calls that were never sent, to be started on another
	// link. Questions of its own that wait it ends, because of why.
	TakeWaiting(why string) []Call
	// Fail ends all calls as Unavailable, because the link is lost.
	Fail(why string)
}

// Call is the request of a lane, as connections know it. A protocol's lane embeds
// Lane and implements the rest.
type Call interface {
	load.Lane
	// Start puts the call on the session of a link, which is open.
	Start(*Link)
	// Cancel ends the call on its link's session, with this code, and says whether it
	// was there. Where it was not, it waits for a link.
	Cancel(code, detail string) bool
	// Failed ends a call that is on no link.
	Failed(code, detail string)

	base() *Lane
}
