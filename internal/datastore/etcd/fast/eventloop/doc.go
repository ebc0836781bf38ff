// Package eventloop runs connections of a request-response protocol on event loops. This costs a small part of a goroutine
// per connection.
//
// A few loops own the connections. A loop waits until some are readable, reads, and handles the responses. Clients
// whose requests have ended send their next ones. When there is nothing more to read, the loop writes once to each
// connection. No goroutine waits for a response.
//
// It imports load for the contract of connections, results for the counts, and golang.org/x/sys. Only a Session knows
// what the bytes mean. A connection is used only on its loop; other goroutines only post to it.
//
// The life of a connection:
//
//	dialing ──► link ──► draining link (it takes no more calls) ──► closed
//	   ▲  │       └────► lost (calls in flight fail as Unavailable) ──┘
//	   │  └─ failed: queued calls fail as Unavailable
//	   └──── the next call, after a pause that grows
//
// If a server must be checked first, for example which member it is, dialing ends after that check.
package eventloop
