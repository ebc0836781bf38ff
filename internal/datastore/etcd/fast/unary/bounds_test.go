package unary_test

import (
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
)

// Tests that a server that does not read cannot make a client's memory grow without limit.

// TestAnswersToWhatWasNotSent: a server guesses the IDs of streams whose headers are not sent yet. If it could end
// those calls, each would let the next begin.
func TestAnswersToWhatWasNotSent(t *testing.T) {
	for name, server := range map[string]func(*peer){
		"trailers": func(p *peer) { p.sendHeaders(3, true, ":status", "200", "grpc-status", "13") },
		"data":     func(p *peer) { p.data(3, "x") },
		"reset":    func(p *peer) { p.must(p.framer.WriteRSTStream(3, http2.ErrCodeCancel)) },
		"window":   func(p *peer) { p.must(p.framer.WriteWindowUpdate(3, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, &config)
			p.start("sent")
			c := &call{request: "not sent"}
			p.conn.Start(&c.stream, 0, c)
			p.answer(1, "ok")
			p.must(p.tryDeliver())
			server(p)
			if err := p.tryDeliver(); err == nil || !strings.Contains(err.Error(), "PROTOCOL_ERROR") {
				t.Errorf("got %v", err)
			}
			c.wants(t, 0, unary.OK, "")
		})
	}
}

// TestAnswerBeforeTheRequestHasLeft: a server answers as soon as it can know a stream: when the headers are sent, and
// not earlier.
func TestAnswerBeforeTheRequestHasLeft(t *testing.T) {
	for late := range 2 {
		p := newPeer(t, &config)
		first, second := &call{request: "1"}, &call{request: strings.Repeat("2", 1000)}
		p.conn.Start(&first.stream, 0, first)
		before := len(p.conn.Output())
		p.conn.Start(&second.stream, 0, second)
		p.conn.Wrote(before, 1)
		headers := frame.HeaderLen + frame.Parse(p.conn.Output()).Length
		p.conn.Wrote(headers-late, 2)
		p.sendHeaders(1, true, ":status", "200", "grpc-status", "8")
		p.sendHeaders(3, true, ":status", "200", "grpc-status", "8")
		if err := p.tryDeliver(); (err != nil) != (late > 0) {
			t.Errorf("with %d bytes of the headers to write: %v", late, err)
		}
		first.wants(t, 1, unary.ResourceExhausted, "")
		if second.ended != 1-late {
			t.Errorf("with %d bytes of the headers to write, the call ended %d times", late, second.ended)
		}
	}
}

// TestCallsWaitWhileNothingIsWritten starts calls that are together longer than a connection buffers for a server that
// does not read.
func TestCallsWaitWhileNothingIsWritten(t *testing.T) {
	p := newPeer(t, &config, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20})
	p.must(p.framer.WriteWindowUpdate(0, 1<<30))
	p.deliver()
	calls := make([]call, 1000)
	request := strings.Repeat("x", 10_000)
	for i := range calls {
		calls[i].request = request
		p.conn.Start(&calls[i].stream, 0, &calls[i])
	}
	if got := len(p.conn.Output()); got > 5<<20 {
		t.Errorf("%d bytes wait to be written", got)
	}
	for range 10 {
		p.read()
	}
	for i := range calls {
		if id := uint32(2*i + 1); calls[i].sent == 0 || len(p.bodies[id]) != len(prefixed(request)) {
			t.Fatalf("call %d was sent at %d with %d bytes", i, calls[i].sent, len(p.bodies[id]))
		}
	}
}

// TestManyPingsOnASlowWay answers more PINGs than maxAcks, for a server that reads, but never so fast that the output
// is empty.
func TestManyPingsOnASlowWay(t *testing.T) {
	p := newPeer(t, &config)
	for range 30_000 {
		p.must(p.framer.WritePing(false, [8]byte{}))
		p.must(p.tryDeliver())
		if n := len(p.conn.Output()) - 1; n > 0 {
			p.conn.Wrote(n, 1)
		}
	}
}
