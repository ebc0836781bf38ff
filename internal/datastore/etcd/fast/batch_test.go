package fast

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire/wiretest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// writeCounter counts the writes of a socket.
type writeCounter struct {
	wire.Socket
	writes int
}

func (c *writeCounter) Write(p []byte) (int, error) {
	c.writes++
	return c.Socket.Write(p)
}

// Requests of many clients that are ready together leave in one write: requests that begin together, and requests that
// follow responses which arrived together.
func TestRequestsLeaveTogether(t *testing.T) {
	for name, config := range map[string]Config{"epoll": {}, "portable": {Portable: true}} {
		t.Run(name, func(t *testing.T) {
			const clients, rounds = 100, 5
			counter := &writeCounter{}
			config.Wrap = func(s wire.Socket) wire.Socket {
				counter.Socket = s
				return counter
			}
			conn := open(t, newTestClient(t, config), inRounds(t, clients))
			onLoop(conn, func() { counter.writes = 0 })
			team := newTeam(conn, clients)
			team.request = load.Request{Operation: spec.OperationPut, Key: []byte("k"), Timeout: time.Minute}
			team.run(t, clients*rounds)
			onLoop(conn, func() {
				if counter.writes != rounds {
					t.Errorf("%d requests left in %d writes, want %d", clients*rounds, counter.writes, rounds)
				}
			})
		})
	}
}

// inRounds is a server that answers this many requests together.
func inRounds(t *testing.T, requests int) string {
	return wiretest.Accept(t, func(c net.Conn) {
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
