package unary_test

import (
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
)

func TestCall(t *testing.T) {
	p := newPeer(t, &config)
	c := p.start("request")
	if got, want := p.bodies[1], prefixed("request"); got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	for name, want := range map[string]string{
		":method": "POST", ":scheme": "http", ":path": "/a/A", ":authority": "server:1",
		"content-type": "application/grpc", "te": "trailers", "user-agent": "test",
	} {
		if got := p.headers[1][name].Value; got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
	if c.sent != p.now {
		t.Errorf("sent at %d, want %d", c.sent, p.now)
	}
	p.answer(1, "response")
	p.deliver()
	c.wants(t, 1, unary.OK, "")
	if c.response != "response" || !p.conn.Idle() || c.stream.Started() {
		t.Errorf("response %q, idle %v, started %v", c.response, p.conn.Idle(), c.stream.Started())
	}
}

// TestEnds has all the ways in which a server can end a call, valid and invalid.
func TestEnds(t *testing.T) {
	tests := map[string]struct {
		server func(*peer)
		code   unary.Code
		detail string
	}{
		"empty response": {func(p *peer) { p.answer(1, "") }, unary.OK, ""},
		"padded": {func(p *peer) {
			p.must(p.framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID: 1, BlockFragment: p.fields(":status", "200", "content-type", "application/grpc+proto"), EndHeaders: true, PadLength: 200,
				Priority: http2.PriorityParam{StreamDep: 5, Weight: 1},
			}))
			p.must(p.framer.WriteDataPadded(1, false, []byte(prefixed("x")), make([]byte, 100)))
			p.trail(1)
		}, unary.OK, ""},
		"message in many frames": {func(p *peer) {
			p.head(1)
			for _, b := range prefixed("response") {
				p.data(1, string(byte(b)))
			}
			p.data(1, "")
			p.trail(1)
		}, unary.OK, ""},
		"headers in many frames": {func(p *peer) {
			block := p.fields(":status", "200", "content-type", "application/grpc", "x", strings.Repeat("y", 100))
			p.must(p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:1]}))
			for i := 1; i < len(block); i++ {
				p.must(p.framer.WriteContinuation(1, i == len(block)-1, block[i:i+1]))
			}
			p.data(1, prefixed("x"))
			p.trail(1)
		}, unary.OK, ""},
		"informational headers": {func(p *peer) {
			p.sendHeaders(1, false, ":status", "103")
			p.answer(1, "x")
		}, unary.OK, ""},
		"trailers only": {func(p *peer) {
			p.sendHeaders(1, true, ":status", "200", "grpc-status", "8", "grpc-message", "100%25 full: %E2%82%AC %zz%")
		}, unary.ResourceExhausted, "100% full: € %zz%"},
		"error after headers": {func(p *peer) {
			p.head(1)
			p.sendHeaders(1, true, "grpc-status", "14", "grpc-message", "no leader")
		}, unary.Unavailable, "no leader"},
		"error after message": {func(p *peer) {
			p.head(1)
			p.data(1, prefixed("x"))
			p.sendHeaders(1, true, "grpc-status", "16")
		}, unary.Unauthenticated, ""},
		"unknown status code": {func(p *peer) { p.sendHeaders(1, true, ":status", "200", "grpc-status", "99") }, unary.Unknown, ""},
		"code that is none": {func(p *peer) {
			p.sendHeaders(1, true, ":status", "200", "content-type", "application/grpc", "grpc-status", "x")
		}, unary.Unknown, "grpc-status"},
		"no status":  {func(p *peer) { p.head(1); p.sendHeaders(1, true, "x", "y") }, unary.Unknown, "grpc-status"},
		"http error": {func(p *peer) { p.sendHeaders(1, false, ":status", "503") }, unary.Unavailable, "503"},
		"http error page": {func(p *peer) {
			p.sendHeaders(1, false, ":status", "502", "content-type", "text/html")
			p.data(1, "<html>")
		}, unary.Unavailable, `HTTP status 502 and content-type "text/html"`},
		"page": {func(p *peer) {
			p.sendHeaders(1, false, ":status", "200", "content-type", "text/html")
			p.data(1, "<html>")
		}, unary.Unknown, `HTTP status 200 and content-type "text/html"`},
		"empty page": {func(p *peer) {
			p.sendHeaders(1, true, ":status", "200", "content-type", "application/grpc-web")
		}, unary.Unknown, `HTTP status 200 and content-type "application/grpc-web"`},
		"no content-type": {func(p *peer) {
			p.sendHeaders(1, false, ":status", "200")
			p.data(1, prefixed("x"))
		}, unary.Unknown, "HTTP status 200 and no content-type"},
		"http error alone": {func(p *peer) { p.sendHeaders(1, true, ":status", "404") }, unary.Unimplemented, "404"},
		"success without message": {func(p *peer) {
			p.head(1)
			p.trail(1)
		}, unary.Internal, "without a response"},
		"two messages": {func(p *peer) {
			p.head(1)
			p.data(1, prefixed("x"))
			p.data(1, prefixed("y"))
		}, unary.Internal, "more than one"},
		"two messages in a frame": {func(p *peer) {
			p.head(1)
			p.data(1, prefixed("x")+prefixed("y"))
		}, unary.Internal, "more than one"},
		"compressed": {func(p *peer) {
			p.head(1)
			p.data(1, "\x01\x00\x00\x00\x00")
		}, unary.Internal, "compressed"},
		"unreadable":    {func(p *peer) { p.head(1); p.data(1, prefixed("unreadable")) }, unary.Internal, "it is unreadable"},
		"too long":      {func(p *peer) { p.head(1); p.data(1, "\x00\x00\x10\x00\x01") }, unary.ResourceExhausted, "1048577"},
		"data first":    {func(p *peer) { p.data(1, "x") }, unary.Internal, "before headers"},
		"headers twice": {func(p *peer) { p.head(1); p.head(1) }, unary.Internal, "in the middle"},
		"half a message": {func(p *peer) {
			p.head(1)
			p.data(1, "\x00\x00\x00\x00\x09half")
			p.trail(1)
		}, unary.Internal, "without a response"},
		"no trailers": {func(p *peer) {
			p.head(1)
			p.must(p.framer.WriteData(1, true, []byte(prefixed("x"))))
		}, unary.Internal, "without trailers"},
		"many headers": {func(p *peer) {
			// A repeated field takes a byte of the block and 3.9 KB of the list.
			pairs := []string{":status", "200", "content-type", "application/grpc"}
			for range 20 {
				pairs = append(pairs, "x", strings.Repeat("y", 3900))
			}
			p.sendHeaders(1, false, pairs...)
		}, unary.ResourceExhausted, "64 KiB"},
		"refused":           {func(p *peer) { p.must(p.framer.WriteRSTStream(1, http2.ErrCodeRefusedStream)) }, unary.Unavailable, "REFUSED_STREAM"},
		"canceled":          {func(p *peer) { p.must(p.framer.WriteRSTStream(1, http2.ErrCodeCancel)) }, unary.Canceled, "CANCEL"},
		"reset":             {func(p *peer) { p.must(p.framer.WriteRSTStream(1, http2.ErrCodeInternal)) }, unary.Internal, "INTERNAL_ERROR"},
		"goaway before it":  {func(p *peer) { p.must(p.framer.WriteGoAway(0, http2.ErrCodeNo, []byte("bye"))) }, unary.Unavailable, "bye"},
		"goaway after it":   {func(p *peer) { p.must(p.framer.WriteGoAway(1, http2.ErrCodeNo, nil)); p.answer(1, "x") }, unary.OK, ""},
		"stream window 0":   {func(p *peer) { p.must(p.framer.WriteWindowUpdate(1, 0)) }, unary.Internal, "WINDOW_UPDATE of 0"},
		"stream window max": {func(p *peer) { p.must(p.framer.WriteWindowUpdate(1, 1<<31-1)) }, unary.Internal, "overflowed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, &config)
			c := p.start("request")
			tc.server(p)
			p.deliver()
			c.wants(t, 1, tc.code, tc.detail)
			if !p.conn.Idle() {
				t.Error("the stream is still there")
			}
			// The connection and its header tables must still work after that.
			if !p.conn.Open() {
				return
			}
			next := p.start("next")
			p.answer(3, "ok")
			p.deliver()
			next.wants(t, 1, unary.OK, "")
		})
	}
}

