package fast

import (
	"cmp"
	"fmt"
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

// session is gRPC on one link.
type session struct {
	*unary.Conn
	client *Client
	link   *eventloop.Link
	// token is the token of the next calls.
	token string
	// member is the one that gave the last answer.
	member uint64
}

var _ eventloop.Session = (*session)(nil)

// newSession begins gRPC on a link. It runs on the link's loop.
func (c *Client) newSession(k *eventloop.Link) eventloop.Session {
	pool := c.pools[k.Loop()]
	if pool == nil {
		pool = unary.NewPool(k.Buffers())
		c.pools[k.Loop()] = pool
	}
	scheme, authority := "http", k.Address()
	if c.config.TLS != nil {
		scheme, authority = "https", cmp.Or(c.config.TLS.ServerName, authority)
	}
	s := &session{client: c, link: k, Conn: unary.New(&unary.Config{
		Scheme: scheme, Authority: authority, UserAgent: "etcd-benchmark-operator", Methods: paths(),
		MaxMessage: c.config.MaxMessage, Unread: c.unread, StreamWindow: c.config.StreamWindow, ConnWindow: c.config.ConnWindow,
		LastStream: c.config.LastStream,
	}, pool)}
	s.setToken(c.config.Tokens.Current())
	return s
}

// setToken sets the token of later calls.
func (s *session) setToken(token string) {
	s.token = token
	s.SetToken(token)
}

// answeredBy notes which member has answered.
func (s *session) answeredBy(member uint64) {
	s.member = member
	if f := s.client.config.AnsweredBy; f != nil {
		f(s.link.Address(), member)
	}
}

// Wrote implements eventloop.Session.
func (s *session) Wrote(n int, at load.Instant) { s.Conn.Wrote(n, int64(at)) }

// Fail implements eventloop.Session.
func (s *session) Fail(why string) { s.Conn.Fail(unary.Unavailable, why) }

// TakeWaiting implements eventloop.Session.
func (s *session) TakeWaiting(why string) (slots []eventloop.Call) {
	for _, call := range s.Conn.TakeWaiting() {
		if a, ok := call.(*Slot); ok {
			slots = append(slots, a)
			continue
		}
		// The member check was for this link only.
		call.Ended(unary.Unavailable, why)
	}
	return slots
}

// WrongMemberError: an address leads to another member than expected.
type WrongMemberError struct {
	Address string
	// Want and Found are IDs of members.
	Want, Found uint64
}

// Error names the address and both members.
func (e *WrongMemberError) Error() string {
	return fmt.Sprintf("%s leads to the member %x, wanted %x: name an address that leads only to that member", e.Address, e.Found, e.Want)
}

// memberCheck asks a server for its member ID before the link takes calls. Behind a shared address, such as a
// Service's, each link can reach another member. It repeats the request after a temporary error.
type memberCheck struct {
	*session
	address string
	want    uint64

	stream unary.Stream
	reply  message.Reply
	// token is the token of the request, and pause the pause before the next one.
	token    string
	refusals login.Refusals
	pause    time.Duration
}

var _ unary.Call = (*memberCheck)(nil)

// Introduce implements eventloop.Session: if the address has an expected member, it starts the member check.
func (s *session) Introduce() bool {
	address := s.link.Address()
	want := s.client.config.Members[address]
	if want == 0 {
		return false
	}
	i := &memberCheck{session: s, address: address, want: want}
	i.ask()
	return true
}

func (i *memberCheck) ask() {
	i.Start(&i.stream, int(MethodRange), i)
	i.link.Touch()
}

// AppendMessage implements unary.Call.
func (i *memberCheck) AppendMessage(dst []byte) []byte {
	i.token = i.session.token
	i.link.Count(spec.RPCRange, results.PhaseControl)
	question := message.Range{Key: i.client.config.MemberKey, Serializable: true, CountOnly: true}
	return question.Append(dst)
}

// Sent implements unary.Call.
func (i *memberCheck) Sent(int64) {}

// Received implements unary.Call.
func (i *memberCheck) Received(response []byte) error { return i.reply.ReadRange(response) }

// Ended implements unary.Call.
func (i *memberCheck) Ended(code unary.Code, detail string) {
	switch {
	case login.IsRefusal(codes.Code(code), detail):
		i.client.config.Tokens.Again(&i.refusals, i.token)
		i.askLater(detail)
	case code == unary.Unavailable && i.link.Wanted():
		i.askLater(detail)
	case code != unary.OK:
		i.link.Introduced(i.unanswered(detail))
	case i.reply.Member != i.want:
		i.link.Introduced(&WrongMemberError{Address: i.address, Want: i.want, Found: i.reply.Member})
	default:
		i.link.Introduced(nil)
	}
}

// askLater repeats the request after a pause. The event loop bounds the total time.
func (i *memberCheck) askLater(detail string) {
	i.pause = eventloop.Longer(i.pause)
	i.link.Later(i.pause, func() {
		if i.link.Wanted() {
			i.ask()
			return
		}
		i.link.Introduced(i.unanswered(detail))
	})
}

func (i *memberCheck) unanswered(detail string) error {
	return fmt.Errorf("%s has not reported its member ID: %s", i.address, cmp.Or(detail, "it takes no more calls"))
}
