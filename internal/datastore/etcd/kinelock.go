package etcd

import (
	"context"
	"encoding/json"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// The lock of kine is the key lockKey with a time to live. Client pod 0 creates it, and writes it again to renew it.

// kineLock is what client pod 0 knows of its lock. revision is the mod revision of its newest write, 0 if it has none.
type kineLock struct {
	revision int64
	since    time.Time
}

// Look implements load.Locker.
func (k *Kine) Look(ctx context.Context) (load.Holder, error) {
	c, err := k.client(ctx)
	if err != nil {
		return load.Holder{}, settled(ctx, err, k.driver.addresses())
	}
	found, err := c.get(ctx, lockKey)
	holder := k.holderIn(found)
	if holder.State == load.Held {
		holder.State = load.Free
	}
	return holder, settled(ctx, err, k.driver.addresses())
}

// Lock implements load.Locker.
func (k *Kine) Lock(ctx context.Context) (load.Holder, error) {
	c, err := k.client(ctx)
	var holder load.Holder
	if err == nil {
		holder, err = k.holdLock(ctx, c)
	}
	return holder, settled(ctx, err, k.driver.addresses())
}

func (k *Kine) holdLock(ctx context.Context, c kineClient) (load.Holder, error) {
	found, err := c.get(ctx, lockKey)
	if err != nil {
		return load.Holder{}, err
	}
	holder := k.holderIn(found)
	if k.driver.index > 0 || holder.State == load.HeldByOther || holder.State == load.HeldByUnknown {
		return holder, nil
	}
	revision := int64(0)
	if found != nil {
		revision = found.ModRevision
	}
	if k.lock.since.IsZero() {
		k.lock.since = time.Now()
	}
	done, err := k.writeLock(ctx, c, revision)
	if err != nil || done {
		return load.Holder{State: load.Held}, err
	}
	// Another run was faster, or the lock has expired just now.
	found, err = c.get(ctx, lockKey)
	return k.holderIn(found), err
}

// writeLock writes the lock's key if it has this mod revision. kine answers the grant of a lease with an ID that stands
// for the time to live.
func (k *Kine) writeLock(ctx context.Context, c kineClient, revision int64) (done bool, err error) {
	granted, err := leases(c.Client.Client).LeaseGrant(ctx, &etcdserverpb.LeaseGrantRequest{TTL: int64(load.LockTTL / time.Second)})
	if err != nil {
		return false, err
	}
	content, err := json.Marshal(lockContent{RunUID: k.driver.plan.RunUID, Since: k.lock.since.UTC().Truncate(time.Second)})
	if err != nil {
		return false, err
	}
	out, err := c.OptimisticPut(ctx, lockKey, content, revision, kubernetes.PutOptions{GetOnFailure: revision != 0, LeaseID: clientv3.LeaseID(granted.ID)})
	if err == nil && out.Succeeded {
		k.lock.revision = out.Revision
	}
	return out.Succeeded, err
}

// holderIn returns who holds the lock, by its key: Held if this run does, Free without a key.
func (k *Kine) holderIn(found *mvccpb.KeyValue) load.Holder {
	if found == nil {
		return load.Holder{State: load.Free}
	}
	var content lockContent
	if err := json.Unmarshal(found.Value, &content); err != nil || content.RunUID == "" {
		return load.Holder{State: load.HeldByUnknown}
	}
	if content.RunUID == k.driver.plan.RunUID {
		return load.Holder{State: load.Held}
	}
	return load.Holder{State: load.HeldByOther, RunUID: content.RunUID, Since: content.Since}
}

// Unlock implements load.Locker.
func (k *Kine) Unlock(ctx context.Context) error {
	if k.lock.revision == 0 {
		return nil
	}
	c, err := k.client(ctx)
	if err == nil {
		err = c.delete(ctx, lockKey, k.lock.revision)
	}
	return settled(ctx, err, k.driver.addresses())
}
