package etcd

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// disturb makes a disturbance once and returns its steps.
func disturb(t *testing.T, d *Driver, p spec.Disturbance) (steps []load.Step) {
	t.Helper()
	d.Disturb(withTimeout(t), p, func(s load.Step) { steps = append(steps, s) })
	return steps
}

func compaction(keepRevisions int64) spec.Disturbance {
	return spec.Disturbance{Type: spec.DisturbanceCompact, Compact: &spec.CompactSettings{KeepRevisions: keepRevisions}}
}

func TestACompactionLeavesTheNewestRevisions(t *testing.T) {
	cluster, client := oneMember(t)
	d := connected(t, planFor(cluster.Endpoints))
	var newest int64
	for range 50 {
		out, err := client.Put(t.Context(), "k", "v")
		if err != nil {
			t.Fatal(err)
		}
		newest = out.Header.Revision
	}
	keepTen := compaction(10)
	if steps := disturb(t, d, keepTen); len(steps) != 1 || steps[0].Err != nil || steps[0].Member != "" {
		t.Fatalf("wanted one step that succeeds, got %+v", steps)
	}
	for revision, want := range map[int64]error{newest - 11: rpctypes.ErrCompacted, newest - 10: nil} {
		if _, err := client.Get(t.Context(), "k", clientv3.WithRev(revision)); !errors.Is(err, want) {
			t.Errorf("revision %d of %d: got %v, wanted %v", revision, newest, err, want)
		}
	}
	if steps := disturb(t, d, keepTen); !errors.Is(steps[0].Err, errNothingToCompact) {
		t.Errorf("without another write, the second one ended with %v", steps[0].Err)
	}
	put(t, client, "k", "v")
	if steps := disturb(t, d, keepTen); steps[0].Err != nil {
		t.Errorf("after another write, the next one ended with %v", steps[0].Err)
	}
}

func TestADefragmentationFreesSpaceOfEachMember(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	client := cluster.Client(t, "", "")
	// An address that occurs twice is one member.
	d := connected(t, planFor(append(slices.Clone(cluster.Endpoints), cluster.Endpoints[0])))
	for range 200 {
		put(t, client, "k", string(make([]byte, 50_000)))
	}
	disturb(t, d, compaction(0))
	awaitFreeSpace(t, client, cluster)
	before := databaseSizes(t, client, cluster)
	steps := disturb(t, d, spec.Disturbance{Type: spec.DisturbanceDefragment})
	after := databaseSizes(t, client, cluster)
	var members []string
	for _, s := range steps {
		members = append(members, s.Member)
		if s.Err != nil || s.Began == 0 {
			t.Errorf("the step %+v failed", s)
		}
	}
	if slices.Sort(members); len(members) != 3 || len(slices.Compact(members)) != 3 {
		t.Errorf("wanted each of three members once, got %v", members)
	}
	status, err := client.Status(t.Context(), cluster.Endpoints[0])
	if err != nil {
		t.Fatal(err)
	}
	if last := steps[len(steps)-1].Member; last != hexID(status.Leader) {
		t.Errorf("the last was %s, wanted the leader %x", last, status.Leader)
	}
	for endpoint, size := range after {
		if size >= before[endpoint]/2 {
			t.Errorf("the database of %s went from %d to %d bytes", endpoint, before[endpoint], size)
		}
	}
}

// awaitFreeSpace waits until each member, even one that lags behind, has applied the compaction and freed most of its
// database. Pages are freed by the writes after the one that no longer needs them.
func awaitFreeSpace(t *testing.T, client *clientv3.Client, cluster *etcdtest.Cluster) {
	t.Helper()
	ctx := withTimeout(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, endpoint := range cluster.Endpoints {
		for {
			put(t, client, "other", "value")
			status, err := client.Status(ctx, endpoint)
			if err != nil {
				t.Fatal(err)
			}
			if status.DbSize > 5_000_000 && status.DbSizeInUse < status.DbSize/4 {
				break
			}
			select {
			case <-ctx.Done():
				t.Fatalf("%s: %d of %d bytes are in use", endpoint, status.DbSizeInUse, status.DbSize)
			case <-tick.C:
			}
		}
	}
}

func databaseSizes(t *testing.T, client *clientv3.Client, cluster *etcdtest.Cluster) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for _, endpoint := range cluster.Endpoints {
		status, err := client.Status(t.Context(), endpoint)
		if err != nil {
			t.Fatal(err)
		}
		out[endpoint] = status.DbSize
	}
	return out
}

func TestADisturbanceThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	cluster, _ := oneMember(t)
	d := connected(t, planFor(cluster.Endpoints))
	cluster.Stop(0)
	for _, kind := range []spec.DisturbanceType{spec.DisturbanceCompact, spec.DisturbanceDefragment} {
		var steps []load.Step
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		d.Disturb(ctx, spec.Disturbance{Type: kind}, func(s load.Step) { steps = append(steps, s) })
		cancel()
		if len(steps) != 1 || steps[0].Err == nil {
			t.Errorf("%s of a stopped etcd: %+v", kind, steps)
		}
	}
}

// A run reports what it has done to the whole store, and when.
func TestARunDisturbsItsTarget(t *testing.T) {
	cluster, client := oneMember(t)
	s := runAndCompare(t, cluster, client, planFor(cluster.Endpoints, func(p *plan.Plan) {
		p.Load.Pods = 2
		timed(&p.Load, 7, 300)
		p.Guard.AllowStoreWide = true
		p.Disturbances = []spec.Disturbance{compaction(100_000_000), {Type: spec.DisturbanceDefragment}}
		for i := range p.Disturbances {
			p.Disturbances[i].EverySeconds = 4
		}
	}))
	compact, defragment := s.merged.Disturbances[spec.DisturbanceCompact], s.merged.Disturbances[spec.DisturbanceDefragment]
	if compact == nil || compact.Failed != compact.Count || compact.Problem != errNothingToCompact.Error() {
		t.Errorf("wanted compactions that find nothing, got %+v", compact)
	}
	if defragment == nil || defragment.Failed != 0 || len(defragment.Marks) == 0 || defragment.Marks[0].Took <= 0 || defragment.Marks[0].Member == "" {
		t.Fatalf("wanted defragmentations, got %+v", defragment)
	}
	if sent := s.merged.Requests[spec.RPCDefragment][results.PhaseControl]; sent != defragment.Count {
		t.Errorf("%d defragmentations were sent, the result has %d", sent, defragment.Count)
	}
}

// A compaction deletes the history before the run, and all of the run's revisions but the newest.
func TestARunCompactsTheStore(t *testing.T) {
	cluster, client := oneMember(t)
	put(t, client, "k", "before")
	before, err := client.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	session, stop := runOne(t, planFor(cluster.Endpoints, func(p *plan.Plan) {
		timed(&p.Load, 60, 300)
		p.Guard.AllowStoreWide = true
		p.Disturbances = []spec.Disturbance{compaction(10)}
		p.Disturbances[0].EverySeconds = 1
	}))
	compact := func(s *results.Snapshot) results.Disturbance {
		if d := s.Disturbances[spec.DisturbanceCompact]; d != nil {
			return *d
		}
		return results.Disturbance{}
	}
	// Of the two that end after this many requests, the second began after them.
	count := compact(awaitSnapshot(t, session, func(s *results.Snapshot) bool { return s.Started >= 500 })).Count
	s := awaitSnapshot(t, session, func(s *results.Snapshot) bool { return compact(s).Count >= count+2 })
	if c := compact(s); c.Failed > 0 {
		t.Errorf("wanted compactions that succeed, got %+v", c)
	}
	stop()
	for _, later := range []int64{0, 400} {
		if _, err := client.Get(t.Context(), "k", clientv3.WithRev(before.Header.Revision+later)); !errors.Is(err, rpctypes.ErrCompacted) {
			t.Errorf("reading the store %d revisions after the start: got %v, wanted %v", later, err, rpctypes.ErrCompacted)
		}
	}
	now, err := client.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(t.Context(), "k", clientv3.WithRev(now.Header.Revision-10)); err != nil {
		t.Errorf("the newest revisions are compacted, too: %v", err)
	}
}

