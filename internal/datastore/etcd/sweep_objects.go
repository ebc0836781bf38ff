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
func (d *Driver) deleteObjects(ctx context.Context, client *clientv3.Client) error {
	from, to := d.loadRange()
	for {
		began := time.Now()
		found, err := get(ctx, client, from, clientv3.WithRange(to), clientv3.WithLimit(sweepBlock), clientv3.WithKeysOnly())
		if err != nil || len(found.Kvs) == 0 {
			return err
		}
		after := string(found.Kvs[len(found.Kvs)-1].Key) + "\x00"
		if err := d.deleteListed(ctx, client, found.Kvs, clientv3.OpDelete(from, clientv3.WithRange(after))); err != nil {
			return err
		}
		from = after
		// Half of the time is left to other users of the target.
		if err := pause(ctx, time.Since(began)); err != nil {
			return err
		}
	}
}

// deleteListed deletes the run's objects among the listed keys: as a range if all are the run's, otherwise by name.
func (d *Driver) deleteListed(ctx context.Context, client *clientv3.Client, listed []*mvccpb.KeyValue, all clientv3.Op) error {
	keys := d.plan.KeyWriter()
	var own []clientv3.Op
	for _, kv := range listed {
		if keys.IsObject(kv.Key) {
			own = append(own, clientv3.OpDelete(string(kv.Key)))
		}
	}
	if len(own) == len(listed) {
		return d.deleteOwned(ctx, client, all)
	}
	for names := range slices.Chunk(own, sweepNames) {
		if err := d.deleteOwned(ctx, client, names...); err != nil {
			return err
		}
	}
	return nil
}
