package etcd

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func remove(t *testing.T, c *clientv3.Client, key string) {
	t.Helper()
	if _, err := c.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
}

// A run that lost its marker deletes nothing, and reports that its keys are left.
func TestKeysWithoutTheRunsMarkerStayAndAreReported(t *testing.T) {
	cluster, client := oneMember(t)
	gone := func(t *testing.T, d *Driver) { remove(t, client, d.run.Marker()) }
	replaced := func(t *testing.T, d *Driver) { put(t, client, d.run.Marker(), otherUID) }
	for name, tc := range map[string]struct {
		before []int64
		lose   func(*testing.T, *Driver)
		after  []int64
		names  string
	}{
		"the marker is gone":                        {before: upTo(5), lose: gone, names: "is gone"},
		"the marker is another's":                   {before: upTo(5), lose: replaced, names: otherUID},
		"gone before the pod writes":                {lose: gone, after: upTo(5), names: "is gone"},
		"another's before the pod writes":           {lose: replaced, after: upTo(5), names: otherUID},
		"gone, and the pod's own key alone is left": {lose: gone, names: ".pod/000000"},
		"the load's keys are left alone": {before: upTo(5), names: "00000000", lose: func(t *testing.T, d *Driver) {
			remove(t, client, d.run.PodKey())
			replaced(t, d)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			empty(t, client)
			p := planFor(cluster.Endpoints)
			d := newDriver(t, p, 0)
			if err := d.Claim(withTimeout(t)); err != nil {
				t.Fatal(err)
			}
			fill(t, client, p, tc.before)
			tc.lose(t, d)
			fill(t, client, p, tc.after)
			before := keysUnder(t, client, ownPrefix)
			cleaning, err := d.Release(withTimeout(t))
			if cleaning != results.CleaningKeysLeft {
				t.Errorf("the release returns %s, wanted %s", cleaning, results.CleaningKeysLeft)
			}
			wantFailure(t, err, results.FailurePrefixNotEmpty, tc.names)
			wantFailure(t, cleanAtOnce(t, d), results.FailurePrefixNotEmpty, tc.names)
			if diff := cmp.Diff(before, keysUnder(t, client, ownPrefix)); diff != "" {
				t.Errorf("keys were touched without a marker (-want +got):\n%s", diff)
			}
		})
	}
}

// The marker can disappear while a pod waits for the last one to delete the keys, and while the last one deletes them.
func TestAMarkerLostDuringTheDeletionIsReported(t *testing.T) {
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints, func(p *plan.Plan) { p.Load.Pods = 2 })
	waiting, last := newDriver(t, p, 0), newDriver(t, p, 1)
	for _, d := range []*Driver{waiting, last} {
		if err := d.Claim(withTimeout(t)); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, client, p, upTo(5))
	released := make(chan results.Cleaning)
	go func() {
		cleaning, _ := waiting.Release(withTimeout(t))
		released <- cleaning
	}()
	<-client.Watch(withTimeout(t), waiting.run.PodKey(), clientv3.WithRev(1), clientv3.WithFilterPut())
	remove(t, client, last.run.PodKey())
	remove(t, client, last.run.Marker())
	if cleaning := <-released; cleaning != results.CleaningKeysLeft {
		t.Errorf("the waiting pod returns %s, wanted %s", cleaning, results.CleaningKeysLeft)
	}
	if cleaning, err := last.Release(withTimeout(t)); err == nil || cleaning != results.CleaningKeysLeft {
		t.Errorf("the last pod returns %s, %v although keys are left", cleaning, err)
	}
}

// The keys of another run that has claimed the prefix since are not counted as left.
func TestAPrefixClaimedByAnotherRunIsClean(t *testing.T) {
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints)
	d := newDriver(t, p, 0)
	next := newDriver(t, planFor(cluster.Endpoints, func(p *plan.Plan) { p.RunUID = otherUID }), 0)
	if err := d.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	fill(t, client, p, upTo(5))
	if cleaning, err := d.Release(withTimeout(t)); err != nil || cleaning != results.CleaningKeysDeleted {
		t.Fatalf("got %s, %v", cleaning, err)
	}
	if err := next.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	fill(t, client, p, upTo(5))
	before := keysUnder(t, client, ownPrefix)
	if cleaning, err := d.Release(withTimeout(t)); err != nil || cleaning != results.CleaningKeysDeleted {
		t.Errorf("got %s, %v of keys that another run wrote", cleaning, err)
	}
	if err := cleanAtOnce(t, d); err != nil {
		t.Errorf("cleaning what another run owns: %v", err)
	}
	if diff := cmp.Diff(before, keysUnder(t, client, ownPrefix)); diff != "" {
		t.Errorf("another run's keys were touched (-want +got):\n%s", diff)
	}
}

func TestLeasesWithoutTheRunsMarkerAreReported(t *testing.T) {
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints, leasePlan(spec.Lease{Operation: spec.LeaseGrant}))
	d := connected(t, p)
	if err := d.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	grant(t, connect(t, d, 0), p.FirstLease+5)
	empty(t, client)
	cleaning, err := d.Release(withTimeout(t))
	if cleaning != results.CleaningKeysLeft {
		t.Errorf("got %s, wanted %s", cleaning, results.CleaningKeysLeft)
	}
	wantFailure(t, err, results.FailurePrefixNotEmpty, "0000000007000005")
	if n := len(listed(t, client)); n != 1 {
		t.Errorf("%d leases are there, wanted that the one is left alone", n)
	}
}
