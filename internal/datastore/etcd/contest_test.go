package etcd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// contest is a workload in which clients compete, and its operations.
type contest struct {
	workload             spec.WorkloadType
	win, giveUp, handOff spec.Operation
}

var contests = map[string]contest{
	"locks":     {spec.WorkloadLock, spec.OperationLockAcquire, spec.OperationLockRelease, spec.OperationLockHandOff},
	"elections": {spec.WorkloadElection, spec.OperationElectionCampaign, spec.OperationElectionResign, spec.OperationElectionHandOff},
}

func (c contest) plan(names, holdMilliseconds int32) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Workload = spec.Workload{Type: c.workload}
		if c.workload == spec.WorkloadLock {
			p.Workload.Lock = &spec.Lock{Names: names, HoldMilliseconds: holdMilliseconds}
		} else {
			p.Workload.Election = &spec.Election{Names: names, LeadMilliseconds: holdMilliseconds}
		}
		p.FirstLease, p.Load.Requests = 7*workload.LeaseIDs, new(int64(300))
	}
}

// namesOf is the number of names for which the clients of a plan compete.
func namesOf(p plan.Plan) int {
	if p.Workload.Lock != nil {
		return int(p.Workload.Lock.Names)
	}
	return int(p.Workload.Election.Names)
}

// tenure is the life of one key of a lock: from a client's request until its release.
type tenure struct {
	client            int
	value             string
	created, released int64
}

// tenuresSince returns the tenures of each name since a revision, in the order of the requests, until the run gave up
// its prefix.
func tenuresSince(t *testing.T, client *clientv3.Client, p plan.Plan, revision int64) map[string][]tenure {
	t.Helper()
	open, out := map[string]tenure{}, map[string][]tenure{}
	for response := range client.Watch(withTimeout(t), p.Prefix, clientv3.WithPrefix(), clientv3.WithRev(revision)) {
		for _, e := range response.Events {
			key := string(e.Kv.Key)
			name, lease, isLock := cutLock(p, key)
			switch {
			case e.Type == clientv3.EventTypeDelete && key == p.Prefix+".owner":
				return out
			case !isLock:
			case e.Type == clientv3.EventTypePut:
				open[key] = tenure{client: int(lease - p.LeaseID(workload.LeaseOfClient, 0)), value: string(e.Kv.Value), created: e.Kv.ModRevision}
			default:
				ended := open[key]
				ended.released = e.Kv.ModRevision
				out[name] = append(out[name], ended)
				delete(open, key)
			}
		}
	}
	t.Fatal("the history of the run does not end with its marker")
	return nil
}

func cutLock(p plan.Plan, key string) (name string, lease int64, ok bool) {
	rest, ok := strings.CutPrefix(key, p.LockPrefix())
	name, digits, found := strings.Cut(rest, "/")
	lease, err := strconv.ParseInt(digits, 16, 64)
	return name, lease, ok && found && err == nil
}

// podOf is the pod of a client.
func podOf(p plan.Plan, client int) int {
	for index := range p.Pods() {
		part, _ := p.Part(index)
		if c := client % int(p.Load.Connections); c >= part.FirstConnection && c < part.FirstConnection+part.Connections {
			return index
		}
	}
	return -1
}

// Checks the store's history of each name: every request asked for it once and released it once, in the order of the
// requests, and only the run's clients competed. Leases and keys are gone.
func TestEachRequestWinsOnceAndGivesUpOnce(t *testing.T) {
	cluster, client := oneMember(t)
	for name, c := range contests {
		for _, names := range []int32{1, 5} {
			t.Run(fmt.Sprintf("%s of %d names", name, names), func(t *testing.T) {
				start, err := client.Get(t.Context(), "-")
				if err != nil {
					t.Fatal(err)
				}
				before := lessor(t, cluster)
				p := planFor(cluster.Endpoints, c.plan(names, 5), func(p *plan.Plan) { p.Load.Pods = 2 })
				s := runAndCompare(t, cluster, client, p)
				c.wantCounts(t, s, 300)
				tenures := tenuresSince(t, client, p, start.Header.Revision+1)
				if all := slices.Concat(slices.Collect(maps.Values(tenures))...); len(all) != 300 || len(tenures) != int(names) {
					t.Errorf("etcd has %d tenures of %d names, wanted 300 of %d", len(all), len(tenures), names)
				}
				near := 0
				for name, of := range tenures {
					wantTurns(t, p, name, of)
					c.wantValues(t, of)
					near += successions(p, of)
				}
				// A client that joined the queue just before the release may not have had to wait.
				if h := s.operation(t, c.handOff).Latency.Count(); h > uint64(near) || h < uint64(near)/2 {
					t.Errorf("%d hand-offs were measured, etcd has %d from one client of a pod to the next", h, near)
				}
				wantSessionsEnded(t, cluster, client, before)
			})
		}
	}
}

