package fast

import (
	"cmp"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/login"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Method is a unary method of etcd's services.
type Method int

// The methods.
const (
	MethodRange Method = iota
	MethodPut
	MethodDeleteRange
	MethodTxn
	MethodLeaseGrant
	MethodLeaseRevoke
)

// methods have, by Method, the path of each and the name under which it is counted.
var methods = [...]struct {
	path string
	rpc  spec.RPC
}{
	MethodRange:       {"/etcdserverpb.KV/Range", spec.RPCRange},
	MethodPut:         {"/etcdserverpb.KV/Put", spec.RPCPut},
	MethodDeleteRange: {"/etcdserverpb.KV/DeleteRange", spec.RPCDeleteRange},
	MethodTxn:         {"/etcdserverpb.KV/Txn", spec.RPCTxn},
	MethodLeaseGrant:  {"/etcdserverpb.Lease/LeaseGrant", spec.RPCLeaseGrant},
	MethodLeaseRevoke: {"/etcdserverpb.Lease/LeaseRevoke", spec.RPCLeaseRevoke},
}

func paths() []string {
	all := make([]string, len(methods))
	for i, m := range methods {
		all[i] = m.path
	}
	return all
}

// Call is one gRPC call of an operation's request.
type Call struct {
	Method Method
	// Append appends the call's message to dst.
	Append func(dst []byte, r *Request) []byte
	// Read reads the needed fields of the response.
	Read func(r *message.Reply, answer []byte) error
	// Then returns the next call of the request after this one has succeeded, or nil. Then itself is nil if there is
	// never another call. All calls of a request share one timeout and the first call's send time.
	Then func(r *Request) *Call
	// Done ends a request after its last call has succeeded. It may fail the request by returning a code and a detail.
	// It may be nil.
	Done func(r *Request) (code, detail string)
}

// Request is a request with what its calls need.
type Request struct {
	*load.Request
	Response *load.Response
	// Options are those of the client.
	Options *Options
	// Reply is the last response.
	Reply message.Reply
}

// Found ends a request that covered as many keys as the last response reports.
func (r *Request) Found() (code, detail string) {
	if missing := r.Missing(r.Reply.Count); missing != "" {
		return load.CodeNotFound, missing
	}
	return "", ""
}

// Slot carries one request at a time; it is the load.Slot of this transport.
type Slot struct {
	eventloop.Slot
	client *Client
	done   func()

	stream  unary.Stream
	session *session
	phase   results.Phase
	// operation is that of the last request, and first the call that it begins with; call is the current call.
	operation   spec.Operation
	first, call *Call
	request     Request
	// later: a call of the request was sent before.
	later bool
	// token is the token that the call carries. refusals are those of the request's tokens.
	token    string
	refusals login.Refusals
}

var (
	_ eventloop.Call = (*Slot)(nil)
	_ unary.Call     = (*Slot)(nil)
)

func (c *Client) newSlot(conn *eventloop.Conn, done func()) eventloop.Call {
	a := &Slot{client: c, done: done}
	a.request.Options = &c.config.Options
	a.Init(conn, a)
	return a
}

// Send implements load.Slot.
func (a *Slot) Send(phase results.Phase, req *load.Request, resp *load.Response) {
	if req.Operation != a.operation {
		a.operation, a.first = req.Operation, a.client.config.Calls[req.Operation]
	}
	a.phase, a.call, a.later, a.refusals = phase, a.first, false, login.Refusals{}
	a.request.Request, a.request.Response = req, resp
	if a.call == nil {
		resp.Unknown(req.Operation)
		a.Soon(a.done)
		return
	}
	*resp = load.Response{Sent: a.Now()}
	a.Begin(req.Timeout)
}

// Start implements eventloop.Call.
func (a *Slot) Start(k *eventloop.Link) {
	a.session = k.Session().(*session)
	a.session.Start(&a.stream, int(a.call.Method), a)
}

// Cancel implements eventloop.Call.
func (a *Slot) Cancel(code, detail string) bool {
	if !a.stream.Started() {
		return false
	}
	a.session.Conn.Cancel(&a.stream, unary.CodeOf(code), detail)
	return true
}

// AppendMessage implements unary.Call: the call is being written now.
func (a *Slot) AppendMessage(dst []byte) []byte {
	a.Count(methods[a.call.Method].rpc, a.phase)
	a.token = a.session.token
	whole := a.call.Append(dst, &a.request)
	a.weigh(len(whole)-len(dst), 0)
	return whole
}

func (a *Slot) weigh(sent, received int) {
	if b := a.client.config.Bodies; b != nil {
		b.Add(a.phase, sent, received)
	}
}

// Sent implements unary.Call.
func (a *Slot) Sent(at int64) {
	if !a.later {
		if dialed := a.Dialed(); a.client.config.Late && dialed > 0 {
			at = int64(dialed)
		}
		a.request.Response.Sent = load.Instant(at)
	}
}

// Received implements unary.Call.
func (a *Slot) Received(answer []byte) error {
	a.Link.Answered()
	a.weigh(0, len(answer))
	err := a.call.Read(&a.request.Reply, answer)
	if member := a.request.Reply.Member; err == nil && member != a.session.member {
		a.session.answeredBy(member)
	}
	return err
}

// Ended implements unary.Call.
func (a *Slot) Ended(code unary.Code, detail string) {
	if code != unary.OK {
		if !login.IsRefusal(codes.Code(code), detail) || !a.resend() {
			a.end(code.String(), detail)
		}
		return
	}
	if a.call.Then != nil {
		if next := a.call.Then(&a.request); next != nil {
			a.call, a.later = next, true
			a.Again()
			return
		}
	}
	if a.call.Done == nil {
		a.end("", "")
		return
	}
	a.end(a.call.Done(&a.request))
}

// resend sends the call again, with a new token if a login is in progress. It returns false if the request shall fail.
func (a *Slot) resend() bool {
	pause, again := a.client.config.Tokens.Again(&a.refusals, a.token)
	if again {
		a.later = true
		a.Later(pause, a.withToken)
	}
	return again
}

// withToken sends the call again once no login is in progress.
func (a *Slot) withToken() {
	if a.client.config.Tokens.Renewing() {
		a.Later(loginPoll, a.withToken)
		return
	}
	a.Again()
}

// loginPoll is how often a slot looks whether a login is over.
const loginPoll = 5 * time.Millisecond

// Failed implements eventloop.Call.
func (a *Slot) Failed(code, detail string) {
	if a.client.config.Late && !a.later {
		// The dial may still wait for others to end.
		a.request.Response.Sent = cmp.Or(a.Dialed(), a.Now())
	}
	a.end(code, detail)
}

func (a *Slot) end(code, detail string) {
	a.request.Response.Received = a.Now()
	a.request.Response.Code, a.request.Response.Detail = code, detail
	a.Finish()
	a.done()
}