// storms is a plan with a storm of leases every second.
func storms(leases, keysPerLease, ttl int64) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.FirstLease = 7 * workload.LeaseIDs
		p.Disturbances = []spec.Disturbance{{
			Type: spec.DisturbanceLeaseExpiry, EverySeconds: 1,
			LeaseExpiry: &spec.LeaseExpirySettings{Leases: leases, KeysPerLease: keysPerLease, TTLSeconds: ttl},
		}}
	}
}

func TestAStormLetsItsLeasesExpire(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints, storms(50, 130, 8))
	d := connected(t, p)
	if err := d.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		start, err := client.Get(t.Context(), "-")
		if err != nil {
			t.Fatal(err)
		}
		began := load.Now()
		steps := disturb(t, d, p.Disturbances[0])
		if len(steps) != 1 || steps[0].Err != nil || steps[0].Began.Sub(began) < 8*time.Second {
			t.Fatalf("wanted one step that succeeds once leases of eight seconds expire, got %+v, begun at %d", steps, began)
		}
		if left, err := client.Leases(t.Context()); err != nil || len(left.Leases) > 0 {
			t.Errorf("%d leases are left (%v)", len(left.Leases), err)
		}
		puts, deletions := countEvents(t, client, start.Header.Revision+1, 2*50*130)
		if puts != 50*130 || deletions != 50*130 {
			t.Errorf("%d keys were put and %d deleted, wanted 6,500", puts, deletions)
		}
	}
	// A pod that was given up writes no key.
	if _, err := client.Delete(t.Context(), d.run.PodKey()); err != nil {
		t.Fatal(err)
	}
	if steps := disturb(t, d, p.Disturbances[0]); len(steps) != 1 || !errors.Is(steps[0].Err, load.ErrDisowned) || len(keysUnder(t, client, ownPrefix)) > 1 {
		t.Errorf("after the pod's key is gone, got %+v", steps)
	}
}

// countEvents counts the events on a run's keys from a revision on, until there are this many.
func countEvents(t *testing.T, client *clientv3.Client, revision int64, events int) (puts, deletions int) {
	t.Helper()
	ctx, cancel := context.WithCancel(withTimeout(t))
	defer cancel()
	for response := range client.Watch(ctx, ownPrefix, clientv3.WithPrefix(), clientv3.WithRev(revision)) {
		for _, e := range response.Events {
			if e.Type == clientv3.EventTypePut {
				puts++
			} else {
				deletions++
			}
		}
		if puts+deletions >= events {
			break
		}
	}
	return puts, deletions
}

// Leases of a storm that are left when the window ends are revoked with the run's.
func TestARunLeavesNothingOfAStorm(t *testing.T) {
	cluster, client := oneMember(t)
	s := runAndCompare(t, cluster, client, planFor(cluster.Endpoints, storms(100, 2, 3600), func(p *plan.Plan) {
		p.Load.Pods = 2
		timed(&p.Load, 4, 100)
	}))
	storm := s.merged.Disturbances[spec.DisturbanceLeaseExpiry]
	if storm == nil || storm.Count != 1 || storm.Failed != 1 {
		t.Errorf("wanted one storm that the window cut off, got %+v", storm)
	}
	if granted := s.merged.Requests[spec.RPCLeaseGrant][results.PhaseControl]; granted == 0 || granted > 100 {
		t.Errorf("%d leases were granted, wanted up to 100", granted)
	}
	if left, err := client.Leases(t.Context()); err != nil || len(left.Leases) > 0 {
		t.Errorf("%d leases are left (%v)", len(left.Leases), err)
	}
}
