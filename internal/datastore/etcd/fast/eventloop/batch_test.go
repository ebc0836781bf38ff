package eventloop

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// writeCounter counts the writes of a socket, and limits how much one read returns.
type writeCounter struct {
	Socket
	atOnce, writes int
}

func (c *writeCounter) Read(p []byte) (int, error) { return c.Socket.Read(p[:c.atOnce]) }

func (c *writeCounter) Write(p []byte) (int, error) {
	c.writes++
	return c.Socket.Write(p)
}

// Requests of many clients that are ready together leave in one write: requests that begin together, and requests that
// follow responses which arrived together, in a few reads.
func TestRequestsLeaveTogether(t *testing.T) {
	for name, config := range map[string]Config{"epoll": {}, "portable": {Portable: true}} {
		t.Run(name, func(t *testing.T) {
			const clients, rounds = 100, 5
			conn := open(t, newLineClient(t, lineConfig{Config: config}), inRounds(t, clients))
			counter := &writeCounter{atOnce: 250}
			holds, held := make(chan struct{}), make(chan struct{})
			conn.loop.Post(func() {
				counter.Socket = conn.current.socket
				conn.current.socket = counter
				close(holds)
				<-held
			})
			<-holds
			team := newTeam(conn, clients, []byte("words"))
			team.left = clients * rounds
			for i := range team.members {
				conn.loop.Post(func() { team.send(&team.members[i]) })
			}
			close(held)
			<-team.ended
			onLoop(conn, func() {
				if counter.writes != rounds || team.failed.Code != "" {
					t.Errorf("%d requests left in %d writes, want %d: %+v", clients*rounds, counter.writes, rounds, team.failed)
				}
			})
		})
	}
}

// team sends one request repeatedly, with several clients on one connection.
type team struct {
	conn    *Conn
	members []member
	request load.Request
	// left is the number of requests to send, and flying the number in flight.
	left, flying int
	failed       load.Response
	ended        chan struct{}
}

type member struct {
	slot     load.Slot
	response load.Response
}

func newTeam(conn *Conn, members int, words []byte) *team {
	m := &team{
		conn: conn, members: make([]member, members), ended: make(chan struct{}, 1),
		request: load.Request{Key: words, Timeout: time.Minute},
	}
	for i := range m.members {
		own := &m.members[i]
		own.slot = conn.Slot(func() { m.next(own) })
	}
	return m
}

// next sends the next request when a member's request has ended.
func (m *team) next(own *member) {
	m.flying--
	if !own.response.Succeeded() {
		m.failed = own.response
	}
	m.send(own)
	if m.flying == 0 {
		m.ended <- struct{}{}
	}
}

func (m *team) send(own *member) {
	if m.left > 0 {
		m.left--
		m.flying++
		own.slot.Send(results.PhaseMeasured, &m.request, &own.response)
	}
}
