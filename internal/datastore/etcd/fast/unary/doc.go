// Package unary is the client's side of unary gRPC calls over one HTTP/2
// connection: bytes that were read and calls that want to be sent go in, bytes
// to write and the ends of calls come out.
//
// It is pure: it reads no clock, does no I/O and starts no goroutine; a Conn
// belongs to one goroutine at a time. It imports frame and
// golang.org/x/net/http2/hpack. Its one invariant: every call that was started
// ends exactly once, whatever the peer sends.
//
// The life of a stream:
//
//	Start → waiting (the peer's limit of streams) → open ─┬→ blocked (windows) ─┐
//	                                                      └──── sent ◄──────────┘
//	open, blocked, sent → Ended: trailers, RST_STREAM, GOAWAY, Cancel, Fail
//
// A stream waits, too, while too much is unwritten. The server can end it once
// its headers have left: what comes for it before that is a violation.
package unary
