//go:build stores

package consul

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/consul/consultest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func wantHolder(t *testing.T, what string, want load.LockState, look func(context.Context) (load.Holder, error)) load.Holder {
	t.Helper()
	found, err := look(bounded(t))
	if err != nil || found.State != want {
		t.Fatalf("%s: got %+v, %v, wanted %s", what, found, err, want)
	}
	return found
}

func ofOther(p *plan.Plan) { p.RunUID, p.Prefix = otherUID, "etcdbench/2/" }

func TestOneRunHoldsTheLock(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	own, other := planFor(servers), planFor(servers, ofOther)
	first, beside, second := driverOf(t, own, 0), driverOf(t, own, 1), driverOf(t, other, 0)
	wantHolder(t, "client pod 1 alone", load.Free, beside.Lock)
	wantHolder(t, "a free lock", load.Free, first.Look)
	wantHolder(t, "taking it", load.Held, first.Lock)
	wantHolder(t, "a look at the own lock", load.Free, first.Look)
	wantHolder(t, "another pod", load.Held, beside.Lock)
	if h := wantHolder(t, "another run looks", load.HeldByOther, second.Look); h.RunUID != ownUID || time.Since(h.Since).Abs() > time.Minute {
		t.Errorf("the holder is %+v", h)
	}
	wantHolder(t, "another run", load.HeldByOther, second.Lock)
	wantHolder(t, "renewing it", load.Held, first.Lock)
	if err := second.Unlock(bounded(t)); err != nil {
		t.Error(err)
	}
	wantHolder(t, "after the other run's end", load.HeldByOther, second.Look)
	if err := first.Unlock(bounded(t)); err != nil {
		t.Error(err)
	}
	wantHolder(t, "after its own end", load.Free, second.Look)
	// Of runs that take it at once, one gets it.
	for range 5 {
		var locking sync.WaitGroup
		states := make([]load.LockState, 2)
		for i, d := range []*Driver{first, second} {
			locking.Go(func() {
				holder, err := d.Lock(bounded(t))
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
		for _, d := range []*Driver{first, second} {
			if err := d.Unlock(bounded(t)); err != nil {
				t.Error(err)
			}
		}
		if left := servers[0].Keys(t, ""); len(left) > 0 {
			t.Fatalf("the lock stays: %q", left)
		}
	}
}

// A holder that was killed renews nothing. Another run gets the lock when it has expired.
func TestTheLockOfAHolderThatIsGone(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	wantHolder(t, "taking it", load.Held, driverOf(t, planFor(servers), 0).Lock)
	began := time.Now()
	other := driverOf(t, planFor(servers, ofOther), 0)
	ctx := bounded(t)
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
	if took := time.Since(began); took < load.LockTTL-time.Second || took > load.LockTTL+10*time.Second {
		t.Errorf("the lock was freed after %v, wanted about %v", took, load.LockTTL)
	}
}

// A run holds its lock again after its Consul was frozen for longer than the lock lasts, and so it does after the key was
// deleted by hand.
func TestTheLockIsTakenAgain(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	holder := driverOf(t, planFor(servers), 0)
	wantHolder(t, "taking it", load.Held, holder.Lock)
	servers[0].Ask(t, http.MethodDelete, "/v1/kv/"+ownership.LockKey, "")
	wantHolder(t, "after the key was deleted", load.Held, holder.Lock)
	// The session ends between the look and the renewal.
	l := &targetLock{kv: kv{holder}}
	seen, err := l.SeeLock(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	servers[0].Ask(t, http.MethodPut, "/v1/session/destroy/"+l.session, "")
	if renewed, err := l.RenewLock(bounded(t), seen); err != nil || renewed {
		t.Errorf("renewed a session that has ended: %t, %v", renewed, err)
	}
	wantHolder(t, "after the session has ended", load.Held, holder.Lock)
	resume := servers[0].Pause(t)
	<-time.After(load.LockTTL + 5*time.Second)
	resume()
	wantHolder(t, "after the freeze", load.Held, holder.Lock)
	wantHolder(t, "after its expiry was noticed", load.Held, holder.Lock)
}
