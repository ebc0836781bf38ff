package etcd

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// deleteAtMost keys go in one transaction: a huge one stalls etcd.
	deleteAtMost = 1000
	// deletePause lies between two of them.
	deletePause = 5 * time.Millisecond
	// lookEvery is how often a pod looks whether the last one has deleted the
	// keys.
	lookEvery = 100 * time.Millisecond
)

// Under the run's prefix lie the marker with the run's UID, which owns the
// prefix; one key for each pod that may still write; and the load's keys, which
// begin with a digit.

func (d *Driver) markerKey() string { return d.plan.Prefix + ".owner" }

func (d *Driver) podsPrefix() string { return d.plan.Prefix + ".pod/" }

func (d *Driver) podKey() string { return fmt.Sprintf("%s%06d", d.podsPrefix(), d.index) }

// loadRange is the range of the load's keys: ':' follows '9'.
func (d *Driver) loadRange() (from, to string) { return d.plan.Prefix + "0", d.plan.Prefix + ":" }

func (d *Driver) ownsPrefix() clientv3.Cmp {
	return clientv3.Compare(clientv3.Value(d.markerKey()), "=", d.plan.RunUID)
}

// noKeyIn holds if there is no key in a range.
func noKeyIn(from, to string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(from), "=", 0).WithRange(to)
}

// Claim implements load.Driver. Each pod tries the same transaction: one wins,
// the others join.
func (d *Driver) Claim(ctx context.Context) error {
	client, err := d.controlClient(ctx)
	if err != nil {
		return err
	}
	err = d.claim(ctx, client)
	return explain(err, d.plan.Target.Endpoints[0])
}

func (d *Driver) claim(ctx context.Context, client *clientv3.Client) error {
	register := clientv3.OpPut(d.podKey(), "")
	won, err := commit(ctx, client,
		[]clientv3.Cmp{noKeyIn(d.plan.Prefix, clientv3.GetPrefixRangeEnd(d.plan.Prefix))},
		clientv3.OpPut(d.markerKey(), d.plan.RunUID), register)
	if err != nil || won.Succeeded {
		return err
	}
	joined, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix()}, register)
	if err != nil || joined.Succeeded {
		return err
	}
	return d.foreign(ctx, client)
}

// foreign names a key that keeps the run from its prefix.
func (d *Driver) foreign(ctx context.Context, client *clientv3.Client) error {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	found, err := client.Get(ctx, d.plan.Prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(1))
	if err != nil {
		return err
	}
	example := "a key that is gone again"
	if len(found.Kvs) > 0 {
		example = fmt.Sprintf("%q", found.Kvs[0].Key)
	}
	return load.Errorf(results.FailurePrefixNotEmpty,
		"the prefix %s holds keys that are not of this run (%d, such as %s); they were left alone. Choose another target.keyPrefix, or delete them if nobody needs them",
		d.plan.Prefix, found.Count, example)
}

// Release implements load.Driver.
func (d *Driver) Release(ctx context.Context) (results.Cleaning, error) {
	client, err := d.controlClient(ctx)
	if err == nil {
		err = d.release(ctx, client)
	}
	if err != nil {
		return results.CleaningKeysLeft, explain(err, d.plan.Target.Endpoints[0])
	}
	return results.CleaningKeysDeleted, nil
}

func (d *Driver) release(ctx context.Context, client *clientv3.Client) error {
	out, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix()},
		clientv3.OpDelete(d.podKey()),
		clientv3.OpGet(d.podsPrefix(), clientv3.WithPrefix(), clientv3.WithCountOnly()))
	switch {
	case err != nil:
		return err
	case !out.Succeeded:
		// No marker of ours, so no key of ours.
		return nil
	case out.Responses[1].GetResponseRange().Count == 0:
		return d.deleteAll(ctx, client)
	}
	return d.awaitDeleted(ctx, client)
}

// awaitDeleted waits until the pod that was last to release has deleted the
// marker.
func (d *Driver) awaitDeleted(ctx context.Context, client *clientv3.Client) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		marker, err := d.marker(ctx, client)
		if err != nil {
			return err
		}
		if marker == nil || string(marker.Value) != d.plan.RunUID {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the other client pods to release the prefix: %w", ctx.Err())
		case <-ticker.C:
		}
	}
}

func (d *Driver) marker(ctx context.Context, client *clientv3.Client) (*mvccpb.KeyValue, error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	found, err := client.Get(ctx, d.markerKey())
	if err != nil || len(found.Kvs) == 0 {
		return nil, err
	}
	return found.Kvs[0], nil
}

// Clean deletes the keys of a run whose pods are gone. It fails if the prefix
// belongs to another run, and does nothing if the run left nothing.
func (d *Driver) Clean(ctx context.Context) error {
	client, err := d.controlClient(ctx)
	if err == nil {
		err = d.clean(ctx, client)
	}
	return explain(err, d.plan.Target.Endpoints[0])
}

func (d *Driver) clean(ctx context.Context, client *clientv3.Client) error {
	marker, err := d.marker(ctx, client)
	switch {
	case err != nil:
		return err
	case marker == nil:
		return nil
	case string(marker.Value) != d.plan.RunUID:
		return load.Errorf(results.FailurePrefixNotEmpty, "the prefix %s belongs to the run %q, not to %s; its keys were left alone",
			d.plan.Prefix, marker.Value, d.plan.RunUID)
	}
	pods := clientv3.OpDelete(d.podsPrefix(), clientv3.WithPrefix())
	if _, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix()}, pods); err != nil {
		return err
	}
	return d.deleteAll(ctx, client)
}

// deleteAll deletes the load's keys and, last, the marker that permits it.
func (d *Driver) deleteAll(ctx context.Context, client *clientv3.Client) error {
	from, to := d.loadRange()
	for {
		next, err := d.deleteSome(ctx, client, from, to)
		if err != nil {
			return err
		}
		if next == "" {
			break
		}
		from = next
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(deletePause):
		}
	}
	first, last := d.loadRange()
	_, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix(), noKeyIn(first, last)}, clientv3.OpDelete(d.markerKey()))
	return err
}

// deleteSome deletes the first keys of a range and returns where to go on, or
// nothing if the range is empty now.
func (d *Driver) deleteSome(ctx context.Context, client *clientv3.Client, from, to string) (next string, err error) {
	bounded, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	page, err := client.Get(bounded, from, clientv3.WithRange(to), clientv3.WithKeysOnly(), clientv3.WithLimit(deleteAtMost))
	if err != nil || len(page.Kvs) == 0 {
		return "", err
	}
	after := string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	_, err = commit(ctx, client, []clientv3.Cmp{d.ownsPrefix()}, clientv3.OpDelete(from, clientv3.WithRange(after)))
	if err != nil || !page.More {
		return "", err
	}
	return after, nil
}

// commit sends a transaction and waits for it, for a bounded time.
func commit(ctx context.Context, client *clientv3.Client, guards []clientv3.Cmp, then ...clientv3.Op) (*clientv3.TxnResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	return client.Txn(ctx).If(guards...).Then(then...).Commit()
}
