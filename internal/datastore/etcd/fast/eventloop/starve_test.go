package eventloop

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// Tests with sockets that force rare cases.

// chatter is a socket whose server never stops sending lines without meaning, this many at a time.
type chatter struct {
	Socket
	quiet *atomic.Bool
	lines int
}

func (c *chatter) Read(p []byte) (int, error) {
	if c.quiet.Load() {
		return c.Socket.Read(p)
	}
	whole := p[:0]
	for range min(c.lines, len(p)/2) {
		whole = append(whole, "#\n"...)
	}
	return len(whole), nil
}

// Buffers: the input that arrives as fast as it is read never ends.
func (c *chatter) Buffers() bool { return !c.quiet.Load() && c.lines > 1 || c.Socket.Buffers() }

// eager is a poller with a link that is always ready.
type eager struct {
	poller
	link  *Link
	quiet *atomic.Bool
}

func (e *eager) wait(ready []*Link, coarse, exact load.Instant) []*Link {
	if e.quiet.Load() {
		return e.poller.wait(ready, coarse, exact)
	}
	return append(e.poller.wait(ready, 0, 0), e.link)
}

// A server that always sends delays neither the requests of other connections nor those of its own connection.
func TestNoConnectionIsStarved(t *testing.T) {
	for name, lines := range map[string]int{"much": 1 << 20, "often": 1} {
		t.Run(name, func(t *testing.T) {
			forAll(t, func(t *testing.T, config Config) { starve(t, config, lines) })
		})
	}
}

func starve(t *testing.T, config Config, lines int) {
	config.Loops = 1
	address := serve(t, "127.0.0.1:0", &lineServer{secure: config.TLS != nil})
	client := newLineClient(t, lineConfig{Config: config})
	busy, other := open(t, client, address), open(t, client, address)
	quiet := &atomic.Bool{}
	onLoop(busy, func() {
		k := busy.current
		k.socket = &chatter{Socket: k.socket, quiet: quiet, lines: lines}
		k.loop.poller = &eager{poller: k.loop.poller, link: k, quiet: quiet}
	})
	if got := say(t.Context(), other, "words"); !got.Succeeded() {
		t.Errorf("the other connection: %+v", got)
	}
	quiet.Store(true)
	if got := say(t.Context(), busy, "words"); !got.Succeeded() {
		t.Errorf("the busy connection, later: %+v", got)
	}
}

// closing is a socket whose server has sent its last bytes and has closed the connection.
type closing struct {
	Socket
	words string
}

func (c *closing) Read(p []byte) (int, error) {
	if c.words == "" {
		return 0, io.EOF
	}
	n := copy(p, c.words)
	c.words = c.words[n:]
	return n, nil
}

func (*closing) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// Bytes that a server sent before it closed are handled, even if the client notices the close by a failed write.
func TestResponsesBeforeACloseCount(t *testing.T) {
	conn := open(t, newLineClient(t, lineConfig{}), servertest.Accept(t, func(c net.Conn) {
		_, _ = io.WriteString(c, greetingLine+"\n")
		_, _ = io.Copy(io.Discard, c)
	}))
	team := newTeam(conn, 2, []byte("words"))
	onLoop(conn, func() {
		team.left = 1
		team.send(&team.members[0])
	})
	// The second post runs after the flush that follows the first one.
	onLoop(conn, func() {})
	onLoop(conn, func() {
		k := conn.current
		k.socket = &closing{Socket: k.socket, words: "1 words\n"}
		team.left = 1
		team.send(&team.members[1])
	})
	<-team.ended
	if got := team.members[0].response; !got.Succeeded() {
		t.Errorf("the call that was answered: %+v", got)
	}
	if got := team.members[1].response; got.Code != load.CodeUnavailable {
		t.Errorf("the call that could not be sent: %+v", got)
	}
}
