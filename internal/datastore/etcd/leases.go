package etcd

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

const (
	// revokeBlock is how many leases at most are revoked before the driver checks again whether it may go on.
	revokeBlock = 1000
	// revokeParallel is how many revocations are in flight. Members agree on each one, and on many at once.
	revokeParallel = 32
)

// leaseIDs are the IDs of a run's leases.
type leaseIDs struct {
	first int64
	// used: the run may have granted leases. optional: if they cannot be listed, they are left to expire.
	used, optional bool
}

// listLeases returns the leases with these IDs.
func (d *Driver) listLeases(ctx context.Context, ids leaseIDs) (own []clientv3.LeaseID, err error) {
	if !ids.used {
		return nil, nil
	}
	client, err := d.controlClient(ctx)
	if err != nil {
		return nil, err
	}
	var all *clientv3.LeaseLeasesResponse
	err = repeat(ctx, func(ctx context.Context) error {
		all, err = client.Leases(ctx)
		return err
	})
	if err != nil && ids.optional {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, l := range all.Leases {
		if id := int64(l.ID); id >= ids.first && id < ids.first+workload.LeaseIDs {
			own = append(own, l.ID)
		}
	}
	return own, nil
}

// Prepare implements ownership.Store. It fails if leases with the run's IDs exist before a pod of the run has claimed the
// prefix: these are foreign. It lists the leases before it reads the marker, since a pod that claims in between writes its
// marker before its leases.
func (c *claims) Prepare(ctx context.Context) error {
	found, err := c.driver.listLeases(ctx, c.leases)
	if err != nil || len(found) == 0 {
		return err
	}
	owner, err := c.Owner(ctx, c.run.Prefix)
	if err != nil || owner.UID == c.run.UID {
		return err
	}
	return load.Errorf(results.FailurePrefixNotEmpty,
		"found leases that this run did not grant, but that have its IDs (%s, such as %016x); they were left alone. Create the run again, or under another name: it will use other IDs",
		text.Grouped(len(found)), found[0])
}

// Revoke implements ownership.Revoker.
func (c *claims) Revoke(ctx context.Context, check func(context.Context) error) (revoked int64, err error) {
	list := func(ctx context.Context) ([]clientv3.LeaseID, error) { return c.driver.listLeases(ctx, c.leases) }
	return ownership.RevokeAll(ctx, check, revokeBlock, list, c.driver.revokeSome)
}

// revokeSome revokes all of these leases, and returns the first error.
func (d *Driver) revokeSome(ctx context.Context, some []clientv3.LeaseID) error {
	client, err := d.controlClient(ctx)
	if err != nil {
		return err
	}
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
