package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// sweepBlock is the most keys that one transaction deletes: a huge transaction stalls etcd.
	sweepBlock = 1000
	// sweepNames is the most keys that one transaction deletes by name: an equal part of a block, below etcd's limit
	// spec.MaxTxnOperations.
	sweepNames = sweepBlock / 8
	// sweepLookahead is how many numbers ahead the sweep looks for the next key. etcd visits every existing key in this
	// range, so the range is short where keys exist, and grows where none do.
	sweepLookahead = 8 * sweepBlock
)

// errNotAlone: the prefix no longer belongs to the run, or a pod may write.
var errNotAlone = errors.New("the prefix got another owner, or a pod of the run joined, while its keys were deleted")

// Clean deletes the keys, and revokes the leases, of a run whose pods are gone. It does nothing if nothing is left, and
// fails if keys or leases are left that the marker does not cover. It needs one member that answers.
func (d *Driver) Clean(ctx context.Context) error {
	client, err := d.controlClient(ctx)
	if err == nil {
		err = d.clean(ctx, client)
	}
	return settled(ctx, err, d.addresses())
}

func (d *Driver) clean(ctx context.Context, client *clientv3.Client) error {
	dead := clientv3.OpDelete(d.podsPrefix(), clientv3.WithPrefix())
	out, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix()}, dead)
	switch {
	case err != nil:
		return err
	case !out.Succeeded:
		return d.checkNothingLeft(ctx, client)
	}
	return d.sweep(ctx, client)
}

// sweepAttempts: a put that timed out can still arrive after its key was swept.
const sweepAttempts = 3

// sweep revokes the run's leases, deletes the load's keys block by block, and then deletes the marker. Every
// transaction checks that the marker is there and that no pod may write.
func (d *Driver) sweep(ctx context.Context, client *clientv3.Client) error {
	if err := d.revokeLeases(ctx, client); err != nil {
		return err
	}
	for range sweepAttempts {
		if err := d.deleteLoad(ctx, client); err != nil {
			return err
		}
		swept, err := d.deleteMarker(ctx, client)
		if swept || err != nil {
			return err
		}
	}
	return d.errKeysOfOthers()
}

// errKeysOfOthers is the error of a sweep that left keys that the run did not write.
func (d *Driver) errKeysOfOthers() error {
	return fmt.Errorf("found keys under %s that the run did not write; they and the marker %s were left alone. Delete them by hand if they are not needed", d.plan.Prefix, d.markerKey())
}

func (d *Driver) deleteLoad(ctx context.Context, client *clientv3.Client) error {
	if d.plan.UsesRegistry() {
		return d.deleteObjects(ctx, client)
	}
	s := sweeper{driver: d, client: client, keys: d.plan.KeyWriter(), count: d.plan.Keys().Count, lookahead: sweepLookahead}
	return s.walk(ctx)
}

// deleteOwned deletes in one transaction, if the prefix belongs to the run and no pod may write.
func (d *Driver) deleteOwned(ctx context.Context, client *clientv3.Client, deletions ...clientv3.Op) error {
	out, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix(), d.noPodWrites()}, deletions...)
	if err == nil && !out.Succeeded {
		err = errNotAlone
	}
	return err
}

// deleteMarker gives up the prefix if none of the load's keys is left. Locks were deleted with their leases; other keys
// beside them must not remain without the marker.
func (d *Driver) deleteMarker(ctx context.Context, client *clientv3.Client) (swept bool, err error) {
	out, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix(), d.noPodWrites(), noKeyIn(d.loadRange())},
		clientv3.OpDelete(d.plan.LockPrefix(), clientv3.WithPrefix()), clientv3.OpDelete(d.markerKey()))
	if err != nil || out.Succeeded {
		return err == nil, err
	}
	deleted, writers, err := d.claimState(ctx, client)
	if writers > 0 {
		err = errNotAlone
	}
	return deleted, err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
