package ownership

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Release implements load.Driver.
func (o *Ownership) Release(ctx context.Context) (results.Cleaning, error) {
	if err := o.release(ctx); err != nil {
		return results.CleaningKeysLeft, o.store.Settle(ctx, err)
	}
	return results.CleaningKeysDeleted, nil
}

// release ends this pod's registration. The last pod deletes the keys of all; the others wait for it.
func (o *Ownership) release(ctx context.Context) error {
	left, err := o.store.Leave(ctx)
	switch {
	case err != nil:
		return err
	case !left.Owned:
		return o.checkNothingLeft(ctx)
	case left.Alone:
		if err := o.sweep(ctx, left.Revision); !errors.Is(err, ErrNotAlone) {
			return err
		}
		// A pod has joined since. That pod is the last one now.
	}
	return awaitDeleted(ctx, o.run.Things, o.progress)
}

// progress returns whether the run's marker is gone, and with it all keys that it covered. If not, it returns how many pods
// may still write.
func (o *Ownership) progress(ctx context.Context) (deleted bool, writers int64, err error) {
	owned, writers, err := o.store.State(ctx)
	if err == nil && !owned {
		deleted, err = true, o.checkNothingLeft(ctx)
	}
	return deleted, writers, err
}

// checkNothingLeft is called once the prefix no longer belongs to the run. It fails if something of the run is left,
// because it may not be deleted without the marker.
func (o *Ownership) checkNothingLeft(ctx context.Context) error {
	what, err := o.store.Remains(ctx)
	if err != nil || what == "" {
		return err
	}
	owner, err := o.store.Owner(ctx, o.run.Prefix)
	if err != nil {
		return err
	}
	found := "is gone"
	if owner.Owned && owner.UID != o.run.UID {
		found = fmt.Sprintf("names %q", owner.UID)
	}
	return load.Errorf(results.FailurePrefixNotEmpty,
		"the marker %s should name the run %s, but it %s, and %s is left: nothing was deleted. Find out what changed the marker, and delete the keys under the prefix %s by hand if they are not needed",
		o.store.Marker(), o.run.UID, found, what, o.run.Prefix)
}

// Clean implements load.Driver. It needs one member that answers.
func (o *Ownership) Clean(ctx context.Context, signs map[string]int64) error {
	return o.store.Settle(ctx, o.clean(ctx, signs))
}

// clean first gives the dead pods up: from then on, the store refuses their signs of life.
func (o *Ownership) clean(ctx context.Context, signs map[string]int64) error {
	for {
		left, err := o.store.GiveUp(ctx, signs)
		switch {
		case err != nil:
			return err
		case left.Alone:
			if err := o.sweep(ctx, left.Revision); !errors.Is(err, ErrNotAlone) {
				return err
			}
		}
		switch deleted, writers, err := o.progress(ctx); {
		case err != nil || deleted:
			return err
		case writers > 0:
			return load.ErrStillWrites(o.run.Prefix + PodsFolder)
		}
		// The pod has released since, or the prefix was given up.
	}
}

// walks is how often the keys are deleted in a store that cannot tell when a key was written: a request that timed out can
// arrive after its keys were deleted.
const walks = 3

// sweep deletes what the run has written, up to the release, and then gives up the prefix.
func (o *Ownership) sweep(ctx context.Context, released int64) error {
	if revoker, ok := o.store.(Revoker); ok {
		revoked, err := revoker.Revoke(ctx, o.checkAlone)
		o.work.revoked += revoked
		if err != nil {
			return err
		}
	}
	for n := 1; ; n++ {
		if err := o.walk(ctx, released); err != nil {
			return err
		}
		done, err := o.store.Abandon(ctx, released)
		if err != nil || done {
			return err
		}
		switch deleted, writers, err := o.progress(ctx); {
		case err != nil || deleted:
			return err
		case writers > 0:
			return ErrNotAlone
		}
		if released > 0 || n == walks {
			return o.sparesForeign(ctx)
		}
	}
}

// checkAlone fails if the run does not own the prefix, or if a pod may write.
func (o *Ownership) checkAlone(ctx context.Context) error {
	deleted, writers, err := o.progress(ctx)
	if err == nil && (deleted || writers > 0) {
		err = ErrNotAlone
	}
	return err
}

// sparesForeign is the error of a run whose own keys are deleted, and that has left keys of others.
func (o *Ownership) sparesForeign(ctx context.Context) error {
	o.spares = true
	if a, ok := o.store.(Announcer); ok {
		if err := a.Announce(ctx); err != nil {
			return err
		}
	}
	what, err := o.store.Foreign(ctx)
	if err != nil {
		return err
	}
	return load.Errorf(results.FailurePrefixNotEmpty,
		"found keys under %s that the run does not write, or that were written after its last pod had ended (%s); "+
			"they and the marker %s were left alone. If they are not needed, delete them by hand; kubectl "+
			"etcdbench clean then removes the marker",
		o.run.Prefix, what, o.store.Marker())
}

// walk deletes the keys of the run, page by page.
func (o *Ownership) walk(ctx context.Context, released int64) error {
	w := o.store.Walk()
	defer func() { o.work.spared = w.Spared() }()
	_, of := w.Passed()
	o.work.begin(of)
	for {
		rest := beginWork()
		page, done, err := w.Next(ctx, released)
		if err == nil {
			err = together(ctx, page, func(ctx context.Context, s Batch) error { return o.delete(ctx, s, released) })
		}
		if err != nil || done {
			return err
		}
		passed, _ := w.Passed()
		o.work.reach(passed)
		if err := rest(ctx); err != nil {
			return err
		}
	}
}

// delete deletes a batch. What has changed since it was read, or came later, stays.
func (o *Ownership) delete(ctx context.Context, s Batch, released int64) error {
	return o.batches.Each(int64(len(s.Keys)), func(from, to int64) error {
		part := Batch{Keys: s.Keys[from:to], Alone: s.Alone}
		done, err := o.store.Delete(ctx, part, released)
		if err != nil || done {
			if done {
				o.work.keys.Add(int64(len(part.Keys)))
			}
			return err
		}
		if err := o.checkAlone(ctx); err != nil {
			return err
		}
		if part.Alone || part.Keys[0].Version == 0 {
			again, err := o.store.Reread(ctx, part, released)
			if err != nil {
				return err
			}
			for _, s := range again {
				if err := o.delete(ctx, s, released); err != nil {
					return err
				}
			}
			return nil
		}
		if len(part.Keys) == 1 {
			return nil
		}
		for half := range slices.Chunk(part.Keys, (len(part.Keys)+1)/2) {
			if err := o.delete(ctx, Batch{Keys: half}, released); err != nil {
				return err
			}
		}
		return nil
	})
}