// TestViolations has the violations that end a connection, with the code of the GOAWAY.
func TestViolations(t *testing.T) {
	raw := func(h frame.Header, payload string) func(*peer) {
		return func(p *peer) {
			h.Length = len(payload)
			p.out.Write(append(h.Append(nil), payload...))
		}
	}
	tests := map[string]struct {
		server func(*peer)
		want   frame.ErrorCode
	}{
		"long frame":             {raw(frame.Header{Kind: frame.Data, Stream: 1}, strings.Repeat("x", 16385)), frame.FrameSizeError},
		"data of no stream":      {raw(frame.Header{Kind: frame.Data}, "x"), frame.ProtocolError},
		"data of idle stream":    {raw(frame.Header{Kind: frame.Data, Stream: 3}, "x"), frame.ProtocolError},
		"data of even stream":    {raw(frame.Header{Kind: frame.Data, Stream: 2}, "x"), frame.ProtocolError},
		"data of bad padding":    {raw(frame.Header{Kind: frame.Data, Stream: 1, Flags: frame.Padded}, "\x09x"), frame.ProtocolError},
		"headers of idle":        {func(p *peer) { p.head(3) }, frame.ProtocolError},
		"headers bad padding":    {raw(frame.Header{Kind: frame.Headers, Stream: 1, Flags: frame.Padded}, "\x09x"), frame.ProtocolError},
		"headers unreadable":     {raw(frame.Header{Kind: frame.Headers, Stream: 1, Flags: frame.EndHeaders}, "\xff\xff\xff\xff\xff"), frame.CompressionError},
		"headers cut off":        {raw(frame.Header{Kind: frame.Headers, Stream: 1, Flags: frame.EndHeaders}, "\x40\x05a"), frame.CompressionError},
		"continuation alone":     {raw(frame.Header{Kind: frame.Continuation, Stream: 1}, ""), frame.ProtocolError},
		"block interrupted":      {func(p *peer) { raw(frame.Header{Kind: frame.Headers, Stream: 1}, "")(p); p.head(1) }, frame.ProtocolError},
		"reset of idle":          {func(p *peer) { p.must(p.framer.WriteRSTStream(3, 0)) }, frame.ProtocolError},
		"reset too short":        {raw(frame.Header{Kind: frame.ResetStream, Stream: 1}, "x"), frame.FrameSizeError},
		"push":                   {raw(frame.Header{Kind: frame.PushPromise, Stream: 1}, "1234"), frame.ProtocolError},
		"priority of none":       {raw(frame.Header{Kind: frame.Priority}, "12345"), frame.ProtocolError},
		"priority too short":     {raw(frame.Header{Kind: frame.Priority, Stream: 1}, "1234"), frame.FrameSizeError},
		"ping too short":         {raw(frame.Header{Kind: frame.Ping}, "1234"), frame.FrameSizeError},
		"ping on a stream":       {raw(frame.Header{Kind: frame.Ping, Stream: 1}, "12345678"), frame.ProtocolError},
		"goaway too short":       {raw(frame.Header{Kind: frame.GoAway}, "1234567"), frame.FrameSizeError},
		"settings ack not empty": {raw(frame.Header{Kind: frame.Settings, Flags: frame.Ack}, "x"), frame.FrameSizeError},
		"settings cut off":       {raw(frame.Header{Kind: frame.Settings}, "12345"), frame.FrameSizeError},
		"settings window":        {func(p *peer) { p.must(p.framer.WriteSettings(http2.Setting{ID: 4, Val: 1 << 31})) }, frame.FlowControlError},
		"settings frame small":   {func(p *peer) { p.must(p.framer.WriteSettings(http2.Setting{ID: 5, Val: 16383})) }, frame.ProtocolError},
		"settings frame large":   {func(p *peer) { p.must(p.framer.WriteSettings(http2.Setting{ID: 5, Val: 1 << 24})) }, frame.ProtocolError},
		"settings push":          {func(p *peer) { p.must(p.framer.WriteSettings(http2.Setting{ID: 2, Val: 1})) }, frame.ProtocolError},
		"settings push of 2":     {func(p *peer) { p.must(p.framer.WriteSettings(http2.Setting{ID: 2, Val: 2})) }, frame.ProtocolError},
		"window too short":       {raw(frame.Header{Kind: frame.WindowUpdate}, "x"), frame.FrameSizeError},
		"window 0":               {func(p *peer) { p.must(p.framer.WriteWindowUpdate(0, 0)) }, frame.ProtocolError},
		"window overflow":        {func(p *peer) { p.must(p.framer.WriteWindowUpdate(0, 1<<31-1)) }, frame.FlowControlError},
		"window of idle":         {func(p *peer) { p.must(p.framer.WriteWindowUpdate(3, 1)) }, frame.ProtocolError},
		"settings overflow": {func(p *peer) {
			p.must(p.framer.WriteWindowUpdate(1, 1<<31-1-65535))
			p.must(p.framer.WriteSettings(http2.Setting{ID: 4, Val: 1<<31 - 1}))
		}, frame.FlowControlError},
		"endless header block": {func(p *peer) {
			raw(frame.Header{Kind: frame.Headers, Stream: 1}, "")(p)
			for range 2000 {
				raw(frame.Header{Kind: frame.Continuation, Stream: 1}, "")(p)
			}
		}, frame.EnhanceYourCalm},
		"large header block": {func(p *peer) {
			raw(frame.Header{Kind: frame.Headers, Stream: 1}, "")(p)
			for range 5 {
				raw(frame.Header{Kind: frame.Continuation, Stream: 1}, strings.Repeat("x", 16384))(p)
			}
		}, frame.EnhanceYourCalm},
		"pings without end": {func(p *peer) {
			for range 10001 {
				p.must(p.framer.WritePing(false, [8]byte{}))
			}
		}, frame.EnhanceYourCalm},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, &config)
			c := p.start("request")
			tc.server(p)
			err := p.tryDeliver()
			if err == nil {
				t.Fatal("the client reports no violation")
			}
			p.read()
			goAways := frameOf[*http2.GoAwayFrame](p)
			if len(goAways) != 1 || uint32(goAways[0].ErrCode) != uint32(tc.want) {
				t.Errorf("%v: the server gets %v, want one GOAWAY of %v", err, goAways, tc.want)
			}
			p.conn.Fail(unary.Unavailable, err.Error())
			c.wants(t, 1, unary.Unavailable, "")
			if p.conn.Open() || !p.conn.Idle() {
				t.Error("the connection is still open")
			}
		})
	}
}

