package etcd

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// brokenKine answers as kine does when its database fails, which a real SQLite does not on demand.
type brokenKine struct {
	etcdserverpb.UnimplementedKVServer
	// failures is how many of the next transactions fail. silent: kine answers that the revision is another one; otherwise
	// with an error without a code.
	failures int
	silent   bool
	txns     int
}

func (k *brokenKine) Range(context.Context, *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	return nil, errors.New("the database is gone")
}

func (k *brokenKine) Txn(context.Context, *etcdserverpb.TxnRequest) (*etcdserverpb.TxnResponse, error) {
	k.txns++
	if k.txns > k.failures {
		return &etcdserverpb.TxnResponse{Header: &etcdserverpb.ResponseHeader{}, Succeeded: true}, nil
	}
	if !k.silent {
		return nil, errors.New("the database is gone")
	}
	found := &etcdserverpb.RangeResponse{Header: &etcdserverpb.ResponseHeader{}, Kvs: []*mvccpb.KeyValue{{Key: []byte("a"), ModRevision: 7}}}
	return &etcdserverpb.TxnResponse{
		Header:    &etcdserverpb.ResponseHeader{},
		Responses: []*etcdserverpb.ResponseOp{{Response: &etcdserverpb.ResponseOp_ResponseRange{ResponseRange: found}}},
	}, nil
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
// code. Both are repeated.
func TestAFailedDeletionFromKineIsRepeated(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]*brokenKine{
		"silent":         {failures: 1, silent: true},
		"without a code": {failures: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := NewKine(server.serve(t), 0)
			defer k.Close()
			c, err := k.client(withTimeout(t))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.delete(withTimeout(t), "a", 7); err != nil || server.txns != 2 {
				t.Errorf("got %v after %d transactions, wanted success at the second", err, server.txns)
			}
		})
	}
}

// A key that kine never deletes is an error, and not a deleted key.
func TestARefusedDeletionFromKineIsAnError(t *testing.T) {
	t.Parallel()
	server := &brokenKine{failures: 100, silent: true}
	k := NewKine(server.serve(t), 0)
	defer k.Close()
	c, err := k.client(withTimeout(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.delete(withTimeout(t), "a", 7); err == nil {
		t.Error("wanted an error, found none")
	}
}

// kine answers although its database is gone. For an etcd, the same answer is a sign of life.
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
