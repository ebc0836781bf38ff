package eventloop

import (
	"context"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// TestAbortIsForItsOwnCall aborts a call that ends at the same moment for another reason, before the loop handles the
// abort. Meanwhile another loop carries calls: the abort must not end them.
func TestAbortIsForItsOwnCall(t *testing.T) {
	const others = 8
	hanging, begun, release := hang()
	defer release()
	address := serve(t, "127.0.0.1:0", &lineServer{call: hanging})
	conns := openOnAll(t, newLineClient(t, lineConfig{Config: Config{Loops: 2}}), address)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan load.Response)
	go func() { first <- say(ctx, conns[0], "first") }()
	<-begun
	ended := make(chan load.Response, others)
	onLoop(conns[0], func() {
		cancel()
		for !conns[0].loop.hasPosted() {
		}
		conns[0].current.lose("the test has cut it")
		<-first
		for range others {
			go func() { ended <- say(t.Context(), conns[1], "other") }()
		}
		for range others {
			<-begun
		}
	})
	// The loop runs the posted functions in order.
	onLoop(conns[0], func() {})
	release()
	for range others {
		if got := <-ended; !got.Succeeded() {
			t.Errorf("got %+v", got)
		}
	}
}
