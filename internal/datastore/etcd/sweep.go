package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// sweepBlock keys at most are deleted by one transaction: a huge one
	// stalls etcd.
	sweepBlock = 1000
	// sweepNames keys at most are deleted by name in one transaction: an equal
	// part of a block that is below etcd's limit, spec.MaxTxnOperations.
	sweepNames = sweepBlock / 8
	// sweepSight is how many numbers ahead the next key is looked for. etcd
	// visits the key of each number that exists, so that it is kept short
	// where there are keys, and grows where there are none.
	sweepSight = 8 * sweepBlock
)

// errNotAlone: the prefix is no longer the run's, or a pod may write.
var errNotAlone = errors.New("the prefix changed hands while its keys were deleted")

// Clean deletes the keys, and revokes the leases, of a run whose pods are gone.
// It does nothing if the run left nothing, and fails if it left what its marker
// does not cover. One member that answers is enough.
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
		return d.nothingLeft(ctx, client)
	}
	return d.sweep(ctx, client)
}

// sweepAttempts: a put that was given up can reach etcd behind the sweep.
const sweepAttempts = 3

// sweep revokes the run's leases, deletes the load's keys, block after block,
// and last the marker that permits it. Every transaction is guarded by the
// marker, and by no pod being left that may write.
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
	return fmt.Errorf("there are keys under %s that the run did not write; they were left alone, and so was the marker %s", d.plan.Prefix, d.markerKey())
}

func (d *Driver) deleteLoad(ctx context.Context, client *clientv3.Client) error {
	if d.plan.UsesRegistry() {
		return d.deleteObjects(ctx, client)
	}
	s := sweeper{driver: d, client: client, keys: d.plan.KeyWriter(), count: d.plan.Keys().Count, sight: sweepSight}
	return s.walk(ctx)
}

// deleteOwned deletes by one transaction, while the prefix is the run's and no pod
// may write.
func (d *Driver) deleteOwned(ctx context.Context, client *clientv3.Client, deletions ...clientv3.Op) error {
	out, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix(), d.nobodyWrites()}, deletions...)
	if err == nil && !out.Succeeded {
		err = errNotAlone
	}
	return err
}

// deleteMarker gives the prefix up if none of the load's keys is left. Locks went
// with their leases; whatever else lies beside them must not outlast the marker.
func (d *Driver) deleteMarker(ctx context.Context, client *clientv3.Client) (swept bool, err error) {
	out, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix(), d.nobodyWrites(), noKeyIn(d.loadRange())},
		clientv3.OpDelete(d.plan.LockPrefix(), clientv3.WithPrefix()), clientv3.OpDelete(d.markerKey()))
	if err != nil || out.Succeeded {
		return err == nil, err
	}
	deleted, writers, err := d.lookAround(ctx, client)
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
