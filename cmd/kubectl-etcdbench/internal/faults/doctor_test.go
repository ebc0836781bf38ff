package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd"
	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// illness is a fault that doctor names first.
type illness struct {
	fault fault
	// inflict makes the fault of a running cluster.
	inflict func(t *testing.T, c *cluster)
	// window is the time between the two looks; 0 is 4 s.
	window time.Duration
	// kind and members are those of the first finding; empty for none.
	kind    string
	members []string
}

// illnesses show on a busy machine, too.
var illnesses = map[string]illness{
	"slow flush at all members": {fault: fault{members: 3, flush: 40 * time.Millisecond}, kind: "SlowFlush", members: []string{name(0), name(1), name(2)}},
	"a member that was stopped": {fault: fault{members: 3}, inflict: stop, kind: "Unreachable", members: []string{name(2)}},
	"a database near its quota": {fault: fault{arguments: []string{"--quota-backend-bytes=134217728"}}, inflict: fill, kind: "QuotaNear", members: []string{name(0)}},
}

// slowIllnesses take long, or show only on an idle machine.
var slowIllnesses = map[string]illness{
	"healthy":                  {fault: fault{members: 3}},
	"slow flush at the leader": {fault: fault{members: 3, flush: 40 * time.Millisecond, slow: theLeader}, kind: "SlowFlush", members: []string{name(0)}},
	// A database that commits slowly commits seldom.
	"slow commit":           {fault: fault{commit: 60 * time.Millisecond}, window: 8 * time.Second, kind: "SlowCommit", members: []string{name(0)}},
	"delayed peers":         {fault: fault{members: 3, peers: 150 * time.Millisecond}, kind: "SlowPeer", members: []string{name(0), name(1), name(2)}},
	"a fragmented database": {inflict: fragment, kind: "Fragmented", members: []string{name(0)}},
	"no compaction":         {inflict: rewrite, kind: "CompactionMissing", members: []string{name(0)}},
}

func TestDoctorNamesTheFault(t *testing.T) { examineAll(t, illnesses, (*testing.T).Parallel) }

func TestAloneDoctorNamesTheFault(t *testing.T) {
	// A cluster that is made ill would slow down the others.
	oneByOne := func(*testing.T) {}
	examineAll(t, illnesses, oneByOne)
	examineAll(t, slowIllnesses, oneByOne)
}

func examineAll(t *testing.T, all map[string]illness, begin func(*testing.T)) {
	for title, ill := range all {
		t.Run(title, func(t *testing.T) {
			begin(t)
			c := start(t, ill.fault)
			if ill.inflict != nil {
				ill.inflict(t, c)
			}
			write(t, c)
			cluster, err := etcd.Checkup(t.Context(), plan.Target{Datastore: spec.Etcd, Endpoints: c.endpoints}, cmp.Or(ill.window, 4*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			found := doctor.Diagnose(cluster).Findings
			var got doctor.Finding
			if len(found) > 0 {
				got = found[0]
			}
			slices.Sort(got.Members)
			if got.Kind != ill.kind || !slices.Equal(got.Members, ill.members) {
				t.Errorf("wanted %s at %v first, found %+v", ill.kind, ill.members, found)
			}
		})
	}
}

// write sends 20 puts per second until the test ends.
func write(t *testing.T, c *cluster) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	client := c.client(t, 0)
	running.Go(func() {
		ticks := time.NewTicker(50 * time.Millisecond)
		defer ticks.Stop()
		for i := 0; ctx.Err() == nil; i++ {
			running.Go(func() { _, _ = client.Put(ctx, fmt.Sprintf("foreign/%d", i%100), "value") })
			<-ticks.C
		}
	})
}

// stop ends a follower: those that a leader leaves have none for a while, which is a finding, too.
func stop(t *testing.T, c *cluster) {
	t.Helper()
	if leader, _ := c.leader(t); leader == 2 {
		c.moveLeader(t, 0)
	}
	if err := c.members[2].cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-c.members[2].ended
}

// fill writes until the database has 96 % of its quota. A snapshot makes the member commit, and report its size.
func fill(t *testing.T, c *cluster) {
	t.Helper()
	client := c.client(t, 0)
	size := func() int64 {
		snapshot, err := client.Snapshot(t.Context())
		if err == nil {
			err = snapshot.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		status, err := client.Status(t.Context(), c.members[0].client)
		if err != nil {
			t.Fatal(err)
		}
		return status.DbSize
	}
	for i := 0; size() < 128<<20/1000*955; i++ {
		if _, err := client.Put(t.Context(), fmt.Sprintf("large/%d", i), strings.Repeat("x", 500_000)); err != nil {
			t.Fatal(err)
		}
	}
}

// fragment deletes most of a large database.
func fragment(t *testing.T, c *cluster) {
	t.Helper()
	client := c.client(t, 0)
	for i := range 160 {
		if _, err := client.Put(t.Context(), fmt.Sprintf("large/%d", i), strings.Repeat("x", 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	deleted, err := client.Delete(t.Context(), "large/", clientv3.WithPrefix())
	if err == nil {
		_, err = client.Compact(t.Context(), deleted.Header.Revision, clientv3.WithCompactPhysical())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// rewrite writes the same keys 110,000 times.
func rewrite(t *testing.T, c *cluster) {
	t.Helper()
	client := c.client(t, 0)
	var writing sync.WaitGroup
	errs := make([]error, 50)
	for w := range errs {
		writing.Go(func() {
			for i := 0; i < 110_000/len(errs) && errs[w] == nil; i++ {
				_, errs[w] = client.Put(t.Context(), fmt.Sprintf("again/%d", w), "value")
			}
		})
	}
	writing.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
