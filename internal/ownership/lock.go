package ownership

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// LockStore is a store with a lock: something with a content that goes away when it is no longer renewed. Each store says how
// long it may keep the lock of a run that has ended without freeing it. An error that is ErrNoLock means that this target has no lock.
type LockStore interface {
	// SeeLock returns what is known about the lock. A store may answer for a lock that it has renewed itself.
	SeeLock(ctx context.Context) (LockSeen, error)
	// MakeLock makes the lock if there is none.
	MakeLock(ctx context.Context, content []byte) (made bool, err error)
	// RenewLock renews a lock that was seen, if it is still that one.
	RenewLock(ctx context.Context, seen LockSeen) (renewed bool, err error)
	// FreeLock ends a lock of which isOwn accepts the content.
	FreeLock(ctx context.Context, isOwn func(content []byte) bool) error
	// Settle is the error that a method of TargetLock returns.
	Settle(context.Context, error) error
}

// ErrNoLock: the store has no lock, or does not let this user take it.
var ErrNoLock = errors.New("the target has no lock")

// LockSeen is what was seen of a lock. Its content is nil if it may not be read.
type LockSeen struct {
	Exists  bool
	Content []byte
	Version int64
}

// TargetLock implements load.Locker. Client pod 0 makes the lock, and every pod of the run renews it.
type TargetLock struct {
	run   *Run
	store LockStore
}

// NewTargetLock returns the lock of a target for a run.
func NewTargetLock(run *Run, store LockStore) *TargetLock { return &TargetLock{run: run, store: store} }

// lockContent is the content of a lock. It has no name: other tenants can read it.
type lockContent struct {
	RunUID string    `json:"runUID"`
	Since  time.Time `json:"since"`
}

// Look implements load.Locker.
func (l *TargetLock) Look(ctx context.Context) (load.Holder, error) {
	seen, err := l.store.SeeLock(ctx)
	holder := l.holderIn(seen)
	if holder.State == load.Held {
		holder = load.Holder{State: load.Free}
	}
	return l.settle(ctx, holder, err)
}

// Lock implements load.Locker.
func (l *TargetLock) Lock(ctx context.Context) (load.Holder, error) {
	holder, err := l.hold(ctx)
	return l.settle(ctx, holder, err)
}

// hold begins with a look, which is a read: an attempt to make the lock is a write of all members. The lock can change between
// the look and the write: another pod renews it, another run takes it, or it expires.
func (l *TargetLock) hold(ctx context.Context) (holder load.Holder, err error) {
	for range 3 {
		seen, err := l.store.SeeLock(ctx)
		if err != nil {
			return load.Holder{}, err
		}
		holder = l.holderIn(seen)
		var holds bool
		switch {
		case holder.State == load.Held:
			holds, err = l.store.RenewLock(ctx, seen)
		case holder.State == load.Free && l.run.Pod == 0:
			content, _ := json.Marshal(lockContent{RunUID: l.run.UID, Since: time.Now().UTC().Truncate(time.Second)})
			holds, err = l.store.MakeLock(ctx, content)
		default:
			return holder, nil
		}
		if err != nil || holds {
			return load.Holder{State: load.Held}, err
		}
	}
	if holder.State == load.Held {
		holder = load.Holder{State: load.Free}
	}
	return holder, nil
}

// Unlock implements load.Locker.
func (l *TargetLock) Unlock(ctx context.Context) error {
	return l.store.Settle(ctx, l.store.FreeLock(ctx, l.isOwn))
}

func (l *TargetLock) isOwn(content []byte) bool {
	return l.holderIn(LockSeen{Exists: true, Content: content}).State == load.Held
}

func (l *TargetLock) settle(ctx context.Context, holder load.Holder, err error) (load.Holder, error) {
	switch {
	case errors.Is(err, ErrNoLock):
		return load.Holder{State: load.NoLock}, nil
	case err != nil:
		return load.Holder{}, l.store.Settle(ctx, err)
	}
	return holder, nil
}

// holderIn returns who holds a lock: Held if this run does.
func (l *TargetLock) holderIn(seen LockSeen) load.Holder {
	var content lockContent
	switch {
	case !seen.Exists:
		return load.Holder{State: load.Free}
	case json.Unmarshal(seen.Content, &content) != nil || content.RunUID == "":
		return load.Holder{State: load.HeldByUnknown}
	case content.RunUID == l.run.UID:
		return load.Holder{State: load.Held}
	}
	return load.Holder{State: load.HeldByOther, RunUID: content.RunUID, Since: content.Since}
}
