package unary_test

import (
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
)

func TestSmallStreamWindow(t *testing.T) {
	p := newPeer(t, &config, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 10})
	request := strings.Repeat("abc", 20)
	c := p.start(request)
	if got := len(p.bodies[1]); got != 10 {
		t.Errorf("sent %d bytes into a window of 10", got)
	}
	if c.sent != 0 {
		t.Error("Sent was called")
	}
	for len(p.bodies[1]) < len(prefixed(request)) {
		before := len(p.bodies[1])
		p.must(p.framer.WriteWindowUpdate(1, 7))
		p.deliver()
		if got := len(p.bodies[1]) - before; got == 0 || got > 7 {
			t.Fatalf("sent %d bytes into a window of 7", got)
		}
	}
	if p.bodies[1] != prefixed(request) || c.sent == 0 {
		t.Errorf("sent %q at %d", p.bodies[1], c.sent)
	}
	p.answer(1, "ok")
	p.deliver()
	c.wants(t, 1, unary.OK, "")
}

func TestSettingsChangeOpenWindows(t *testing.T) {
	p := newPeer(t, &config, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 8})
	p.start("0123456789")
	// Below zero, and up again: 8 sent, so 12 in all is 4 more.
	for _, val := range []uint32{2, 12} {
		p.must(p.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: val}))
		p.deliver()
	}
	if got, want := p.bodies[1], prefixed("0123456789")[:12]; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}

func TestSmallConnectionWindow(t *testing.T) {
	p := newPeer(t, &config, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20})
	large := strings.Repeat("x", 50000)
	p.start(large)
	second := p.start(large)
	third := p.start("small")
	sent := len(p.bodies[1]) + len(p.bodies[3]) + len(p.bodies[5])
	if sent != frame.DefaultWindow {
		t.Errorf("sent %d bytes into a window of 65535", sent)
	}
	p.must(p.framer.WriteWindowUpdate(0, 1<<20))
	p.deliver()
	if p.bodies[3] != prefixed(large) || p.bodies[5] != prefixed("small") {
		t.Errorf("sent %d and %q", len(p.bodies[3]), p.bodies[5])
	}
	p.answer(5, "ok")
	p.answer(3, "ok")
	p.deliver()
	second.wants(t, 1, unary.OK, "")
	third.wants(t, 1, unary.OK, "")
}

func TestStreamThatWaitsDoesNotBlockOthers(t *testing.T) {
	p := newPeer(t, &config, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 20})
	p.start(strings.Repeat("x", 100))
	p.start("small")
	if p.bodies[3] != prefixed("small") {
		t.Errorf("sent %q", p.bodies[3])
	}
}

func TestFrameSizeOfThePeer(t *testing.T) {
	long := config
	long.Authority = strings.Repeat("a", 40000)
	p := newPeer(t, &long,
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20},
		http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0})
	p.reader.SetMaxReadFrameSize(frame.MinMaxFrameLen)
	request := strings.Repeat("y", 40000)
	p.start(request)
	if p.bodies[1] != prefixed(request) || p.headers[1][":authority"].Value != long.Authority {
		t.Errorf("sent %d bytes for %d characters", len(p.bodies[1]), len(p.headers[1][":authority"].Value))
	}
}

func TestRequestEndedEarly(t *testing.T) {
	for name, end := range map[string]func(*peer){
		"trailers": func(p *peer) { p.sendHeaders(1, true, ":status", "200", "grpc-status", "8") },
		"reset":    func(p *peer) { p.must(p.framer.WriteRSTStream(1, http2.ErrCodeRefusedStream)) },
		"cancel":   nil,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, &config, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 4})
			c := p.start("0123456789")
			if end == nil {
				p.conn.Cancel(&c.stream, unary.DeadlineExceeded, "")
			} else {
				end(p)
			}
			p.deliver()
			if c.ended != 1 || c.code == unary.OK {
				t.Errorf("ended %d times, %v", c.ended, c.code)
			}
			if resets := frameOf[*http2.RSTStreamFrame](p); (len(resets) == 1) != (name != "reset") {
				t.Errorf("the server gets %v", resets)
			}
			p.must(p.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 100}))
			p.deliver()
			if len(p.bodies[1]) != 4 {
				t.Errorf("sent %q after the end", p.bodies[1])
			}
		})
	}
}

