package zookeeper

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// claims is ownership.Store for ZooKeeper. Each change is a transaction that checks the marker. A version may return after a znode was deleted and
// created again, so the marker has the run's UID in its name. The pod that succeeds in deleting the parent of all
// registrations was the last one: no pod can join after that, and this pod deletes the znodes of all.
type claims struct {
	driver *Driver
	run    *ownership.Run
	tree   tree
	// folders returns the paths of the folders with the run's keys, and how many other znodes lie beside them.
	folders func(context.Context) (paths []string, spared int64, err error)
	// sweeps: this pod is the one that deletes the znodes.
	sweeps bool
}

// mostListed is the most children of a znode that are listed at once; their names fit into a frame.
const mostListed = 2 * perFolder

// owns is the operation that fails a transaction unless the run owns its prefix.
func (c *claims) owns() any {
	return &zk.CheckVersionRequest{Path: c.tree.marker(), Version: anyVersion}
}

// makeNode is the operation that creates a persistent znode of the run.
func (c *claims) makeNode(path, data string) *zk.CreateRequest {
	return &zk.CreateRequest{Path: path, Data: []byte(data), Acl: c.driver.acl()}
}

func deleteNode(path string) *zk.DeleteRequest {
	return &zk.DeleteRequest{Path: path, Version: anyVersion}
}

// Marker implements ownership.Store.
func (c *claims) Marker() string { return c.tree.marker() }

// Prepare implements ownership.Store.
func (c *claims) Prepare(ctx context.Context) error { return c.driver.catchUp(ctx) }

// Owner implements ownership.Store. It ignores znodes that this client may not read.
func (c *claims) Owner(ctx context.Context, prefix string) (ownership.Owner, error) {
	root := rootOf(prefix)
	if root == "/" {
		return ownership.Owner{}, nil
	}
	found, err := c.driver.read(ctx, root)
	switch {
	case err == zk.ErrNoAuth:
		return ownership.Owner{}, nil
	case err != nil:
		return ownership.Owner{}, err
	}
	owner := ownership.Owner{Absent: !found.exists}
	if uid, owned := ownerIn(found.data); owned {
		owner.Owned, owner.UID = true, uid
	}
	return owner, nil
}

// ownerIn returns the owner that the data of a root names, if it is one of a run.
func ownerIn(data string) (uid string, owned bool) { return strings.CutPrefix(data, ownedBy) }

// Claim implements ownership.Store. A znode that was just created has no children. The ancestors that are absent are created
// in the same transaction, so none of them can be the root of another run; they stay after the run.
func (c *claims) Claim(ctx context.Context, absent []string) (won bool, err error) {
	var ops []any
	for _, prefix := range absent {
		ops = append(ops, &zk.CreateRequest{Path: rootOf(prefix), Acl: everybody})
	}
	ops = append(ops, c.makeNode(c.tree.root, ownedBy+c.run.UID), c.makeNode(c.tree.marker(), c.driver.keysChange()), c.makeNode(c.tree.pods(), ""), c.register())
	failed, why, err := c.driver.commit(ctx, ops...)
	switch {
	case err != nil:
		return false, err
	case failed >= 0 && why != zk.ErrNodeExists && why != zk.ErrNoNode:
		return false, why
	case failed >= 0:
		return false, nil
	}
	return true, c.makeFolders(ctx)
}

func (c *claims) register() any {
	return c.makeNode(c.tree.pod(c.run.Pod), string(c.run.LifeSign()))
}

// Join implements ownership.Store.
func (c *claims) Join(ctx context.Context) (joined bool, err error) {
	failed, why, err := c.driver.commit(ctx, c.owns(), c.register())
	switch {
	case err != nil || failed == 0:
		return false, err
	case failed == 1 && why != zk.ErrNodeExists:
		return false, nil
	}
	// If the znode exists, an earlier attempt succeeded, and its response was lost.
	return true, c.makeFolders(ctx)
}

// makeFolders creates what exists before the load, once for all pods. Pods that preload keys wait for the last one.
func (c *claims) makeFolders(ctx context.Context) error {
	if c.run.Pod > 0 && !c.driver.preloads() {
		return nil
	}
	if c.run.Pod > 0 {
		return c.awaitFolders(ctx)
	}
	var ops []any
	for _, path := range c.tree.parents() {
		ops = append(ops, c.makeNode(path, ""))
	}
	return c.change(ctx, ops, zk.ErrNodeExists)
}

