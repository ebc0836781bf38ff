package etcd

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// txnPlan is a plan of transactions with this many puts; with none, of compare-and-swaps.
func txnPlan(puts int32, keys int64) func(*plan.Plan) {
	txn := spec.Txn{Mode: spec.TxnCompareAndSwap, Keys: keySpace(keys, spec.Uniform), Values: smallValues}
	if puts > 0 {
		txn.Mode, txn.PutsPerTransaction = spec.TxnPuts, &puts
	}
	return func(p *plan.Plan) {
		p.Workload = spec.Workload{Type: spec.WorkloadTxn, Txn: &txn}
		p.Load.Pods, p.Load.Requests = 2, new(int64(300))
	}
}

func TestATransactionWritesItsKeysAtOneRevision(t *testing.T) {
	cluster, client := oneMember(t)
	for name, puts := range map[string]int32{"one": 1, "some": 10, "as many as etcd takes": usualOperations} {
		overAll(t, func(t *testing.T, transport func(*plan.Plan)) {
			s := runAndCompare(t, cluster, client, planFor(cluster.Endpoints, transport, txnPlan(puts, 128)))
			if n := s.operation(t, spec.OperationTxn).Latency.Count(); n != 300 || len(s.loadPuts) != 300 {
				t.Errorf("%s: %d transactions were measured, etcd has %d revisions; wanted 300", name, n, len(s.loadPuts))
			}
			for revision, keys := range s.loadPuts {
				slices.Sort(keys)
				if len(slices.Compact(keys)) != int(puts) {
					t.Errorf("%s: revision %d wrote the keys %v, wanted %d different ones", name, revision, keys, puts)
				}
			}
		})
	}
}

func mixedPlan(inTransaction bool) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Workload = spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
			Consistency: spec.Linearizable, ReadPercent: 50, InTransaction: inTransaction, Keys: keySpace(100, spec.Uniform), Values: smallValues,
		}}
		p.Load.Requests = new(int64(300))
	}
}

// A mixture in transactions has the same effect on the store as without, and sends only transactions.
func TestAMixtureInTransactions(t *testing.T) {
	cluster, client := oneMember(t)
	stories := map[bool]story{}
	for _, inTransaction := range []bool{false, true} {
		stories[inTransaction] = runAndCompare(t, cluster, client, planFor(cluster.Endpoints, mixedPlan(inTransaction)))
	}
	plain, wrapped := stories[false], stories[true]
	for _, operation := range []spec.Operation{spec.OperationPut, spec.OperationRange} {
		want, got := plain.operation(t, operation).Latency.Count(), wrapped.operation(t, operation).Latency.Count()
		if got != want || got < 100 {
			t.Errorf("%d %s requests succeeded in transactions, %d without", got, operation, want)
		}
	}
	if len(wrapped.loadPuts) != len(plain.loadPuts) {
		t.Errorf("etcd has %d revisions of puts in transactions, %d of those without", len(wrapped.loadPuts), len(plain.loadPuts))
	}
	for rpc, want := range map[spec.RPC]uint64{spec.RPCTxn: 300, spec.RPCPut: 0, spec.RPCRange: 0} {
		if got := wrapped.merged.Requests[rpc][results.PhaseMeasured]; got != want {
			t.Errorf("%d %s were measured, wanted %d", got, rpc, want)
		}
	}
	if got := wrapped.merged.Requests[spec.RPCPut][results.PhasePreload]; got != 100 {
		t.Errorf("%d puts wrote the keys before the load, wanted 100", got)
	}
}