func TestFirstFrameMustBeSettings(t *testing.T) {
	for name, write := range map[string]func(*peer) error{
		"ping":            func(p *peer) error { return p.framer.WritePing(false, [8]byte{}) },
		"acknowledgement": func(p *peer) error { return p.framer.WriteSettingsAck() },
	} {
		t.Run(name, func(t *testing.T) {
			p := unestablished(t, &config)
			p.must(write(p))
			if p.tryDeliver() == nil {
				t.Error("the client reports no violation")
			}
		})
	}
}

func TestCallsWaitForTheGreeting(t *testing.T) {
	p := unestablished(t, &config)
	c := p.start("early")
	if len(p.headers) != 0 {
		t.Error("the call does not wait")
	}
	p.must(p.framer.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 0}))
	p.deliver()
	p.answer(1, "ok")
	p.deliver()
	c.wants(t, 1, unary.OK, "")
	if acks := frameOf[*http2.SettingsFrame](p); len(acks) != 2 || !acks[1].IsAck() {
		t.Errorf("the settings are not acknowledged: %v", acks)
	}
}

func TestLimitOfStreams(t *testing.T) {
	p := newPeer(t, &config, http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 2})
	calls := []*call{p.start("0"), p.start("1"), p.start("2"), p.start("3")}
	if len(p.bodies) != 2 {
		t.Errorf("%d streams are open, want 2", len(p.bodies))
	}
	p.answer(1, "ok")
	p.deliver()
	if p.bodies[5] != prefixed("2") || len(p.bodies) != 3 {
		t.Errorf("after one end, %v are open", p.bodies)
	}
	p.conn.Cancel(&calls[3].stream, unary.DeadlineExceeded, "late")
	calls[3].wants(t, 1, unary.DeadlineExceeded, "late")
	p.must(p.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 3}))
	p.deliver()
	calls = append(calls, p.start("4"))
	if p.bodies[7] != prefixed("4") {
		t.Errorf("after the limit rose, %v are open", p.bodies)
	}
	p.conn.Fail(unary.Unavailable, "gone")
	for i, want := range []unary.Code{unary.OK, unary.Unavailable, unary.Unavailable, unary.DeadlineExceeded, unary.Unavailable} {
		calls[i].wants(t, 1, want, "")
	}
}

