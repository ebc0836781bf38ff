//go:build stores

package zookeeper

import (
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestClaimsLeaveForeignZnodesAlone(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	client := zookeepertest.Client(t, server.Endpoint())
	makeNodeAt(t, client, "/foreign")
	makeNodeAt(t, client, "/foreign/thing")
	for name, tc := range map[string]struct {
		prefix string
		before bool
		words  []string
	}{
		"a node that is there":                  {"foreign/", false, []string{"/foreign", "thing"}},
		"another run's":                         {"bench/", true, []string{otherUID}},
		"within another run's":                  {"bench/inside/deep/", true, []string{"lies within bench/", otherUID}},
		"the same path, written in another way": {"/bench/", true, []string{otherUID}},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.before {
				other := planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.RunUID, p.Prefix = otherUID, "bench/" })
				d := driverOf(t, other, 0)
				if err := d.Claim(bounded(t)); err != nil {
					t.Fatal(err)
				}
				defer func() {
					if cleaning, err := d.Release(bounded(t)); err != nil || cleaning != results.CleaningKeysDeleted {
						t.Errorf("the other run releases with %s, %v", cleaning, err)
					}
				}()
			}
			p := planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.Prefix = tc.prefix })
			wantReason(t, driverOf(t, p, 0).Claim(bounded(t)), results.FailurePrefixNotEmpty, tc.words...)
		})
	}
	if left := childrenOf(t, client, "/foreign"); len(left) != 1 {
		t.Errorf("the foreign node has %v", left)
	}
}

// A pod may claim, join and release repeatedly, because responses can be lost.
func TestClaimsMayBeRepeated(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	p := planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.Load.Pods = 2 })
	first, second := driverOf(t, p, 0), driverOf(t, p, 1)
	for range 2 {
		for _, d := range []*Driver{second, first} {
			if err := d.Claim(bounded(t)); err != nil {
				t.Fatal(err)
			}
		}
	}
	waited := make(chan error, 1)
	go func() {
		_, err := second.Release(bounded(t))
		waited <- err
	}()
	if _, err := first.Release(bounded(t)); err != nil {
		t.Error(err)
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
	if _, err := first.Release(bounded(t)); err != nil {
		t.Errorf("the second release: %v", err)
	}
	if exists, _, err := zookeepertest.Client(t, server.Endpoint()).Exists("/etcdbench/11111111"); exists || err != nil {
		t.Errorf("the root exists: %v, %v", exists, err)
	}
}

