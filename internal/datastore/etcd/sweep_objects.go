package etcd

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// deleteObjects deletes the objects of a registry, block after block. Their keys
// follow from no number, so they are listed.
func (d *Driver) deleteObjects(ctx context.Context, client *clientv3.Client) error {
	from, to := d.loadRange()
	for {
		began := time.Now()
		found, err := get(ctx, client, from, clientv3.WithRange(to), clientv3.WithLimit(sweepBlock), clientv3.WithKeysOnly())
		if err != nil || len(found.Kvs) == 0 {
			return err
		}
		after := string(found.Kvs[len(found.Kvs)-1].Key) + "\x00"
		out, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix(), d.nobodyWrites()}, clientv3.OpDelete(from, clientv3.WithRange(after)))
		if err != nil {
			return err
		}
		if !out.Succeeded {
			return errNotAlone
		}
		from = after
		// Half of the time belongs to whoever else uses the target.
		if err := pause(ctx, time.Since(began)); err != nil {
			return err
		}
	}
}
