package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// stormPrefix is the prefix of the keys of one storm, by its number from 0.
func (d *Driver) stormPrefix(storm int64) string {
	return fmt.Sprintf("%s.storm/%d/", d.plan.Prefix, storm)
}

// commit sends a transaction, and repeats it after a temporary error. Each of the driver's transactions can be repeated
// safely.
func commit(ctx context.Context, client *clientv3.Client, guards []clientv3.Cmp, then ...clientv3.Op) (out *clientv3.TxnResponse, err error) {
	err = repeat(ctx, func(ctx context.Context) error {
		out, err = client.Txn(ctx).If(guards...).Then(then...).Commit()
		return err
	})
	return out, err
}

// get reads, and repeats the read after a temporary error.
func get(ctx context.Context, client *clientv3.Client, key string, options ...clientv3.OpOption) (out *clientv3.GetResponse, err error) {
	err = repeat(ctx, func(ctx context.Context) error {
		out, err = client.Get(ctx, key, options...)
		return err
	})
	return out, err
}
