package etcd

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
)

// stormParallel is how many leases of a storm are granted at a time. The more, the closer together they expire.
const stormParallel = 64

// storm grants leases with keys, lets them expire, and waits until etcd has deleted the last key. The step that it
// returns begins when the first lease was due to expire.
func (d *Driver) storm(ctx context.Context, client *clientv3.Client, s spec.LeaseExpirySettings) load.Step {
	g := &granter{driver: d, client: client, storm: s, number: d.storms.Add(1) - 1, keys: ownership.NewSplitter(usualOperations, isTooLarge)}
	due, err := g.grantAll(ctx)
	if err == nil {
		err = load.Pause(ctx, due.Sub(load.Now()))
	}
	if err == nil {
		err = d.awaitExpired(ctx, client, d.stormPrefix(g.number))
	}
	// A storm that was interrupted may have ended before the first lease was due.
	return load.Step{Began: min(due, load.Now()), Err: err}
}

// granter grants the leases of one storm.
type granter struct {
	driver *Driver
	client *clientv3.Client
	storm  spec.LeaseExpirySettings
	number int64
	next   atomic.Int64
	// keys are those that one transaction attaches to a lease.
	keys *ownership.Splitter

	mutex sync.Mutex
	// due is when the first lease expires; 0 before the first grant.
	due load.Instant
}

// grantAll returns when the first lease expires, now if none was granted, and the first error.
func (g *granter) grantAll(ctx context.Context) (due load.Instant, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var granting sync.WaitGroup
	for range min(stormParallel, g.storm.Leases) {
		granting.Go(func() {
			for i := g.next.Add(1) - 1; i < g.storm.Leases && ctx.Err() == nil; i = g.next.Add(1) - 1 {
				if err := g.grant(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	granting.Wait()
	if g.due == 0 {
		g.due = load.Now()
	}
	return g.due, context.Cause(ctx)
}

// grant grants the lease with this number in the storm, and attaches its keys.
func (g *granter) grant(ctx context.Context, i int64) error {
	id := g.driver.plan.StormLeaseID(g.number*g.storm.Leases + i)
	granted, err := leases(g.client).LeaseGrant(ctx, &etcdserverpb.LeaseGrantRequest{ID: id, TTL: g.storm.TTLSeconds})
	if err != nil {
		return fmt.Errorf("granting lease %016x: %w", id, err)
	}
	g.note(load.Now().Add(time.Duration(granted.TTL) * time.Second))
	err = g.keys.Each(g.storm.KeysPerLease, func(from, to int64) error {
		var puts []clientv3.Op
		for k := from; k < to; k++ {
			puts = append(puts, clientv3.OpPut(fmt.Sprintf("%s%d/%d", g.driver.stormPrefix(g.number), i, k), "", clientv3.WithLease(clientv3.LeaseID(id))))
		}
		out, err := g.client.Txn(ctx).If(g.driver.claims.mayWrite()...).Then(puts...).Commit()
		if err == nil && !out.Succeeded {
			err = load.ErrDisowned
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("attaching keys to lease %016x: %w", id, err)
	}
	return err
}

func (g *granter) note(due load.Instant) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.due == 0 || due < g.due {
		g.due = due
	}
}

// awaitExpired waits until the prefix has no key. It polls rarely, because etcd counts all existing keys each time.
func (d *Driver) awaitExpired(ctx context.Context, client *clientv3.Client, prefix string) error {
	ticker := time.NewTicker(remote.LookEvery)
	defer ticker.Stop()
	for {
		left, err := client.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(1))
		if err != nil || len(left.Kvs) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
