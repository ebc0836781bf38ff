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

// Driver connects one client pod to the target of one run over one transport. A driver may also implement Locker,
// Observer, Prober, Breaker, Sampler, Diagnoser and Disturber, which only some stores support. Errors are an *Error if the cause is known.
// Every method except Close returns soon after its context ends. Connect, Sign, View, Sample and Requests may be called at any
// time, Disturb once at a time for each disturbance of the plan, and one of Look, Lock and Unlock at a time. All other methods
// are called by one goroutine at a time.
type Driver interface {
	// Preflight checks that each address of the plan is reachable, healthy and accepts this client, and returns what it
	// found. An Observer also returns its view of the members; later views are compared with it.
	Preflight(ctx context.Context) (*results.Target, members.View, error)
	// Connect opens the connection with this global index and returns it ready for requests. Close closes it.
	Connect(ctx context.Context, connection int) (Conn, error)
	// Claim makes the run the owner of its prefix, or joins the other pods if the run already owns it. If the prefix
	// holds anything else, Claim fails as PrefixNotEmpty and changes nothing.
	Claim(ctx context.Context) error
	// Sign renews the pod's sign of life, a key that the claim has made. The store carries it out only if the pod may
	// still write; otherwise the error is ErrDisowned. Sign may be called again before it has returned.
	Sign(ctx context.Context) error
	// Signs returns the version of each pod's sign of life, by its key: those that have claimed and not released. A version
	// never comes back.
	Signs(ctx context.Context) (map[string]int64, error)
	// Release declares that this pod writes no more. The last pod to do so deletes the run's keys; the others wait for
	// a limited time for that. An error comes with CleaningKeysLeft.
	Release(ctx context.Context) (results.Cleaning, error)
	// Clean deletes what the run's pods left behind, if their signs of life are still these. It does nothing if nothing
	// is left. It fails as PodStillWrites if another sign was found, and if the prefix holds keys that the run does not
	// own.
	Clean(ctx context.Context, signs map[string]int64) error
	// Requests returns how many requests were sent to the target so far, each attempt counted once, by the phase in its
	// context (see WithPhase).
	Requests() map[spec.RPC]map[results.Phase]uint64
	// Close ends all connections.
	Close() error
}

// Keyless has the methods of a Driver whose runs have no keys.
type Keyless struct{}

// Claim implements Driver.
func (Keyless) Claim(context.Context) error { return nil }

// Sign implements Driver.
func (Keyless) Sign(context.Context) error { return nil }

// Signs implements Driver.
func (Keyless) Signs(context.Context) (map[string]int64, error) { return nil, nil }

// Clean implements Driver.
func (Keyless) Clean(context.Context, map[string]int64) error { return nil }

// Locker is a Driver whose store has a lock that one run at a time holds. All pods of a run hold it together.
type Locker interface {
	// Look returns who holds the lock. If this run does, it is Free.
	Look(ctx context.Context) (Holder, error)
	// Lock renews the lock if this run holds it. If the lock is free, client pod 0 takes it. Lock returns who holds the
	// lock after that. The store frees a lock that was not renewed for LockTTL.
	Lock(ctx context.Context) (Holder, error)
	// Unlock frees the lock if this run holds it.
	Unlock(ctx context.Context) error
}

// LockTTL is how long a lock outlasts its last renewal; a store with sessions may take longer.
const LockTTL = 20 * time.Second

// Holder is who holds the lock of a target.
type Holder struct {
	State LockState
	// RunUID is the run that holds the lock, and Since is when it took the lock, by its own clock. Both are known only in
	// HeldByOther.
	RunUID string
	Since  time.Time
}

// LockState is what a pod knows about the lock of its target.
type LockState string

// The states of a lock.
const (
	// Free: another run does not hold the lock.
	Free LockState = "Free"
	// Held: this run holds it.
	Held LockState = "Held"
	// HeldByOther: another run holds it.
	HeldByOther LockState = "HeldByOther"
	// HeldByUnknown: a run holds it, and this user may not read which one.
	HeldByUnknown LockState = "HeldByUnknown"
	// NoLock: the store has no lock, or does not let this user take it.
	NoLock LockState = "NoLock"
)

// Observer is a Driver whose target reports its leader and its members. Without an Observer, changes of the target go
// unnoticed, and no rule about them fires.
type Observer interface {
	// View asks the members that Preflight found for the current state of their cluster.
	View(ctx context.Context) members.View
}

// Prober is a Driver that can tell whether its target is gone.
type Prober interface {
	// Answers reports whether a member answers a linearizable read of the run's marker before ctx ends. An unavailable
	// member and a time-out are no answers; every other error is one.
	Answers(ctx context.Context) bool
}