func TestWindowsAreGivenBack(t *testing.T) {
	small := config
	small.StreamWindow, small.ConnWindow, small.MaxMessage = 1000, 65535, 1<<30
	p := newPeer(t, &small)
	p.start("x")
	p.head(1)
	p.data(1, "\x00\x00\xff\xff\xff")
	p.deliver()
	stream, conn := 1000-5, 65535-5
	returned := 0
	for range 500 {
		p.data(1, strings.Repeat("x", 400))
		p.deliver()
		stream, conn = stream-400, conn-400
		for _, u := range frameOf[*http2.WindowUpdateFrame](p)[returned:] {
			returned++
			if u.StreamID == 0 {
				conn += int(u.Increment)
			} else {
				stream += int(u.Increment)
			}
		}
		if stream < 400 || stream > 1000 || conn < 400 || conn > 65535 {
			t.Fatalf("the windows are %d and %d", stream, conn)
		}
	}
}

func TestServerExceedsWindows(t *testing.T) {
	small := config
	small.StreamWindow, small.ConnWindow = 100, 65535
	t.Run("stream", func(t *testing.T) {
		p := newPeer(t, &small)
		c := p.start("x")
		p.head(1)
		p.data(1, strings.Repeat("\x00", 101))
		p.deliver()
		c.wants(t, 1, unary.Internal, "window")
		if r := frameOf[*http2.RSTStreamFrame](p); len(r) != 1 || r[0].ErrCode != http2.ErrCodeFlowControl {
			t.Errorf("the server gets %v", r)
		}
	})
	t.Run("closed streams count", func(t *testing.T) {
		p := newPeer(t, &small)
		c := p.start("x")
		p.conn.Cancel(&c.stream, unary.Canceled, "")
		for range 3 {
			p.data(1, strings.Repeat("\x00", 16384))
		}
		p.deliver()
		given := 0
		for _, u := range frameOf[*http2.WindowUpdateFrame](p) {
			given += int(u.Increment)
		}
		if given < 2*16384 {
			t.Errorf("%d bytes of the window were returned", given)
		}
	})
}

func TestSentIsTheWriteOfTheLastByte(t *testing.T) {
	p := newPeer(t, &config)
	calls := make([]call, 3)
	ends := make([]int, 3)
	for i := range calls {
		calls[i].request = strings.Repeat("x", 10*i)
		p.conn.Start(&calls[i].stream, 0, &calls[i])
		ends[i] = len(p.conn.Output())
	}
	for written := 1; written <= ends[2]; written++ {
		p.conn.Wrote(1, int64(written))
	}
	for i, c := range calls {
		if c.sent != int64(ends[i]) {
			t.Errorf("call %d was sent with byte %d, want %d", i, c.sent, ends[i])
		}
	}
	if p.conn.Output() != nil {
		t.Error("there is more to write")
	}
}

func TestPings(t *testing.T) {
	p := newPeer(t, &config)
	p.must(p.framer.WritePing(false, [8]byte{1, 2, 3}))
	p.must(p.framer.WritePing(true, [8]byte{9}))
	p.deliver()
	p.conn.Ping()
	p.read()
	pings := frameOf[*http2.PingFrame](p)
	if len(pings) != 2 || !pings[0].IsAck() || pings[0].Data != [8]byte{1, 2, 3} || pings[1].IsAck() {
		t.Errorf("the server gets %v, wanted an answer and a PING", pings)
	}
}

func TestUnknownFramesAndSettingsMeanNothing(t *testing.T) {
	p := newPeer(t, &config, http2.Setting{ID: 0xabc, Val: 1})
	c := p.start("x")
	p.must(p.framer.WriteRawFrame(0xee, 0xff, 1, []byte("whatever")))
	p.must(p.framer.WritePriority(1, http2.PriorityParam{Weight: 1}))
	p.answer(1, "ok")
	p.deliver()
	c.wants(t, 1, unary.OK, "")
}