func (c contest) wantCounts(t *testing.T, s story, requests uint64) {
	t.Helper()
	won, given := s.operation(t, c.win), s.operation(t, c.giveUp)
	if won.Latency.Count() != requests || given.Latency.Count() != requests {
		t.Errorf("%d won and %d given up, wanted %d of each", won.Latency.Count(), given.Latency.Count(), requests)
	}
	if waits := s.merged.Requests[spec.RPCWatch][results.PhaseMeasured]; waits == 0 {
		t.Error("no watch was counted, of clients that waited for each other")
	}
}

// wantTurns checks that tenures end in the order in which they began, and that no two overlap.
func wantTurns(t *testing.T, p plan.Plan, name string, tenures []tenure) {
	t.Helper()
	for i, own := range tenures {
		if p.ContestName(own.client) != p.LockPrefix()+name {
			t.Errorf("client %d contended for %s, wanted %s", own.client, name, p.ContestName(own.client))
		}
		if i > 0 && (own.created <= tenures[i-1].created || own.released <= tenures[i-1].released) {
			t.Errorf("%s: %+v follows %+v, wanted its revisions to follow too", name, own, tenures[i-1])
		}
	}
}

// wantValues checks that a candidate writes its name, and a lock nothing.
func (c contest) wantValues(t *testing.T, tenures []tenure) {
	t.Helper()
	for _, own := range tenures {
		want := ""
		if c.workload == spec.WorkloadElection {
			want = strconv.Itoa(own.client)
		}
		if own.value != want {
			t.Errorf("client %d wrote %q, wanted %q", own.client, own.value, want)
		}
	}
}

// successions counts the tenures that were requested before the previous one ended, if both belong to one pod.
func successions(p plan.Plan, tenures []tenure) (n int) {
	for i := 1; i < len(tenures); i++ {
		former, next := tenures[i-1], tenures[i]
		if next.created < former.released && podOf(p, next.client) == podOf(p, former.client) {
			n++
		}
	}
	return n
}

func wantSessionsEnded(t *testing.T, cluster *etcdtest.Cluster, client *clientv3.Client, before leaseCounts) {
	t.Helper()
	after := lessor(t, cluster)
	if granted, revoked := after.granted-before.granted, after.revoked-before.revoked; granted != 12 || revoked != 12 {
		t.Errorf("%d leases were granted and %d revoked for 12 clients", granted, revoked)
	}
	if left := listed(t, client); len(left) > 0 {
		t.Errorf("leases are left: %x", left)
	}
}

// Clients of two pods: no two of them hold a name at once. A later holder has a higher revision, by which a resource
// could distinguish them.
func TestNoTwoClientsHoldANameAtOnce(t *testing.T) {
	cluster, client := oneMember(t)
	for name, c := range contests {
		t.Run(name, func(t *testing.T) {
			p := planFor(cluster.Endpoints, c.plan(2, 0), func(p *plan.Plan) { p.Load.Pods = 2 })
			var guarded [2]struct {
				holders atomic.Int64
				token   int64
			}
			var contending sync.WaitGroup
			for _, own := range competitors(t, p) {
				contending.Go(func() {
					name := &guarded[own.number]
					for range 20 {
						do(t, own.conn, load.Request{Operation: c.win, Timeout: 30 * time.Second})
						if n := name.holders.Add(1); n != 1 {
							t.Errorf("%d clients hold a name at once", n)
						}
						got, err := client.Get(t.Context(), own.conn.(*competitor).key)
						if err != nil || len(got.Kvs) != 1 || got.Kvs[0].CreateRevision <= name.token {
							t.Errorf("the key of the holder: %v (%v), wanted a revision above %d", got, err, name.token)
						} else {
							name.token = got.Kvs[0].CreateRevision
						}
						name.holders.Add(-1)
						do(t, own.conn, load.Request{Operation: c.giveUp, Timeout: 30 * time.Second})
					}
				})
			}
			contending.Wait()
		})
	}
}

// numbered is a client, with the number of its name.
type numbered struct {
	conn   load.Conn
	number int
}

// competitors are all clients of a plan's pods.
func competitors(t *testing.T, p plan.Plan) (all []numbered) {
	t.Helper()
	for index := range p.Pods() {
		part, err := p.Part(index)
		if err != nil {
			t.Fatal(err)
		}
		d := newDriver(t, p, index)
		if _, _, err := d.Preflight(withTimeout(t)); err != nil {
			t.Fatal(err)
		}
		for connection := part.FirstConnection; connection < part.FirstConnection+part.Connections; connection++ {
			conn := connect(t, d, connection)
			for client := connection; client < int(p.Load.Clients); client += int(p.Load.Connections) {
				own, err := conn.Client(withTimeout(t), client)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, numbered{own, client % namesOf(p)})
			}
		}
		t.Cleanup(func() { d.endSessions(context.WithoutCancel(t.Context())) })
	}
	return all
}

