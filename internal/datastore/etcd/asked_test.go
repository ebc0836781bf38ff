package etcd

import (
	"context"
	"net"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Progress notifications come only after ten minutes without an event. So this test checks the watch requests: whether
// they ask for progress and for previous values.

// asked is an empty etcd that reports the watch requests that it gets.
type asked struct {
	etcdserverpb.UnimplementedKVServer
	etcdserverpb.UnimplementedWatchServer
	watches chan watchAsked
}

// watchAsked is a request to create a watcher.
type watchAsked struct {
	*etcdserverpb.WatchCreateRequest
	leader []string
}

func (*asked) Range(context.Context, *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	return &etcdserverpb.RangeResponse{Header: &etcdserverpb.ResponseHeader{Revision: 41}}, nil
}

func (a *asked) Watch(stream etcdserverpb.Watch_WatchServer) error {
	sent, _ := metadata.FromIncomingContext(stream.Context())
	for {
		request, err := stream.Recv()
		if err != nil {
			return err
		}
		if create := request.GetCreateRequest(); create != nil {
			a.watches <- watchAsked{create, sent.Get(rpctypes.MetadataRequireLeaderKey)}
			err = stream.Send(&etcdserverpb.WatchResponse{Header: &etcdserverpb.ResponseHeader{Revision: 41}, Created: true})
		}
		if err != nil {
			return err
		}
	}
}

// startAsked serves an asked, and returns its address.
func startAsked(t *testing.T) (*asked, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a, server := &asked{watches: make(chan watchAsked, 10)}, grpc.NewServer()
	etcdserverpb.RegisterKVServer(server, a)
	etcdserverpb.RegisterWatchServer(server, a)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return a, listener.Addr().String()
}

func TestWhatWatchersAskFor(t *testing.T) {
	a, address := startAsked(t)
	d := newDriver(t, planFor([]string{address}), 0)
	d.topology = topology{members: []member{{endpoint: address}}}
	c := connect(t, d, 0)
	tests := map[string]struct {
		watcher               workload.Watcher
		wantPrev, wantObjects bool
	}{
		"keys":                      {workload.Watcher{}, false, false},
		"keys with previous values": {workload.Watcher{PrevKV: true}, true, false},
		"objects":                   {workload.Watcher{PrevKV: true, Reflect: true}, true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			tc.watcher.Key, tc.watcher.End = []byte("k/"), []byte("k0")
			if err := c.Watch(ctx, []load.Watcher{{Watcher: tc.watcher}}, newAudience()); err != nil {
				t.Fatal(err)
			}
			got := next(t, a.watches, "a request to create a watcher")
			if string(got.Key) != "k/" || string(got.RangeEnd) != "k0" || got.PrevKv != tc.wantPrev {
				t.Errorf("asked for %v, wanted the keys from k/ to k0, with previous values: %v", got, tc.wantPrev)
			}
			// A watcher of objects starts after its listing.
			if got.ProgressNotify != tc.wantObjects || (len(got.leader) > 0) != tc.wantObjects || (got.StartRevision == 42) != tc.wantObjects {
				t.Errorf("asked for %v, leader wanted: %v; wanted a start after the listing, progress and a leader: %v", got, got.leader, tc.wantObjects)
			}
		})
	}
}
