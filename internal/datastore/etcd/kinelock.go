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

// The lock of kine is the key lockKey with a time to live. Client pod 0 creates it, and all pods of the run write it again
// to renew it, each at the revision that it has read.

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

func (k *Kine) holdLock(ctx context.Context, c kineClient) (holder load.Holder, err error) {
	// The lock can change between the read and the write: another pod renews it, another run takes it, or it expires.
	for range 3 {
		found, err := c.get(ctx, lockKey)
		if err != nil {
			return load.Holder{}, err
		}
		holder = k.holderIn(found)
		if holder.State != load.Held && (holder.State != load.Free || k.driver.index > 0) {
			return holder, nil
		}
		written, err := k.writeLock(ctx, c, found)
		if err != nil || written {
			return load.Holder{State: load.Held}, err
		}
	}
	return holder, nil
}

// writeLock creates the lock's key, or writes it again at the revision that was found. kine answers the grant of a lease
// with an ID that stands for the time to live.
func (k *Kine) writeLock(ctx context.Context, c kineClient, found *mvccpb.KeyValue) (written bool, err error) {
	granted, err := leases(c.Client.Client).LeaseGrant(ctx, &etcdserverpb.LeaseGrantRequest{TTL: int64(load.LockTTL / time.Second)})
	if err != nil {
		return false, err
	}
	options := kubernetes.PutOptions{LeaseID: clientv3.LeaseID(granted.ID)}
	if found != nil {
		options.GetOnFailure = true
		out, err := c.OptimisticPut(ctx, lockKey, found.Value, found.ModRevision, options)
		return out.Succeeded, err
	}
	content, err := json.Marshal(lockContent{RunUID: k.driver.plan.RunUID, Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return false, err
	}
	out, err := c.OptimisticPut(ctx, lockKey, content, 0, options)
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
	c, err := k.client(ctx)
	if err != nil {
		return settled(ctx, err, k.driver.addresses())
	}
	found, err := c.get(ctx, lockKey)
	if err == nil && found != nil && k.holderIn(found).State == load.Held {
		err = c.delete(ctx, lockKey, found.ModRevision)
	}
	return settled(ctx, err, k.driver.addresses())
}
