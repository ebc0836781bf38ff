package etcd

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

const stmTransactions = 300

// stmPlan is a plan of transactions that write two of five keys. These are few, so transactions conflict.
func stmPlan(isolation spec.Isolation, locker spec.Locker) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Workload = spec.Workload{Type: spec.WorkloadSTM, STM: &spec.STM{
			Isolation: isolation, KeysPerTransaction: 5, WritePercent: 40, Locker: locker, Keys: keySpace(10, spec.Uniform), Values: smallValues,
		}}
		p.Load.Pods, p.Load.Requests = 2, new(int64(stmTransactions))
		if p.UsesSessions() {
			p.FirstLease = 7 * workload.LeaseIDs
		}
	}
}

// wantCommits checks that there is one revision of two keys for each transaction, beside those of the preload.
func wantCommits(t *testing.T, s story) *results.OperationResult {
	t.Helper()
	r := s.operation(t, spec.OperationSTM)
	commits := 0
	for revision, keys := range s.loadPuts {
		switch {
		case len(keys) == 2 && keys[0] != keys[1]:
			commits++
		case len(keys) != 1:
			t.Errorf("revision %d wrote %v, wanted one key of the preload or two of a transaction", revision, keys)
		}
	}
	if r.Latency.Count() != stmTransactions || commits != stmTransactions || len(s.loadPuts) != commits+10 {
		t.Errorf("%d transactions were measured, etcd has %d of them and %d revisions, wanted %d and 10 more", r.Latency.Count(), commits, len(s.loadPuts), stmTransactions)
	}
	return r
}

func TestTransactionsCommitAtEachIsolationLevel(t *testing.T) {
	cluster, client := oneMember(t)
	tests := map[spec.Isolation]struct {
		conflicts bool
		// rpcs is how many of etcd's transactions this many attempts take.
		rpcs func(attempts uint64) uint64
	}{
		// A failed commit returns the changed keys: the next attempt reads nothing.
		spec.IsolationSerializableSnapshot: {true, func(attempts uint64) uint64 { return 5*stmTransactions + attempts }},
		spec.IsolationSerializable:         {true, func(attempts uint64) uint64 { return 5*stmTransactions + attempts }},
		spec.IsolationRepeatableReads:      {true, func(attempts uint64) uint64 { return 6 * attempts }},
		spec.IsolationReadCommitted:        {false, func(attempts uint64) uint64 { return 6 * attempts }},
	}
	for isolation, tc := range tests {
		t.Run(string(isolation), func(t *testing.T) {
			s := runAndCompare(t, cluster, client, planFor(cluster.Endpoints, stmPlan(isolation, spec.LockerNone)))
			r := wantCommits(t, s)
			if conflicts := r.Attempts > stmTransactions; conflicts != tc.conflicts || r.Attempts < stmTransactions {
				t.Errorf("%d transactions took %d attempts, wanted more: %v", stmTransactions, r.Attempts, tc.conflicts)
			}
			if got := s.merged.Requests[spec.RPCTxn][results.PhaseMeasured]; got != tc.rpcs(r.Attempts) {
				t.Errorf("%d attempts took %d transactions of etcd, wanted %d", r.Attempts, got, tc.rpcs(r.Attempts))
			}
		})
	}
}

// Under a lock no transaction conflicts: each commits at the first attempt.
func TestLockedTransactionsCommitAtOnce(t *testing.T) {
	cluster, client := oneMember(t)
	for locker, rpcs := range map[spec.Locker]map[spec.RPC]uint64{
		spec.LockerClient: {spec.RPCDeleteRange: stmTransactions, spec.RPCUnlock: 0},
		spec.LockerRPC:    {spec.RPCLock: stmTransactions, spec.RPCUnlock: stmTransactions, spec.RPCDeleteRange: 0},
	} {
		t.Run(string(locker), func(t *testing.T) {
			before := lessor(t, cluster)
			s := runAndCompare(t, cluster, client, planFor(cluster.Endpoints, stmPlan(spec.IsolationSerializableSnapshot, locker)))
			after := lessor(t, cluster)
			if r := wantCommits(t, s); r.Attempts != stmTransactions {
				t.Errorf("%d transactions took %d attempts under a lock", stmTransactions, r.Attempts)
			}
			for rpc, want := range rpcs {
				if got := s.merged.Requests[rpc][results.PhaseMeasured]; got != want {
					t.Errorf("%d %s were measured, wanted %d", got, rpc, want)
				}
			}
			if granted, revoked := after.granted-before.granted, after.revoked-before.revoked; granted != 12 || revoked != 12 {
				t.Errorf("%d leases were granted and %d revoked for 12 clients", granted, revoked)
			}
			if left := listed(t, client); len(left) > 0 {
				t.Errorf("leases are left: %x", left)
			}
		})
	}
}

// stmRequest reads two keys and writes the first.
func stmRequest(timeout time.Duration) load.Request {
	return load.Request{
		Operation: spec.OperationSTM, Timeout: timeout, Writes: 1,
		Pairs: []load.Pair{{Key: []byte(ownPrefix + "1"), Value: []byte("new")}, {Key: []byte(ownPrefix + "2"), Value: []byte("other")}},
	}
}

