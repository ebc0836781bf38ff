//go:build stores

package etcd

import (
	"strings"
	"sync"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

func releaseTogether(t *testing.T, all ...*Kine) {
	t.Helper()
	var releasing sync.WaitGroup
	for _, k := range all {
		releasing.Go(func() {
			if cleaning, err := k.Release(withTimeout(t)); err != nil || cleaning != results.CleaningKeysDeleted {
				t.Errorf("released with %s, %v", cleaning, err)
			}
		})
	}
	releasing.Wait()
}

// Several pods can be the last one at the same time.
func TestKinePodsReleaseAtOnce(t *testing.T) {
	t.Parallel()
	c, p := startKine(t)
	for range 10 {
		var all []*Kine
		for i := range p.Pods() {
			k := kineOf(t, p, i)
			if err := k.Claim(withTimeout(t)); err != nil {
				t.Fatal(err)
			}
			all = append(all, k)
		}
		for _, key := range objectsOf(p, 20) {
			create(t, c, key, "x")
		}
		releaseTogether(t, all...)
		if left := keysUnder(t, c.Client, p.Prefix); len(left) > 0 {
			t.Fatalf("keys are left: %v", left)
		}
	}
}

// objectsOf returns the keys of a run's first pods.
func objectsOf(p plan.Plan, n int64) (keys []string) {
	writer := p.KeyWriter()
	for i := range n {
		keys = append(keys, string(writer.AppendObject(nil, workload.Pods, i)))
	}
	return keys
}

// The pods are gone, and left objects and their registrations. Keys of others stay, and the marker with them.
func TestKineCleansAfterPodsThatAreGone(t *testing.T) {
	t.Parallel()
	c, p := startKine(t)
	for i := range p.Pods() {
		if err := kineOf(t, p, i).Claim(withTimeout(t)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range objectsOf(p, 1_200) {
		create(t, c, key, "x")
	}
	foreign := p.Prefix + "registry/pods/of/others/1"
	create(t, c, foreign, "x")
	cleaner := kineOf(t, p, 0)
	if err := cleanAtOnce(t, cleaner); err == nil || !strings.Contains(err.Error(), "left alone") {
		t.Errorf("wanted an error about keys of others, found %v", err)
	}
	left := keysUnder(t, c.Client, p.Prefix)
	if _, marked := left[cleaner.driver.run.Marker()]; len(left) != 2 || !marked || left[foreign] == "" {
		t.Errorf("wanted the marker and the key of others, found %d keys: %.300q", len(left), left)
	}
	// A key of others that has the name of an object of the run.
	later := objectsOf(p, 3)[2]
	create(t, c, later, "precious")
	if err := cleanAtOnce(t, cleaner); err == nil {
		t.Error("wanted an error about keys of others")
	}
	l := leftovers(t, p.Target.Endpoints)
	if done, err := l.Remove(withTimeout(t), look(t, l, p.Prefix), 0); err != nil || done.Foreign != 2 {
		t.Errorf("the command removed %+v, %v", done, err)
	}
	if left := keysUnder(t, c.Client, p.Prefix); len(left) != 3 || left[later] != "precious" {
		t.Errorf("wanted the marker and the two keys of others, found %d keys: %.300q", len(left), left)
	}
	for _, key := range []string{foreign, later} {
		c.remove(t, key)
	}
	for range 2 {
		if err := cleanAtOnce(t, cleaner); err != nil {
			t.Error(err)
		}
	}
	if left := keysUnder(t, c.Client, p.Prefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}

// The keys are not deleted if the marker has disappeared or names another run.
func TestKineDeletesNothingWithoutItsMarker(t *testing.T) {
	t.Parallel()
	c, p := startKine(t)
	k := kineOf(t, p, 0)
	if err := k.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	object := objectsOf(p, 1)[0]
	create(t, c, object, "x")
	c.remove(t, k.driver.run.Marker())
	create(t, c, k.driver.run.Marker(), otherUID+" deleting")
	_, err := k.Release(withTimeout(t))
	wantFailure(t, err, results.FailurePrefixNotEmpty, k.driver.run.Marker(), object)
	wantFailure(t, cleanAtOnce(t, kineOf(t, p, 0)), results.FailurePrefixNotEmpty, object)
	if left := keysUnder(t, c.Client, p.Prefix); left[object] == "" {
		t.Errorf("the object was deleted: %v", left)
	}
}

// The next run writes its keys after a page was listed, and before it is deleted. They stay.
func TestKineDeletesOnlyWhatWasListed(t *testing.T) {
	t.Parallel()
	c, p := startKine(t)
	k, objects := kineOf(t, p, 0), objectsOf(p, 2)
	if err := k.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	create(t, c, objects[0], "of this run")
	if left, err := k.claims.Leave(withTimeout(t)); err != nil || !left.Alone {
		t.Fatalf("%+v, %v", left, err)
	}
	page, _, err := k.claims.Walk().Next(withTimeout(t), 0)
	if err != nil || len(page) != 1 || len(page[0].Keys) != 1 {
		t.Fatalf("found %v, %v", page, err)
	}
	c.remove(t, objects[0])
	for _, key := range objects {
		create(t, c, key, "of the next run")
	}
	if _, err := k.claims.Delete(withTimeout(t), page[0], 0); err != nil {
		t.Error(err)
	}
	for _, key := range objects {
		if kv := c.get(t, key); kv == nil || string(kv.Value) != "of the next run" {
			t.Errorf("%s is %v", key, kv)
		}
	}
}