// fill claims with this many pods. Each of them writes, and none releases.
func fill(t *testing.T, p plan.Plan) {
	t.Helper()
	keys := p.Run.KeyWriter()
	for i := range p.Pods() {
		d := New(p, i)
		if err := d.Claim(bounded(t)); err != nil {
			t.Fatal(err)
		}
		c, err := d.Connect(bounded(t), i)
		if err != nil {
			t.Fatal(err)
		}
		for n := int64(i); n < *p.Load.Requests; n += 7 * int64(p.Pods()) {
			var resp load.Response
			c.Do(bounded(t), &load.Request{Operation: spec.OperationPut, Key: keys.AppendKey(nil, n), Value: []byte("v"), Timeout: 10 * time.Second}, &resp)
			if !resp.Succeeded() {
				t.Fatalf("%+v", resp)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCleanDeletesWhatDeadPodsLeft(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	_, nodes := counted(t, server)
	p := planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.Load.Pods = 3 })
	fill(t, p)
	for range 2 {
		if err := cleanAtOnce(t, driverOf(t, p, 0)); err != nil {
			t.Fatal(err)
		}
		if _, now := counted(t, server); now != nodes+outerNodes {
			t.Errorf("wanted %d nodes, found %d", nodes+outerNodes, now)
		}
	}
}

// Foreign znodes stay, with the znodes around them; all others are deleted.
func TestCleanLeavesForeignZnodes(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	client := zookeepertest.Client(t, server.Endpoint())
	p := planFor([]string{server.Endpoint()})
	fill(t, p)
	makeNodeAt(t, client, "/etcdbench/11111111/00001/mine")
	makeNodeAt(t, client, "/etcdbench/11111111/notes")
	// Others have taken over a znode of the run.
	taken := "/etcdbench/11111111/00001/001"
	if _, err := client.Set(taken, []byte("precious"), 0); err != nil {
		t.Fatal(err)
	}
	err := cleanAtOnce(t, driverOf(t, p, 0))
	wantReason(t, err, results.FailurePrefixNotEmpty, "does not write", "/etcdbench/11111111")
	wantLeft := []string{".last", ".owner-" + ownUID, "00001", "notes"}
	if left := childrenOf(t, client, "/etcdbench/11111111"); !slices.Equal(left, wantLeft) {
		t.Errorf("wanted %v to be left, found %v", wantLeft, left)
	}
	if left := childrenOf(t, client, "/etcdbench/11111111/00001"); !slices.Equal(left, []string{"001", "mine"}) {
		t.Errorf("wanted the foreign nodes alone, found %v", left)
	}
}

// A pod that waits for the last pod learns that it gave up.
func TestPodsDoNotWaitForForeignZnodes(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	p := planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.Load.Pods = 2 })
	fill(t, p)
	makeNodeAt(t, zookeepertest.Client(t, server.Endpoint()), "/etcdbench/11111111/notes")
	ctx := bounded(t)
	errs := make(chan error, 2)
	for i := range 2 {
		d := driverOf(t, p, i)
		go func() {
			_, err := d.Release(ctx)
			errs <- err
		}()
	}
	for range 2 {
		wantReason(t, <-errs, results.FailurePrefixNotEmpty, "left alone", "notes")
	}
}

// Without its marker nothing of a run is deleted, and the run does not report that it is clean.
func TestNothingIsDeletedWithoutTheMarker(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	client := zookeepertest.Client(t, server.Endpoint())
	p := planFor([]string{server.Endpoint()})
	fill(t, p)
	_, before := counted(t, server)
	if err := client.Delete("/etcdbench/11111111/.owner-"+ownUID, -1); err != nil {
		t.Fatal(err)
	}
	wantReason(t, cleanAtOnce(t, driverOf(t, p, 0)), results.FailurePrefixNotEmpty, "marker", ownUID)
	if _, now := counted(t, server); now != before-1 {
		t.Errorf("%d nodes were deleted", before-1-now)
	}
}

// What a killed run left is found and removed, but for znodes that no run writes.
func TestLeftoversAreListedAndRemoved(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	client := zookeepertest.Client(t, server.Endpoint())
	_, empty := counted(t, server)
	p := planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.Load.Pods = 2 })
	fill(t, p)
	for _, path := range []string{"/etcdbench/notes", "/etcdbench/team", "/etcdbench/team/mine", "/etcdbench/11111111/mine", "/etcdbench/11111111/00001/mine"} {
		makeNodeAt(t, client, path)
	}
	// One that only its creator may read, and a run below a znode of others.
	if _, err := client.Create("/etcdbench/team/secret", nil, 0, zk.DigestACL(zk.PermAll, "a", "b")); err != nil {
		t.Fatal(err)
	}
	nested := planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.Prefix, p.RunUID = "etcdbench/team/run/", otherUID })
	if err := driverOf(t, nested, 0).Claim(bounded(t)); err != nil {
		t.Fatal(err)
	}
	l := NewLeftovers(p.Target)
	t.Cleanup(func() { _ = l.Close() })
	found, err := l.List(bounded(t), "etcdbench/")
	if err != nil || len(found) != 4 || found[0].Prefix != p.Prefix || found[0].Owner != ownUID || found[0].Seen.IsZero() || found[1].Owner+found[2].Owner != "" || found[3].Prefix != nested.Prefix {
		t.Fatalf("found %+v, %v", found, err)
	}
	pod := driverOf(t, p, 0)
	if err := pod.Sign(bounded(t)); err != nil {
		t.Fatal(err)
	}
	if done, err := l.Remove(bounded(t), found[0], 0); err != ownership.ErrChanged || done.Keys > 0 {
		t.Errorf("removed %+v of a run that lives, %v", done, err)
	}
	remove := func(keys, foreign int64) {
		t.Helper()
		now, err := l.Look(bounded(t), p.Prefix)
		if err != nil {
			t.Fatal(err)
		}
		if done, err := l.Remove(bounded(t), now, 0); err != nil || done.Foreign != foreign || done.Keys < keys {
			t.Errorf("removed %+v, %v, wanted %d and %d others", done, err, keys, foreign)
		}
	}
	remove(100, 2)
	for _, path := range []string{"/etcdbench/11111111/mine", "/etcdbench/11111111/00001/mine"} {
		if err := client.Delete(path, -1); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	remove(1, 0)
	if err := cleanAtOnce(t, driverOf(t, nested, 0)); err != nil {
		t.Error(err)
	}
	const others = 4
	if _, now := counted(t, server); now != empty+outerNodes+others {
		t.Errorf("wanted %d znodes, found %d", empty+outerNodes+others, now)
	}
}

