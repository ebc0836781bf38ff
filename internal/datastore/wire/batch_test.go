package wire

import "testing"

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
