// Package wire runs connections of a protocol of requests and responses, for a
// small part of what a goroutine for each of them would cost.
//
// A few loops own the connections. A loop waits until some are readable, reads
// and acts on what has come, lets the clients whose requests have ended send
// the next ones, and writes once to each connection when nothing more is ready.
// No goroutine waits for a response.
//
// It imports load for the contract of connections, results for what is counted, and
// golang.org/x/sys; what the bytes mean is for a Session to know. Its one invariant:
// everything that concerns a connection happens on its loop; other goroutines only
// post to it.
//
// How a connection lives:
//
//	dialing ──► link ──► draining link (it takes no more calls) ──► closed
//	   ▲  │       └────► lost (calls in flight fail as Unavailable) ──┘
//	   │  └─ failed: queued calls fail as Unavailable
//	   └──── the next call, after a pause that grows
//
// Where a server has to say something first, such as which member it is, dialing
// ends with that.
package wire