// Each read covers all keys, and returns only as many as the limit.
func TestReadsOfAllKeysInAMixture(t *testing.T) {
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints, mixedPlan(true), func(p *plan.Plan) {
		p.Workload.Mixed.ReadLimit, p.Workload.Mixed.Keys = new(int64(7)), keySpace(100, spec.Uniform)
	})
	s := runAndCompare(t, cluster, client, p)
	if n := s.operation(t, spec.OperationRange).Latency.Count(); n < 100 {
		t.Errorf("%d reads succeeded", n)
	}
	d := connected(t, p)
	if got := d.settings.Limit; got != 7 {
		t.Errorf("the limit is %d, wanted 7", got)
	}
	w := workload.New(p.Run)
	for n := range int64(100) {
		if op := w.At(workload.Measured, n); op.Kind == spec.OperationRange && (op.Key != 0 || op.Needs != 100 || !strings.HasSuffix(string(w.AppendEnd(nil, op.Key)), "99\x00")) {
			t.Fatalf("read %d is %+v, to %q", n, op, w.AppendEnd(nil, op.Key))
		}
	}
}

// A read that finds nothing also fails in a transaction, and a put returns its revision.
func TestAnswersInATransactionAreThoseWithout(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	c := connect(t, connected(t, planFor(cluster.Endpoints, mixedPlan(true))), 0)
	request := load.Request{Operation: spec.OperationRange, Key: []byte(ownPrefix + "1"), Needs: 1, Timeout: 5 * time.Second}
	var response load.Response
	if c.Do(t.Context(), &request, &response); response.Code != "NotFound" {
		t.Errorf("got %+v, wanted that the key is not found", response)
	}
	request.Operation, request.Value = spec.OperationPut, []byte("v")
	c.Do(t.Context(), &request, &response)
	got, err := client.Get(t.Context(), ownPrefix+"1")
	if err != nil || len(got.Kvs) != 1 || got.Kvs[0].ModRevision != response.Revision || !response.Succeeded() {
		t.Errorf("got %+v, the store has %v (%v)", response, got, err)
	}
	request.Operation = spec.OperationRange
	if c.Do(t.Context(), &request, &response); !response.Succeeded() {
		t.Errorf("got %+v, wanted the key to be found", response)
	}
}

// A lost swap has changed nothing: etcd has one revision for each swap that was not lost.
func TestASwapThatIsLostChangesNothing(t *testing.T) {
	cluster, client := oneMember(t)
	for name, tc := range map[string]struct {
		keys     int64
		wantLost func(uint64) bool
	}{
		"one key for all clients": {1, func(lost uint64) bool { return lost > 0 && lost < 300 }},
		"many keys":               {5_000, func(lost uint64) bool { return lost < 10 }},
	} {
		overBoth(t, func(t *testing.T, transport func(*plan.Plan)) {
			s := runAndCompare(t, cluster, client, planFor(cluster.Endpoints, transport, txnPlan(0, tc.keys)))
			r := s.operation(t, spec.OperationCompareAndSwap)
			if r.Latency.Count() != 300 || !tc.wantLost(r.Lost) {
				t.Errorf("%s: %d of %d swaps were lost", name, r.Lost, r.Latency.Count())
			}
			if wrote := int64(len(s.loadPuts)) - tc.keys; wrote != int64(r.Latency.Count()-r.Lost) {
				t.Errorf("%s: etcd has %d revisions of the load for %d swaps of which %d were lost", name, wrote, r.Latency.Count(), r.Lost)
			}
			for rpc, want := range map[spec.RPC]uint64{spec.RPCRange: 300, spec.RPCTxn: 300, spec.RPCPut: 0} {
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
	request := load.Request{Operation: spec.OperationCompareAndSwap, Key: []byte(ownPrefix + "1"), Value: []byte("v"), Needs: 1, Timeout: 5 * time.Second}
	var response load.Response
	c.Do(t.Context(), &request, &response)
	if response.Code != "NotFound" || response.Received <= response.Sent {
		t.Errorf("got %+v, wanted that the key is not found", response)
	}
}

// A response is filled completely: nothing of the previous one may remain.
func TestALostSwapDoesNotStayLost(t *testing.T) {
	cluster, client := oneMember(t)
	c := connect(t, connected(t, planFor(cluster.Endpoints)), 0)
	key := ownPrefix + "1"
	put(t, client, key, "old")
	swap := load.Request{Operation: spec.OperationCompareAndSwap, Key: []byte(key), Value: []byte("new"), Needs: 1, Timeout: 5 * time.Second}
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
