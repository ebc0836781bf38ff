package fast

import (
	"context"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// TestAbortIsForItsOwnCall gives a call up that ends at the same moment for
// another reason, while the loop has not heard of it yet, and lets another loop
// carry calls meanwhile: they must not be the ones that are given up.
func TestAbortIsForItsOwnCall(t *testing.T) {
	const others = 8
	begun, release := make(chan string, 1+others), make(chan struct{})
	_, address := serve(t, "127.0.0.1:0", &kv{ranges: func(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
		begun <- string(r.Key)
		select {
		case <-release:
		case <-ctx.Done():
		}
		return found(ctx, r)
	}})
	client := newTestClient(t, Config{Loops: 2})
	conns := openOnAll(t, client, address)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan load.Response)
	go func() { first <- get(ctx, conns[0], "first") }()
	<-begun
	ended := make(chan load.Response, others)
	onLoop(conns[0], func() {
		cancel()
		for !conns[0].loop.hasPosted() {
		}
		conns[0].current.lose("the test has cut it")
		<-first
		for range others {
			go func() { ended <- get(t.Context(), conns[1], "other") }()
		}
		for range others {
			<-begun
		}
	})
	// The loop runs what was posted to it in turn.
	onLoop(conns[0], func() {})
	close(release)
	for range others {
		if got := <-ended; !got.Succeeded() {
			t.Errorf("got %+v", got)
		}
	}
}
