package fast

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Tests with sockets that do on purpose what others do by chance.

// chatter is a socket whose server never stops sending frames that mean nothing,
// so many at once.
type chatter struct {
	socket
	quiet  *atomic.Bool
	frames int
}

func (c *chatter) read(p []byte) (int, error) {
	if c.quiet.Load() {
		return c.socket.read(p)
	}
	unknown := frame.Header{Kind: 0xbe}
	whole := p[:0]
	for range min(c.frames, len(p)/frame.HeaderLen) {
		whole = unknown.Append(whole)
	}
	return len(whole), nil
}

// buffers: what comes as fast as it is read never ends.
func (c *chatter) buffers() bool { return !c.quiet.Load() && c.frames > 1 || c.socket.buffers() }

// eager is a poller with a link that is always ready.
type eager struct {
	poller
	link  *link
	quiet *atomic.Bool
}

func (e *eager) wait(ready []*link, coarse, exact load.Instant) []*link {
	if e.quiet.Load() {
		return e.poller.wait(ready, coarse, exact)
	}
	return append(e.poller.wait(ready, 0, 0), e.link)
}

// A server that always sends holds up neither the requests of others nor those of
// its own connection.
func TestNobodyIsStarved(t *testing.T) {
	for name, frames := range map[string]int{"much": 1 << 20, "often": 1} {
		t.Run(name, func(t *testing.T) {
			forAllKinds(t, func(t *testing.T, config Config, address string) { starve(t, config, address, frames) })
		})
	}
}

func starve(t *testing.T, config Config, address string, frames int) {
	config.Loops = 1
	client := newTestClient(t, config)
	busy, other := open(t, client, address), open(t, client, address)
	quiet := &atomic.Bool{}
	onLoop(busy, func() {
		k := busy.current
		k.socket = &chatter{socket: k.socket, quiet: quiet, frames: frames}
		k.loop.poller = &eager{poller: k.loop.poller, link: k, quiet: quiet}
	})
	if got := get(t.Context(), other, "k"); !got.Succeeded() {
		t.Errorf("the other connection: %+v", got)
	}
	quiet.Store(true)
	if got := get(t.Context(), busy, "k"); !got.Succeeded() {
		t.Errorf("the busy connection, later: %+v", got)
	}
}

// forAllKinds runs a test in each way with a server of its own.
func forAllKinds(t *testing.T, test func(t *testing.T, config Config, address string)) {
	for name, config := range configs {
		t.Run(name, func(t *testing.T) {
			if config.TLS != nil {
				_, address := serve(t, "127.0.0.1:0", &kv{}, withTLS())
				test(t, config, address)
				return
			}
			_, address := serve(t, "127.0.0.1:0", &kv{})
			test(t, config, address)
		})
	}
}

// closing is a socket whose server has sent its last words and is gone.
type closing struct {
	socket
	words []byte
}

func (c *closing) read(p []byte) (int, error) {
	if len(c.words) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.words)
	c.words = c.words[n:]
	return n, nil
}

func (*closing) write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// What a server has said counts, also if the client finds out by writing that it
// is gone.
func TestLastWordsAreHeard(t *testing.T) {
	conn := open(t, newTestClient(t, Config{}), listenOnly(t))
	team := newTeam(conn, 3)
	team.request = load.Request{Operation: results.OperationPut, Key: []byte("k"), Timeout: time.Minute}
	onLoop(conn, func() {
		team.left = 2
		team.send(&team.members[0])
		team.send(&team.members[1])
	})
	// The second post comes after the flush that the first one has caused.
	onLoop(conn, func() {})
	onLoop(conn, func() {
		words := answer(nil, 1)
		words = frame.Header{Kind: frame.GoAway, Length: 8 + len("no room")}.Append(words)
		words = append(words, 0, 0, 0, 1, 0, 0, 0, byte(frame.EnhanceYourCalm))
		words = append(words, "no room"...)
		k := conn.current
		k.socket = &closing{socket: k.socket, words: words}
		team.left = 1
		team.send(&team.members[2])
	})
	<-team.ended
	if got := team.members[0].response; !got.Succeeded() {
		t.Errorf("the call that was answered: %+v", got)
	}
	if got := team.members[1].response; got.Code != "Unavailable" || !strings.Contains(got.Detail, "no room") {
		t.Errorf("the call that was refused: %+v", got)
	}
	if got := team.members[2].response; got.Code != "Unavailable" {
		t.Errorf("the call that could not be sent: %+v", got)
	}
}

// answer appends an empty response of a stream.
func answer(dst []byte, stream uint32) []byte {
	const contentType, status = "application/grpc", "grpc-status"
	head := append([]byte{0x88, 0x0f, 0x10, byte(len(contentType))}, contentType...)
	trail := append(append([]byte{0, byte(len(status))}, status...), 1, '0')
	dst = frame.Header{Kind: frame.Headers, Flags: frame.EndHeaders, Stream: stream, Length: len(head)}.Append(dst)
	dst = append(dst, head...)
	dst = append(frame.Header{Kind: frame.Data, Stream: stream, Length: 5}.Append(dst), 0, 0, 0, 0, 0)
	dst = frame.Header{Kind: frame.Headers, Flags: frame.EndHeaders | frame.EndStream, Stream: stream, Length: len(trail)}.Append(dst)
	return append(dst, trail...)
}

// listenOnly is a server that greets and then only listens.
func listenOnly(t *testing.T) string {
	return accept(t, func(c net.Conn) {
		_, _ = c.Write(frame.AppendSettings(nil))
		_, _ = io.Copy(io.Discard, c)
	})
}
