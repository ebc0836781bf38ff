package etcd

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// viewed is a driver after its preflight.
func viewed(t *testing.T, endpoints []string) *Driver {
	t.Helper()
	d := newDriver(t, planFor(endpoints), 0)
	if _, _, err := d.Preflight(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	return d
}

// awaitView waits until a view satisfies a condition.
func awaitView(t *testing.T, d *Driver, is func(members.View) bool) members.View {
	t.Helper()
	ctx := withTimeout(t)
	for {
		v := d.View(ctx)
		if is(v) {
			return v
		}
		if ctx.Err() != nil {
			t.Fatalf("the view never became as wanted; the last is %+v", v)
		}
	}
}

func TestViewOfThreeMembers(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	d := newDriver(t, planFor(cluster.Endpoints), 0)
	_, first, err := d.Preflight(withTimeout(t))
	if err != nil {
		t.Fatal(err)
	}
	before := d.View(withTimeout(t))
	leader, term := before.Election()
	was, in := first.Election()
	if was == "" || in > term || in == term && was != leader || first.At.IsZero() || !slices.Equal(first.Voters, before.Voters) || !slices.Equal(first.IDs(), before.IDs()) {
		t.Errorf("the preflight saw %+v, wanted what is seen after it: %+v", first, before)
	}
	if len(before.Members) != 3 || len(before.Voters) != 3 || !slices.Equal(before.IDs(), before.Voters) || leader == "" || term == 0 {
		t.Fatalf("view %+v, wanted three members, all voters, and their leader", before)
	}
	for id, m := range before.Members {
		if first.Members[id].Version != m.Version || first.Members[id].Alarm != "" || first.Members[id].DatabaseBytes == 0 {
			t.Errorf("the preflight saw %+v of %s, wanted what is seen after it: %+v", first.Members[id], id, m)
		}
		if m.Problem != "" || m.Version == "" || m.DatabaseBytes == 0 || m.Alarm != "" {
			t.Errorf("%s reports %+v", id, m)
		}
	}
	to := (cluster.Leader(t) + 1) % 3
	cluster.MoveLeader(t, to)
	wanted := hexID(uint64(cluster.Members[to].Server.MemberID()))
	awaitView(t, d, func(v members.View) bool {
		now, newer := v.Election()
		return now == wanted && newer > term
	})
	cluster.Stop(to)
	v := awaitView(t, d, func(v members.View) bool { return v.Members[wanted].Problem != "" })
	if len(v.Members) != 3 {
		t.Errorf("view %+v, wanted the stopped member in it, with its problem", v)
	}
}

func TestViewShowsAlarms(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	d := viewed(t, cluster.Endpoints)
	raise(t, cluster, client)
	awaitView(t, d, func(v members.View) bool { return v.Members[v.IDs()[0]].Alarm == "NOSPACE" })
}

// raise makes a member raise NOSPACE, as if its quota were used up.
func raise(t *testing.T, cluster *etcdtest.Cluster, client *clientv3.Client) {
	t.Helper()
	_, err := etcdserverpb.NewMaintenanceClient(client.ActiveConnection()).Alarm(withTimeout(t), &etcdserverpb.AlarmRequest{
		Action: etcdserverpb.AlarmRequest_ACTIVATE, Alarm: etcdserverpb.AlarmType_NOSPACE, MemberID: uint64(cluster.Members[0].Server.MemberID()),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A database that grows beyond its limit ends the load, which deletes its keys.
func TestAGrownDatabaseEndsTheLoad(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	status, err := client.Status(withTimeout(t), cluster.Endpoints[0])
	if err != nil {
		t.Fatal(err)
	}
	limit := status.DbSize + 1<<20
	p := planFor(cluster.Endpoints, func(p *plan.Plan) {
		timed(&p.Load, 60, 500)
		p.Workload.Put.Values.SizeBytes, p.Workload.Put.Keys.Count = 10_000, 100_000
		p.Guard.StopOn.DatabaseSize = &spec.DatabaseSizeRule{MaxBytes: limit}
	})
	began := time.Now()
	s := runAll(t, p)[0]
	if s.Fired == nil || s.Fired.Rule != spec.GuardDatabaseSize || s.Fired.Got <= s.Fired.Limit || s.Fired.Limit != float64(limit) {
		t.Fatalf("%+v fired, wanted the size of the database over %d", s.Fired, limit)
	}
	if took := time.Since(began); took > 30*time.Second || !s.Stopped {
		t.Errorf("it took %v, stopped %v: wanted the load to end early", took, s.Stopped)
	}
	wantClean(t, cluster, []*results.Snapshot{s})
}

// An election during the load is reported, and no rule makes it end the load.
func TestAnElectionInTheLoadIsReported(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	p := planFor(cluster.Endpoints, func(p *plan.Plan) { timed(&p.Load, 60, 50) })
	session, stop := runOne(t, p)
	awaitSnapshot(t, session, func(s *results.Snapshot) bool { return s.Stage == results.StageMeasuring })
	cluster.MoveLeader(t, (cluster.Leader(t)+1)%3)
	s := awaitSnapshot(t, session, func(s *results.Snapshot) bool { return len(s.Target.Changes) > 0 })
	if s.Target.Changes[0].Aspect != results.AspectLeader {
		t.Errorf("changes %+v: wanted the election", s.Target.Changes)
	}
	if s := stop(); s.Fired != nil {
		t.Errorf("%+v fired: wanted a load that goes on until it is stopped", s.Fired)
	}
}

// A target that could not be observed during the load is not reported as unchanged.
func TestAnUnobservedTargetIsReported(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	d := viewed(t, cluster.Endpoints)
	for i := range cluster.Members {
		cluster.Stop(i)
	}
	var changes members.Changes
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		changes.See(d.View(ctx))
		cancel()
	}
	if unobserved := changes.Unobserved(); len(unobserved) != 3 || len(changes.Found()) > 0 {
		t.Errorf("unobserved %+v, changes %+v: wanted all three unobserved, and no change", unobserved, changes.Found())
	}
}

// If the members cannot be listed, they are not reported as missing.
func TestMembersThatCannotBeListedAreReported(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	d := viewed(t, cluster.Endpoints[:1])
	client, err := d.controlClient(withTimeout(t))
	if err != nil {
		t.Fatal(err)
	}
	if names, unlisted := d.names(withTimeout(t), client); len(names) != 3 || unlisted != "" {
		t.Fatalf("listed %v, %q: wanted three members", names, unlisted)
	}
	cluster.Stop(1)
	cluster.Stop(2)
	if names, unlisted := d.names(withTimeout(t), client); len(names) != 0 || unlisted == "" {
		t.Errorf("listed %v without a majority, %q: wanted the reason", names, unlisted)
	}
}
