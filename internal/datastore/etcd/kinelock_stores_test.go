//go:build stores

package etcd

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/kinetest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func wantKineHolder(t *testing.T, what string, want load.LockState, look func(context.Context) (load.Holder, error)) load.Holder {
	t.Helper()
	found, err := look(withTimeout(t))
	if err != nil || found.State != want {
		t.Fatalf("%s: got %+v, %v, wanted %s", what, found, err, want)
	}
	return found
}

func TestKineHasOneHolderOfItsLock(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	own, other := onKine(server), onKine(server, func(p *plan.Plan) { p.RunUID, p.Prefix = otherUID, "etcdbench/2/" })
	first, beside, second := kineOf(t, own, 0), kineOf(t, own, 1), kineOf(t, other, 0)
	wantKineHolder(t, "client pod 1 alone", load.Free, beside.Lock)
	wantKineHolder(t, "a free lock", load.Free, first.Look)
	wantKineHolder(t, "taking it", load.Held, first.Lock)
	wantKineHolder(t, "a look at the own lock", load.Free, first.Look)
	before := c.get(t, ownership.LockKey)
	wantKineHolder(t, "another pod", load.Held, beside.Lock)
	if now := c.get(t, ownership.LockKey); now == nil || now.Version <= before.Version || string(now.Value) != string(before.Value) {
		t.Errorf("another pod has not renewed the lock: %v", now)
	}
	if h := wantKineHolder(t, "another run looks", load.HeldByOther, second.Look); h.RunUID != ownUID || time.Since(h.Since).Abs() > time.Minute {
		t.Errorf("the holder is %+v", h)
	}
	wantKineHolder(t, "another run", load.HeldByOther, second.Lock)
	wantKineHolder(t, "renewing it", load.Held, first.Lock)
	if err := second.Unlock(withTimeout(t)); err != nil {
		t.Error(err)
	}
	wantKineHolder(t, "after the other run's end", load.Held, first.Lock)
	if err := first.Unlock(withTimeout(t)); err != nil {
		t.Error(err)
	}
	wantKineHolder(t, "the next run", load.Held, second.Lock)
	// The run that had the lock does not free it again.
	if err := first.Unlock(withTimeout(t)); err != nil {
		t.Error(err)
	}
	wantKineHolder(t, "the run before", load.HeldByOther, first.Lock)
	// Of runs that take it at once, one gets it.
	if err := second.Unlock(withTimeout(t)); err != nil {
		t.Error(err)
	}
	for range 10 {
		var locking sync.WaitGroup
		states := make([]load.LockState, 2)
		for i, k := range []*Kine{first, second} {
			locking.Go(func() {
				holder, err := k.Lock(withTimeout(t))
				if err != nil {
					t.Error(err)
				}
				states[i] = holder.State
			})
		}
		locking.Wait()
		slices.Sort(states)
		if diff := cmp.Diff([]load.LockState{load.Held, load.HeldByOther}, states); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		for _, k := range []*Kine{first, second} {
			if err := k.Unlock(withTimeout(t)); err != nil {
				t.Error(err)
			}
		}
		if kv := c.get(t, ownership.LockKey); kv != nil {
			t.Fatalf("the lock stays: %v", kv)
		}
	}
}

// A holder that was killed renews nothing. Within 30 s another run gets the lock.
func TestKineFreesTheLockOfAHolderThatIsGone(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	server.Client(t)
	wantKineHolder(t, "taking it", load.Held, kineOf(t, onKine(server), 0).Lock)
	began := time.Now()
	other := kineOf(t, onKine(server, func(p *plan.Plan) { p.RunUID = otherUID }), 0)
	ctx := withTimeout(t)
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		holder, err := other.Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if holder.State == load.Held {
			break
		}
		<-again.C
	}
	if took := time.Since(began); took < load.LockTTL-time.Second || took > 30*time.Second {
		t.Errorf("the lock was freed after %v, wanted about %v", took, load.LockTTL)
	}
}

// A run holds its lock again after its kine was frozen for longer than the lock lasts.
func TestKineIsFrozenUnderTheHolder(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	server.Client(t)
	holder := kineOf(t, onKine(server), 0)
	wantKineHolder(t, "taking it", load.Held, holder.Lock)
	resume := server.Pause(t)
	frozen := time.After(load.LockTTL + 5*time.Second)
	<-frozen
	resume()
	wantKineHolder(t, "after the freeze", load.Held, holder.Lock)
	wantKineHolder(t, "after its expiry was noticed", load.Held, holder.Lock)
}