// A znode of others beside those of the pods stays, and is no pod. A leaf that others have changed does not stop the removal of
// the rest.
func TestZnodesOfOthersInTheWayOfLeftovers(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	client := zookeepertest.Client(t, server.Endpoint())
	p := planFor([]string{server.Endpoint()})
	fill(t, p)
	beside := "/etcdbench/11111111/.pod/zz"
	makeNodeAt(t, client, beside)
	wantReason(t, cleanAtOnce(t, driverOf(t, p, 0)), results.FailurePrefixNotEmpty, ".pod")
	if exists, _, err := client.Exists(beside); !exists || err != nil {
		t.Errorf("the znode of others is gone: %v", err)
	}
	if err := client.Delete(beside, -1); err != nil {
		t.Fatal(err)
	}
	taken := "/etcdbench/11111111/00001/001"
	if _, err := client.Set(taken, []byte("precious"), 0); err != nil {
		t.Fatal(err)
	}
	l := NewLeftovers(p.Target)
	t.Cleanup(func() { _ = l.Close() })
	found, err := l.Look(bounded(t), p.Prefix)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := l.Remove(bounded(t), found, 0); err != nil || done.Foreign == 0 || done.Keys == 0 {
		t.Errorf("removed %+v, %v", done, err)
	}
	if data, _, err := client.Get(taken); string(data) != "precious" {
		t.Errorf("found %q, %v", data, err)
	}
}

// A leftover that this user may not read, or not in full, is listed as such, and the others beside it are listed, too.
func TestLeftoversOfAnotherUser(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	client := zookeepertest.Client(t, server.Endpoint())
	fill(t, planFor([]string{server.Endpoint()}))
	for _, prefix := range []string{"etcdbench/a/", "etcdbench/b/"} {
		hidden := planFor([]string{server.Endpoint()}, asUser("alice"), func(p *plan.Plan) { p.Prefix, p.RunUID = prefix, otherUID })
		if err := driverOf(t, hidden, 0).Claim(bounded(t)); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.AddAuth("digest", []byte("alice:secret")); err != nil {
		t.Fatal(err)
	}
	// Everybody may read the root of the second one alone.
	if _, err := client.SetACL("/etcdbench/b", append(zk.WorldACL(zk.PermRead), zk.DigestACL(zk.PermAll, "alice", "secret")...), -1); err != nil {
		t.Fatal(err)
	}
	l := NewLeftovers(planFor([]string{server.Endpoint()}).Target)
	t.Cleanup(func() { _ = l.Close() })
	found, err := l.List(bounded(t), "etcdbench/")
	if err != nil || len(found) != 3 || found[0].Owner != ownUID || found[0].Unread || !found[1].Unread || !found[2].Unread {
		t.Errorf("found %+v, %v", found, err)
	}
}