// Breaker is a Driver that notices at a request that its target is lost.
type Breaker interface {
	// Broken receives at most one error, which ends the load.
	Broken() <-chan error
}

// Sampler is a Driver for a target whose members export metrics.
type Sampler interface {
	// Sample returns the members' current metrics by the ID in results.Member. If a member does not answer, its sample holds
	// the problem.
	Sample(ctx context.Context) map[string]members.Sample
}

// Diagnoser is a Driver that finds out what is wrong with its target without a load.
type Diagnoser interface {
	// Diagnose takes this long. Its error is that of a target that cannot be looked at, or the context's.
	Diagnose(ctx context.Context, length time.Duration) (*results.Diagnosis, error)
}

// Pinger is a Driver that can measure the network to each member, without a request to the datastore.
type Pinger interface {
	// Ping pings all members at once and returns how long each took to answer, by the ID in results.Member. A member
	// that does not answer before ctx ends is missing.
	Ping(ctx context.Context) map[string]time.Duration
}

// Deleter is a Driver that can tell how far Release has come with the run's keys.
type Deleter interface {
	// Deleted returns zero before this pod deletes keys.
	Deleted() results.Work
}

// Resender is a Driver that sends a request again when the target has refused its credentials as expired, or closed its
// connection. The target has seen between Requests less Resent, and Requests, unless requests failed.
type Resender interface {
	// Resent counts the requests that were sent again.
	Resent() uint64
}

// Resumer is a Driver whose connections have sessions, which it resumes after a loss of the connection.
type Resumer interface {
	// Sessions are those of the load's connections, and their losses so far.
	Sessions() results.Sessions
}

// Weigher is a Driver whose transport may count the bytes of bodies.
type Weigher interface {
	// Bodies are those of the measured requests so far, and of their responses.
	Bodies() results.Bodies
	// Wire are the bytes on the TCP connections of the load so far; zero if the transport does not count them.
	Wire() results.Bodies
}

// LateConnector is a Driver whose connections can be opened by their first request.
type LateConnector interface {
	// ConnectLater returns the connection with this global index. The Sent of its first response is when connecting began,
	// and the time-out of the request includes it. Each connection has one client.
	ConnectLater(connection int) (Conn, error)
}

// Answerer is a Driver that can tell which members the load reached. Behind a load balancer, an address leads to several.
type Answerer interface {
	// AnsweredBy returns, by address, the IDs of the members that answered requests of the load so far, sorted.
	AnsweredBy() map[string][]string
}

// Disturber is a Driver that can make disturbances.
type Disturber interface {
	// Disturb makes a disturbance of the plan once. It calls report after each step has ended or failed.
	Disturb(ctx context.Context, d spec.Disturbance, report func(Step))
}

// Conn is one connection to the target. Many clients call Do concurrently.
type Conn interface {
	// Do sends the request once and waits for its response, until the request's timeout or until ctx ends. It fills the
	// whole response and retains neither argument. ctx carries the phase.
	Do(ctx context.Context, req *Request, resp *Response)
}

// SharedConn is a Conn that keeps state for each of its clients, for example a stream.
type SharedConn interface {
	Conn
	// Client returns the connection for the client with this global number. It carries one request at a time. Client is
	// called once for each client, concurrently, after the prefix was claimed.
	Client(ctx context.Context, client int) (Conn, error)
}

// Request is one operation: on one key, on several keys, on a lease, or on the name for which its client contends.
// Settings that all requests of a run share are in the plan, which the driver knows. The driver must not change what
// the fields point to.
type Request struct {
	Operation spec.Operation
	// Key is the key of an operation on one key. Value is set if the operation writes.
	Key, Value []byte
	// Pairs are the keys of an operation on several keys. The first Writes of them are written; the others are only
	// read.
	Pairs  []Pair
	Writes int
	// Lease is the ID of the lease, for an operation on a lease.
	Lease int64
	// Create: the object does not exist yet. Expires: the object is deleted after a while.
	Create, Expires bool
	// PageSize is how many objects a listing reads per page.
	PageSize int64
	// End is the key before which a read of several keys ends; empty for one key.
	End []byte
	// Needs is how many of the keys must exist, see Missing.
	Needs int64
	// Consistency of a read.
	Consistency spec.Consistency
	// Preload: the request writes keys or leases that the load needs. The settings of the workload do not apply to it.
	Preload bool
	// Timeout is how long after it was sent the request counts as failed.
	Timeout time.Duration
}

// Pair is a key and the value to write to it.
type Pair struct{ Key, Value []byte }

