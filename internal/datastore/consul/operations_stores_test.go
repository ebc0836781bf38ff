//go:build stores

package consul

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/consul/consultest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// pausing is a driver whose pods release their keys together, after a look at what all have written.
type pausing struct {
	*Driver
	all  *sync.WaitGroup
	look func()
}

func (d pausing) Release(ctx context.Context) (results.Cleaning, error) {
	d.all.Done()
	d.all.Wait()
	d.look()
	return d.Driver.Release(ctx)
}

// content is what a server has of runs: the values of the load's keys by their numbers, and the sessions without their IDs.
type content struct {
	Values   map[string]string
	Sessions map[sessionInfo]int
}

type sessionInfo struct {
	ID, Name, TTL, Behavior string
	LockDelay               time.Duration
}

func read(t *testing.T, s *consultest.Server, path string, into any) {
	t.Helper()
	if answer := s.Ask(t, http.MethodGet, path, ""); answer != "" && json.Unmarshal([]byte(answer), into) != nil {
		t.Errorf("%s: %.200s", path, answer)
	}
}

func contentOf(t *testing.T, s *consultest.Server) content {
	t.Helper()
	c := content{map[string]string{}, map[sessionInfo]int{}}
	var keys []entry
	read(t, s, "/v1/kv/"+ownPrefix+"?recurse&consistent", &keys)
	for _, e := range keys {
		if isOwn(ownPrefix, e.Key) {
			c.Values[strings.TrimPrefix(e.Key, ownPrefix)] = string(e.Value)
		}
	}
	var all []sessionInfo
	read(t, s, "/v1/session/list?consistent", &all)
	for _, one := range all {
		if one.ID = ""; one.Name != "etcdbench lock" {
			c.Sessions[one]++
		}
	}
	return c
}

// leaseOf is a workload of leases.
func leaseOf(o spec.LeaseOperation, leases int64) func(*plan.Plan) {
	return func(p *plan.Plan) {
		lease := &spec.Lease{Operation: o, TTLSeconds: 600}
		if leases > 0 {
			lease.KeepAlive = &spec.KeepAlive{Leases: leases, Mode: spec.KeepAliveStream}
		}
		p.FirstLease, p.Load.Requests, p.Workload = 7*workload.LeaseIDs, new(int64(300)), spec.Workload{Type: spec.WorkloadLease, Lease: lease}
	}
}