func TestCallAgainFromEnded(t *testing.T) {
	p := newPeer(t, &config)
	c := &call{request: "again"}
	c.onEnded = func() {
		if c.ended < 3 {
			p.conn.Start(&c.stream, 1, c)
		}
	}
	p.conn.Start(&c.stream, 0, c)
	p.read()
	for _, id := range []uint32{1, 3, 5} {
		p.answer(id, "ok")
		p.deliver()
	}
	c.wants(t, 3, unary.OK, "")
}

func TestCancel(t *testing.T) {
	p := newPeer(t, &config)
	c := p.start("x")
	p.conn.Cancel(&c.stream, unary.DeadlineExceeded, "late")
	p.read()
	c.wants(t, 1, unary.DeadlineExceeded, "late")
	resets := frameOf[*http2.RSTStreamFrame](p)
	if len(resets) != 1 || resets[0].StreamID != 1 || resets[0].ErrCode != http2.ErrCodeCancel {
		t.Errorf("the server gets %v", resets)
	}
	// This frame on the closed stream changes the header table, which the next response uses.
	p.sendHeaders(1, false, ":status", "200", "content-type", "application/grpc", "new-in-table", "yes")
	p.data(1, prefixed("late"))
	p.trail(1)
	next := p.start("y")
	p.sendHeaders(3, false, ":status", "200", "content-type", "application/grpc", "new-in-table", "yes")
	p.data(3, prefixed("ok"))
	p.trail(3)
	p.deliver()
	next.wants(t, 1, unary.OK, "")
	c.wants(t, 1, unary.DeadlineExceeded, "late")
}

