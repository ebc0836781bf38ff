package etcd

import (
	"context"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func txnPlan(puts int, keys int64) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Workload.Type, p.Workload.Txn = plan.WorkloadTxn, &plan.Txn{Puts: puts}
		p.Workload.KeyCount, p.Workload.KeyOrder = keys, plan.KeyOrderUniform
		p.Pods, p.Load.Requests = 2, 300
	}
}

func TestATransactionWritesItsKeysAtOneRevision(t *testing.T) {
	cluster, client := oneMember(t)
	for name, puts := range map[string]int{"one": 1, "some": 10, "as many as etcd takes": plan.MaxTxnOperations} {
		overBoth(t, func(t *testing.T, transport func(*plan.Plan)) {
			s := tell(t, cluster, client, planFor(cluster.Endpoints, transport, txnPlan(puts, 128)))
			if n := s.operation(t, results.OperationTxn).Latency.Count(); n != 300 || len(s.loadPuts) != 300 {
				t.Errorf("%s: %d transactions were measured, etcd has %d revisions; wanted 300", name, n, len(s.loadPuts))
			}
			for revision, keys := range s.loadPuts {
				slices.Sort(keys)
				if len(slices.Compact(keys)) != puts {
					t.Errorf("%s: revision %d wrote the keys %v, wanted %d different ones", name, revision, keys, puts)
				}
			}
		})
	}
}

// Who is lost has changed nothing: etcd has one revision for each swap that was
// not.
func TestASwapThatIsLostChangesNothing(t *testing.T) {
	cluster, client := oneMember(t)
	for name, tc := range map[string]struct {
		keys     int64
		wantLost func(uint64) bool
	}{
		"one key for all clients": {1, func(lost uint64) bool { return lost > 0 && lost < 300 }},
		"many keys":               {100_000, func(lost uint64) bool { return lost < 10 }},
	} {
		overBoth(t, func(t *testing.T, transport func(*plan.Plan)) {
			s := tell(t, cluster, client, planFor(cluster.Endpoints, transport, txnPlan(0, tc.keys), func(p *plan.Plan) {
				p.Workload.KeyCount = min(tc.keys, 5_000)
			}))
			r := s.operation(t, results.OperationCompareAndSwap)
			if r.Latency.Count() != 300 || !tc.wantLost(r.Lost) {
				t.Errorf("%s: %d of %d swaps were lost", name, r.Lost, r.Latency.Count())
			}
			preloaded := min(tc.keys, 5_000)
			if wrote := int64(len(s.loadPuts)) - preloaded; wrote != int64(r.Latency.Count()-r.Lost) {
				t.Errorf("%s: etcd has %d revisions of the load for %d swaps of which %d were lost", name, wrote, r.Latency.Count(), r.Lost)
			}
			for rpc, want := range map[results.RPC]uint64{results.RPCRange: 300, results.RPCTxn: 300, results.RPCPut: 0} {
				if got := s.merged.Requests[rpc][results.PhaseMeasured]; got != want {
					t.Errorf("%s: %d %s were measured, wanted %d", name, got, rpc, want)
				}
			}
		})
	}
}

func TestASwapOfAKeyThatIsGoneFails(t *testing.T) {
	cluster, _ := oneMember(t)
	c := connect(t, connected(t, planFor(cluster.Endpoints)), 0)
	request := load.Request{Operation: results.OperationCompareAndSwap, Key: []byte(ownPrefix + "1"), Value: []byte("v"), Timeout: 5 * time.Second}
	var response load.Response
	c.Do(t.Context(), &request, &response)
	if response.Code != "NotFound" || response.Received <= response.Sent {
		t.Errorf("got %+v, wanted that the key is not found", response)
	}
}

// A response is filled as a whole: what the one before was must not stay.
func TestALostSwapDoesNotStayLost(t *testing.T) {
	cluster, client := oneMember(t)
	c := connect(t, connected(t, planFor(cluster.Endpoints)), 0)
	key := ownPrefix + "1"
	put(t, client, key, "old")
	swap := load.Request{Operation: results.OperationCompareAndSwap, Key: []byte(key), Value: []byte("new"), Timeout: 5 * time.Second}
	response := load.Response{Lost: true, Code: "Unavailable"}
	c.Do(context.Background(), &swap, &response)
	if response.Lost || !response.Succeeded() {
		t.Errorf("got %+v, wanted a swap that succeeds", response)
	}
	got, err := client.Get(t.Context(), key, clientv3.WithSerializable())
	if err != nil || string(got.Kvs[0].Value) != "new" || got.Kvs[0].Version != 2 {
		t.Errorf("etcd has %v (%v), wanted the second version with the new value", got.Kvs, err)
	}
}
