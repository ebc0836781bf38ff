package zookeeper

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Claim implements load.Driver. Each pod tries the same transaction, which creates the root: one pod wins, the others
// join. A znode that was just created has no children.
func (d *Driver) Claim(ctx context.Context) error {
	return settled(ctx, d.claim(ctx), d.addresses())
}

func (d *Driver) claim(ctx context.Context) error {
	if err := d.catchUp(ctx); err != nil {
		return err
	}
	if err := d.makeOuter(ctx); err != nil {
		return err
	}
	if err := d.takeRoot(ctx); err != nil {
		return err
	}
	if d.index != 0 {
		return nil
	}
	return d.makeFolders(ctx)
}

// makeOuter creates the missing ancestors of the root; they stay after the run. It fails
// if another run owns one of them, because the two runs would share znodes. It ignores
// ancestors that this client may not read.
func (d *Driver) makeOuter(ctx context.Context) error {
	for _, path := range outer(d.tree.root) {
		exists, err := d.checkOuter(ctx, path)
		if err != nil {
			return err
		}
		if exists {
			continue
		}
		_, err = ask(ctx, d, func(s *session) (string, error) { return s.Create(path, nil, 0, everybody) })
		if err == zk.ErrNodeExists {
			// Another run may have created it just now.
			_, err = d.checkOuter(ctx, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *Driver) checkOuter(ctx context.Context, path string) (exists bool, err error) {
	found, err := d.read(ctx, path)
	switch owner, owned := strings.CutPrefix(found.data, ownedBy); {
	case err == zk.ErrNoAuth:
		return true, nil
	case owned:
		return true, load.Errorf(results.FailurePrefixNotEmpty,
			"the prefix %s lies within %s, which belongs to the run %q. Wait until that run has ended and its znodes are deleted, or choose another spec.target.keyPrefix",
			d.plan.Prefix, path, owner)
	}
	return found.exists, err
}

// takeRoot creates the root, or joins the pods that have created it.
func (d *Driver) takeRoot(ctx context.Context) error {
	register := makeNode(d.tree.pod(d.index), "")
	failed, why, err := d.commit(ctx,
		makeNode(d.tree.root, ownedBy+d.plan.RunUID), makeNode(d.tree.marker(), ""), makeNode(d.tree.pods(), ""), register)
	switch {
	case err != nil || failed < 0:
		return err
	case why != zk.ErrNodeExists:
		return why
	}
	failed, why, err = d.commit(ctx, d.owns(), register)
	switch {
	case err != nil || failed < 0:
		return err
	case failed == 1 && why == zk.ErrNodeExists:
		// An earlier attempt succeeded, and its response was lost.
		return nil
	}
	return d.foreign(ctx)
}

// foreign is the error of a root that belongs to another run or to no run.
func (d *Driver) foreign(ctx context.Context) error {
	root, err := d.read(ctx, d.tree.root)
	if err != nil {
		return err
	}
	if owner, owned := strings.CutPrefix(root.data, ownedBy); owned {
		return load.Errorf(results.FailurePrefixNotEmpty,
			"the znode %s of the prefix belongs to the run %q. Wait until that run has ended and its znodes are deleted, or choose another spec.target.keyPrefix", d.tree.root, owner)
	}
	return load.Errorf(results.FailurePrefixNotEmpty,
		"the znode %s of the prefix exists already, with %s; it was left alone. Choose another spec.target.keyPrefix, or delete it if it is not needed",
		d.tree.root, d.someChildren(ctx, d.tree.root, root))
}

// someChildren describes the children of a znode: their number and, if there are few, an
// example.
func (d *Driver) someChildren(ctx context.Context, path string, n node) string {
	if n.children == 0 || n.children > mostListed {
		return fmt.Sprintf("%d children", n.children)
	}
	names, err := d.list(ctx, path)
	if err != nil || len(names) == 0 {
		return fmt.Sprintf("%d children", n.children)
	}
	return fmt.Sprintf("%d children, such as %q", n.children, names[0])
}

// makeFolders creates the parents of the keys.
func (d *Driver) makeFolders(ctx context.Context) error {
	var ops []any
	for number := range d.tree.folders() {
		ops = append(ops, makeNode(d.tree.folder(number), ""))
	}
	return d.change(ctx, ops, zk.ErrNodeExists)
}
