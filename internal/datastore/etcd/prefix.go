package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/reach"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Under the run's prefix are:
//  - the marker with the run's UID, which owns the prefix;
//  - one key for each pod that may still write, with its newest sign of life;
//  - locks and the keys of storms, which belong to leases of the run and are deleted with them;
//  - the load's keys, which begin with a digit, or with registry/ for objects.

func (d *Driver) markerKey() string { return markerOf(d.plan.Prefix) }

func markerOf(prefix string) string { return prefix + ".owner" }

// ownerIn returns the owner that a marker names. In kine the state of the claim follows it.
func ownerIn(marker []byte) string {
	return strings.TrimSuffix(strings.TrimSuffix(string(marker), string(markerClaiming)), string(markerDeleting))
}

// podsFolder has the keys of the pods, under the run's prefix.
const podsFolder = ".pod/"

func (d *Driver) podsPrefix() string { return d.plan.Prefix + podsFolder }

// podsOf is the range of the keys of the pods under a prefix: they are numbers, and ':' follows '9'.
func podsOf(prefix string) (from, to string) {
	return prefix + podsFolder + "0", prefix + podsFolder + ":"
}

// isPod reports whether a key under a prefix is a pod's.
func isPod(prefix, key string) bool {
	from, to := podsOf(prefix)
	return from <= key && key < to
}

// stormPrefix is the prefix of the keys of one storm, by its number from 0.
func (d *Driver) stormPrefix(storm int64) string {
	return fmt.Sprintf("%s.storm/%d/", d.plan.Prefix, storm)
}

func (d *Driver) podKey() string { return fmt.Sprintf("%s%06d", d.podsPrefix(), d.index) }

// loadRange is the range of the load's keys: ':' follows '9'.
func (d *Driver) loadRange() (from, to string) {
	if d.plan.UsesRegistry() {
		return workload.RegistryRange(d.plan.Prefix)
	}
	return d.plan.Prefix + "0", d.plan.Prefix + ":"
}

func (d *Driver) ownsPrefix() clientv3.Cmp {
	return clientv3.Compare(clientv3.Value(d.markerKey()), "=", d.plan.RunUID)
}

// noPodWrites holds while no pod may write.
func (d *Driver) noPodWrites() clientv3.Cmp {
	return noKeyIn(podsOf(d.plan.Prefix))
}

// noKey holds if the key does not exist.
func noKey(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
}

// noKeyIn holds if a range has no key: etcd compares each key of the range, and an existing key has a creation
// revision.
func noKeyIn(from, to string) clientv3.Cmp {
	return noKey(from).WithRange(to)
}

// Release implements load.Driver.
func (d *Driver) Release(ctx context.Context) (results.Cleaning, error) {
	client, err := d.controlClient(ctx)
	if err == nil {
		d.endSessions(ctx, client)
		err = d.release(ctx, client)
	}
	if err != nil {
		return results.CleaningKeysLeft, settled(ctx, err, d.addresses())
	}
	return results.CleaningKeysDeleted, nil
}

// leave gives up the registration of this pod, or of dead ones. It also writes the marker again: once no pod is left, the
// marker's revision is that from which on no pod of the run could write. A full etcd refuses this put, and permits deletions.
func (d *Driver) leave(ctx context.Context, client *clientv3.Client, guards []clientv3.Cmp, then ...clientv3.Op) (*clientv3.TxnResponse, error) {
	out, err := commit(ctx, client, guards, append(then, clientv3.OpPut(d.markerKey(), d.plan.RunUID))...)
	if isFull(err) {
		out, err = commit(ctx, client, guards, then...)
	}
	return out, err
}

// release deletes this pod's registration. The response shows whether this pod was the last one, which deletes the keys
// of all.
func (d *Driver) release(ctx context.Context, client *clientv3.Client) error {
	pods, end := podsOf(d.plan.Prefix)
	out, err := d.leave(ctx, client, []clientv3.Cmp{d.ownsPrefix()},
		clientv3.OpDelete(d.podKey()),
		clientv3.OpGet(pods, clientv3.WithRange(end), clientv3.WithCountOnly()))
	switch {
	case err != nil:
		return err
	case !out.Succeeded:
		return d.checkNothingLeft(ctx, client)
	case out.Responses[1].GetResponseRange().Count > 0:
		return d.awaitDeleted(ctx, client)
	}
	err = d.sweep(ctx, client, out.Header.Revision)
	if errors.Is(err, errNotAlone) {
		// A pod has joined since. That pod is the last one now.
		return d.awaitDeleted(ctx, client)
	}
	return err
}

// awaitDeleted waits until the last pod has deleted the marker.
func (d *Driver) awaitDeleted(ctx context.Context, client *clientv3.Client) error {
	things := d.plan.Keys().Count + d.plan.LeaseCount() + d.plan.StormKeys()
	return reach.AwaitDeleted(ctx, things, func(ctx context.Context) (bool, int64, error) { return d.claimState(ctx, client) })
}

// claimState returns whether the run's marker is gone, and with it all keys that it covered. If not, it returns how
// many pods may still write.
func (d *Driver) claimState(ctx context.Context, client *clientv3.Client) (deleted bool, writers int64, err error) {
	pods, end := podsOf(d.plan.Prefix)
	out, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix()},
		clientv3.OpGet(pods, clientv3.WithRange(end), clientv3.WithCountOnly()))
	switch {
	case err != nil:
		return false, 0, err
	case !out.Succeeded:
		err = d.checkNothingLeft(ctx, client)
		return err == nil, 0, err
	}
	return false, out.Responses[0].GetResponseRange().Count, nil
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
