package fast

import (
	"net"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// poller waits for the sockets of one loop. All but wake and exact is for the
// loop's goroutine.
type poller interface {
	// adopt takes a connection over for a link.
	adopt(conn net.Conn, k *link) (socket, error)
	// wait appends the links whose sockets are ready. It waits for one, until
	// wake is called, or until one of two instants: a coarse one, to a
	// millisecond or so, and an exact one.
	wait(ready []*link, coarse, exact load.Instant) []*link
	// wake ends the wait, or the next one. Any goroutine may call it.
	wake()
	// exact says whether a wait ends at its exact instant, or up to a millisecond
	// later. Any goroutine may ask.
	exact() bool
	close()
}

// socket is a connection that never blocks.
type socket interface {
	// read and write move what they can, and fail with errNotReady if that is
	// nothing.
	read(p []byte) (int, error)
	write(p []byte) (int, error)
	// notifyWritable says whether the link is ready also when it can write.
	notifyWritable(on bool)
	close()
	// buffers says whether there may be more to read although the last read
	// did not fill its buffer, and no event tells so.
	buffers() bool
	// pending says whether something that write took has not left yet. A write of
	// nothing lets it.
	pending() bool
}

// notReady is a net.Error, so that TLS takes it for what it is.
type notReady struct{}

func (notReady) Error() string   { return "the socket is not ready" }
func (notReady) Timeout() bool   { return true }
func (notReady) Temporary() bool { return true }

var errNotReady error = notReady{}
