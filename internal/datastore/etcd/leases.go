package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// revokeBlock is how many leases at most are revoked before the driver checks again whether it may go on.
	revokeBlock = 1000
	// revokeParallel is how many revocations are in flight. Members agree on each one, and on many at once.
	revokeParallel = 32
	// sweepAttempts is how often a sweep begins again: a request that timed out can still arrive after it.
	sweepAttempts = 3
)

// ownLeases returns the leases that belong to the run by their IDs.
func (d *Driver) ownLeases(ctx context.Context, client *clientv3.Client) (own []clientv3.LeaseID, err error) {
	if !d.plan.UsesLeases() {
		return nil, nil
	}
	var all *clientv3.LeaseLeasesResponse
	err = repeat(ctx, func(ctx context.Context) error {
		all, err = client.Leases(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, l := range all.Leases {
		if d.plan.OwnsLease(int64(l.ID)) {
			own = append(own, l.ID)
		}
	}
	return own, nil
}

// checkLeases fails if leases with the run's IDs exist before a pod of the run has claimed the prefix: these are
// foreign. It lists the leases before it reads the marker, since a pod that claims in between writes its marker before
// its leases.
func (d *Driver) checkLeases(ctx context.Context, client *clientv3.Client) error {
	found, err := d.ownLeases(ctx, client)
	if err != nil || len(found) == 0 {
		return err
	}
	marker, err := get(ctx, client, d.markerKey())
	if err != nil || (len(marker.Kvs) > 0 && string(marker.Kvs[0].Value) == d.plan.RunUID) {
		return err
	}
	return load.Errorf(results.FailurePrefixNotEmpty,
		"found leases that this run did not grant, but that have its IDs (%s, such as %016x); they were left alone. Create the run again, or under another name: it will use other IDs",
		text.Grouped(len(found)), found[0])
}

// revokeLeases revokes the run's leases until the list is empty: a grant that timed out can reach etcd late.
func (d *Driver) revokeLeases(ctx context.Context, client *clientv3.Client) error {
	for attempt := 1; ; attempt++ {
		left, err := d.ownLeases(ctx, client)
		if err != nil || len(left) == 0 {
			return err
		}
		if attempt > sweepAttempts {
			return fmt.Errorf("%s leases of the run are left, such as %016x", text.Grouped(len(left)), left[0])
		}
		if err := d.revokeAll(ctx, client, left); err != nil {
			return err
		}
	}
}

// revokeAll revokes leases block by block. A transaction cannot guard this, so each block is preceded by a check that
// the prefix still belongs to the run and no pod may write.
func (d *Driver) revokeAll(ctx context.Context, client *clientv3.Client, left []clientv3.LeaseID) error {
	for len(left) > 0 {
		began := time.Now()
		n := min(revokeBlock, len(left))
		deleted, writers, err := d.claimState(ctx, client)
		if err == nil && (deleted || writers > 0) {
			err = errNotAlone
		}
		if err == nil {
			err = revokeSome(ctx, client, left[:n])
		}
		if err != nil {
			return err
		}
		left = left[n:]
		// Half of the time is left to other users of the target.
		if err := pause(ctx, time.Since(began)); err != nil {
			return err
		}
	}
	return nil
}

// revokeSome revokes all of these leases, and returns the first error.
func revokeSome(ctx context.Context, client *clientv3.Client, some []clientv3.LeaseID) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var revoking sync.WaitGroup
	for range min(revokeParallel, len(some)) {
		revoking.Go(func() {
			for i := next.Add(1); int(i) <= len(some) && ctx.Err() == nil; i = next.Add(1) {
				if err := revoke(ctx, client, some[i-1]); err != nil {
					cancel(err)
				}
			}
		})
	}
	revoking.Wait()
	return context.Cause(ctx)
}

func revoke(ctx context.Context, client *clientv3.Client, id clientv3.LeaseID) error {
	return repeat(ctx, func(ctx context.Context) error {
		_, err := client.Revoke(ctx, id)
		if errors.Is(err, rpctypes.ErrLeaseNotFound) {
			// The lease has expired, or an earlier attempt has reached etcd.
			return nil
		}
		return err
	})
}
