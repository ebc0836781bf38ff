package etcd

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// afterRange calls act after each read that etcd has answered, before the client gets the response.
func afterRange(act func(*etcdserverpb.RangeRequest)) func(*embed.Config) {
	intercept := func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		answer, err := handle(ctx, req)
		if r, ok := req.(*etcdserverpb.RangeRequest); ok {
			act(r)
		}
		return answer, err
	}
	return func(c *embed.Config) {
		c.GRPCAdditionalServerOptions = append(c.GRPCAdditionalServerOptions, grpc.ChainUnaryInterceptor(intercept))
	}
}

// inPages reads ten keys in pages.
func inPages(keys int64) spec.Range {
	return spec.Range{Consistency: spec.Linearizable, KeysPerRequest: 10, Delivery: spec.DeliveryPages, KeysPerPage: &keys}
}

var inAStream = spec.Range{Consistency: spec.Linearizable, KeysPerRequest: 10, Delivery: spec.DeliveryStream}

func TestAListingHasTheKeysOfOneRevision(t *testing.T) {
	var client *clientv3.Client
	var mutex sync.Mutex
	var pages []string
	cluster := etcdtest.Start(t, 1, nil, afterRange(func(r *etcdserverpb.RangeRequest) {
		if r.Limit != 3 {
			return
		}
		mutex.Lock()
		defer mutex.Unlock()
		pages = append(pages, string(r.Key))
		// This key would be on a later page, and is deleted by then.
		if _, err := client.Delete(t.Context(), "k9"); err != nil {
			t.Error(err)
		}
	}))
	client = cluster.Client(t, "", "")
	for i := range 10 {
		put(t, client, fmt.Sprintf("k%d", i), "v")
	}
	c := connectionOf(t, planFor(cluster.Endpoints, rangePlan(inPages(3))))
	listing := load.Request{Operation: spec.OperationRange, Key: []byte("k0"), End: []byte("k9\x00"), Needs: 10, Timeout: 5 * time.Second}
	do(t, c, listing)
	mutex.Lock()
	got := strings.Join(pages, " ")
	mutex.Unlock()
	if got != "k0 k2\x00 k5\x00 k8\x00" {
		t.Errorf("the pages begin with %q", got)
	}
	var response load.Response
	if c.Do(t.Context(), &listing, &response); response.Code != load.CodeNotFound {
		t.Errorf("a listing that lacks a key ended with %q (%s)", response.Code, response.Detail)
	}
}

// One request is a whole listing, in any number of pages or responses.
func TestARequestIsAWholeListing(t *testing.T) {
	cluster, client := oneMember(t)
	const listings = 50
	tests := map[string]struct {
		read spec.Range
		rpc  spec.RPC
		// calls of each listing, and bytes that etcd sends for it.
		calls       uint64
		least, most float64
	}{
		"pages":               {inPages(3), spec.RPCRange, 4, 10_000, 11_500},
		"pages that are full": {inPages(5), spec.RPCRange, 2, 10_000, 11_500},
		"pages of keys":       {spec.Range{Consistency: spec.Linearizable, KeysPerRequest: 10, Delivery: spec.DeliveryPages, KeysPerPage: new(int64(4)), KeysOnly: true}, spec.RPCRange, 3, 300, 1_000},
		"a stream":            {inAStream, spec.RPCRangeStream, 1, 10_000, 11_500},
		"a stream of keys":    {spec.Range{Consistency: spec.Linearizable, KeysPerRequest: 10, Delivery: spec.DeliveryStream, KeysOnly: true}, spec.RPCRangeStream, 1, 300, 1_000},
	}
	for name, tc := range tests {
		for _, consistency := range []spec.Consistency{spec.Linearizable, spec.Serializable} {
			t.Run(fmt.Sprintf("%s, serializable %t", name, consistency == spec.Serializable), func(t *testing.T) {
				tc.read.Consistency = consistency
				p := planFor(cluster.Endpoints, rangePlan(tc.read), func(p *plan.Plan) { p.Load.Pods, p.Load.Requests = 2, new(int64(listings)) })
				before := answered(t, cluster)
				s := runAndCompare(t, cluster, client, p)
				each := (answered(t, cluster) - before) / listings
				if n := s.operation(t, spec.OperationRange).Latency.Count(); n != listings || each < tc.least || each > tc.most {
					t.Errorf("%d listings were measured, %.0f bytes each, wanted %d of %.0f to %.0f", n, each, listings, tc.least, tc.most)
				}
				if calls := s.merged.Requests[tc.rpc][results.PhaseMeasured]; calls != listings*tc.calls {
					t.Errorf("%d calls were measured, wanted %d for each listing", calls, tc.calls)
				}
			})
		}
	}
}

// The parts of a stream may be larger than gRPC's default limit.
func TestAStreamOfLargeValues(t *testing.T) {
	cluster, client := oneMember(t)
	for i := range 8 {
		put(t, client, fmt.Sprintf("k%d", i), strings.Repeat("v", 1_000_000))
	}
	c := connectionOf(t, planFor(cluster.Endpoints, rangePlan(inAStream)))
	stream := load.Request{Operation: spec.OperationRange, Key: []byte("k0"), End: []byte("k9"), Needs: 8, Timeout: 20 * time.Second}
	do(t, c, stream)
	stream.Needs = 9
	var response load.Response
	if c.Do(t.Context(), &stream, &response); response.Code != load.CodeNotFound {
		t.Errorf("a stream that lacks a key ended with %q (%s)", response.Code, response.Detail)
	}
}

// An etcd before 3.7 has no RangeStream.
func TestATargetWithoutRangeStreamIsRefused(t *testing.T) {
	refuse := func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		if strings.HasSuffix(info.FullMethod, "/RangeStream") {
			return status.Error(codes.Unimplemented, "unknown method RangeStream for service etcdserverpb.KV")
		}
		return handle(srv, stream)
	}
	cluster := etcdtest.Start(t, 1, nil, func(c *embed.Config) {
		c.GRPCAdditionalServerOptions = append(c.GRPCAdditionalServerOptions, grpc.ChainStreamInterceptor(refuse))
	})
	preflightFails(t, planFor(cluster.Endpoints, rangePlan(inAStream)), results.FailureUnsupported, cluster.Endpoints[0], "3.7", "range.delivery")
	if _, _, err := newDriver(t, planFor(cluster.Endpoints, rangePlan(inPages(5))), 0).Preflight(withTimeout(t)); err != nil {
		t.Errorf("pages are refused, too: %v", err)
	}
}
