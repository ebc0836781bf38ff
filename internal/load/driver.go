package load

import (
	"context"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Driver speaks to the target of one run over one transport, for one client
// pod. Its errors carry an *Error where the cause is known. All methods but
// Close end soon after their context does; each is called by one goroutine at
// a time, but Connect, View, Sample and Requests at any time, and Disturb for
// each disturbance of the plan.
type Driver interface {
	// Preflight checks that each address of the plan can be reached, is
	// healthy and lets this client in, and returns what it learned, with the view
	// of the members that it had, against which every later one is held.
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
	// Sample returns what the members say of themselves now, by the ID in
	// results.Member. One that says nothing has the problem in its sample.
	Sample(ctx context.Context) map[string]members.Sample
	// Disturb makes a disturbance of the plan once, and tells of each step of it
	// when that has ended, or has failed.
	Disturb(ctx context.Context, d plan.Disturbance, tell func(Step))
	// View returns what the members that Preflight found say of their cluster
	// now.
	View(ctx context.Context) members.View
	// Requests counts what was sent to the target so far, each attempt once,
	// by the phase in its context (see WithPhase).
	Requests() map[results.RPC]map[results.Phase]uint64
	// Close ends all connections.
	Close() error
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
// are named, on a lease, or on the name for which its client contends. A driver
// must not change what its fields point to.
type Request struct {
	Operation results.Operation
	// Key is that of an operation on one key; Value is set if it writes.
	Key, Value []byte
	// Pairs are those of an operation on several keys. Writes is how many of them,
	// from the first on, are written; the others are read alone.
	Pairs  []Pair
	Writes int
	// Lease is the ID of the lease of an operation on one, and TTLSeconds the
	// time to live of one that is granted.
	Lease, TTLSeconds int64
	// Create says of an object that it is not there yet, and Expires that it
	// disappears after a while.
	Create, Expires bool
	// End is the key before which a read of several keys ends; empty for one key.
	End []byte
	// Limit is how many keys a read returns at most; 0 is all. KeysOnly leaves
	// out values, CountOnly also keys.
	Limit               int64
	KeysOnly, CountOnly bool
	// PageKeys: the read is a page of so many keys after the other, at one
	// revision; 0 is one response. Stream: its response is a stream.
	PageKeys int64
	Stream   bool
	// Keys is how many keys there are for the request to read or delete, see
	// Missing; 0 is one.
	Keys int64
	// Serializable reads are answered by the contacted member alone.
	Serializable bool
	// InTransaction makes a put, or a read of one key, the only operation of a
	// transaction.
	InTransaction bool
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
)

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
