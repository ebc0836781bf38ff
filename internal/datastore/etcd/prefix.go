package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/workload"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Under the run's prefix lie the marker with the run's UID, which owns the
// prefix; one key for each pod that may still write; locks and the keys of storms,
// which belong to leases of the run and go with them; and the load's keys, which
// begin with a digit or, if they are objects, with registry/.

func (d *Driver) markerKey() string { return markerOf(d.plan.Prefix) }

func markerOf(prefix string) string { return prefix + ".owner" }

func (d *Driver) podsPrefix() string { return d.plan.Prefix + ".pod/" }

// stormPrefix lies before the keys of one storm, by its number from 0.
func (d *Driver) stormPrefix(storm int64) string {
	return fmt.Sprintf("%s.storm/%d/", d.plan.Prefix, storm)
}

func (d *Driver) podKey() string { return fmt.Sprintf("%s%06d", d.podsPrefix(), d.index) }

// loadRange is the range of the load's keys: ':' follows '9'.
func (d *Driver) loadRange() (from, to string) {
	if d.plan.Workload.UsesRegistry() {
		return workload.RegistryRange(d.plan.Prefix)
	}
	return d.plan.Prefix + "0", d.plan.Prefix + ":"
}

func (d *Driver) ownsPrefix() clientv3.Cmp {
	return clientv3.Compare(clientv3.Value(d.markerKey()), "=", d.plan.RunUID)
}

// nobodyWrites holds while no pod may write.
func (d *Driver) nobodyWrites() clientv3.Cmp {
	return noKeyIn(d.podsPrefix(), clientv3.GetPrefixRangeEnd(d.podsPrefix()))
}

// noKey holds if there is no such key.
func noKey(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
}

// noKeyIn holds if there is no key in a range: etcd compares each key that it
// finds there, and a key that exists was created at some revision.
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

// release takes this pod out of those that may write. The answer says whether
// it was the last one, which deletes what all of them wrote.
func (d *Driver) release(ctx context.Context, client *clientv3.Client) error {
	out, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix()},
		clientv3.OpDelete(d.podKey()),
		clientv3.OpGet(d.podsPrefix(), clientv3.WithPrefix(), clientv3.WithCountOnly()))
	switch {
	case err != nil:
		return err
	case !out.Succeeded:
		return d.nothingLeft(ctx, client)
	case out.Responses[1].GetResponseRange().Count > 0:
		return d.awaitDeleted(ctx, client)
	}
	err = d.sweep(ctx, client)
	if errors.Is(err, errNotAlone) {
		// A pod has joined since. It is the last one now.
		return d.awaitDeleted(ctx, client)
	}
	return err
}

const (
	// lookEvery is how often a pod looks whether the last one has deleted the
	// keys.
	lookEvery = 250 * time.Millisecond
	// patience is how long a pod waits while no other one releases the prefix:
	// it may have a slow part, or was killed and never will. In the second case,
	// if that is certain, the pod is told to stop, which ends this wait much
	// earlier.
	patience = 4 * time.Minute
	// deletedAtLeast keys or leases a second: what the last pod may take for its
	// deletions beyond that.
	deletedAtLeast = 2000
)

var errOthersWrite = errors.New("other client pods still hold the prefix, or died before they could delete the keys")

// awaitDeleted waits until the pod that was last to release has deleted the
// marker.
func (d *Driver) awaitDeleted(ctx context.Context, client *clientv3.Client) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	writers, until := int64(-1), time.Time{}
	for {
		deleted, now, err := d.lookAround(ctx, client)
		if err != nil || deleted {
			return err
		}
		if now != writers {
			writers, until = now, time.Now().Add(d.patienceWith(now))
		}
		if time.Now().After(until) {
			return errOthersWrite
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// patienceWith returns how long to wait for a change while so many pods write.
func (d *Driver) patienceWith(writers int64) time.Duration {
	if writers > 0 {
		return patience
	}
	return patience + time.Duration(d.plan.Workload.KeyCount+d.plan.LeaseCount()+d.plan.StormKeys())*time.Second/deletedAtLeast
}

// lookAround says whether the run's marker is gone, with all that it covered, and
// if it is not, how many pods may still write.
func (d *Driver) lookAround(ctx context.Context, client *clientv3.Client) (deleted bool, writers int64, err error) {
	out, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix()},
		clientv3.OpGet(d.podsPrefix(), clientv3.WithPrefix(), clientv3.WithCountOnly()))
	switch {
	case err != nil:
		return false, 0, err
	case !out.Succeeded:
		err = d.nothingLeft(ctx, client)
		return err == nil, 0, err
	}
	return false, out.Responses[0].GetResponseRange().Count, nil
}

// commit sends a transaction, again if it fails for a reason that passes: each
// of ours may be repeated.
func commit(ctx context.Context, client *clientv3.Client, guards []clientv3.Cmp, then ...clientv3.Op) (out *clientv3.TxnResponse, err error) {
	err = repeat(ctx, func(ctx context.Context) error {
		out, err = client.Txn(ctx).If(guards...).Then(then...).Commit()
		return err
	})
	return out, err
}

// get reads, again if it fails for a reason that passes.
func get(ctx context.Context, client *clientv3.Client, key string, options ...clientv3.OpOption) (out *clientv3.GetResponse, err error) {
	err = repeat(ctx, func(ctx context.Context) error {
		out, err = client.Get(ctx, key, options...)
		return err
	})
	return out, err
}