// Response is the outcome of a request.
type Response struct {
	// Sent is the clock just before the write that carried the last byte of the request, or the nearest point to it
	// that the transport exposes.
	Sent Instant
	// Received is the clock right after the read that delivered the end of the response.
	Received Instant
	// Cleared is when everything that a failed request left in the target had been removed, as far as possible. Then
	// this client's next request on the connection can begin. It is 0 if there was nothing to remove.
	Cleared Instant
	// Revision is the store's revision after a put; 0 if the transport does not report it.
	Revision int64
	// Code is empty for a success, else the name of a gRPC status code, for example CodeUnavailable.
	Code string
	// Detail is the target's error message, for people.
	Detail string
	// Lost: the request succeeded but changed nothing, because another client had changed the key.
	Lost bool
	// Attempts is how often a successful operation tried to commit, for operations that can try more than once; else 0.
	Attempts uint64
	// InnerSince is when the inner operation of a successful request began (spec.Operation.Inner), at most Received; 0 if
	// there was none. A hand-off begins when another client of this pod learned that the lock or leadership was released.
	InnerSince Instant
}

// The codes that the engine distinguishes. Any other code is counted under its own name.
const (
	CodeUnavailable      = "Unavailable"
	CodeDeadlineExceeded = "DeadlineExceeded"
	CodeCanceled         = "Canceled"
	// CodeFailedPrecondition is the code for granting a lease that exists.
	CodeFailedPrecondition = "FailedPrecondition"
	CodeNotFound           = "NotFound"
	// CodeUnimplemented is the code for an operation that the driver does not support.
	CodeUnimplemented = "Unimplemented"
)

// Unknown fills the response to an operation that the driver does not support. Nothing was sent.
func (r *Response) Unknown(o spec.Operation) {
	now := Now()
	*r = Response{Sent: now, Received: now, Code: CodeUnimplemented, Detail: fmt.Sprintf("the driver does not support the operation %q", o)}
}

// cancel fills the response to a request that was not sent, because its load was over.
func (r *Response) cancel() {
	now := Now()
	*r = Response{Sent: now, Received: now, Code: CodeCanceled, Detail: "the load ended before the request was sent"}
}

// Succeeded reports whether the target carried out the request.
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

// Control connects a session to the operator or the command that runs it.
type Control interface {
	// StartAt waits until the common start time is known and returns it. If that time has passed, the session starts at
	// once.
	StartAt(ctx context.Context) (time.Time, error)
	// Admitted waits until the session is admitted: client pod 0 may take the target's lock, and the other pods may
	// write. It is called if the plan waits for the lock.
	Admitted(ctx context.Context) error
	// Stopped is closed when the load must end early.
	Stopped() <-chan struct{}
}

// Missing returns the detail of a failure with CodeNotFound if the target found fewer keys than the request needs, else
// an empty string. Every key that a request needs was written before. A read that finds no key is cheaper than one
// that does, so it must not count as a success.
func (r *Request) Missing(found int64) string {
	if found >= r.Needs {
		return ""
	}
	missing := "the key does not exist"
	if r.Needs > 1 {
		missing = fmt.Sprintf("%s of %s keys do not exist", text.Grouped(r.Needs-found), text.Grouped(r.Needs))
	}
	if r.Consistency == spec.Serializable {
		missing += "; a member that lags behind may not have it yet"
	}
	return missing
}

// AsyncConn is a Conn that can carry clients without a goroutine for each of them. It calls them on the connection's
// loop when their requests have ended. The engine uses this mode if all of its connections are AsyncConns.
type AsyncConn interface {
	Conn
	// Loop returns the loop that calls this connection's clients. It is always the same.
	Loop() Loop
	// Slot returns a slot for one client. It calls done on the loop each time the slot's request has ended.
	Slot(done func()) Slot
}

// Slot carries one request at a time. It is used only on its connection's loop.
type Slot interface {
	// Send sends the request once. The slot uses both arguments until it calls done, which never happens before Send
	// returns. At that point the response is filled as by Conn.Do.
	Send(phase results.Phase, req *Request, resp *Response)
	// Abort ends the request in flight, if any, as Canceled.
	Abort()
}

// Loop is one goroutine that serves connections and calls their clients. Clients must not block it.
type Loop interface {
	// Post makes the loop call f soon. Any goroutine may call Post.
	Post(f func())
	// Alarm makes the loop call f at an instant, and replaces the previous alarm. It is called only on the loop.
	Alarm(at Instant, f func())
	// Waited is how long the loop has waited for events since it was created. Any goroutine may call it.
	Waited() time.Duration
	// Exact reports whether alarms are accurate to microseconds; otherwise they are accurate to a millisecond. It never
	// changes, and any goroutine may call it.
	Exact() bool
}