// Each workload sends what it says, over three pods: the server counts the same requests, has the keys and sessions that they
// should leave, and has none of them after the run.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	s := servers[0]
	// some is any number above 0.
	const count, some = 300, math.MaxUint64
	keys := func(d spec.Distribution) spec.Keys { return spec.Keys{Count: count, SizeBytes: 8, Distribution: d} }
	values := spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 64}
	of := func(requests int64, w spec.Workload) func(*plan.Plan) {
		return func(p *plan.Plan) { p.Load.Requests, p.Workload = new(requests), w }
	}
	reads := func(c spec.Consistency) func(*plan.Plan) {
		return of(1_500, spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{Keys: keys(spec.Uniform), Values: values, Consistency: c, KeysPerRequest: 1, Delivery: spec.DeliveryWhole}})
	}
	type sent map[spec.RPC]uint64
	type effects struct {
		keys, sessions int
		sent           sent
	}
	for name, tc := range map[string]struct {
		change func(*plan.Plan)
		want   effects
	}{
		"puts":               {func(*plan.Plan) {}, effects{1_500, 0, sent{spec.RPCKVPut: 1_500}}},
		"keys written again": {of(1_500, spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: keys(spec.Uniform), Values: values, Overwrite: true}}), effects{count, 0, sent{spec.RPCKVPut: 1_500}}},
		"puts for a time": {func(p *plan.Plan) {
			p.Workload.Put.Keys = keys(spec.Sequential)
			p.Workload.Put.Keys.Count = 30
			p.Load.Requests, p.Load.DurationSeconds = nil, new(int32(1))
		}, effects{30, 0, sent{spec.RPCKVPut: some}}},
		"linearizable reads":  {reads(spec.Linearizable), effects{count, 0, sent{spec.RPCKVGet: 1_500}}},
		"reads of the leader": {reads(spec.Leader), effects{count, 0, sent{spec.RPCKVGet: 1_500}}},
		"serializable reads":  {reads(spec.Serializable), effects{count, 0, sent{spec.RPCKVGet: 1_500}}},
		"mixed": {of(1_500, spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{ReadPercent: 50, Keys: keys(spec.Uniform), Values: values, Consistency: spec.Leader}}),
			effects{count, 0, sent{spec.RPCKVGet: some, spec.RPCKVPut: some}}},
		"deletions": {of(200, spec.Workload{Type: spec.WorkloadDelete, Delete: &spec.Delete{Keys: keys(spec.Sequential), Values: values}}),
			effects{count - 200, 0, sent{spec.RPCKVDelete: 200}}},
		"transactions": {of(4, spec.Workload{Type: spec.WorkloadTxn, Txn: &spec.Txn{Mode: spec.TxnPuts, PutsPerTransaction: new(int32(63)), Keys: keys(spec.Sequential), Values: values}}),
			effects{4 * 63, 0, sent{spec.RPCTxn: 4}}},
		"swaps": {of(600, spec.Workload{Type: spec.WorkloadTxn, Txn: &spec.Txn{Mode: spec.TxnCompareAndSwap, Keys: keys(spec.Uniform), Values: values}}),
			effects{count, 0, sent{spec.RPCKVGet: 600, spec.RPCKVPut: 600}}},
		"grants":                        {leaseOf(spec.LeaseGrant, 0), effects{0, 300, sent{spec.RPCSessionCreate: 300}}},
		"renewals":                      {leaseOf(spec.LeaseKeepAlive, 30), effects{0, 30, sent{spec.RPCSessionRenew: 300}}},
		"renewals of leases of any pod": {leaseOf(spec.LeaseKeepAlive, 20), effects{0, 20, sent{spec.RPCSessionRenew: 300}}},
		"revocations":                   {leaseOf(spec.LeaseRevoke, 0), effects{0, 0, sent{spec.RPCSessionDestroy: 300}}},
	} {
		p := planFor(servers, func(p *plan.Plan) {
			p.Load.Pods, p.Load.Connections, p.Load.Clients, p.Lock = 3, 6, 6, &plan.Lock{WaitSeconds: 60}
		}, tc.change)
		found, snapshots := accounted(t, name, s, p)
		_, succeeded, failed := sums(snapshots)
		if wanted := p.Load.RequestBound(); succeeded != uint64(wanted) && wanted > 0 || failed != 0 {
			t.Errorf("%s: %d succeeded and %d failed, wanted %d", name, succeeded, failed, wanted)
		}
		got := effects{len(found.Values), 0, sent{}}
		for one, n := range found.Sessions {
			if got.sessions += n; !strings.HasPrefix(one.Name, "etcdbench "+ownUID+" pod ") || one.TTL != "10m0s" || one.Behavior != "delete" || one.LockDelay != 0 {
				t.Errorf("%s: found the session %+v", name, one)
			}
		}
		for rpc, n := range tc.want.sent {
			for _, snapshot := range snapshots {
				got.sent[rpc] += snapshot.Requests[rpc][results.PhaseMeasured]
			}
			if n == some && got.sent[rpc] > 0 {
				got.sent[rpc] = some
			}
		}
		if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(effects{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for key, value := range found.Values {
			if len(value) != 64 {
				t.Errorf("%s: the key %s has %d bytes", name, key, len(value))
			}
		}
	}
}

// accounted runs a plan, and returns what the server has of it before the keys are deleted. The server must count as many
// requests of each kind as the pods, but for those that were sent again, and have nothing of the run after it.
func accounted(t *testing.T, name string, s *consultest.Server, p plan.Plan) (found content, snapshots []*results.Snapshot) {
	t.Helper()
	for _, path := range paths {
		// Requests that make a counter at the same time overwrite each other's.
		method, name, _ := strings.Cut(path, " ")
		s.Refuse(t, method, "/"+strings.ReplaceAll(name, "_", "/"))
	}
	before := served(t, s)
	snapshots = run(t, p, func() { found = contentOf(t, s) })
	after := served(t, s)
	sent, _, _ := sums(snapshots)
	// The look at the content, and the first look at the counters.
	sent[spec.RPCAgentMetrics]++
	sent[spec.RPCKVGet]++
	sent[spec.RPCSessionList]++
	resent := uint64(0)
	for _, snapshot := range snapshots {
		resent += snapshot.Resent
	}
	for rpc, path := range paths {
		n := after[path] - before[path]
		if n > sent[rpc] || n+resent < sent[rpc] {
			t.Errorf("%s: the server counts %d of %s, the pods and the test %d, %d of them again", name, n, rpc, sent[rpc], resent)
		}
	}
	if left := contentOf(t, s); len(left.Values)+len(left.Sessions) > 0 || len(s.Keys(t, "")) > 0 {
		t.Errorf("%s: left %d keys of the load, %v, and %q", name, len(left.Values), left.Sessions, s.Keys(t, ""))
	}
	for _, snapshot := range snapshots {
		if snapshot.Cleaning != results.CleaningKeysDeleted || snapshot.Stage != results.StageDone {
			t.Errorf("%s: pod %d ends in %s with %s", name, snapshot.Index, snapshot.Stage, snapshot.Cleaning)
		}
	}
	target := snapshots[0].Target
	if len(target.Members) != 1 || target.Members[0].Version != "1.10.12" || !target.Members[0].Leader || target.Unlocked {
		t.Errorf("%s: wanted one member with a version that leads, and its lock, found %+v", name, target)
	}
	return found, snapshots
}

// Clients that swap one key lose to each other. What they won is what the key has at the end.
func TestSwapsAreLost(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	d := driverOf(t, planFor(servers), 0)
	servers[0].Ask(t, http.MethodPut, "/v1/kv/"+ownPrefix+"00000000", "0")
	var all sync.WaitGroup
	var won sync.Map
	var lost [4]int
	for client := range lost {
		all.Go(func() {
			c, err := d.Connect(bounded(t), client)
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 50 {
				value := fmt.Sprintf("%d of %d", n, client)
				var response load.Response
				c.Do(bounded(t), &load.Request{Operation: spec.OperationCompareAndSwap, Key: []byte(ownPrefix + "00000000"), Value: []byte(value), Timeout: 10 * time.Second, Needs: 1}, &response)
				switch {
				case !response.Succeeded():
					t.Errorf("%s: %+v", value, response)
				case response.Lost:
					lost[client]++
				default:
					won.Store(value, true)
				}
			}
		})
	}
	all.Wait()
	last := servers[0].Ask(t, http.MethodGet, "/v1/kv/"+ownPrefix+"00000000?raw", "")
	if _, isOne := won.Load(last); !isOne || slices.Max(lost[:]) == 0 {
		t.Errorf("the last value is %q, and the clients lost %v", last, lost)
	}
}

// What a killed pod left is destroyed by the cleanup of the run, and what a killed run left by clean. Sessions of others stay.
func TestSessionsOfKilledPodsAreDestroyed(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	s := servers[0]
	p := planFor(servers, leaseOf(spec.LeaseGrant, 0))
	for _, name := range []string{"etcdbench " + otherUID + " pod 0", "etcdbench lock", "mine"} {
		s.Ask(t, http.MethodPut, "/v1/session/create", fmt.Sprintf(`{"Name": %q}`, name))
	}
	for name, remove := range map[string]func(signs map[string]int64) error{
		"cleanup": func(signs map[string]int64) error { return driverOf(t, p, 0).Clean(bounded(t), signs) },
		"clean": func(map[string]int64) error {
			l := NewLeftovers(p.Target)
			defer l.Close()
			old, err := l.Look(bounded(t), ownPrefix)
			if err != nil {
				return err
			}
			done, err := l.Remove(bounded(t), old, 0)
			if done.Leases != 1_100 {
				t.Errorf("%d leases were revoked", done.Leases)
			}
			return err
		},
	} {
		d := driverOf(t, p, 1)
		if err := driverOf(t, p, 0).Claim(bounded(t)); err != nil {
			t.Fatal(err)
		}
		c, err := d.Connect(bounded(t), 0)
		if err != nil {
			t.Fatal(err)
		}
		for n := range int64(1_100) {
			var response load.Response
			if c.Do(bounded(t), &load.Request{Operation: spec.OperationLeaseGrant, Lease: p.FirstLease + n, Timeout: 10 * time.Second}, &response); !response.Succeeded() {
				t.Fatal(response)
			}
		}
		signs, err := d.Signs(bounded(t))
		if err == nil {
			err = remove(signs)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left := contentOf(t, s).Sessions; len(left) != 2 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

// A session that is gone cannot be renewed.
func TestARenewalOfASessionThatIsGone(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	p := planFor(servers, leaseOf(spec.LeaseKeepAlive, 1))
	c, err := driverOf(t, p, 0).Connect(bounded(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, operation := range []spec.Operation{spec.OperationLeaseGrant, spec.OperationLeaseKeepAlive, spec.OperationLeaseRevoke, spec.OperationLeaseKeepAlive} {
		var response load.Response
		c.Do(bounded(t), &load.Request{Operation: operation, Lease: p.FirstLease, Preload: true, Timeout: 10 * time.Second}, &response)
		codes = append(codes, response.Code)
	}
	if diff := cmp.Diff([]string{"", "", "", load.CodeNotFound}, codes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A run with leases needs rights on sessions. The run is refused before it writes, with the name of the missing right.
func TestTokensWithoutSessions(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1, consultest.ACLs)
	own := `key_prefix "etcdbench/" { policy = "write" }`
	preflight := func(rules string) error {
		p := planFor(servers, leaseOf(spec.LeaseGrant, 0), withToken(servers[0].Token(t, rules)))
		_, _, err := driverOf(t, p, 0).Preflight(bounded(t))
		return err
	}
	for _, rules := range []string{own, own + ` session_prefix "" { policy = "read" }`} {
		wantReason(t, preflight(rules), results.FailureAuthenticationFailed, "session_prefix")
	}
	if err := preflight(own + ` session_prefix "" { policy = "write" }`); err != nil {
		t.Error(err)
	}
}

// Clients of three pods contend for two names. A release fails unless its session has the key, so no failure means that one
// client at a time had it. The run leaves neither keys nor sessions.
func TestContests(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	s := servers[0]
	for _, w := range []spec.Workload{
		{Type: spec.WorkloadLock, Lock: &spec.Lock{Names: 2, HoldMilliseconds: 1}},
		{Type: spec.WorkloadElection, Election: &spec.Election{Names: 2, LeadMilliseconds: 1}},
	} {
		p := planFor(servers, func(p *plan.Plan) {
			p.Load.Pods, p.Load.Connections, p.Load.Clients, p.Load.Requests = 3, 12, 12, new(int64(240))
			p.FirstLease, p.Workload = 7*workload.LeaseIDs, w
		})
		found, snapshots := accounted(t, string(w.Type), s, p)
		sessions := 0
		for one, n := range found.Sessions {
			if sessions += n; one.TTL != "1m0s" {
				t.Errorf("%s: found the session %+v", w.Type, one)
			}
		}
		if sessions != 12 || len(found.Values) != 2 {
			t.Errorf("%s: found %d sessions and %v, wanted one for each client, and two keys", w.Type, sessions, found.Values)
		}
		operations, counts := p.Operations(), map[spec.Operation]uint64{}
		for _, snapshot := range snapshots {
			for o, counted := range snapshot.Operations {
				counts[o] += counted.Latency.Count()
			}
		}
		_, _, failed := sums(snapshots)
		if counts[operations[0]] != 240 || counts[operations[1]] != 240 || counts[operations[0].Inner()] == 0 || failed > 0 {
			t.Errorf("%s: counted %v, and %d failed", w.Type, counts, failed)
		}
	}
}

// A client that waits in vain leaves nothing that others wait for. One whose session has ended fails to release, and gets
// another session for its next request.
func TestLostContests(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	s := servers[0]
	p := planFor(servers, func(p *plan.Plan) {
		p.FirstLease, p.Workload = 7*workload.LeaseIDs, spec.Workload{Type: spec.WorkloadLock, Lock: &spec.Lock{Names: 1}}
	})
	d := driverOf(t, p, 0)
	var contenders []*contender
	for client := range 2 {
		c, err := d.Connect(bounded(t), client)
		if err != nil {
			t.Fatal(err)
		}
		own, err := c.(load.SharedConn).Client(bounded(t), client)
		if err != nil {
			t.Fatal(err)
		}
		contenders = append(contenders, own.(*contender))
	}
	first, second := contenders[0], contenders[1]
	do := func(c *contender, o spec.Operation, timeout time.Duration, code string) (response load.Response) {
		t.Helper()
		if c.Do(bounded(t), &load.Request{Operation: o, Timeout: timeout}, &response); response.Code != code {
			t.Fatalf("%s of client %d: %+v, wanted %q", o, c.client, response, code)
		}
		return response
	}
	do(first, spec.OperationLockAcquire, 10*time.Second, "")
	if response := do(second, spec.OperationLockAcquire, 200*time.Millisecond, load.CodeDeadlineExceeded); response.Cleared < response.Received {
		t.Errorf("not cleared: %+v", response)
	}
	do(first, spec.OperationLockRelease, 10*time.Second, "")
	do(second, spec.OperationLockAcquire, 10*time.Second, "")
	s.Ask(t, http.MethodPut, "/v1/session/destroy/"+second.session, "")
	do(second, spec.OperationLockRelease, 10*time.Second, load.CodeNotFound)
	do(second, spec.OperationLockAcquire, 10*time.Second, "")
	do(second, spec.OperationLockRelease, 10*time.Second, "")
}
