package etcd

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const stmTransactions = 300

// stmPlan is of transactions that write two of five keys, so few that
// transactions meet.
func stmPlan(isolation plan.Isolation, locker plan.Locker) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Workload.Type, p.Workload.STM = plan.WorkloadSTM, &plan.STM{Isolation: isolation, Keys: 5, WritePercent: 40, Locker: locker}
		p.Workload.KeyCount, p.Workload.KeyOrder = 10, plan.KeyOrderUniform
		p.Pods, p.Load.Requests = 2, stmTransactions
		if p.UsesSessions() {
			p.FirstLease = 7 * plan.LeaseIDs
		}
	}
}

// wantCommits wants a revision of two keys for each transaction, beside those of
// the preload.
func wantCommits(t *testing.T, s story) *results.OperationResult {
	t.Helper()
	r := s.operation(t, results.OperationSTM)
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
	tests := map[plan.Isolation]struct {
		conflicts bool
		// rpcs is how many transactions of etcd this many attempts take.
		rpcs func(attempts uint64) uint64
	}{
		// What a commit finds changed comes with its answer: the next attempt reads
		// nothing.
		plan.IsolationSerializableSnapshot: {true, func(attempts uint64) uint64 { return 5*stmTransactions + attempts }},
		plan.IsolationSerializable:         {true, func(attempts uint64) uint64 { return 5*stmTransactions + attempts }},
		plan.IsolationRepeatableReads:      {true, func(attempts uint64) uint64 { return 6 * attempts }},
		plan.IsolationReadCommitted:        {false, func(attempts uint64) uint64 { return 6 * attempts }},
	}
	for isolation, tc := range tests {
		t.Run(string(isolation), func(t *testing.T) {
			s := tell(t, cluster, client, planFor(cluster.Endpoints, stmPlan(isolation, plan.LockerNone)))
			r := wantCommits(t, s)
			if conflicts := r.Attempts > stmTransactions; conflicts != tc.conflicts || r.Attempts < stmTransactions {
				t.Errorf("%d transactions took %d attempts, wanted more: %v", stmTransactions, r.Attempts, tc.conflicts)
			}
			if got := s.merged.Requests[results.RPCTxn][results.PhaseMeasured]; got != tc.rpcs(r.Attempts) {
				t.Errorf("%d attempts took %d transactions of etcd, wanted %d", r.Attempts, got, tc.rpcs(r.Attempts))
			}
		})
	}
}

// Under a lock no transaction meets another: each commits at once.
func TestLockedTransactionsCommitAtOnce(t *testing.T) {
	cluster, client := oneMember(t)
	for locker, rpcs := range map[plan.Locker]map[results.RPC]uint64{
		plan.LockerClient: {results.RPCDeleteRange: stmTransactions, results.RPCUnlock: 0},
		plan.LockerRPC:    {results.RPCLock: stmTransactions, results.RPCUnlock: stmTransactions, results.RPCDeleteRange: 0},
	} {
		t.Run(string(locker), func(t *testing.T) {
			before := lessor(t, cluster)
			s := tell(t, cluster, client, planFor(cluster.Endpoints, stmPlan(plan.IsolationSerializableSnapshot, locker)))
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
		Operation: results.OperationSTM, Timeout: timeout, Writes: 1,
		Pairs: []load.Pair{{Key: []byte(ownPrefix + "1"), Value: []byte("new")}, {Key: []byte(ownPrefix + "2"), Value: []byte("other")}},
	}
}

// lockedClient is a client of a run that locks, and its keys.
func lockedClient(t *testing.T, locker plan.Locker) (*lockedSTM, *clientv3.Client) {
	t.Helper()
	cluster, client := oneMember(t)
	own, err := connect(t, connected(t, planFor(cluster.Endpoints, stmPlan(plan.IsolationSerializable, locker))), 0).Client(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	put(t, client, ownPrefix+"1", "old")
	put(t, client, ownPrefix+"2", "old")
	return own.(*lockedSTM), client
}

func TestATransactionOnAKeyThatIsGoneFails(t *testing.T) {
	cluster, client := oneMember(t)
	c := connect(t, connected(t, planFor(cluster.Endpoints, stmPlan(plan.IsolationSerializable, plan.LockerNone))), 0)
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

// A lock that does not come in time fails its request in time, and is not kept
// by it: nobody waits for who has given up.
func TestATransactionThatGetsNoLockGivesUp(t *testing.T) {
	for _, locker := range []plan.Locker{plan.LockerClient, plan.LockerRPC} {
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

// A client that lost its lease gets another one with its next request, and says
// so if the lock may have been another's meanwhile.
func TestALostSessionIsReplaced(t *testing.T) {
	own, client := lockedClient(t, plan.LockerClient)
	lose := func() {
		if _, err := client.Revoke(t.Context(), own.lease); err != nil {
			t.Fatal(err)
		}
		// No renewal is due for a while: this stands for the answer to one.
		own.session.Orphan()
	}
	do(t, own, stmRequest(5*time.Second))
	lose()
	do(t, own, stmRequest(5*time.Second))
	if left := listed(t, client); len(left) != 1 || left[0].ID != own.lease {
		t.Errorf("the leases are %x, wanted that of the client", left)
	}
	if grants := own.driver.Requests()[results.RPCLeaseGrant]; grants[results.PhaseMeasured] > 0 || grants[results.PhaseControl] == 0 {
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
	own, client := lockedClient(t, plan.LockerClient)
	do(t, own, stmRequest(5*time.Second))
	moved, err := own.driver.dial(t.Context(), own.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	if err := closeClient(own.client.Swap(moved)); err != nil {
		t.Fatal(err)
	}
	do(t, own, stmRequest(5*time.Second))
	if left := listed(t, client); len(left) != 1 {
		t.Errorf("the leases are %x, wanted that of the client", left)
	}
}