// A hand-off is between two clients of a pod, of which the second has waited for the first.
func TestAHandOffIsFromThePreviousHolder(t *testing.T) {
	cluster, _ := oneMember(t)
	for name, c := range contests {
		t.Run(name, func(t *testing.T) {
			p := planFor(cluster.Endpoints, c.plan(1, 0), func(p *plan.Plan) { p.Load.Pods, p.Load.Connections, p.Load.Clients = 2, 2, 4 })
			// Clients 0 and 2 belong to the first pod, 1 to the second.
			all := competitors(t, p)
			first, second, foreign := all[0].conn.(*competitor), all[1].conn.(*competitor), all[2].conn.(*competitor)
			win := load.Request{Operation: c.win, Timeout: 30 * time.Second}
			giveUp := load.Request{Operation: c.giveUp, Timeout: 30 * time.Second}
			succeed := func(former, next *competitor) (won, freed load.Response) {
				do(t, former, win)
				var waiting sync.WaitGroup
				waiting.Go(func() { won = do(t, next, win) })
				awaitWatcher(t, cluster)
				freed = do(t, former, giveUp)
				waiting.Wait()
				do(t, next, giveUp)
				return won, freed
			}
			if won, freed := succeed(first, second); won.InnerSince != min(freed.Received, won.Received) && won.InnerSince != won.Received {
				t.Errorf("the next had the name at %d, which was released at %d; the response has %d", won.Received, freed.Received, won.InnerSince)
			}
			if won, _ := succeed(first, foreign); won.InnerSince != 0 {
				t.Errorf("a hand-off from another pod at %d", won.InnerSince)
			}
			if won := do(t, second, win); won.InnerSince != 0 {
				t.Errorf("a hand-off at %d to a client that did not wait", won.InnerSince)
			}
			do(t, second, giveUp)
		})
	}
}

// watchers is how many watches etcd has.
func watchers(t *testing.T, cluster *etcdtest.Cluster) float64 {
	t.Helper()
	return metricsOf(t, cluster)["etcd_debugging_mvcc_watcher_total"].GetMetric()[0].GetGauge().GetValue()
}

// awaitWatcher waits until a client watches the key in front of its own.
func awaitWatcher(t *testing.T, cluster *etcdtest.Cluster) {
	t.Helper()
	ctx := withTimeout(t)
	for watchers(t, cluster) == 0 {
		if ctx.Err() != nil {
			t.Fatal("no client waits for the holder")
		}
	}
}

// If a pod ends while one of its clients holds a name, the clients of other pods do not have to wait for it, although
// they are not done.
func TestAPodThatEndsFreesWhatItsClientsHold(t *testing.T) {
	cluster, client := oneMember(t)
	c := contests["locks"]
	p := planFor(cluster.Endpoints, c.plan(1, 0), func(p *plan.Plan) { p.Load.Pods, p.Load.Connections, p.Load.Clients = 2, 2, 2 })
	put(t, client, ownPrefix+".owner", ownUID)
	all := competitors(t, p)
	ended, other := all[0].conn.(*competitor).driver, all[1].conn.(*competitor).driver
	for _, d := range []*Driver{ended, other} {
		if err := d.Claim(withTimeout(t)); err != nil {
			t.Fatal(err)
		}
	}
	win := load.Request{Operation: c.win, Timeout: 30 * time.Second}
	do(t, all[0].conn, win)
	releasing := make(chan struct{})
	go func() {
		defer close(releasing)
		if cleaning, err := ended.Release(withTimeout(t)); err != nil || cleaning != results.CleaningKeysDeleted {
			t.Errorf("the first pod ends with %s: %v", cleaning, err)
		}
	}()
	do(t, all[1].conn, win)
	if cleaning, err := other.Release(withTimeout(t)); err != nil || cleaning != results.CleaningKeysDeleted {
		t.Errorf("the last pod ends with %s: %v", cleaning, err)
	}
	<-releasing
	if keys, left := keysUnder(t, client, ownPrefix), listed(t, client); len(keys)+len(left) > 0 {
		t.Errorf("%v and the leases %x are left", keys, left)
	}
}

func TestAClientThatDoesNotWinInTimeLeavesTheQueue(t *testing.T) {
	cluster, client := oneMember(t)
	for name, c := range contests {
		t.Run(name, func(t *testing.T) {
			p := planFor(cluster.Endpoints, c.plan(1, 0))
			own := competitors(t, p)[0].conn.(*competitor)
			put(t, client, own.name+"/0", "")
			request, response := load.Request{Operation: c.win, Timeout: 200 * time.Millisecond}, load.Response{}
			own.Do(t.Context(), &request, &response)
			if took := response.Received.Sub(response.Sent); response.Code != load.CodeDeadlineExceeded || took > 20*time.Second {
				t.Errorf("got %+v after %v, wanted %s", response, took, load.CodeDeadlineExceeded)
			}
			if response.Cleared <= response.Received {
				t.Errorf("the queue was left at %v, wanted that after the failure at %v", response.Cleared, response.Received)
			}
			if keys := keysUnder(t, client, p.LockPrefix()); len(keys) != 1 {
				t.Errorf("the queue is %v, wanted the foreign key alone", keys)
			}
			if _, err := client.Delete(t.Context(), own.name+"/0"); err != nil {
				t.Fatal(err)
			}
			do(t, own, load.Request{Operation: c.win, Timeout: 5 * time.Second})
		})
	}
}