// lockedClient is a client of a run that locks, and its keys.
func lockedClient(t *testing.T, locker spec.Locker) (*lockedSTM, *clientv3.Client) {
	t.Helper()
	cluster, client := oneMember(t)
	own, err := connect(t, connected(t, planFor(cluster.Endpoints, stmPlan(spec.IsolationSerializable, locker))), 0).Client(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	put(t, client, ownPrefix+"1", "old")
	put(t, client, ownPrefix+"2", "old")
	return own.(*lockedSTM), client
}

func TestATransactionOnAKeyThatIsGoneFails(t *testing.T) {
	cluster, client := oneMember(t)
	c := connect(t, connected(t, planFor(cluster.Endpoints, stmPlan(spec.IsolationSerializable, spec.LockerNone))), 0)
	put(t, client, ownPrefix+"1", "old")
	request, response := stmRequest(5*time.Second), load.Response{}
	c.Do(t.Context(), &request, &response)
	if response.Code != load.CodeNotFound || response.Attempts != 0 || response.Received <= response.Sent {
		t.Errorf("got %+v, wanted that a key is not found", response)
	}
	if keys := keysUnder(t, client, ownPrefix); keys[ownPrefix+"1"] != "old" {
		t.Errorf("the store has %v, wanted nothing written", keys)
	}
}

// A request that does not get the lock fails in time, and leaves the queue: other clients do not wait for it.
func TestATransactionThatGetsNoLockFailsInTime(t *testing.T) {
	for _, locker := range []spec.Locker{spec.LockerClient, spec.LockerRPC} {
		t.Run(string(locker), func(t *testing.T) {
			own, client := lockedClient(t, locker)
			p := own.driver.plan
			put(t, client, p.STMLock()+"/0", "")
			request, response := stmRequest(200*time.Millisecond), load.Response{}
			own.Do(t.Context(), &request, &response)
			if took := response.Received.Sub(response.Sent); response.Code != load.CodeDeadlineExceeded || took > 20*time.Second {
				t.Errorf("got %+v after %v, wanted %s", response, took, load.CodeDeadlineExceeded)
			}
			if response.Cleared <= response.Received {
				t.Errorf("the queue was left at %v, wanted that after the failure at %v", response.Cleared, response.Received)
			}
			if keys := keysUnder(t, client, p.LockPrefix()); len(keys) != 1 {
				t.Errorf("the locks are %v, wanted the foreign one alone", keys)
			}
			if _, err := client.Delete(t.Context(), p.STMLock()+"/0"); err != nil {
				t.Fatal(err)
			}
			if response := do(t, own, stmRequest(5*time.Second)); response.Attempts != 1 {
				t.Errorf("a transaction with the lock: got %+v, wanted one attempt", response)
			}
			if keys := keysUnder(t, client, ownPrefix); keys[ownPrefix+"1"] != "new" || keys[ownPrefix+"2"] != "old" || len(keys) != 2 {
				t.Errorf("the store has %v, wanted the first key written and no lock", keys)
			}
		})
	}
}

// A client that lost its lease gets another one with its next request. If another client may have had the lock
// meanwhile, the request fails.
func TestALostSessionIsReplaced(t *testing.T) {
	own, client := lockedClient(t, spec.LockerClient)
	lose := func() {
		if _, err := client.Revoke(t.Context(), own.lease); err != nil {
			t.Fatal(err)
		}
		// No renewal is due for a while, so this simulates the response to one.
		own.session.Orphan()
	}
	do(t, own, stmRequest(5*time.Second))
	lose()
	do(t, own, stmRequest(5*time.Second))
	if left := listed(t, client); len(left) != 1 || left[0].ID != own.lease {
		t.Errorf("the leases are %x, wanted that of the client", left)
	}
	if grants := own.driver.Requests()[spec.RPCLeaseGrant]; grants[results.PhaseMeasured] > 0 || grants[results.PhaseControl] == 0 {
		t.Errorf("leases were granted in the phases %v, wanted %s alone: they are no requests of the load", grants, results.PhaseControl)
	}
	if err := own.lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	lose()
	if err := own.unlock(t.Context()); codeOf(err).String() != load.CodeNotFound {
		t.Errorf("giving back a lock that was lost: got %v, wanted %s", err, load.CodeNotFound)
	}
}

// When a connection moves to another member, its clients keep their sessions.
func TestLocksMoveWithTheirConnection(t *testing.T) {
	own, client := lockedClient(t, spec.LockerClient)
	do(t, own, stmRequest(5*time.Second))
	old := own.client.Load()
	if err := own.move(t.Context(), own.driver.plan.Target.Endpoints[0]); err != nil {
		t.Fatal(err)
	}
	if err := closeClient(old); err != nil {
		t.Fatal(err)
	}
	do(t, own, stmRequest(5*time.Second))
	if left := listed(t, client); len(left) != 1 {
		t.Errorf("the leases are %x, wanted that of the client", left)
	}
}
