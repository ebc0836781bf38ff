package fast

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Lane carries one call at a time; it is the load.Lane of this transport.
type Lane struct {
	conn *Conn
	done func()

	stream unary.Stream
	// link that carries the call; nil while the call waits for one.
	link  *link
	timer timer
	// flying: a call has been sent and has not ended. serial counts the calls.
	flying bool
	serial uint64

	phase    results.Phase
	request  *load.Request
	response *load.Response
	// call is what the request takes now, and reply the last response.
	call  *call
	reply message.Reply
	// token is what the call carries.
	token string
}

var (
	_ load.Lane  = (*Lane)(nil)
	_ unary.Call = (*Lane)(nil)
)

func newLane(c *Conn, done func()) *Lane {
	a := &Lane{conn: c, done: done}
	a.timer.lane = a
	return a
}

// Send implements load.Lane.
func (a *Lane) Send(phase results.Phase, req *load.Request, resp *load.Response) {
	a.phase, a.request, a.response = phase, req, resp
	a.call = callOf(req.Operation)
	a.flying = true
	a.serial++
	l := a.conn.loop
	*resp = load.Response{Sent: l.now}
	l.wheel.start(&a.timer, l.now.Add(req.Timeout))
	a.conn.submit(a)
}

// startOn puts the call on a link.
func (a *Lane) startOn(k *link) {
	a.link = k
	k.http.Start(&a.stream, a.call.method, a)
	k.touch()
}

// Abort implements load.Lane.
func (a *Lane) Abort() { a.cancel(unary.Canceled, "the request was given up") }

// expire ends a call whose time is over.
func (a *Lane) expire() {
	a.cancel(unary.DeadlineExceeded, "no response came within "+a.request.Timeout.Round(time.Millisecond).String())
}

func (a *Lane) cancel(code unary.Code, detail string) {
	switch {
	case !a.flying:
	case a.link != nil && a.stream.Started():
		a.conn.loop.now = load.Now()
		a.link.touch()
		a.link.http.Cancel(&a.stream, code, detail)
	default:
		a.conn.unqueue(a)
		a.Ended(code, detail)
	}
}

// AppendMessage implements unary.Call: the call goes on the wire now.
func (a *Lane) AppendMessage(dst []byte) []byte {
	a.conn.loop.requests.Add(a.call.rpc, a.phase)
	a.token = a.link.token
	return a.call.append(dst, a)
}

// Sent implements unary.Call.
func (a *Lane) Sent(at int64) {
	if a.call != swapCall {
		a.response.Sent = load.Instant(at)
	}
}

// Received implements unary.Call.
func (a *Lane) Received(response []byte) error {
	a.link.answered = true
	return a.reply.Read(a.call.kind, response)
}

// Ended implements unary.Call.
func (a *Lane) Ended(code unary.Code, detail string) {
	if code == unary.OK {
		if a.swap() {
			return
		}
		code, detail = a.outcome()
	}
	l := a.conn.loop
	l.wheel.stop(&a.timer)
	a.response.Received = l.now
	if code != unary.OK {
		a.response.Code, a.response.Detail = code.String(), detail
	}
	if refusesToken(code, detail) {
		a.conn.client.tokens.refused(a.token)
	}
	a.link, a.flying = nil, false
	a.done()
}
