package zookeeper

import (
	"context"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/reach"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Release implements load.Driver.
func (d *Driver) Release(ctx context.Context) (results.Cleaning, error) {
	if err := d.release(ctx); err != nil {
		return results.CleaningKeysLeft, settled(ctx, err, d.addresses())
	}
	return results.CleaningKeysDeleted, nil
}

// release deletes this pod's registration. The pod that succeeds in deleting the parent of
// all registrations was the last one: no pod can join after that, and this pod deletes
// the znodes of all.
func (d *Driver) release(ctx context.Context) error {
	failed, why, err := d.commit(ctx, d.owns(), deleteNode(d.tree.pod(d.index)))
	switch {
	case err != nil:
		return err
	case failed == 0:
		return d.nothingLeft(ctx)
	case failed > 0 && why != zk.ErrNoNode:
		return why
	}
	last, err := d.isLast(ctx)
	switch {
	case err != nil:
		return err
	case !last:
		return reach.AwaitDeleted(ctx, d.tree.written, d.progress)
	}
	return d.sweep(ctx)
}

// isLast returns whether this pod was the last one to write, and deletes the znodes.
func (d *Driver) isLast(ctx context.Context) (bool, error) {
	own := strconv.Itoa(d.index)
	failed, why, err := d.commit(ctx, d.owns(), deleteNode(d.tree.pods()), makeNode(d.tree.last(), own))
	switch {
	case err != nil || failed < 0:
		return err == nil, err
	case failed == 0 || why == zk.ErrNotEmpty:
		return false, nil
	case why != zk.ErrNoNode:
		return false, why
	}
	// Another pod was the last one, or this pod was and the response was lost.
	last, err := d.read(ctx, d.tree.last())
	return last.data == own, err
}

// progress returns whether the last pod has deleted the znodes with the marker, and how
// many pods may still write.
func (d *Driver) progress(ctx context.Context) (deleted bool, writers int64, err error) {
	marker, err := d.stat(ctx, d.tree.marker())
	if err != nil {
		return false, 0, err
	}
	if !marker.exists {
		err := d.nothingLeft(ctx)
		return err == nil, 0, err
	}
	pods, err := d.stat(ctx, d.tree.pods())
	if err != nil || pods.exists {
		return false, int64(pods.children), err
	}
	last, err := d.read(ctx, d.tree.last())
	if err == nil && last.data == gaveUp {
		err = d.notAlone(ctx)
	}
	return false, 0, err
}

// nothingLeft is called when the marker is gone. It fails if the root still belongs to the
// run, because nothing may be deleted without the marker. A root of another run holds no
// znodes of this run, since every run creates its root.
func (d *Driver) nothingLeft(ctx context.Context) error {
	root, err := d.read(ctx, d.tree.root)
	if err != nil || root.data != ownedBy+d.plan.RunUID {
		return err
	}
	return load.Errorf(results.FailurePrefixNotEmpty,
		"the marker %s is gone, but the root %s with %s is left: nothing was deleted. Find out what deleted the marker, and delete the znodes by hand if they are not needed",
		d.tree.marker(), d.tree.root, d.someChildren(ctx, d.tree.root, root))
}