func TestGoAwayDrains(t *testing.T) {
	p := newPeer(t, &config, http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 2})
	first, second, waiting := p.start("1"), p.start("2"), p.start("3")
	p.must(p.framer.WriteGoAway(1<<31-1, http2.ErrCodeNo, nil))
	p.deliver()
	if p.conn.Open() {
		t.Error("the connection still takes calls")
	}
	p.must(p.framer.WriteGoAway(1, http2.ErrCodeNo, nil))
	p.answer(1, "ok")
	p.deliver()
	first.wants(t, 1, unary.OK, "")
	second.wants(t, 1, unary.Unavailable, "GOAWAY")
	if calls := p.conn.TakeWaiting(); len(calls) != 1 || calls[0] != unary.Call(waiting) || waiting.stream.Started() {
		t.Errorf("waiting are %v", calls)
	}
	waiting.wants(t, 0, unary.OK, "")
	if !p.conn.Idle() {
		t.Error("the connection is not idle")
	}
}

func TestStreamNumbersRunOut(t *testing.T) {
	few := config
	few.LastStream = 5
	p := newPeer(t, &few)
	calls := []*call{p.start("1"), p.start("2")}
	if !p.conn.Open() {
		t.Error("closed with a stream ID left")
	}
	calls = append(calls, p.start("3"))
	if p.conn.Open() {
		t.Error("open without a stream ID left")
	}
	for i, c := range calls {
		p.answer(uint32(2*i+1), "ok")
		p.deliver()
		c.wants(t, 1, unary.OK, "")
	}
}
