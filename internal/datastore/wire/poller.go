package wire

import (
	"net"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// poller waits for the sockets of one loop. All but wake and exact is for the
// loop's goroutine.
type poller interface {
	// adopt takes a connection over for a link.
	adopt(conn net.Conn, k *Link) (Socket, error)
	// wait appends the links whose sockets are ready. It waits for one, until
	// wake is called, or until one of two instants: a coarse one, to a
	// millisecond or so, and an exact one.
	wait(ready []*Link, coarse, exact load.Instant) []*Link
	// wake ends the wait, or the next one. Any goroutine may call it.
	wake()
	// exact says whether a wait ends at its exact instant, or up to a millisecond
	// later. Any goroutine may ask.
	exact() bool
	close()
}

// Socket is a connection that never blocks.
type Socket interface {
	// Read and Write move what they can, and fail with ErrNotReady if that is
	// nothing.
	Read(p []byte) (int, error)
	Write(p []byte) (int, error)
	// NotifyWritable says whether the link is ready also when it can write.
	NotifyWritable(on bool)
	Close()
	// Buffers says whether there may be more to read although the last read
	// did not fill its buffer, and no event tells so.
	Buffers() bool
	// Pending says whether something that Write took has not left yet. A Write of
	// nothing lets it.
	Pending() bool
}

// notReady is a net.Error, so that TLS takes it for what it is.
type notReady struct{}

func (notReady) Error() string   { return "the socket is not ready" }
func (notReady) Timeout() bool   { return true }
func (notReady) Temporary() bool { return true }

// ErrNotReady says that a socket can move nothing for now.
var ErrNotReady error = notReady{}
