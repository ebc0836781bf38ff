package etcd

import (
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// registryPlan is two minutes of a small cluster, one from each of its two API servers. A minute has an odd number of
// requests: with three minutes the API servers would have unequal shares.
func registryPlan(p *plan.Plan) {
	p.FirstLease, p.Load.Pods, p.Load.Requests = workload.LeaseIDs, 2, new(int64(2*smallMinute))
	p.Workload = spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Profile: spec.ClusterSmall}}
}

// The requests of a minute of a small cluster, of 50 nodes and 1,500 pods.
const (
	smallRenewals, smallCreations, smallChanges, smallEvents = 300, 6, 24, 30
	smallListsBy500, smallListsBy10000                       = 6, 1

	smallPuts   = smallRenewals + smallCreations + smallChanges + smallEvents
	smallMinute = smallPuts + smallCreations + smallListsBy500 + smallListsBy10000
)

// The run reports what etcd has seen: each request made one change, of the kinds and numbers of the cluster's minutes,
// and none was lost.
func TestARunAsKubernetes(t *testing.T) {
	cluster, client := oneMember(t)
	start, err := client.Get(t.Context(), "-")
	if err != nil {
		t.Fatal(err)
	}
	merged := runAndCompare(t, cluster, client, planFor(cluster.Endpoints, registryPlan)).merged
	for operation, want := range map[spec.Operation]uint64{
		spec.OperationOptimisticPut: 2 * smallPuts, spec.OperationOptimisticDelete: 2 * smallCreations,
		spec.OperationListBy500: 2 * smallListsBy500, spec.OperationListBy10000: 2 * smallListsBy10000,
	} {
		r := merged.Operations[operation]
		if r.Latency.Count() != want || r.Failed.Count() > 0 {
			t.Errorf("%s: %d succeeded, failed: %v; wanted %d", operation, r.Latency.Count(), r.Errors, want)
		}
	}
	if puts, gone := merged.Operations[spec.OperationOptimisticPut].Lost, merged.Operations[spec.OperationOptimisticDelete].Lost; puts+gone > 0 {
		t.Errorf("%d puts and %d deletions were lost, wanted none: each object has one API server", puts, gone)
	}
	w := merged.Watch
	if want := (results.Watch{Watchers: 6, Expected: 2 * smallPuts}); w != want || merged.Operations[spec.OperationWatchEvent].Latency.Count() != want.Expected {
		t.Errorf("got %+v, wanted %+v, and as many events timed", w, want)
	}
	puts, deletions, leased := objectChanges(t, client, start.Header.Revision+1)
	if got, want := puts["leases"]+puts["pods"]+puts["events"], 50+1500+2*smallPuts; got != want || puts["events"] != 2*smallEvents {
		t.Errorf("etcd has %d puts, %v, wanted %d with %d events", got, puts, want, 2*smallEvents)
	}
	if deletions != 2*smallCreations {
		t.Errorf("etcd has %d deletions, wanted %d", deletions, 2*smallCreations)
	}
	// Each pod shares a lease among its events, and only events have leases.
	if leased["events"] != 2 || leased["pods"]+leased["leases"] > 0 {
		t.Errorf("the objects of each resource have %v different leases", leased)
	}
	if all, err := client.Leases(t.Context()); err != nil || len(all.Leases) > 0 {
		t.Errorf("leases are left: %v (%v)", all.Leases, err)
	}
}

// objectChanges returns how often objects of each resource were put, and were deleted one by one, until the run gave up
// its prefix, and how many leases each resource has.
func objectChanges(t *testing.T, client *clientv3.Client, revision int64) (puts map[string]int, deletions int, leased map[string]int) {
	t.Helper()
	puts, leased = map[string]int{}, map[string]int{}
	seen := map[int64]bool{}
	for response := range client.Watch(withTimeout(t), ownPrefix, clientv3.WithPrefix(), clientv3.WithRev(revision)) {
		at := map[int64]int{}
		for _, e := range response.Events {
			at[e.Kv.ModRevision]++
		}
		for _, e := range response.Events {
			key := strings.TrimPrefix(string(e.Kv.Key), ownPrefix)
			resource, _, _ := strings.Cut(strings.TrimPrefix(key, "registry/"), "/")
			switch {
			case key == ".owner" && e.Type == mvccpb.DELETE:
				return puts, deletions, leased
			case !strings.HasPrefix(key, "registry/"):
			case e.Type == mvccpb.DELETE:
				// The sweep deletes many at one revision.
				if resource == "pods" && at[e.Kv.ModRevision] == 1 {
					deletions++
				}
			default:
				puts[resource]++
				if e.Kv.Lease != 0 && !seen[e.Kv.Lease] {
					seen[e.Kv.Lease] = true
					leased[resource]++
				}
			}
		}
	}
	t.Fatal("the history of the run does not end with its marker")
	return nil, 0, nil
}

