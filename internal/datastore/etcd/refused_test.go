package etcd

import (
	"strings"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// limited starts a member with limits of a request.
func limited(t *testing.T, requestBytes, operations uint) *etcdtest.Cluster {
	t.Helper()
	return etcdtest.Start(t, 1, nil, func(c *embed.Config) { c.MaxRequestBytes, c.MaxTxnOps = requestBytes, operations })
}

// putsOf is a plan of puts with values of this length.
func putsOf(bytes int32) func(*plan.Plan) {
	return func(p *plan.Plan) { p.Workload.Put.Values.SizeBytes = bytes }
}

// A result has etcd's own words for what it refused.
func TestARefusedRequestIsExplainedByEtcd(t *testing.T) {
	cluster := limited(t, 1024, 16)
	for name, tc := range map[string]struct {
		change    func(*plan.Plan)
		operation spec.Operation
		code      string
		want      string
	}{
		"a value":           {putsOf(2_000), spec.OperationPut, "InvalidArgument", "request is too large"},
		"a transaction":     {txnPlan(32, 100), spec.OperationTxn, "InvalidArgument", "too many operations"},
		"a very long value": {putsOf(4 << 20), spec.OperationPut, "ResourceExhausted", "received message larger than max"},
	} {
		overAll(t, func(t *testing.T, transport func(*plan.Plan)) {
			s := runAll(t, planFor(cluster.Endpoints, transport, tc.change, func(p *plan.Plan) { p.Load.Pods, p.Load.Requests = 2, new(int64(20)) }))
			o := results.Merge(s).Operations[tc.operation]
			if o.Failed.Count() != 20 || !strings.Contains(o.Examples[tc.code], tc.want) {
				t.Errorf("%s: %d requests failed, %v, %v; wanted %q", name, o.Failed.Count(), o.Errors, o.Examples, tc.want)
			}
		})
	}
}

// A server that takes few operations, or short requests, keeps no key of a run. What it refused once is not tried again.
func TestAServerWithLowLimitsIsCleaned(t *testing.T) {
	for name, tc := range map[string]struct {
		requestBytes, operations uint
		atMost                   uint64
	}{
		"few operations": {embed.DefaultMaxRequestBytes, 16, 400},
		"very few":       {embed.DefaultMaxRequestBytes, 4, 1500},
		"short requests": {1024, embed.DefaultMaxTxnOps, 400},
		"both":           {1024, 16, 400},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := limited(t, tc.requestBytes, tc.operations)
			client := cluster.Client(t, "", "")
			p := planFor(cluster.Endpoints, storms(2, 30, 2), func(p *plan.Plan) { p.Workload.Put.Keys.Count = 1_100 })
			d := connected(t, p)
			if err := d.Claim(withTimeout(t)); err != nil {
				t.Fatal(err)
			}
			keys := p.KeyWriter()
			for n := range int64(1_100) {
				put(t, client, string(keys.AppendKey(nil, n)), "v")
			}
			if steps := disturb(t, d, p.Disturbances[0]); len(steps) != 1 || steps[0].Err != nil {
				t.Errorf("a storm: %+v", steps)
			}
			leavesForeign(t, d, client, []string{"00000007x", "00000700x"})
			if n := d.Requests()[spec.RPCTxn][results.PhaseControl]; n > tc.atMost {
				t.Errorf("the keys were deleted by %d transactions, wanted at most %d", n, tc.atMost)
			}
			killed(t, cluster.Endpoints, client, ownPrefix, ownUID, 50)
			l := leftovers(t, cluster.Endpoints)
			if done, err := l.Remove(withTimeout(t), look(t, l, ownPrefix), firstLease); err != nil || done.Keys != 54 {
				t.Errorf("clean: got %+v and %v", done, err)
			}
		})
	}
}

// What a server allows above the defaults arrives whole, over all transports, also with as many bytes and operations as
// a plan may have.
func TestLargeRequestsAreCarriedWhereTheServerAllowsThem(t *testing.T) {
	cluster := limited(t, 10<<20, spec.MaxTxnOperations)
	client := cluster.Client(t, "", "")
	values := func(bytes int32) spec.Values {
		return spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: bytes}
	}
	puts := func(bytes int32) spec.Workload {
		return spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: keySpace(4, spec.Sequential), Values: values(bytes)}}
	}
	reads := func(keys int64) spec.Workload {
		return spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
			Consistency: spec.Linearizable, KeysPerRequest: keys, Delivery: spec.DeliveryWhole, Keys: keySpace(4, spec.Uniform), Values: values(4 << 20),
		}}
	}
	for name, tc := range map[string]struct {
		workload spec.Workload
		done     spec.Operation
	}{
		"puts of 4 MiB":    {puts(4 << 20), spec.OperationPut},
		"the longest puts": {puts(spec.MaxRequestBytes), spec.OperationPut},
		"reads of 4 MiB":   {reads(1), spec.OperationRange},
		"reads of 16 MiB":  {reads(4), spec.OperationRange},
		"the most puts": {spec.Workload{Type: spec.WorkloadTxn, Txn: &spec.Txn{
			Mode: spec.TxnPuts, PutsPerTransaction: new(int32(spec.MaxTxnOperations)), Keys: keySpace(20_000, spec.Uniform), Values: values(64),
		}}, spec.OperationTxn},
	} {
		overAll(t, func(t *testing.T, transport func(*plan.Plan)) {
			p := planFor(cluster.Endpoints, func(p *plan.Plan) {
				p.Workload = tc.workload
				p.Load.Connections, p.Load.Clients, p.Load.Requests, p.Load.RequestTimeoutSeconds = 2, 4, new(int64(12)), 60
			}, transport)
			s := runAndCompare(t, cluster, client, p)
			o := s.merged.Operations[tc.done]
			// The members of a busy machine do not agree on each request in time.
			late := o.Errors[load.CodeUnavailable] + o.Errors[load.CodeDeadlineExceeded]
			if o.Latency.Count() == 0 || o.Latency.Count()+late != 12 {
				t.Errorf("%s: %d of 12 succeeded, %v", name, o.Latency.Count(), o.Examples)
			}
		})
	}
}
