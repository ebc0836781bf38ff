package ownershiptest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// Lockers are the client pods 0 and 1 of a run with this UID, and client pod 0 of another run.
type Lockers struct {
	First, Beside, Other load.Locker
	UID                  string
	// Left returns the keys of the lock; nil if a client cannot list them.
	Left func(t *testing.T) []string
}

// WantHolder wants a look at the lock, or an attempt to take it, to find this state.
func WantHolder(t *testing.T, what string, want load.LockState, look func(context.Context) (load.Holder, error)) load.Holder {
	t.Helper()
	found, err := look(bounded(t))
	if err != nil || found.State != want {
		t.Fatalf("%s: got %+v, %v, wanted %s", what, found, err, want)
	}
	return found
}

// Unlock wants no error, also if another run holds the lock.
func Unlock(t *testing.T, l load.Locker) {
	t.Helper()
	if err := l.Unlock(bounded(t)); err != nil {
		t.Error(err)
	}
}

// OneHolder wants all pods of one run to hold the lock, until that run frees it.
func OneHolder(t *testing.T, l Lockers) {
	WantHolder(t, "client pod 1 alone", load.Free, l.Beside.Lock)
	WantHolder(t, "a free lock", load.Free, l.First.Look)
	WantHolder(t, "taking it", load.Held, l.First.Lock)
	WantHolder(t, "a look at the own lock", load.Free, l.First.Look)
	WantHolder(t, "another pod", load.Held, l.Beside.Lock)
	WantHolder(t, "another run looks", load.HeldByOther, l.Other.Look)
	if h := WantHolder(t, "another run", load.HeldByOther, l.Other.Lock); h.RunUID != l.UID || time.Since(h.Since).Abs() > time.Minute {
		t.Errorf("the holder is %+v", h)
	}
	WantHolder(t, "renewing it", load.Held, l.First.Lock)
	Unlock(t, l.Other)
	WantHolder(t, "after the other run's end", load.Held, l.First.Lock)
	Unlock(t, l.First)
	WantHolder(t, "the next run", load.Held, l.Other.Lock)
	// The run that had the lock does not free it again.
	Unlock(t, l.First)
	WantHolder(t, "the run before", load.HeldByOther, l.First.Lock)
	Unlock(t, l.Other)
	for range 5 {
		atOnce(t, l)
	}
}

// atOnce wants one of two runs that take the lock at once to get it.
func atOnce(t *testing.T, l Lockers) {
	t.Helper()
	var locking sync.WaitGroup
	states := make([]load.LockState, 2)
	for i, run := range []load.Locker{l.First, l.Other} {
		locking.Go(func() {
			holder, err := run.Lock(bounded(t))
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
	Unlock(t, l.First)
	Unlock(t, l.Other)
	WantHolder(t, "a freed lock", load.Free, l.Other.Look)
	if l.Left == nil {
		return
	}
	if left := l.Left(t); len(left) > 0 {
		t.Fatalf("the lock stays: %q", left)
	}
}

// HolderGone wants another run to get the lock of a run that renews nothing more, when it has expired.
func HolderGone(t *testing.T, gone, other load.Locker) {
	WantHolder(t, "taking it", load.Held, gone.Lock)
	began, ctx := time.Now(), bounded(t)
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

// HolderFrozen wants a run to hold its lock again after its store was frozen for longer than the lock lasts.
func HolderFrozen(t *testing.T, holder load.Locker, pause func(*testing.T) (resume func())) {
	WantHolder(t, "taking it", load.Held, holder.Lock)
	resume := pause(t)
	<-time.After(load.LockTTL + 5*time.Second)
	resume()
	WantHolder(t, "after the freeze", load.Held, holder.Lock)
	WantHolder(t, "after its expiry was noticed", load.Held, holder.Lock)
}
