package load

import "github.com/etcdbench/etcd-benchmark-operator/internal/results"

// LaneConn is a Conn that can carry clients without a goroutine for each: they
// are called, on the connection's loop, when their requests have ended. An
// engine whose connections all are LaneConns runs its clients so.
type LaneConn interface {
	Conn
	// Loop is what calls this connection's clients. It is always the same.
	Loop() Loop
	// Lane returns a place for one client. done is called on the loop each time
	// that the lane's request has ended.
	Lane(done func()) Lane
}

// Lane carries one request at a time. It is used on its connection's loop
// alone.
type Lane interface {
	// Send sends the request, once. Both arguments belong to the lane until it
	// calls done, which is never before Send has returned; then the response is
	// filled as by Conn.Do.
	Send(phase results.Phase, req *Request, resp *Response)
	// Abort ends the request that is in flight, if one is, as Canceled.
	Abort()
}

// Loop is one goroutine that serves connections and calls their clients. The
// clients must not block it.
type Loop interface {
	// Post lets the loop call f soon. Any goroutine may post.
	Post(f func())
	// Alarm lets the loop call f at an instant, instead of what it was told
	// before. It is used on the loop alone.
	Alarm(at Instant, f func())
	// Exact says whether an alarm rings to some microseconds, and not to a
	// millisecond. It never changes, and any goroutine may ask.
	Exact() bool
}
