package etcd

import (
	"context"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// deleteObjects deletes the objects of a registry, block by block. Their keys cannot be derived from numbers, so they
// are listed.
func (o ownKeys) deleteObjects(ctx context.Context) error {
	from, to := o.driver.loadRange()
	for {
		began := time.Now()
		found, err := get(ctx, o.client, from, clientv3.WithRange(to), clientv3.WithLimit(sweepBlock), clientv3.WithKeysOnly())
		if err != nil || len(found.Kvs) == 0 {
			return err
		}
		after := string(found.Kvs[len(found.Kvs)-1].Key) + "\x00"
		if err := o.deletePage(ctx, found.Kvs, from, after); err != nil {
			return err
		}
		from = after
		// Half of the time is left to other users of the target.
		if err := pause(ctx, time.Since(began)); err != nil {
			return err
		}
	}
}

// deletePage deletes the run's objects of a page: as a range if all are the run's, otherwise by name.
func (o ownKeys) deletePage(ctx context.Context, listed []*mvccpb.KeyValue, from, after string) error {
	if slices.ContainsFunc(listed, func(kv *mvccpb.KeyValue) bool { return !o.owns(kv) }) {
		return o.deleteListed(ctx, from, after)
	}
	done, err := o.delete(ctx, from, after, clientv3.OpDelete(from, clientv3.WithRange(after)))
	if err == nil && !done {
		err = o.deleteListed(ctx, from, after)
	}
	return err
}
