package ownership

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Ownership is what one pod, or the cleanup of its run, does with the prefix of the run. It implements the methods of
// load.Driver that are about the prefix, and load.Deleter.
type Ownership struct {
	run     *Run
	store   Store
	batches *Splitter
	work    work
	// spares: keys of others are left under the prefix.
	spares bool
}

// New returns the ownership of a run, or of a pod of it.
func New(run *Run, store Store) *Ownership {
	return &Ownership{run: run, store: store, batches: NewSplitter(0, store.IsTooLarge)}
}

// claimAttempts is how often a pod claims while the prefixes around its own change.
const claimAttempts = 3

// Claim implements load.Driver. Each pod tries the same: one wins, the others join.
func (o *Ownership) Claim(ctx context.Context) error { return o.store.Settle(ctx, o.claim(ctx)) }

func (o *Ownership) claim(ctx context.Context) error {
	if err := o.store.Prepare(ctx); err != nil {
		return err
	}
	around, err := o.lookAround(ctx)
	if err != nil {
		return err
	}
	for range claimAttempts {
		won, err := o.store.Claim(ctx, absent(around))
		if err != nil || won {
			return err
		}
		joined, err := o.store.Join(ctx)
		if err != nil || joined {
			return err
		}
		before := around
		if around, err = o.lookAround(ctx); err != nil {
			return err
		}
		if maps.Equal(before, around) {
			break
		}
	}
	return o.foreign(ctx)
}

// lookAround returns what is known about the prefixes around this one. It fails if another run owns one of them, because
// each run could take the other's keys for its own.
func (o *Ownership) lookAround(ctx context.Context) (map[string]Owner, error) {
	around := map[string]Owner{}
	for _, prefix := range Outer(o.run.Prefix) {
		owner, err := o.store.Owner(ctx, prefix)
		if err != nil {
			return nil, err
		}
		if owner.Owned {
			return nil, load.Errorf(results.FailurePrefixNotEmpty,
				"the prefix %s lies within %s, which belongs to the run %q. Wait until that run has ended and its keys are deleted, or choose another spec.target.keyPrefix",
				o.run.Prefix, prefix, owner.UID)
		}
		around[prefix] = owner
	}
	return around, nil
}

// absent returns the prefixes without a marker, the shortest first.
func absent(around map[string]Owner) (prefixes []string) {
	for prefix, owner := range around {
		if owner.Absent {
			prefixes = append(prefixes, prefix)
		}
	}
	slices.Sort(prefixes)
	return prefixes
}

// foreign is the error of a prefix that another run owns, or that holds keys of others.
func (o *Ownership) foreign(ctx context.Context) error {
	owner, err := o.store.Owner(ctx, o.run.Prefix)
	switch {
	case err != nil:
		return err
	case owner.Owned && owner.UID != o.run.UID:
		return load.Errorf(results.FailurePrefixNotEmpty,
			"the prefix %s belongs to the run %q. Wait until that run has ended and its keys are deleted, or choose another spec.target.keyPrefix",
			o.run.Prefix, owner.UID)
	}
	what, err := o.store.Foreign(ctx)
	if err != nil {
		return err
	}
	return ErrHoldsForeign(o.run.Prefix, what)
}

// ErrHoldsForeign is the error of a prefix that holds keys of others, such as these.
func ErrHoldsForeign(prefix, what string) error {
	return load.Errorf(results.FailurePrefixNotEmpty,
		"the prefix %s holds keys that do not belong to this run (%s); they were left alone. Choose another spec.target.keyPrefix, or delete these keys if they are not needed",
		prefix, what)
}

// Sign implements load.Driver. Its errors are the store's own: load.Session looks at what they wrap.
func (o *Ownership) Sign(ctx context.Context) error {
	done, err := o.store.Sign(ctx)
	if err == nil && !done {
		err = load.ErrDisowned
	}
	return err
}

// Signs implements load.Driver.
func (o *Ownership) Signs(ctx context.Context) (map[string]int64, error) {
	signs, err := o.store.Signs(ctx)
	return signs, o.store.Settle(ctx, err)
}

// ErrNotAlone: the prefix no longer belongs to the run, or a pod may write.
var ErrNotAlone = errors.New("the prefix got another owner, or a pod of the run joined, while its keys were deleted")
