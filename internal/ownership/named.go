package ownership

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
)

// Deleter deletes several keys by one request.
type Deleter interface {
	// DeleteIf deletes keys, whatever their versions are, if the guard has its version. A missing key counts as deleted.
	DeleteIf(ctx context.Context, guard Key, keys []Key) (done bool, err error)
	// IsTooLarge reports whether the store refused a request because of its size.
	IsTooLarge(error) bool
}

// Names are keys by their numbers, and how many others lie beside them.
type Names struct {
	Count, Spared int64
	Name          func(number int64) string
}

// Named is Markers for a store that lists no pages. It deletes keys by their names, while the marker is unchanged. A key of
// others that has the name of a key of the run is deleted, too.
//
// KV.List returns the first names of a folder. A name may end with its next slash. Only keys of pods have their versions.
type Named struct {
	Markers
	Deleter Deleter
	// Names returns the keys of the run that may exist. Batch is how many of them are deleted at a time.
	Names func(context.Context) (Names, error)
	Batch int
	// guard is the version of the marker when it was last looked at.
	guard atomic.Int64
}

// look fails unless the run owns the prefix and no pod may write. wrote is false if its claim has not ended.
func (n *Named) look(ctx context.Context) (wrote bool, err error) {
	found, err := n.close(ctx)
	if err != nil {
		return false, err
	}
	n.guard.Store(found.item.Version)
	return !found.is(claiming), nil
}

// Walk implements Store.
func (n *Named) Walk() Walker { return &namedWalker{named: n} }

// namedWalker finds the names, and then looks at the marker. So no other run has written the keys.
type namedWalker struct {
	named *Named
	names Names
	at    int64
}

// Next implements Walker.
func (w *namedWalker) Next(ctx context.Context, _ int64) (page []Batch, done bool, err error) {
	if w.names.Name == nil {
		if w.names, err = w.named.Names(ctx); err != nil {
			return nil, true, err
		}
	}
	if wrote, err := w.named.look(ctx); err != nil || !wrote {
		return nil, true, err
	}
	var keys []Key
	for ; w.at < w.names.Count && int64(len(keys)) < w.named.pageKeys(); w.at++ {
		keys = append(keys, Key{Name: w.names.Name(w.at)})
	}
	for batch := range slices.Chunk(keys, w.named.Batch) {
		page = append(page, Batch{Keys: batch})
	}
	return page, len(page) == 0, nil
}

// Passed implements Walker.
func (w *namedWalker) Passed() (passed, of int64) { return w.at, w.named.Run.Things }

// Spared implements Walker.
func (w *namedWalker) Spared() int64 { return w.names.Spared }

// Delete implements Store.
func (n *Named) Delete(ctx context.Context, s Batch, _ int64) (done bool, err error) {
	return n.Deleter.DeleteIf(ctx, Key{Name: n.Run.Marker(), Version: n.guard.Load()}, s.Keys)
}

// Reread implements Store: the marker has changed.
func (n *Named) Reread(ctx context.Context, s Batch, _ int64) ([]Batch, error) {
	_, err := n.look(ctx)
	return []Batch{s}, err
}

// IsTooLarge implements Store.
func (n *Named) IsTooLarge(err error) bool { return n.Deleter.IsTooLarge(err) }

// Remains implements Store. It looks at one key: if that is of a later run, the others are, too, because a run makes its marker
// before its keys.
func (n *Named) Remains(ctx context.Context) (what string, err error) {
	left, err := n.pods(ctx)
	if err != nil {
		return "", err
	}
	found, err := n.List(ctx, n.Keys.Folder, "", n.pageKeys())
	for _, item := range found {
		if n.Keys.IsOwn(item.Name) {
			left = append(left, item.Key)
		}
	}
	if err != nil || len(left) == 0 {
		return "", err
	}
	first, err := n.Get(ctx, left[0].Name)
	if err != nil || first == nil {
		return "", err
	}
	now, err := n.read(ctx)
	if err != nil || now.own || now.isNewer(*first) {
		return "", err
	}
	return fmt.Sprintf("the key %q", first.Name), nil
}