// One API server is twenty minutes ahead of the other. Neither requests an object that does not exist yet or any more.
// Each of fifty nodes has 30 pods, which the first API server replaces four times.
func TestAPIServersOfDifferentSpeed(t *testing.T) {
	cluster, _ := oneMember(t)
	const servers = 50
	p := planFor(cluster.Endpoints, registryPlan, func(p *plan.Plan) {
		p.Load.Pods, p.Load.Connections, p.Load.Clients = servers, servers, servers
	})
	w := workload.New(p.Run)
	conns := [2]*conn{connect(t, connected(t, p), 0), connect(t, connected(t, p), 1)}
	for number := range w.PreloadCount() {
		do(t, conns[0], requestOf(w, w.Preload(number)))
	}
	for own := range int64(20 * smallMinute) {
		slow := own / 20
		for server, n := range []int64{servers * own, servers*slow + 1} {
			if server == 1 && own%20 > 0 {
				continue
			}
			request := requestOf(w, w.At(workload.Measured, n))
			if do(t, conns[server], request).Lost {
				t.Fatalf("server %d, request %d: %s of %s is lost", server, n, request.Operation, request.Key)
			}
		}
	}
}

// requestOf makes the request of an operation on objects.
func requestOf(w *workload.Workload, op workload.Operation) load.Request {
	request := load.Request{Operation: op.Kind, Create: op.Create, PageSize: op.PageSize, Timeout: 5 * time.Second, Value: []byte("v")}
	request.Key = w.AppendObject(nil, op.Resource, op.Key)
	if op.PageSize > 0 {
		request.Key = w.AppendResource(nil, op.Resource)
	}
	return request
}

// object makes a request on the object of a key.
func object(operation spec.Operation, key string, create bool) load.Request {
	return load.Request{Operation: operation, Key: []byte(ownPrefix + "registry/pods/" + key), Value: []byte("v"), Create: create, Timeout: 5 * time.Second}
}

// A request that lost against another API server changes nothing. It learns the current revision, so that the next
// request succeeds.
func TestOptimisticRequestsAreLostOnce(t *testing.T) {
	cluster, client := oneMember(t)
	c := connect(t, connected(t, planFor(cluster.Endpoints, registryPlan)), 0)
	try := func(what string, request load.Request, wantLost bool) {
		t.Helper()
		if got := do(t, c, request).Lost; got != wantLost {
			t.Errorf("%s: lost is %v, wanted %v", what, got, wantLost)
		}
	}
	change, remove := object(spec.OperationOptimisticPut, "a", false), object(spec.OperationOptimisticDelete, "a", false)
	try("a creation", object(spec.OperationOptimisticPut, "a", true), false)
	try("another creation", object(spec.OperationOptimisticPut, "a", true), true)
	try("a change", change, false)
	put(t, client, string(change.Key), "a foreign value")
	try("a change that is late", change, true)
	if got := keysUnder(t, client, string(change.Key))[string(change.Key)]; got != "a foreign value" {
		t.Errorf("the lost change has written %q", got)
	}
	try("the next one", change, false)
	put(t, client, string(change.Key), "once more")
	try("a deletion that is late", remove, true)
	try("the next deletion", remove, false)
	try("a change of a deleted object", change, true)
	try("a deletion of a deleted object", remove, true)
	if left := keysUnder(t, client, ownPrefix+"registry/"); len(left) > 0 {
		t.Errorf("%v are left of what was deleted", left)
	}
}

func TestAListHasEveryObjectOnce(t *testing.T) {
	_, client := oneMember(t)
	for i := range 23 {
		put(t, client, ownPrefix+"registry/pods/"+string(rune('a'+i)), "v")
	}
	put(t, client, ownPrefix+"registry/podsecurity/x", "v")
	for _, limit := range []int64{1, 5, 23, 24} {
		var seen []string
		revision, err := list(t.Context(), kubernetes.Client{Client: client}, ownPrefix+"registry/pods/", limit, func(kv *mvccpb.KeyValue) {
			seen = append(seen, string(kv.Key[len(kv.Key)-1:]))
		})
		if err != nil || revision == 0 || strings.Join(seen, "") != "abcdefghijklmnopqrstuvw" {
			t.Errorf("in pages of %d: got %v at revision %d (%v)", limit, seen, revision, err)
		}
	}
}

// Events share a lease for a minute, or until a thousand have it.
func TestEventsShareALease(t *testing.T) {
	cluster, client := oneMember(t)
	l := &eventLease{plan: planFor(cluster.Endpoints, registryPlan), next: 1}
	first, err := l.get(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	for range eventsPerLease - 1 {
		if id, err := l.get(t.Context(), client); err != nil || id != first {
			t.Fatalf("got the lease %x (%v), wanted %x", id, err, first)
		}
	}
	second, err := l.get(t.Context(), client)
	if err != nil || second != first+2 {
		t.Errorf("after a thousand events: got the lease %x (%v), wanted another one", second, err)
	}
	l.granted = l.granted.Add(-eventLeaseReuse)
	if third, err := l.get(t.Context(), client); err != nil || third != second+2 {
		t.Errorf("after a minute: got the lease %x (%v), wanted another one", third, err)
	}
	left, err := client.TimeToLive(t.Context(), first)
	if err != nil || left.GrantedTTL != 3660 {
		t.Errorf("the lease lasts %d s (%v), wanted an hour and a minute", left.GrantedTTL, err)
	}
}
