package eventloop

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// TestServerVanishes makes the server's end of a connection disappear without closing it. The client must notice and
// connect again.
func TestServerVanishes(t *testing.T) {
	forAll(t, func(t *testing.T, config Config) {
		server := &lineServer{secure: config.TLS != nil}
		address := serve(t, "127.0.0.1:0", server)
		config.KeepAliveTime, config.KeepAliveTimeout = 300*time.Millisecond, 300*time.Millisecond
		conn := open(t, newLineClient(t, lineConfig{Config: config}), address)
		if got := sayWithLongTimeout(t.Context(), conn); !got.Succeeded() {
			t.Fatalf("got %+v", got)
		}
		server.vanish()
		if got := sayWithLongTimeout(t.Context(), conn); got.Code != load.CodeUnavailable || !strings.Contains(got.Detail, "PING") {
			t.Errorf("from a server that has vanished: %+v", got)
		}
		if got := sayWithLongTimeout(t.Context(), conn); !got.Succeeded() {
			t.Errorf("afterwards: %+v", got)
		}
	})
}

// sayWithLongTimeout makes a call that the timeout does not end.
func sayWithLongTimeout(ctx context.Context, conn load.Conn) load.Response {
	return sayWithin(ctx, conn, "words", 10*time.Minute)
}

// TestSlowServerIsKept: a server answers a call only after several PINGs.
func TestSlowServerIsKept(t *testing.T) {
	hanging, begun, release := hang()
	defer release()
	address := serve(t, "127.0.0.1:0", &lineServer{call: hanging})
	conn := open(t, newLineClient(t, lineConfig{Config: Config{KeepAliveTime: 10 * time.Millisecond, KeepAliveTimeout: time.Minute}}), address)
	ended := make(chan load.Response)
	go func() { ended <- sayWithLongTimeout(t.Context(), conn) }()
	<-begun
	for pings := 0; pings < 3; {
		onLoop(conn, func() { pings = conn.current.session.(*lines).pings })
	}
	release()
	if got := <-ended; !got.Succeeded() {
		t.Errorf("got %+v", got)
	}
}

// Without calls, a silent server gets no PING.
func TestPingsOnlyForCalls(t *testing.T) {
	hanging, begun, release := hang()
	defer release()
	conn := open(t, newLineClient(t, lineConfig{}), serve(t, "127.0.0.1:0", &lineServer{call: hanging}))
	// check makes the link believe that it has read nothing for an hour, and returns whether it has sent a PING.
	check := func() (pings bool) {
		onLoop(conn, func() {
			a := &conn.current.alive
			a.lastRead = load.Now().Add(-time.Hour)
			a.check()
			pings = a.pinging
		})
		return pings
	}
	if check() {
		t.Error("the link sends a PING without a call")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		say(ctx, conn, "words")
	}()
	<-begun
	if !check() {
		t.Error("the link sends no PING during a call")
	}
	cancel()
	<-ended
}
