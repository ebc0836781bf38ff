package zookeeper

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// ownClaims are the claims of the driver's own run.
func (d *Driver) ownClaims() *claims {
	c := &claims{driver: d, run: d.run, tree: d.tree}
	c.folders = func(context.Context) (paths []string, spared int64, err error) {
		for number := range c.tree.folders() {
			paths = append(paths, c.tree.folder(number))
		}
		if c.tree.names > 0 {
			paths = append(paths, c.tree.locks())
		}
		return paths, 0, nil
	}
	return c
}

// searcher is ownership.Searcher for ZooKeeper.
type searcher struct{ *Driver }

// NewLeftovers returns the leftovers of a target. It connects to nothing yet.
func NewLeftovers(t plan.Target) *ownership.Leftovers {
	return &ownership.Leftovers{Searcher: searcher{New(plan.Plan{Target: t}, 0)}}
}

// Settle implements ownership.Searcher.
func (s searcher) Settle(ctx context.Context, err error) error {
	return remote.Settled(ctx, err, s.explain, s.addresses.String())
}

// Claims implements ownership.Searcher. A run has no leases in ZooKeeper.
func (s searcher) Claims(run *ownership.Run, _ int64) ownership.Store {
	c := &claims{driver: s.Driver, run: run, tree: tree{prefix: run.Prefix, root: rootOf(run.Prefix), uid: run.UID}}
	c.folders = func(ctx context.Context) (folders []string, spared int64, err error) {
		names, err := s.list(ctx, c.tree.root)
		if err != nil {
			return nil, 0, err
		}
		for _, name := range names {
			path := c.tree.root + "/" + name
			switch {
			case isNumber(name), path == c.tree.locks():
				folders = append(folders, path)
			case path != c.tree.marker() && path != c.tree.pods() && path != c.tree.last():
				spared++
			}
		}
		slices.Sort(folders)
		return folders, spared, nil
	}
	return c
}

// Names implements ownership.Searcher.
func (s searcher) Names(ctx context.Context, folder string) ([]string, error) {
	if err := s.catchUp(ctx); err != nil {
		return nil, err
	}
	return s.children(ctx, rootOf(folder))
}

// mostSearched is the most children of a znode that are looked at one by one.
const mostSearched = 20 * perFolder

// children returns the names of a znode's children as those of folders; none if it has too many, or may not be read.
func (s searcher) children(ctx context.Context, path string) ([]string, error) {
	found, err := s.stat(ctx, path)
	var names []string
	if err == nil && found.children <= mostSearched {
		names, err = s.list(ctx, path)
	}
	// Since 3.9.4, a server also hides whether a znode exists.
	if errors.Is(err, zk.ErrNoAuth) {
		return nil, nil
	}
	slices.Sort(names)
	for i := range names {
		names[i] += "/"
	}
	return names, err
}

// mostOpened is how many znodes that no run owns Nested opens.
const mostOpened = 1000

// Nested implements ownership.Searcher.
func (s searcher) Nested(ctx context.Context, folder string) (prefixes []string, others bool, err error) {
	opened := 0
	var open func(folder string) error
	open = func(folder string) error {
		names, err := s.children(ctx, rootOf(folder))
		others = others || err == nil && len(names) == 0
		for _, name := range names {
			if opened++; opened > mostOpened {
				others = true
				return nil
			}
			found, err := s.read(ctx, rootOf(folder+name))
			_, owned := ownerIn(found.data)
			switch {
			case errors.Is(err, zk.ErrNoAuth):
				others = true
				continue
			case err != nil:
				return err
			case owned:
				prefixes = append(prefixes, folder+name)
				continue
			}
			if err := open(folder + name); err != nil {
				return err
			}
		}
		return err
	}
	return prefixes, others, open(folder)
}

