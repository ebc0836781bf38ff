package fast

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// writeCounter counts the writes of a socket.
type writeCounter struct {
	socket
	writes int
}

func (c *writeCounter) write(p []byte) (int, error) {
	c.writes++
	return c.socket.write(p)
}

// Requests of many clients that are ready together leave in one write: those that
// begin together, and those that follow answers which came together.
func TestRequestsLeaveTogether(t *testing.T) {
	for name, config := range map[string]Config{"epoll": {}, "portable": {Portable: true}} {
		t.Run(name, func(t *testing.T) {
			const clients, rounds = 100, 5
			conn := open(t, newTestClient(t, config), inRounds(t, clients))
			counter := &writeCounter{}
			onLoop(conn, func() {
				counter.socket = conn.current.socket
				conn.current.socket = counter
			})
			team := newTeam(conn, clients)
			team.request = load.Request{Operation: results.OperationPut, Key: []byte("k"), Timeout: time.Minute}
			team.run(t, clients*rounds)
			onLoop(conn, func() {
				if counter.writes != rounds {
					t.Errorf("%d requests left in %d writes, want %d", clients*rounds, counter.writes, rounds)
				}
			})
		})
	}
}

// inRounds is a server that answers so many requests together.
func inRounds(t *testing.T, requests int) string {
	return accept(t, func(c net.Conn) {
		_, _ = c.Write(frame.AppendSettings(nil))
		_, err := io.CopyN(io.Discard, c, int64(len(frame.Preface)))
		var answers []byte
		for waiting := 0; err == nil; {
			var f rawFrame
			f, err = readFrame(c)
			if f.Kind != frame.Data || !f.Flags.Has(frame.EndStream) {
				continue
			}
			answers = answer(answers, f.Stream)
			if waiting++; waiting == requests {
				_, err = c.Write(answers)
				answers, waiting = answers[:0], 0
			}
		}
	})
}
