package etcd

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// brokenKine answers as kine does when its database fails. A real kine with SQLite does not fail on demand.
type brokenKine struct {
	etcdserverpb.UnimplementedKVServer
	// keys are the values of the keys that it finds; nil if its database is gone.
	keys map[string]string
	// txn answers the transaction with this number, from 1.
	txn  func(number int64) (*etcdserverpb.TxnResponse, error)
	txns atomic.Int64
}

var errNoDatabase = errors.New("the database is gone")

func (k *brokenKine) Range(_ context.Context, r *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	if k.keys == nil {
		return nil, errNoDatabase
	}
	found := &etcdserverpb.RangeResponse{Header: &etcdserverpb.ResponseHeader{}}
	if value, ok := k.keys[string(r.Key)]; ok {
		found.Kvs, found.Count = []*mvccpb.KeyValue{{Key: r.Key, Value: []byte(value), ModRevision: 7}}, 1
	}
	return found, nil
}

func (k *brokenKine) Txn(context.Context, *etcdserverpb.TxnRequest) (*etcdserverpb.TxnResponse, error) {
	return k.txn(k.txns.Add(1))
}

func succeeded(int64) (*etcdserverpb.TxnResponse, error) {
	return &etcdserverpb.TxnResponse{Header: &etcdserverpb.ResponseHeader{}, Succeeded: true}, nil
}

// notDeleted is the answer to the deletion of a key that still has the revision 7.
func notDeleted(int64) (*etcdserverpb.TxnResponse, error) {
	found := &etcdserverpb.RangeResponse{Header: &etcdserverpb.ResponseHeader{}, Kvs: []*mvccpb.KeyValue{{Key: []byte("a"), ModRevision: 7}}}
	return &etcdserverpb.TxnResponse{
		Header:    &etcdserverpb.ResponseHeader{},
		Responses: []*etcdserverpb.ResponseOp{{Response: &etcdserverpb.ResponseOp_ResponseRange{ResponseRange: found}}},
	}, nil
}

func withoutCode(int64) (*etcdserverpb.TxnResponse, error) { return nil, errNoDatabase }

// first answers the first transaction so, and lets the others succeed.
func first(answer func(int64) (*etcdserverpb.TxnResponse, error)) func(int64) (*etcdserverpb.TxnResponse, error) {
	return func(number int64) (*etcdserverpb.TxnResponse, error) {
		if number == 1 {
			return answer(number)
		}
		return succeeded(number)
	}
}

// serve serves until the test ends, and returns a plan for it.
func (k *brokenKine) serve(t *testing.T) plan.Plan {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	etcdserverpb.RegisterKVServer(server, k)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return planFor([]string{listener.Addr().String()}, func(p *plan.Plan) { p.Target.Datastore = spec.Kine })
}

// kine reports a deletion that its database has refused as one of a key with another revision, or as an error without a
// code. Both are repeated, and are an error in the end.
func TestAFailedDeletionFromKineIsRepeated(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		txn  func(int64) (*etcdserverpb.TxnResponse, error)
		fine bool
	}{
		"as of another revision": {first(notDeleted), true},
		"without a code":         {first(withoutCode), true},
		"for ever":               {notDeleted, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &brokenKine{txn: tc.txn}
			k := NewKine(server.serve(t), 0)
			defer k.Close()
			if _, err := k.claims.DeleteAll(withTimeout(t), ownership.Key{Name: "a", Version: 7}); (err == nil) != tc.fine || server.txns.Load() < 2 {
				t.Errorf("got %v after %d transactions", err, server.txns.Load())
			}
		})
	}
}

// A claim that has sent its marker may have written it, whatever the error is. A pod that kine has not registered does not
// write.
func TestAClaimThatKineBreaks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		server *brokenKine
		want   results.FailureReason
	}{
		"the marker is refused": {
			&brokenKine{keys: map[string]string{}, txn: func(int64) (*etcdserverpb.TxnResponse, error) {
				return nil, status.Error(codes.PermissionDenied, "etcdserver: permission denied")
			}}, results.FailureTargetUnhealthy,
		},
		"the pod is not registered": {
			&brokenKine{keys: map[string]string{ownership.MarkerOf(ownPrefix): ownUID}, txn: succeeded}, results.FailureTargetUnreachable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := NewKine(tc.server.serve(t), 0)
			defer k.Close()
			wantFailure(t, k.Claim(withTimeout(t)), tc.want)
		})
	}
}

// kine answers although its database is gone. From an etcd, the same answer is a sign of life.
func TestKineWithoutItsDatabaseDoesNotAnswer(t *testing.T) {
	t.Parallel()
	p := (&brokenKine{}).serve(t)
	for name, tc := range map[string]struct {
		prober load.Prober
		want   bool
	}{"kine": {NewKine(p, 0), false}, "etcd": {New(p, 0), true}} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		if got := tc.prober.Answers(ctx); got != tc.want {
			t.Errorf("%s: got %t, wanted %t", name, got, tc.want)
		}
		cancel()
	}
}
