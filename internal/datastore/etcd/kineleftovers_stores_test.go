//go:build stores

package etcd

import (
	"errors"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/kinetest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership/ownershiptest"
)

// What a killed run left in kine is found and removed, but for keys that no run writes. A run that lives changes its keys.
func TestKineLeftoversAreListedAndRemoved(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	p := onKine(server)
	k := kineOf(t, p, 0)
	if err := k.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	ownershiptest.WantHolder(t, "taking the lock", load.Held, k.Lock)
	for _, key := range objectsOf(p, 1_200) {
		create(t, c, key, "x")
	}
	foreign := p.Prefix + "of others"
	create(t, c, foreign, "x")
	l := leftovers(t, []string{server.Endpoint})
	found, err := l.List(withTimeout(t), "etcdbench/")
	if err != nil || len(found) != 1 || found[0].Prefix != p.Prefix || found[0].Owner != ownUID || found[0].Keys != 1_203 || found[0].Seen.IsZero() {
		t.Fatalf("found %+v, %v", found, err)
	}
	if err := k.Sign(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	if done, err := l.Remove(withTimeout(t), found[0], 0); !errors.Is(err, ownership.ErrChanged) || done.Keys > 0 {
		t.Errorf("removed %+v of a run that lives, %v", done, err)
	}
	for _, want := range []ownership.Removal{{Keys: 1_200, Foreign: 1}, {Keys: 1}} {
		now, err := l.Look(withTimeout(t), p.Prefix)
		if err != nil || now.IsSame(found[0]) {
			t.Fatalf("found %+v, %v", now, err)
		}
		if done, err := l.Remove(withTimeout(t), now, 0); err != nil || done != want {
			t.Fatalf("removed %+v, %v, wanted %+v", done, err, want)
		}
		c.remove(t, foreign)
	}
	if left := keysUnder(t, c.Client, p.Prefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}
