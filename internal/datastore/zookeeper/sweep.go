package zookeeper

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Clean deletes the znodes of a run whose pods are gone. It needs one server that
// responds.
func (d *Driver) Clean(ctx context.Context, signs map[string]int64) error {
	return settled(ctx, d.clean(ctx, signs), d.addresses())
}

func (d *Driver) clean(ctx context.Context, signs map[string]int64) error {
	if err := d.catchUp(ctx); err != nil {
		return err
	}
	marker, err := d.stat(ctx, d.tree.marker())
	switch {
	case err != nil:
		return err
	case !marker.exists:
		return d.nothingLeft(ctx)
	}
	if err := d.giveUp(ctx, signs); err != nil {
		return err
	}
	return d.sweep(ctx)
}

// giveUp deletes the registrations of dead pods. From then on, no pod can sign or join.
func (d *Driver) giveUp(ctx context.Context, signs map[string]int64) error {
	dead, err := d.registrations(ctx)
	if err != nil {
		return err
	}
	var ops []any
	for path, pod := range dead {
		if signs[path] != pod.changed {
			return load.ErrStillWrites(path)
		}
		ops = append(ops, &zk.DeleteRequest{Path: path, Version: pod.version})
	}
	err = d.change(ctx, append(ops, deleteNode(d.tree.pods())), zk.ErrNoNode)
	if err == zk.ErrBadVersion || err == zk.ErrNotEmpty {
		err = load.ErrStillWrites(d.tree.pods())
	}
	return err
}

// sweepAttempts: a create that timed out can still arrive after its folder was emptied.
const sweepAttempts = 3

// sweep deletes the load's znodes, folder by folder, and then the root with the marker. A foreign znode and its
// ancestors stay.
func (d *Driver) sweep(ctx context.Context) error {
	for range sweepAttempts {
		for number := range d.tree.folders() {
			if err := d.deleteFolder(ctx, d.tree.folder(number)); err != nil {
				return err
			}
		}
		if swept, err := d.deleteRoot(ctx); swept || err != nil {
			return err
		}
	}
	if _, _, err := d.commit(ctx, d.owns(), &zk.SetDataRequest{Path: d.tree.last(), Data: []byte(gaveUp), Version: -1}); err != nil {
		return err
	}
	return d.notAlone(ctx)
}

// notAlone is the error of a root with foreign znodes.
func (d *Driver) notAlone(ctx context.Context) error {
	root, err := d.stat(ctx, d.tree.root)
	if err != nil {
		return err
	}
	return load.Errorf(results.FailurePrefixNotEmpty, "found znodes below %s that the run did not create (it has %s); they and the marker %s were left alone. Delete them by hand if they are not needed",
		d.tree.root, d.someChildren(ctx, d.tree.root, root), d.tree.marker())
}

// deleteFolder deletes a folder and the keys in it. It does not list a folder with more
// children than the run can have created.
func (d *Driver) deleteFolder(ctx context.Context, folder string) error {
	found, err := d.stat(ctx, folder)
	if err != nil || !found.exists || found.children > mostListed {
		return err
	}
	var names []string
	if found.children > 0 {
		if names, err = d.list(ctx, folder); err != nil {
			return err
		}
	}
	var ops []any
	for _, name := range names {
		if isLeaf(name) {
			// The run creates a znode and never changes it: one with another version was changed by others.
			ops = append(ops, &zk.DeleteRequest{Path: folder + "/" + name, Version: 0})
		}
	}
	return d.change(ctx, append(ops, deleteNode(folder)), zk.ErrNoNode, zk.ErrNotEmpty, zk.ErrBadVersion)
}

// deleteRoot returns whether it could delete the root: not if a foreign znode is left.
func (d *Driver) deleteRoot(ctx context.Context) (bool, error) {
	last, err := d.stat(ctx, d.tree.last())
	if err != nil {
		return false, err
	}
	ops := []any{d.owns()}
	if last.exists {
		ops = append(ops, deleteNode(d.tree.last()))
	}
	failed, why, err := d.commit(ctx, append(ops, deleteNode(d.tree.marker()), deleteNode(d.tree.root))...)
	switch {
	case err != nil || failed < 0:
		return err == nil, err
	case why == zk.ErrNotEmpty:
		return false, nil
	case failed > 0:
		return false, why
	}
	// The marker is gone: an earlier attempt succeeded, and its response was lost.
	root, err := d.stat(ctx, d.tree.root)
	if err == nil && root.exists {
		err = d.notOwned()
	}
	return err == nil, err
}
