package fast

import (
	"cmp"
	"fmt"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// session speaks gRPC over one link.
type session struct {
	*unary.Conn
	client *Client
	link   *wire.Link
	// token is what the next calls carry.
	token string
}

var _ wire.Session = (*session)(nil)

// newSession begins to speak over a link, on its loop.
func (c *Client) newSession(k *wire.Link) wire.Session {
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
	s.setToken(c.tokens.current())
	return s
}

// setToken gives a token to later calls.
func (s *session) setToken(token string) {
	s.token = token
	s.SetToken(token)
}

// Wrote implements wire.Session.
func (s *session) Wrote(n int, at load.Instant) { s.Conn.Wrote(n, int64(at)) }

// Fail implements wire.Session.
func (s *session) Fail(why string) { s.Conn.Fail(unary.Unavailable, why) }

// TakeWaiting implements wire.Session.
func (s *session) TakeWaiting(why string) (lanes []wire.Call) {
	for _, call := range s.Conn.TakeWaiting() {
		if a, ok := call.(*Lane); ok {
			lanes = append(lanes, a)
			continue
		}
		// The question which member it is was for this link alone.
		call.Ended(unary.Unavailable, why)
	}
	return lanes
}

// WrongMemberError says that an address leads to another member than it should.
type WrongMemberError struct {
	Address string
	// Want and Found are IDs of members.
	Want, Found uint64
}

// Error names the address and both members.
func (e *WrongMemberError) Error() string {
	return fmt.Sprintf("%s leads to the member %x, wanted %x: name an address of each member's own", e.Address, e.Found, e.Want)
}

// introduction asks a server which member it is, before its link takes calls:
// behind an address that is shared, such as a Service's, each link can end at
// another member. It is asked again as long as the answer is one that passes.
type introduction struct {
	*session
	address string
	want    uint64

	stream unary.Stream
	reply  message.Reply
	// token is what the question carries, and pause what lies before the next.
	token string
	pause time.Duration
}

var _ unary.Call = (*introduction)(nil)

// Introduce implements wire.Session: where it matters, it asks which member this is.
func (s *session) Introduce() bool {
	address := s.link.Address()
	want := s.client.config.Members[address]
	if want == 0 {
		return false
	}
	i := &introduction{session: s, address: address, want: want}
	i.ask()
	return true
}

func (i *introduction) ask() {
	i.Start(&i.stream, int(MethodRange), i)
	i.link.Touch()
}

// AppendMessage implements unary.Call.
func (i *introduction) AppendMessage(dst []byte) []byte {
	i.token = i.session.token
	i.link.Count(spec.RPCRange, results.PhaseControl)
	question := message.Range{Key: i.client.config.MemberKey, Serializable: true, CountOnly: true}
	return question.Append(dst)
}

// Sent implements unary.Call.
func (i *introduction) Sent(int64) {}

// Received implements unary.Call.
func (i *introduction) Received(response []byte) error { return i.reply.ReadRange(response) }

// Ended implements unary.Call.
func (i *introduction) Ended(code unary.Code, detail string) {
	switch {
	case refusesToken(code, detail):
		i.client.tokens.refused(i.token)
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

// askLater asks again after a pause. How long the answer may take in all is wire's.
func (i *introduction) askLater(detail string) {
	i.pause = wire.Longer(i.pause)
	i.link.Later(i.pause, func() {
		if i.link.Wanted() {
			i.ask()
			return
		}
		i.link.Introduced(i.unanswered(detail))
	})
}

func (i *introduction) unanswered(detail string) error {
	return fmt.Errorf("%s has not said which member it is: %s", i.address, cmp.Or(detail, "it takes no more calls"))
}