// awaitFolders waits until client pod 0 has created the folders.
func (c *claims) awaitFolders(ctx context.Context) error {
	last := c.tree.folder(c.tree.folders() - 1)
	for {
		found, err := c.driver.stat(ctx, last)
		if err != nil || found.exists {
			return err
		}
		if err := load.Pause(ctx, remote.LookEvery); err != nil {
			return err
		}
	}
}

// change carries out operations in transactions that check the marker. If a transaction fails with the forgiven error, change
// tries each of its operations alone.
func (c *claims) change(ctx context.Context, ops []any, forgiven error) error {
	for batch := range slices.Chunk(ops, batch(len(c.tree.root)+c.tree.keys.KeyBytes())) {
		failed, why, err := c.driver.commit(ctx, append([]any{c.owns()}, batch...)...)
		switch {
		case err != nil:
			return err
		case failed == 0:
			return errNotOwned
		case failed > 0 && why != forgiven:
			return why
		case failed > 0 && len(batch) > 1:
			for i := range batch {
				if err := c.change(ctx, batch[i:i+1], forgiven); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// errNotOwned: the marker is gone.
var errNotOwned = load.Errorf(results.FailurePrefixNotEmpty, "the run no longer owns its prefix: its marker was deleted")

// Sign implements ownership.Store.
func (c *claims) Sign(ctx context.Context) (done bool, err error) {
	sign := &zk.SetDataRequest{Path: c.tree.pod(c.run.Pod), Data: c.run.LifeSign(), Version: anyVersion}
	failed, why, err := c.driver.commit(ctx, c.owns(), sign)
	if err == nil && failed >= 0 && why != zk.ErrNoNode {
		err = fmt.Errorf("%w: %w", load.ErrRefused, why)
	}
	return err == nil && failed < 0, err
}

// Signs implements ownership.Store.
func (c *claims) Signs(ctx context.Context) (map[string]int64, error) {
	if err := c.driver.catchUp(ctx); err != nil {
		return nil, err
	}
	found, err := c.registrations(ctx)
	signs := map[string]int64{}
	for path, pod := range found {
		signs[path] = pod.changed
	}
	return signs, err
}

// registrations returns the znodes of the pods that may write, by their paths.
func (c *claims) registrations(ctx context.Context) (map[string]node, error) {
	names, err := c.driver.list(ctx, c.tree.pods())
	if err != nil {
		return nil, err
	}
	out := map[string]node{}
	for _, name := range names {
		if !isNumber(name) {
			continue
		}
		path := c.tree.pods() + "/" + name
		found, err := c.driver.read(ctx, path)
		if err != nil {
			return nil, err
		}
		if found.exists {
			out[path] = found
		}
	}
	return out, nil
}

// Leave implements ownership.Store.
func (c *claims) Leave(ctx context.Context) (left ownership.Release, err error) {
	c.driver.endContest()
	failed, why, err := c.driver.commit(ctx, c.owns(), deleteNode(c.tree.pod(c.run.Pod)))
	switch {
	case err != nil || failed == 0:
		return left, err
	case failed > 0 && why != zk.ErrNoNode:
		return left, why
	}
	c.sweeps, err = c.isLast(ctx)
	return ownership.Release{Owned: true, Alone: c.sweeps}, err
}

// isLast returns whether this pod was the last one to write, and deletes the znodes.
func (c *claims) isLast(ctx context.Context) (bool, error) {
	own := strconv.Itoa(c.run.Pod)
	failed, why, err := c.driver.commit(ctx, c.owns(), deleteNode(c.tree.pods()), c.makeNode(c.tree.last(), own))
	switch {
	case err != nil || failed < 0:
		return err == nil, err
	case failed == 0 || why == zk.ErrNotEmpty:
		return false, nil
	case why != zk.ErrNoNode:
		return false, why
	}
	// Another pod was the last one, or this pod was and the response was lost.
	last, err := c.driver.read(ctx, c.tree.last())
	return last.data == own, err
}

// GiveUp implements ownership.Store.
func (c *claims) GiveUp(ctx context.Context, signs map[string]int64) (left ownership.Release, err error) {
	if err := c.driver.catchUp(ctx); err != nil {
		return left, err
	}
	marker, err := c.driver.stat(ctx, c.tree.marker())
	if err != nil || !marker.exists {
		return left, err
	}
	dead, err := c.registrations(ctx)
	if err != nil {
		return left, err
	}
	var ops []any
	for path, pod := range dead {
		if signs[path] != pod.changed {
			return left, load.ErrStillWrites(path)
		}
		ops = append(ops, &zk.DeleteRequest{Path: path, Version: pod.version})
	}
	// Without the parent of registrations, no pod can sign or join; that was so before if there is none.
	err = c.change(ctx, append(ops, deleteNode(c.tree.pods())), zk.ErrNoNode)
	switch err {
	case errNotOwned:
		return left, nil
	case zk.ErrBadVersion:
		return left, load.ErrStillWrites(c.tree.pods())
	case zk.ErrNotEmpty:
		return left, c.othersBesidePods(ctx, signs)
	}
	c.sweeps = err == nil
	return ownership.Release{Owned: true, Alone: c.sweeps}, err
}

// othersBesidePods is the error of a parent of registrations that cannot be deleted, although it had these signs.
func (c *claims) othersBesidePods(ctx context.Context, signs map[string]int64) error {
	pods, err := c.registrations(ctx)
	for path, pod := range pods {
		if signs[path] != pod.changed {
			return load.ErrStillWrites(path)
		}
	}
	if err == nil {
		err = ownership.ErrHoldsForeign(c.run.Prefix, "below "+c.tree.pods())
	}
	return err
}

// State implements ownership.Store.
func (c *claims) State(ctx context.Context) (owned bool, writers int64, err error) {
	marker, err := c.driver.stat(ctx, c.tree.marker())
	if err != nil || !marker.exists {
		return false, 0, err
	}
	pods, err := c.driver.stat(ctx, c.tree.pods())
	if err != nil || pods.exists {
		return true, int64(pods.children), err
	}
	if c.sweeps {
		return true, 0, nil
	}
	last, err := c.driver.read(ctx, c.tree.last())
	if err == nil && last.data == gaveUp {
		var what string
		if what, err = c.Foreign(ctx); err == nil {
			err = load.Errorf(results.FailurePrefixNotEmpty, "the client pod that deletes the run's znodes under %s has found others (%s); they and the marker of the run were left alone", c.run.Prefix, what)
		}
	}
	return true, 0, err
}

// Announce implements ownership.Announcer. A cleanup has no .last yet.
func (c *claims) Announce(ctx context.Context) error {
	_, why, err := c.driver.commit(ctx, c.owns(), c.makeNode(c.tree.last(), gaveUp))
	if why == zk.ErrNodeExists {
		_, _, err = c.driver.commit(ctx, c.owns(), &zk.SetDataRequest{Path: c.tree.last(), Data: []byte(gaveUp), Version: anyVersion})
	}
	return err
}

// Remains implements ownership.Store. A root of another run holds no znodes of this run, since every run creates its root.
func (c *claims) Remains(ctx context.Context) (what string, err error) {
	root, err := c.driver.read(ctx, c.tree.root)
	if uid, _ := ownerIn(root.data); err != nil || uid != c.run.UID {
		return "", err
	}
	return "the znode " + c.tree.root + " with " + c.someChildren(ctx, root), nil
}

// Foreign implements ownership.Store.
func (c *claims) Foreign(ctx context.Context) (string, error) {
	root, err := c.driver.read(ctx, c.tree.root)
	return "the znode " + c.tree.root + " has " + c.someChildren(ctx, root), err
}

// someChildren describes the children of the root: their number and, if there are few, an example.
func (c *claims) someChildren(ctx context.Context, root node) string {
	number := fmt.Sprintf("%d children", root.children)
	if root.children == 0 || root.children > mostListed {
		return number
	}
	names, err := c.driver.list(ctx, c.tree.root)
	for _, name := range names {
		if path := c.tree.root + "/" + name; err == nil && path != c.tree.marker() && path != c.tree.last() {
			return number + fmt.Sprintf(", such as %q", name)
		}
	}
	return number
}

// Abandon implements ownership.Store: a root without foreign znodes can be deleted.
func (c *claims) Abandon(ctx context.Context, _ int64) (done bool, err error) {
	last, err := c.driver.stat(ctx, c.tree.last())
	if err != nil {
		return false, err
	}
	ops := []any{c.owns()}
	if last.exists {
		ops = append(ops, deleteNode(c.tree.last()))
	}
	failed, why, err := c.driver.commit(ctx, append(ops, deleteNode(c.tree.marker()), deleteNode(c.tree.root))...)
	if err == nil && failed > 0 && why != zk.ErrNotEmpty && why != zk.ErrNoNode {
		err = why
	}
	return err == nil && failed < 0, err
}

// IsTooLarge implements ownership.Store: a batch is far smaller than what a server takes.
func (c *claims) IsTooLarge(error) bool { return false }

// Settle implements ownership.Store.
func (c *claims) Settle(ctx context.Context, err error) error {
	return remote.Settled(ctx, err, c.driver.explain, c.driver.addresses.String())
}
