package etcd

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
)

// kineClaims is ownership.Store and ownership.LockStore for kine. Its lock is a key with a time to live.
type kineClaims struct {
	ownership.Markers
	kineKV
}

func newKineClaims(d *Driver, run *ownership.Run, keys ownership.Keyspace) *kineClaims {
	kv := kineKV{d}
	return &kineClaims{Markers: ownership.Markers{KV: kv, Run: run, Keys: keys}, kineKV: kv}
}

// Sign implements ownership.Store.
func (c *kineClaims) Sign(ctx context.Context) (done bool, err error) {
	done, err = c.Markers.Sign(ctx)
	return done, c.driver.signError(err)
}

// Settle implements ownership.Store.
func (c *kineClaims) Settle(ctx context.Context, err error) error {
	return settled(ctx, err, c.driver.addresses())
}

// SeeLock implements ownership.LockStore.
func (c *kineClaims) SeeLock(ctx context.Context) (seen ownership.LockSeen, err error) {
	found, err := c.kineKV.Get(ctx, ownership.LockKey)
	if err != nil || found == nil {
		return seen, err
	}
	return ownership.LockSeen{Exists: true, Content: found.Value, Version: found.Version}, nil
}

// MakeLock implements ownership.LockStore.
func (c *kineClaims) MakeLock(ctx context.Context, content []byte) (made bool, err error) {
	return c.writeLock(ctx, content, 0)
}

// RenewLock implements ownership.LockStore.
func (c *kineClaims) RenewLock(ctx context.Context, seen ownership.LockSeen) (renewed bool, err error) {
	return c.writeLock(ctx, seen.Content, seen.Version)
}

// writeLock writes the lock's key at the revision that was seen. kine answers the grant of a lease with an ID that stands for
// the time to live.
func (c *kineClaims) writeLock(ctx context.Context, content []byte, revision int64) (written bool, err error) {
	client, err := c.driver.controlClient(ctx)
	if err != nil {
		return false, err
	}
	granted, err := leases(client).LeaseGrant(ctx, &etcdserverpb.LeaseGrantRequest{TTL: int64(load.LockTTL / time.Second)})
	if err != nil {
		return false, err
	}
	out, err := kubernetes.Client{Client: client}.OptimisticPut(ctx, ownership.LockKey, content, revision,
		kubernetes.PutOptions{LeaseID: clientv3.LeaseID(granted.ID), GetOnFailure: revision != 0})
	return out.Succeeded, err
}

// FreeLock implements ownership.LockStore.
func (c *kineClaims) FreeLock(ctx context.Context, isOwn func([]byte) bool) error {
	found, err := c.kineKV.Get(ctx, ownership.LockKey)
	if err != nil || found == nil || !isOwn(found.Value) {
		return err
	}
	_, err = c.kineKV.DeleteAll(ctx, found.Key)
	return err
}

// kineKV is ownership.KV for kine: the transactions that kine serves.
type kineKV struct{ driver *Driver }

// repeat is repeat for kine. kine reports errors of its database without a code, which gRPC calls Unknown.
func (k kineKV) repeat(ctx context.Context, try func(context.Context, kubernetes.Client) error) error {
	client, err := k.driver.controlClient(ctx)
	if err != nil {
		return err
	}
	return remote.Repeat(ctx, func(err error) bool { return passes(err) || codeOf(err) == codes.Unknown }, func(ctx context.Context) error {
		return try(ctx, kubernetes.Client{Client: client})
	})
}

// Get implements ownership.KV.
func (k kineKV) Get(ctx context.Context, key string) (*ownership.Item, error) {
	found, err := k.read(ctx, key)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// List implements ownership.KV. kine lists only whole folders, or the rest of one.
func (k kineKV) List(ctx context.Context, folder, after string, most int64) ([]ownership.Item, error) {
	from := folder
	if after != "" {
		from = after + "\x00"
	}
	return k.read(ctx, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(folder)), clientv3.WithKeysOnly(), clientv3.WithLimit(most))
}

func (k kineKV) read(ctx context.Context, key string, options ...clientv3.OpOption) (found []ownership.Item, err error) {
	err = k.repeat(ctx, func(ctx context.Context, client kubernetes.Client) error {
		got, err := client.Client.Get(ctx, key, options...)
		if err != nil {
			return err
		}
		found = found[:0]
		for _, kv := range got.Kvs {
			found = append(found, itemOf(kv))
		}
		return nil
	})
	return found, err
}

// Create implements ownership.KV.
func (k kineKV) Create(ctx context.Context, key string, value []byte) (created bool, err error) {
	return k.Swap(ctx, key, value, 0)
}

// Swap implements ownership.KV.
func (k kineKV) Swap(ctx context.Context, key string, value []byte, revision int64) (swapped bool, err error) {
	err = k.repeat(ctx, func(ctx context.Context, client kubernetes.Client) error {
		out, err := client.OptimisticPut(ctx, key, value, revision, kubernetes.PutOptions{GetOnFailure: revision != 0})
		swapped = out.Succeeded
		return err
	})
	return swapped, err
}

// deleteParallel is how many deletions are in flight.
const deleteParallel = 8

// DeleteAll implements ownership.KV.
func (k kineKV) DeleteAll(ctx context.Context, keys ...ownership.Key) (all bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	left := make(chan ownership.Key, len(keys))
	for _, key := range keys {
		left <- key
	}
	close(left)
	var spared atomic.Bool
	var deleting sync.WaitGroup
	for range min(deleteParallel, len(keys)) {
		deleting.Go(func() {
			for key := range left {
				done, err := k.delete(ctx, key)
				if err != nil {
					cancel(err)
					return
				}
				if !done {
					spared.Store(true)
				}
			}
		})
	}
	deleting.Wait()
	return !spared.Load(), context.Cause(ctx)
}

// delete deletes a key that has this mod revision. A key with another one stays.
func (k kineKV) delete(ctx context.Context, key ownership.Key) (done bool, err error) {
	err = k.repeat(ctx, func(ctx context.Context, client kubernetes.Client) error {
		out, err := client.OptimisticDelete(ctx, key.Name, key.Version, kubernetes.DeleteOptions{GetOnFailure: true})
		if err == nil && !out.Succeeded && out.KV != nil && out.KV.ModRevision == key.Version {
			// kine answers so if its database has refused the deletion.
			err = status.Errorf(codes.Unavailable, "kine did not delete %q, although its revision is %d", key.Name, key.Version)
		}
		done = out.Succeeded || out.KV == nil
		return err
	})
	return done, err
}
