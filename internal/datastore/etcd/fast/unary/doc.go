// Package unary is the client's side of unary gRPC calls over one HTTP/2 connection. Its input is bytes read and calls
// to send; its output is bytes to write and results of calls.
//
// It is pure: it reads no clock, does no I/O and starts no goroutine; a Conn belongs to one goroutine at a time. It
// imports frame and golang.org/x/net/http2/hpack. Every call that was started ends exactly once, even if the peer
// violates the protocol.
//
// The life of a stream:
//
//	Start → waiting (the peer's limit of streams) → open ─┬→ blocked (windows) ─┐
//	                                                      └──── sent ◄──────────┘
//	open, blocked, sent → Ended: trailers, RST_STREAM, GOAWAY, Cancel, Fail
//
// A stream also waits while too much output is unwritten. Once its headers are written, the server can end it: a frame
// for it before that is a violation.
package unary
