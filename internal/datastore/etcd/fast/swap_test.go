package fast

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// swap sends a compare-and-swap and waits until it has ended.
func swap(ctx context.Context, conn load.Conn, timeout time.Duration) load.Response {
	var response load.Response
	conn.Do(load.WithPhase(ctx, results.PhaseMeasured), &load.Request{
		Operation: spec.OperationCompareAndSwap, Key: []byte("k"), Value: []byte("new"), Needs: 1, Timeout: timeout,
	}, &response)
	return response
}

// found is the response to the first call of a swap.
func found(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
	return &pb.RangeResponse{Count: 1, Kvs: []*mvccpb.KeyValue{{Key: []byte("k"), ModRevision: 300}}}, nil
}

func TestSwapEnds(t *testing.T) {
	both := map[spec.RPC]map[results.Phase]uint64{spec.RPCRange: {results.PhaseMeasured: 1}, spec.RPCTxn: {results.PhaseMeasured: 1}}
	tests := map[string]struct {
		server *kv
		code   string
		lost   bool
		sent   map[spec.RPC]map[results.Phase]uint64
	}{
		"swapped": {&kv{ranges: found, txns: func(context.Context, *pb.TxnRequest) (*pb.TxnResponse, error) {
			return &pb.TxnResponse{Succeeded: true}, nil
		}}, "", false, both},
		"lost": {&kv{ranges: found, txns: func(context.Context, *pb.TxnRequest) (*pb.TxnResponse, error) {
			return &pb.TxnResponse{}, nil
		}}, "", true, both},
		"the key is not there": {
			&kv{ranges: func(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) { return &pb.RangeResponse{}, nil }},
			load.CodeNotFound, false, map[spec.RPC]map[results.Phase]uint64{spec.RPCRange: {results.PhaseMeasured: 1}},
		},
		"the read fails": {
			&kv{ranges: func(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
				return nil, status.Error(codes.Aborted, "")
			}},
			"Aborted", false, map[spec.RPC]map[results.Phase]uint64{spec.RPCRange: {results.PhaseMeasured: 1}},
		},
		"the write fails": {&kv{ranges: found, txns: func(context.Context, *pb.TxnRequest) (*pb.TxnResponse, error) {
			return nil, status.Error(codes.Aborted, "")
		}}, "Aborted", false, both},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, address := serve(t, "127.0.0.1:0", tc.server)
			client := newTestClient(t, Config{})
			got := swap(t.Context(), open(t, client, address), 10*time.Second)
			if got.Code != tc.code || got.Lost != tc.lost || (got.Detail != "") != (tc.code == load.CodeNotFound) {
				t.Errorf("got %+v", got)
			}
			if diff := cmp.Diff(tc.sent, client.Requests()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The second call compares with the response to the first one. The request's send time is that of the first call.
func TestSwapComparesWhatItRead(t *testing.T) {
	asked, looked := make(chan *pb.TxnRequest, 1), make(chan load.Instant, 1)
	_, address := serve(t, "127.0.0.1:0", &kv{
		ranges: func(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
			looked <- load.Now()
			return found(ctx, r)
		},
		txns: func(_ context.Context, r *pb.TxnRequest) (*pb.TxnResponse, error) {
			asked <- r
			return &pb.TxnResponse{Succeeded: true}, nil
		},
	})
	got := swap(t.Context(), open(t, newTestClient(t, Config{}), address), 10*time.Second)
	r, read := <-asked, <-looked
	c, put := r.Compare[0], r.Success[0].GetRequestPut()
	if len(r.Compare) != 1 || c.Target != pb.Compare_MOD || c.Result != pb.Compare_EQUAL || c.GetModRevision() != 300 || string(c.Key) != "k" {
		t.Errorf("compares %v", r.Compare)
	}
	if len(r.Success) != 1 || len(r.Failure) != 0 || string(put.Key) != "k" || string(put.Value) != "new" {
		t.Errorf("then does %v, else %v", r.Success, r.Failure)
	}
	if got.Sent == 0 || got.Sent > read || got.Received < read {
		t.Errorf("sent at %d, read at %d, received at %d", got.Sent, read, got.Received)
	}
}

// Both calls share the request's timeout.
func TestSwapTimesOut(t *testing.T) {
	_, address := serve(t, "127.0.0.1:0", &kv{ranges: found, txns: func(ctx context.Context, _ *pb.TxnRequest) (*pb.TxnResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	conn := open(t, newTestClient(t, Config{}), address)
	if got := swap(t.Context(), conn, 50*time.Millisecond); got.Code != load.CodeDeadlineExceeded {
		t.Errorf("got %+v", got)
	}
	if got := get(t.Context(), conn, "k"); !got.Succeeded() {
		t.Errorf("afterwards: %+v", got)
	}
}

// TestSwapOfEtcd swaps on a real etcd, once with another write in between.
func TestSwapOfEtcd(t *testing.T) {
	address, client := startEtcd(t)
	conn := open(t, newTestClient(t, Config{}), address)
	for _, value := range []string{"old", "older"} {
		if _, err := client.Put(t.Context(), "k", value); err != nil {
			t.Fatal(err)
		}
		if got := swap(t.Context(), conn, 10*time.Second); !got.Succeeded() || got.Lost {
			t.Errorf("got %+v", got)
		}
		kv, err := client.Get(t.Context(), "k")
		if err != nil || string(kv.Kvs[0].Value) != "new" {
			t.Errorf("the store has %v, %v", kv, err)
		}
	}
}
