package fast

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire/wiretest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// closing is a socket whose server has closed the connection. Its last bytes can still be read.
type closing struct {
	wire.Socket
	// words are the last bytes not yet read; nil while the server is up.
	words []byte
}

func (c *closing) Read(p []byte) (int, error) {
	switch {
	case c.words == nil:
		return c.Socket.Read(p)
	case len(c.words) == 0:
		return 0, io.EOF
	}
	n := copy(p, c.words)
	c.words = c.words[n:]
	return n, nil
}

func (c *closing) Write(p []byte) (int, error) {
	if c.words == nil {
		return c.Socket.Write(p)
	}
	return 0, errors.New("broken pipe")
}

// Bytes that a server sent before it closed are handled, even if the client notices the close by a failed write.
func TestResponsesBeforeACloseCount(t *testing.T) {
	socket := &closing{}
	conn := open(t, newTestClient(t, Config{Wrap: func(s wire.Socket) wire.Socket {
		socket.Socket = s
		return socket
	}}), listenOnly(t))
	team := newTeam(conn, 3)
	team.request = load.Request{Operation: spec.OperationPut, Key: []byte("k"), Timeout: time.Minute}
	onLoop(conn, func() {
		team.left = 2
		team.send(&team.members[0])
		team.send(&team.members[1])
	})
	// The second post runs after the flush that follows the first one.
	onLoop(conn, func() {})
	onLoop(conn, func() {
		words := answer(nil, 1)
		words = frame.Header{Kind: frame.GoAway, Length: 8 + len("no room")}.Append(words)
		words = append(words, 0, 0, 0, 1, 0, 0, 0, byte(frame.EnhanceYourCalm))
		socket.words = append(words, "no room"...)
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
	return appendTrailers(appendData(appendHead(dst, stream), stream, make([]byte, 5)), stream)
}

func appendHead(dst []byte, stream uint32) []byte {
	const contentType = "application/grpc"
	head := append([]byte{0x88, 0x0f, 0x10, byte(len(contentType))}, contentType...)
	dst = frame.Header{Kind: frame.Headers, Flags: frame.EndHeaders, Stream: stream, Length: len(head)}.Append(dst)
	return append(dst, head...)
}

func appendData(dst []byte, stream uint32, data []byte) []byte {
	return append(frame.Header{Kind: frame.Data, Stream: stream, Length: len(data)}.Append(dst), data...)
}

func appendTrailers(dst []byte, stream uint32) []byte {
	const status = "grpc-status"
	trail := append(append([]byte{0, byte(len(status))}, status...), 1, '0')
	dst = frame.Header{Kind: frame.Headers, Flags: frame.EndHeaders | frame.EndStream, Stream: stream, Length: len(trail)}.Append(dst)
	return append(dst, trail...)
}

// listenOnly is a server that greets and then only reads.
func listenOnly(t *testing.T) string {
	return wiretest.Accept(t, func(c net.Conn) {
		_, _ = c.Write(frame.AppendSettings(nil))
		_, _ = io.Copy(io.Discard, c)
	})
}
