// Package fast is the Fast transport: unary calls of etcd's KV and Lease
// services over HTTP/2, for a small part of what they cost a client in grpc-go.
//
// A few loops own the connections. A loop waits until some are readable, reads
// and acts on what has come, lets the clients whose requests have ended send
// the next ones, and writes once to each connection when nothing more is ready.
// No goroutine waits for a response.
//
// It imports load for the contract of connections, its pure packages frame,
// unary and message, and golang.org/x/sys. Its one invariant: everything that
// concerns a connection happens on its loop; other goroutines only post to it.
//
// How a connection lives:
//
//	dialing ──► link ──► draining link (GOAWAY, numbers used up) ──► closed
//	   ▲  │       └────► lost (calls in flight fail as Unavailable) ──┘
//	   │  └─ failed: queued calls fail as Unavailable
//	   └──── the next call, after a pause that grows
//
// Where it matters which member an address leads to, dialing ends when the server
// has said which one it is.
package fast
