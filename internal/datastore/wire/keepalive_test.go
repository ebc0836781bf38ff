package wire

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// TestServerVanishes makes the server's end of a connection disappear without a
// word, and wants the client to notice and to connect again.
func TestServerVanishes(t *testing.T) {
	forAll(t, func(t *testing.T, config Config) {
		server := &lineServer{secure: config.TLS != nil}
		address := serve(t, "127.0.0.1:0", server)
		config.KeepAliveTime, config.KeepAliveTimeout = 300*time.Millisecond, 300*time.Millisecond
		conn := open(t, newLineClient(t, lineConfig{Config: config}), address)
		if got := sayPatiently(t.Context(), conn); !got.Succeeded() {
			t.Fatalf("got %+v", got)
		}
		server.vanish()
		if got := sayPatiently(t.Context(), conn); got.Code != load.CodeUnavailable || !strings.Contains(got.Detail, "PING") {
			t.Errorf("from a server that has vanished: %+v", got)
		}
		if got := sayPatiently(t.Context(), conn); !got.Succeeded() {
			t.Errorf("afterwards: %+v", got)
		}
	})
}

// sayPatiently has a timeout that is not what ends it.
func sayPatiently(ctx context.Context, conn load.Conn) load.Response {
	return sayWithin(ctx, conn, "words", 10*time.Minute)
}

// TestSlowServerIsKept lets a server answer only after it was asked for signs of
// life several times.
func TestSlowServerIsKept(t *testing.T) {
	hanging, begun, release := hang()
	defer release()
	address := serve(t, "127.0.0.1:0", &lineServer{call: hanging})
	conn := open(t, newLineClient(t, lineConfig{Config: Config{KeepAliveTime: 10 * time.Millisecond, KeepAliveTimeout: time.Minute}}), address)
	ended := make(chan load.Response)
	go func() { ended <- sayPatiently(t.Context(), conn) }()
	<-begun
	for pings := 0; pings < 3; {
		onLoop(conn, func() { pings = conn.current.session.(*lines).pings })
	}
	release()
	if got := <-ended; !got.Succeeded() {
		t.Errorf("got %+v", got)
	}
}

// Without calls, a server that says nothing is left in peace.
func TestPingsOnlyForCalls(t *testing.T) {
	hanging, begun, release := hang()
	defer release()
	conn := open(t, newLineClient(t, lineConfig{}), serve(t, "127.0.0.1:0", &lineServer{call: hanging}))
	// look makes the link believe that nothing has come for long, and returns
	// whether it has asked.
	look := func() (asks bool) {
		onLoop(conn, func() {
			a := &conn.current.alive
			a.heard = load.Now().Add(-time.Hour)
			a.look()
			asks = a.asking
		})
		return asks
	}
	if look() {
		t.Error("it asks without a call")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		say(ctx, conn, "words")
	}()
	<-begun
	if !look() {
		t.Error("it does not ask during a call")
	}
	cancel()
	<-ended
}