// See implements ownership.Searcher. It counts no more than the children of the root's children.
func (s searcher) See(ctx context.Context, prefix string) (seen ownership.Seen, err error) {
	root := rootOf(prefix)
	defer func() {
		if errors.Is(err, zk.ErrNoAuth) {
			seen.Keys, seen.Unread, err = max(seen.Keys, 1), true, nil
		}
	}()
	found, err := s.read(ctx, root)
	if err != nil || !found.exists {
		return seen, err
	}
	seen = ownership.Seen{Marker: found.changed, Keys: 1 + int64(found.children)}
	uid, owned := ownerIn(found.data)
	if !owned {
		return seen, nil
	}
	seen.Owner = uid
	names, err := s.children(ctx, root)
	if err != nil {
		return seen, err
	}
	for _, name := range names {
		child, err := s.stat(ctx, rootOf(prefix+name))
		if err != nil {
			return seen, err
		}
		seen.Keys += int64(child.children)
	}
	c := claims{driver: s.Driver, tree: tree{root: root}}
	pods, err := c.registrations(ctx)
	for path, pod := range pods {
		seen.Pods = append(seen.Pods, ownership.Item{Key: ownership.Key{Name: path, Version: pod.changed}, Value: []byte(pod.data)})
	}
	return seen, err
}

// The versions of znodes in ownership.Key: unchanged is that of a znode whose data has never changed, and changing that of a
// key that the load changes.
const (
	unchanged = 1
	changing  = 2
)

// keysChange is the data of the marker, and says whether the load changes the znodes of keys.
func (d *Driver) keysChange() string {
	if d.preloads() {
		return "keys change"
	}
	return ""
}

// Walk implements ownership.Store.
func (c *claims) Walk() ownership.Walker { return &walker{claims: c} }

// walker lists the folders one by one. A foreign znode and its ancestors stay.
type walker struct {
	claims *claims
	// folders are those that are left, once they were looked for. pending are the keys of the current one that are left.
	begun   bool
	version int64
	folders []string
	pending []ownership.Key
	spared  int64
}

// Next implements ownership.Walker. The folder comes after its children.
func (w *walker) Next(ctx context.Context, _ int64) (page []ownership.Batch, done bool, err error) {
	if !w.begun {
		marker, err := w.claims.driver.read(ctx, w.claims.tree.marker())
		if err != nil {
			return nil, true, err
		}
		if w.folders, w.spared, err = w.claims.folders(ctx); err != nil {
			return nil, true, err
		}
		w.begun, w.version = true, unchanged
		if marker.data != "" {
			w.version = changing
		}
	}
	for len(w.pending) == 0 {
		if len(w.folders) == 0 {
			return nil, true, nil
		}
		if err := w.open(ctx, w.folders[0]); err != nil {
			return nil, true, err
		}
		w.folders = w.folders[1:]
	}
	n := min(len(w.pending), batch(len(w.pending[0].Name)))
	page, w.pending = []ownership.Batch{{Keys: w.pending[:n]}}, w.pending[n:]
	return page, false, nil
}

// open reads what a folder has. It does not list a folder with more children than the run can have created.
func (w *walker) open(ctx context.Context, folder string) error {
	found, err := w.claims.driver.stat(ctx, folder)
	if err != nil || !found.exists || found.children > mostListed {
		w.spared += int64(found.children)
		return err
	}
	var names []string
	if found.children > 0 {
		if names, err = w.claims.driver.list(ctx, folder); err != nil {
			return err
		}
	}
	for _, name := range names {
		if len(name) != leafDigits || !isNumber(name) {
			w.spared++
			continue
		}
		w.pending = append(w.pending, ownership.Key{Name: folder + "/" + name, Version: w.version})
	}
	w.pending = append(w.pending, ownership.Key{Name: folder, Version: unchanged})
	return nil
}

// isNumber reports whether a name has only digits.
func isNumber(name string) bool { return name != "" && strings.Trim(name, "0123456789") == "" }

// Passed implements ownership.Walker.
func (w *walker) Passed() (passed, of int64) { return 0, 0 }

// Spared implements ownership.Walker.
func (w *walker) Spared() int64 { return w.spared }

// Delete implements ownership.Store. The marker covers that no pod is registered: no pod can join without the parent of the
// registrations.
func (c *claims) Delete(ctx context.Context, s ownership.Batch, _ int64) (done bool, err error) {
	ops := []any{c.owns()}
	for _, key := range s.Keys {
		version := int32(0)
		if key.Version == changing {
			version = anyVersion
		}
		ops = append(ops, &zk.DeleteRequest{Path: key.Name, Version: version})
	}
	failed, _, err := c.driver.commit(ctx, ops...)
	return err == nil && failed < 0, err
}

// Reread implements ownership.Store: all versions are known.
func (c *claims) Reread(context.Context, ownership.Batch, int64) ([]ownership.Batch, error) {
	return nil, nil
}
