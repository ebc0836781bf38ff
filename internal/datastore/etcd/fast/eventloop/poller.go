package eventloop

import (
	"net"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// poller waits for the sockets of one loop. Only the loop's goroutine may use it, except for wake and exact.
type poller interface {
	// adopt takes a connection over for a link.
	adopt(conn net.Conn, k *Link) (Socket, error)
	// wait appends the links whose sockets are ready. It waits for one, for a call of wake, or for one of two instants:
	// coarse, to about a millisecond, and exact.
	wait(ready []*Link, coarse, exact load.Instant) []*Link
	// wake ends the current wait, or the next one. Any goroutine may call it.
	wake()
	// exact returns whether a wait ends at its exact instant, or up to a millisecond later. Any goroutine may call it.
	exact() bool
	close()
}

// Socket is a connection that never blocks.
type Socket interface {
	// Read and Write move as many bytes as they can. If that is none, they fail with ErrNotReady.
	Read(p []byte) (int, error)
	Write(p []byte) (int, error)
	// NotifyWritable sets whether the link is ready also when it can write.
	NotifyWritable(on bool)
	Close()
	// Buffers returns whether there may be more to read although the last read did not fill its buffer, without an
	// event to signal it.
	Buffers() bool
	// Pending returns whether Write has accepted bytes that are not sent yet. A Write of nothing sends them.
	Pending() bool
}

// notReady is a net.Error, so that TLS treats it as temporary.
type notReady struct{}

func (notReady) Error() string   { return "the socket is not ready" }
func (notReady) Timeout() bool   { return true }
func (notReady) Temporary() bool { return true }

// ErrNotReady: a socket can move nothing for now.
var ErrNotReady error = notReady{}
