package load

import (
	"context"
	"fmt"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Driver speaks to the target of one run over one transport, for one client
// pod. What only some stores have is in Observer, Sampler and Disturber, which a
// driver may implement, too. Its errors carry an *Error where the cause is known. All
// methods but Close end soon after their context does; each is called by one goroutine
// at a time, but Connect, View, Sample and Requests at any time, and Disturb for
// each disturbance of the plan.
type Driver interface {
	// Preflight checks that each address of the plan can be reached, is
	// healthy and lets this client in, and returns what it learned. An Observer also
	// returns the view of the members that it had, against which every later one is
	// held.
	Preflight(ctx context.Context) (*results.Target, members.View, error)
	// Connect opens the connection with this global index and returns it ready
	// to carry requests. The driver closes it in Close.
	Connect(ctx context.Context, connection int) (Conn, error)
	// Claim makes the run the owner of its prefix, or joins the other pods if
	// the run owns it already. A prefix that holds anything else fails as
	// PrefixNotEmpty and stays untouched.
	Claim(ctx context.Context) error
	// Release says that this pod writes no more. The last pod to say so
	// deletes the run's keys; the others wait for a while to see that happen.
	// An error goes with CleaningKeysLeft.
	Release(ctx context.Context) (results.Cleaning, error)
	// Clean deletes what the pods of the run have left, none of which is there any more.
	// It does nothing if they left nothing, and fails if they left what the run does not
	// own.
	Clean(ctx context.Context) error
	// Requests counts what was sent to the target so far, each attempt once,
	// by the phase in its context (see WithPhase).
	Requests() map[spec.RPC]map[results.Phase]uint64
	// Close ends all connections.
	Close() error
}

// Observer is a Driver whose target says of itself who leads it, and who belongs to
// it. Without one, nobody looks for changes of the target, and no rule about it fires.
type Observer interface {
	// View returns what the members that Preflight found say of their cluster
	// now.
	View(ctx context.Context) members.View
}

// Sampler is a Driver whose target's members measure themselves.
type Sampler interface {
	// Sample returns what the members say of themselves now, by the ID in
	// results.Member. One that says nothing has the problem in its sample.
	Sample(ctx context.Context) map[string]members.Sample
}

// Disturber is a Driver that can make disturbances.
type Disturber interface {
	// Disturb makes a disturbance of the plan once, and tells of each step of it
	// when that has ended, or has failed.
	Disturb(ctx context.Context, d spec.Disturbance, tell func(Step))
}

// Conn is one connection to the target. Many clients call Do at once.
type Conn interface {
	// Do sends the request, once, and waits for its response, until the
	// request's timeout or until ctx ends. It fills the whole response and
	// keeps neither argument. ctx carries the phase.
	Do(ctx context.Context, req *Request, resp *Response)
}

// SharedConn is a Conn that keeps something for each of its clients, for example
// a stream.
type SharedConn interface {
	Conn
	// Client returns the connection as the client with this global number has
	// it: it carries one request at a time. It is called once for each client,
	// for several at once, after the prefix was claimed.
	Client(ctx context.Context, client int) (Conn, error)
}

// Request is one operation, on one key, on several that follow each other or
// are named, on a lease, or on the name for which its client contends. What is alike
// for all requests of a run a driver knows from its plan. It must not change what
// the fields point to.
type Request struct {
	Operation spec.Operation
	// Key is that of an operation on one key; Value is set if it writes.
	Key, Value []byte
	// Pairs are those of an operation on several keys. Writes is how many of them,
	// from the first on, are written; the others are read alone.
	Pairs  []Pair
	Writes int
	// Lease is the ID of the lease of an operation on one.
	Lease int64
	// Create says of an object that it is not there yet, and Expires that it
	// disappears after a while.
	Create, Expires bool
	// PageSize is how many objects a listing reads at once.
	PageSize int64
	// End is the key before which a read of several keys ends; empty for one key.
	End []byte
	// Needs is how many of the keys must be there, see Missing.
	Needs int64
	// Consistency of a read.
	Consistency spec.Consistency
	// Preload: the request writes what the load needs to be there. The settings of
	// the workload are not for it.
	Preload bool
	// Timeout is when, after it was sent, the request counts as failed.
	Timeout time.Duration
}

// Pair is a key and the value to write to it.
type Pair struct{ Key, Value []byte }

// Response is how a request ended.
type Response struct {
	// Sent is the clock just before the write that carried the last byte of
	// the request, or as near to it as the transport lets a caller come.
	Sent Instant
	// Received is the clock right after the read that delivered the end of the
	// response.
	Received Instant
	// Cleared is when what a request that failed had left in the target was gone,
	// as far as it could be, and the connection's next request of this client can
	// begin; 0 if there was nothing to clear.
	Cleared Instant
	// Revision is that of the store after a put; 0 where the transport does not tell.
	Revision int64
	// Code is empty for a success, else the name of a gRPC status code, for
	// example CodeUnavailable.
	Code string
	// Detail is the target's words on a failure, for messages to people.
	Detail string
	// Lost says of a success that it changed nothing, because another client
	// had changed the key.
	Lost bool
	// Attempts is how often a success tried to commit, of an operation that can
	// try more than once; else it is 0.
	Attempts uint64
	// Freed is, of a success that had to wait for another of this pod's clients,
	// when that one heard that what it held is free, at most Received; else it is
	// 0.
	Freed Instant
}

// The codes that the engine itself tells apart; any other is counted under its
// own name.
const (
	CodeUnavailable      = "Unavailable"
	CodeDeadlineExceeded = "DeadlineExceeded"
	CodeCanceled         = "Canceled"
	// CodeFailedPrecondition is how the grant of a lease fails that exists.
	CodeFailedPrecondition = "FailedPrecondition"
	CodeNotFound           = "NotFound"
	// CodeUnimplemented is how a request ends of an operation that its driver does not
	// know.
	CodeUnimplemented = "Unimplemented"
)

// Unknown ends a request of an operation that a driver does not know. Nothing was
// sent.
func (r *Response) Unknown(o spec.Operation) {
	now := Now()
	*r = Response{Sent: now, Received: now, Code: CodeUnimplemented, Detail: fmt.Sprintf("the driver does not know the operation %q", o)}
}

// Succeeded says whether the target did what the request wanted.
func (r *Response) Succeeded() bool { return r.Code == "" }

type phaseKey struct{}

// WithPhase returns a context whose requests are counted for this phase.
func WithPhase(ctx context.Context, phase results.Phase) context.Context {
	return context.WithValue(ctx, phaseKey{}, phase)
}

// PhaseOf returns the phase of a context, PhaseControl if none was set.
func PhaseOf(ctx context.Context) results.Phase {
	if phase, ok := ctx.Value(phaseKey{}).(results.Phase); ok {
		return phase
	}
	return results.PhaseControl
}

// Control is how the outside steers a session.
type Control interface {
	// StartAt waits until the common start is known and returns it. It may lie
	// in the past: the session then starts at once.
	StartAt(ctx context.Context) (time.Time, error)
	// Turn waits until a session whose plan awaits its turn may write.
	Turn(ctx context.Context) error
	// Stopped is closed once the load is to end early.
	Stopped() <-chan struct{}
}

// Missing says what is wrong with a request that the target has carried out on this
// many keys, as the detail of a failure with CodeNotFound; it is empty if
// nothing is wrong. Every key that is read or deleted was written before: to
// find none is cheaper than to find it, and must not count as a success.
func (r *Request) Missing(found int64) string {
	if found >= r.Needs {
		return ""
	}
	missing := "the key is not there"
	if r.Needs > 1 {
		missing = fmt.Sprintf("%s of %s keys are not there", text.Grouped(r.Needs-found), text.Grouped(r.Needs))
	}
	if r.Consistency == spec.Serializable {
		missing += "; a member that lags behind may not have it yet"
	}
	return missing
}

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
