package ownership

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Orders and contents that a model would seldom find.

func newWorld() *world {
	return &world{keys: map[string]Item{}, owners: map[string]string{}, givenUp: map[string]bool{}, waiting: map[*actor]chan turn{}}
}

// with lets one actor act on a world, and calls before in front of each of its requests, with their number from 0.
func with(t *testing.T, w *world, newStore func(*actor, *Run) Store, act func(*Ownership, Store), before func(request int)) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		m := &model{world: w, newStore: newStore, active: map[*actor]bool{}}
		m.start("pod 0", "run-a", func(a *actor) {
			run := &Run{Prefix: "bench/1/", UID: "run-a"}
			store := newStore(a, run)
			act(New(run, store), store)
		})
		for request := 0; ; request++ {
			synctest.Wait()
			all := w.actors()
			if len(all) == 0 {
				return
			}
			before(request)
			w.next(all[0], answered)
		}
	})
}

func nothing(int) {}

func others(w *world, names ...string) {
	for _, name := range names {
		(&actor{world: w}).put(name, "")
	}
}

// A key of others with the name of a marker is one, whatever it says.
func TestAMarkerWithoutAnOwnerForbidsAClaim(t *testing.T) {
	for name, newStore := range map[string]func(*actor, *Run) Store{"transactions": newFakeTransactions, "single keys": newFakeMarkers} {
		for _, marker := range []string{"bench/.owner", "bench/1/registry/x.owner", "bench/1/.owner"} {
			w := newWorld()
			others(w, marker)
			with(t, w, newStore, func(o *Ownership, _ Store) {
				err := o.Claim(context.Background())
				if err == nil || load.FailureOf(err).Reason != results.FailurePrefixNotEmpty {
					t.Errorf("%s, %s: the claim ends with %v", name, marker, err)
				}
			}, nothing)
			if len(w.keys) != 1 || w.broken != "" {
				t.Errorf("%s, %s: found %v, %s", name, marker, w.keys, w.broken)
			}
		}
	}
}

// The run's key comes after many of others, and its marker is gone.
func TestAKeyWithoutItsMarkerIsFoundAmongOthers(t *testing.T) {
	w := newWorld()
	others(w, "bench/1/registry/0a", "bench/1/registry/0b", "bench/1/registry/0c")
	(&actor{world: w, uid: "run-a"}).put("bench/1/registry/3", "")
	with(t, w, newFakeMarkers, func(o *Ownership, _ Store) {
		cleaning, err := o.Release(context.Background())
		if err == nil || cleaning != results.CleaningKeysLeft || !strings.Contains(err.Error(), "registry/3") {
			t.Errorf("released with %s, %v", cleaning, err)
		}
	}, nothing)
}

// Client pod 0 ends its claim just before a cleanup deletes its marker.
func TestAMarkerThatChangesIsNotGivenUp(t *testing.T) {
	w := newWorld()
	pod := &actor{world: w, uid: "run-a"}
	pod.put("bench/1/.owner", "run-a"+string(claiming))
	with(t, w, newFakeMarkers, func(_ *Ownership, s Store) {
		if done, err := s.Abandon(context.Background(), 0); done || err != nil {
			t.Errorf("got %v, %v of a marker that was not deleted", done, err)
		}
	}, func(request int) {
		if request == 2 {
			pod.put("bench/1/.owner", "run-a")
		}
	})
	if len(w.keys) != 1 {
		t.Errorf("found %v", w.keys)
	}
}
