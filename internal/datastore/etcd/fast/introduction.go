package fast

import (
	"cmp"
	"fmt"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

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
	attempt *attempt
	link    *link
	want    uint64

	stream unary.Stream
	reply  message.Reply
	// token is what the question carries, and pause what lies before the next.
	token string
	pause time.Duration
}

var _ unary.Call = (*introduction)(nil)

// introduce makes a link the one that takes calls when its server has said that
// it is the member that is meant.
func (c *Conn) introduce(t *attempt, k *link, want uint64) {
	t.link = k
	i := &introduction{attempt: t, link: k, want: want}
	i.ask()
}

func (i *introduction) ask() {
	i.link.http.Start(&i.stream, methodRange, i)
	i.link.touch()
}

// AppendMessage implements unary.Call.
func (i *introduction) AppendMessage(dst []byte) []byte {
	i.token = i.link.token
	i.link.loop.requests.Add(results.RPCRange, results.PhaseControl)
	question := message.Range{Key: i.link.conn.client.config.MemberKey, Serializable: true, CountOnly: true}
	return question.Append(dst)
}

// Sent implements unary.Call.
func (i *introduction) Sent(int64) {}

// Received implements unary.Call.
func (i *introduction) Received(response []byte) error {
	return i.reply.Read(message.KindRange, response)
}

// Ended implements unary.Call.
func (i *introduction) Ended(code unary.Code, detail string) {
	c := i.link.conn
	switch {
	case refusesToken(code, detail):
		c.client.tokens.refused(i.token)
		i.askLater(detail)
	case code == unary.Unavailable && i.mayAsk():
		i.askLater(detail)
	case code != unary.OK:
		i.fail(i.unanswered(detail))
	case i.reply.Member != i.want:
		i.fail(&WrongMemberError{Address: i.attempt.address, Want: i.want, Found: i.reply.Member})
	case c.attempt == i.attempt:
		c.attempt = nil
		i.link.answered = true
		c.use(i.link)
	}
}

// mayAsk says whether the answer still matters and the link takes questions.
func (i *introduction) mayAsk() bool {
	return i.link.conn.attempt == i.attempt && !i.link.closed && i.link.http.Open()
}

// askLater asks again after a pause. How long the answer may take in all is
// expectGreeting's.
func (i *introduction) askLater(detail string) {
	i.pause = longer(i.pause)
	time.AfterFunc(i.pause, func() {
		i.link.loop.Post(func() {
			if i.mayAsk() {
				i.ask()
				return
			}
			i.fail(i.unanswered(detail))
		})
	})
}

func (i *introduction) unanswered(detail string) error {
	return fmt.Errorf("%s has not said which member it is: %s", i.attempt.address, cmp.Or(detail, "it takes no more calls"))
}

// fail ends the attempt, if it still goes on. The link is in the middle of
// something and is ended soon.
func (i *introduction) fail(err error) {
	c := i.link.conn
	c.loop.Post(func() { i.link.lose(err.Error()) })
	if c.attempt == i.attempt {
		c.attempt = nil
		c.failed(err)
	}
}
