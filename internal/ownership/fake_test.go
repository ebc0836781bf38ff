package ownership

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// world is a store that several actors use. Each of their requests waits until it is its turn.
type world struct {
	mutex sync.Mutex
	// revision counts the writes. recurs: the version of a key begins again when it is made again.
	revision int64
	recurs   bool
	// unread: a walk does not read which keys exist.
	unread bool
	keys   map[string]Item
	// owners has who made each key: the UID of a run, or empty for others. broken is the first violation of an invariant.
	owners map[string]string
	broken string
	// givenUp are the keys of pods that a cleanup has deleted.
	givenUp map[string]bool
	// waiting are the actors whose request waits for its turn.
	waiting map[*actor]chan turn
}

// turn says what becomes of a request.
type turn int

const (
	// answered: it is carried out and answered. lost: it is carried out, and the answer is lost. refused: it is not carried out.
	// crashed: the actor ends.
	answered turn = iota
	lost
	refused
	crashed
)

// actor is a pod, a cleanup, or somebody else, whose UID is empty.
type actor struct {
	name, uid string
	world     *world
	// seen are the signs of life that a cleanup has seen.
	seen map[string]int64
}

var (
	errCrashed = errors.New("the actor has crashed")
)

// request waits for its turn. A request whose answer is lost, or that was refused, is repeated, as drivers do.
func (a *actor) request(do func()) error {
	for {
		turns := make(chan turn, 1)
		a.world.mutex.Lock()
		a.world.waiting[a] = turns
		a.world.mutex.Unlock()
		t := <-turns
		if t == crashed {
			return errCrashed
		}
		if t != refused {
			a.world.mutex.Lock()
			do()
			a.world.mutex.Unlock()
		}
		if t == answered {
			return nil
		}
	}
}

// actors returns those whose request waits, by name.
func (w *world) actors() []*actor {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.SortedFunc(maps.Keys(w.waiting), func(a, b *actor) int { return strings.Compare(a.name, b.name) })
}

// next gives an actor its turn.
func (w *world) next(a *actor, t turn) {
	w.mutex.Lock()
	turns := w.waiting[a]
	delete(w.waiting, a)
	w.mutex.Unlock()
	turns <- t
}

func (a *actor) put(key, value string) {
	w := a.world
	a.touches(key)
	w.owners[key] = a.uid
	if _, exists := w.keys[key]; !exists {
		// A pod whose claim was repeated is registered again.
		delete(w.givenUp, a.uid+key)
	}
	w.revision++
	old, exists := w.keys[key]
	item := Item{Key: Key{Name: key, Version: w.revision}, Value: []byte(value), Created: w.revision}
	if exists {
		item.Created = old.Created
	}
	if w.recurs {
		item.Version = old.Version + 1
	}
	w.keys[key] = item
}

func (a *actor) delete(key string) {
	a.touches(key)
	if version := a.world.keys[key].Version; a.seen != nil && a.world.owners[key] == a.uid && strings.Contains(key, PodsFolder) {
		a.world.givenUp[a.uid+key] = true
		if a.seen[key] != version {
			a.world.violates("%s gives up %s, which has signed since", a.name, key)
		}
	}
	a.world.revision++
	delete(a.world.keys, key)
}

// touches checks that a key is not of others.
func (a *actor) touches(key string) {
	if _, exists := a.world.keys[key]; exists && a.world.owners[key] != a.uid {
		a.world.violates("%s changes %s, which %q has made", a.name, key, a.world.owners[key])
	}
}

func (w *world) violates(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
	}
}

// under returns the keys under a prefix, in their order.
func (w *world) under(prefix string) (found []Item) {
	for _, name := range slices.Sorted(maps.Keys(w.keys)) {
		if strings.HasPrefix(name, prefix) {
			found = append(found, w.keys[name])
		}
	}
	return found
}

// fakeKV is KV with one request for each call, or for each key of DeleteAll.
type fakeKV struct{ *actor }

func (f fakeKV) Get(_ context.Context, key string) (found *Item, err error) {
	err = f.request(func() {
		found = nil
		if item, ok := f.world.keys[key]; ok {
			found = &item
		}
	})
	return found, err
}

func (f fakeKV) Create(ctx context.Context, key string, value []byte) (created bool, err error) {
	return f.Swap(ctx, key, value, 0)
}

func (f fakeKV) Swap(_ context.Context, key string, value []byte, version int64) (swapped bool, err error) {
	err = f.request(func() {
		if swapped = f.world.keys[key].Version == version; swapped {
			f.put(key, string(value))
		}
	})
	return swapped, err
}

func (f fakeKV) DeleteAll(_ context.Context, keys ...Key) (all bool, err error) {
	all = true
	for _, key := range keys {
		err := f.request(func() {
			if item, exists := f.world.keys[key.Name]; exists && item.Version == key.Version {
				f.delete(key.Name)
			}
			if _, exists := f.world.keys[key.Name]; exists {
				all = false
			}
		})
		if err != nil {
			return false, err
		}
	}
	return all, nil
}

func (f fakeKV) List(_ context.Context, folder, after string, most int64) (found []Item, err error) {
	err = f.request(func() {
		found = nil
		for _, item := range f.world.under(folder) {
			if item.Name > after && int64(len(found)) < most {
				item.Value = nil
				found = append(found, item)
			}
		}
	})
	return found, err
}

// fakeMarkers is Store for a store with single keys only.
type fakeMarkers struct{ Markers }

func (fakeMarkers) Settle(_ context.Context, err error) error { return err }

func newFakeMarkers(a *actor, run *Run) Store {
	return &fakeMarkers{Markers{KV: fakeKV{a}, Run: run, Page: 2, Keys: Keyspace{Folder: run.Prefix + "registry/", IsOwn: func(name string) bool { return isLoad(run.Prefix, name) }}}}
}

// fakeNamed is Store for a store with single keys, names, and transactions that check one key.
type fakeNamed struct{ Named }

func (*fakeNamed) Settle(_ context.Context, err error) error { return err }

func newFakeNamed(a *actor, run *Run) Store {
	markers := newFakeMarkers(a, run).(*fakeMarkers).Markers
	return &fakeNamed{Named{Markers: markers, Deleter: fakeDeleter{fakeKV{a}}, Batch: 2, Names: func(context.Context) (Names, error) {
		return Names{Count: 10, Name: func(number int64) string { return fmt.Sprintf("%sregistry/%d", run.Prefix, number) }}, nil
	}}}
}

type fakeDeleter struct{ fakeKV }

func (f fakeDeleter) DeleteIf(_ context.Context, guard Key, keys []Key) (done bool, err error) {
	err = f.request(func() {
		if done = f.world.keys[guard.Name].Version == guard.Version; !done {
			return
		}
		for _, key := range keys {
			if _, exists := f.world.keys[key.Name]; exists {
				f.delete(key.Name)
			}
		}
	})
	return done, err
}

func (fakeDeleter) IsTooLarge(error) bool { return false }

// isLoad reports whether a key has the name of one that a run writes.
func isLoad(prefix, name string) bool {
	return strings.HasPrefix(name, prefix+"registry/") && len(name) == len(prefix+"registry/")+1
}

// modelKeys is how many keys a pod writes.
const modelKeys = 4

func loadKey(prefix string, number int) string {
	return fmt.Sprintf("%sregistry/%d", prefix, number)
}

// fakeTransactions is Store for a store with transactions. A batch of more than two keys is too large.
type fakeTransactions struct {
	*actor
	run *Run
}

var errTooLarge = errors.New("too many keys")

func newFakeTransactions(a *actor, run *Run) Store { return &fakeTransactions{actor: a, run: run} }

func (f *fakeTransactions) Marker() string { return f.run.Marker() }

func (f *fakeTransactions) Prepare(context.Context) error { return nil }

func (f *fakeTransactions) Settle(_ context.Context, err error) error { return err }

func (f *fakeTransactions) IsTooLarge(err error) bool { return errors.Is(err, errTooLarge) }

func (f *fakeTransactions) owns() bool {
	return string(f.world.keys[f.run.Marker()].Value) == f.run.UID
}

func (f *fakeTransactions) pods() (found []Item) {
	for _, item := range f.world.under(f.run.Prefix) {
		if IsPod(f.run.Prefix, item.Name) {
			found = append(found, item)
		}
	}
	return found
}

// released is the revision of the release, by the marker; 0 in a store whose versions begin again.
func (f *fakeTransactions) released() int64 {
	if f.world.recurs {
		return 0
	}
	return f.world.keys[f.run.Marker()].Version
}

func (f *fakeTransactions) Owner(_ context.Context, prefix string) (owner Owner, err error) {
	err = f.request(func() {
		marker, exists := f.world.keys[MarkerOf(prefix)]
		owner = Owner{Owned: exists, UID: string(marker.Value), Absent: !exists}
	})
	return owner, err
}

func (f *fakeTransactions) Claim(_ context.Context, absent []string) (won bool, err error) {
	err = f.request(func() {
		won = len(f.world.under(f.run.Prefix)) == 0
		for _, prefix := range absent {
			_, exists := f.world.keys[MarkerOf(prefix)]
			won = won && !exists
		}
		if won {
			f.put(f.run.Marker(), f.run.UID)
			f.put(f.run.PodKey(), "")
		}
	})
	return won, err
}

func (f *fakeTransactions) Join(context.Context) (joined bool, err error) {
	err = f.request(func() {
		if joined = f.owns(); joined {
			f.put(f.run.PodKey(), "")
		}
	})
	return joined, err
}

func (f *fakeTransactions) Sign(context.Context) (done bool, err error) {
	err = f.request(func() {
		_, registered := f.world.keys[f.run.PodKey()]
		if done = f.owns() && registered; done {
			f.put(f.run.PodKey(), "")
		}
	})
	return done, err
}

func (f *fakeTransactions) Signs(context.Context) (signs map[string]int64, err error) {
	err = f.request(func() {
		signs = map[string]int64{}
		for _, pod := range f.pods() {
			signs[pod.Name] = pod.Version
		}
	})
	return signs, err
}

// Leave writes the marker again only if the pod was registered: one that was given up must not make keys of others older than
// the marker, which came since.
func (f *fakeTransactions) Leave(context.Context) (left Release, err error) {
	err = f.request(func() {
		if left = (Release{}); !f.owns() {
			return
		}
		if _, registered := f.world.keys[f.run.PodKey()]; registered {
			f.delete(f.run.PodKey())
			f.put(f.run.Marker(), f.run.UID)
		}
		left = Release{Owned: true, Alone: len(f.pods()) == 0, Revision: f.released()}
	})
	return left, err
}

func (f *fakeTransactions) GiveUp(_ context.Context, signs map[string]int64) (left Release, err error) {
	err = f.request(func() {
		if left = (Release{}); !f.owns() {
			return
		}
		if len(f.pods()) == 0 {
			left = Release{Owned: true, Alone: true, Revision: f.released()}
			return
		}
		for _, pod := range f.pods() {
			if signs[pod.Name] != pod.Version {
				return
			}
		}
		for _, pod := range f.pods() {
			f.delete(pod.Name)
		}
		f.put(f.run.Marker(), f.run.UID)
		left = Release{Owned: true, Alone: true, Revision: f.released()}
	})
	return left, err
}

func (f *fakeTransactions) State(context.Context) (owned bool, writers int64, err error) {
	err = f.request(func() { owned, writers = f.owns(), int64(len(f.pods())) })
	return owned, writers, err
}

func (f *fakeTransactions) load() (found []Item) {
	for _, item := range f.world.under(f.run.Prefix) {
		if isLoad(f.run.Prefix, item.Name) {
			found = append(found, item)
		}
	}
	return found
}

func (f *fakeTransactions) Remains(context.Context) (what string, err error) {
	err = f.request(func() {
		marker, exists := f.world.keys[f.run.Marker()]
		for _, item := range append(f.pods(), f.load()...) {
			if what = ""; !exists || item.Created < marker.Created {
				what = item.Name
				return
			}
		}
	})
	return what, err
}

func (f *fakeTransactions) Foreign(context.Context) (what string, err error) {
	err = f.request(func() { what = "keys" })
	return what, err
}

func (f *fakeTransactions) Walk() Walker { return &fakeWalker{store: f} }

func (f *fakeTransactions) Reread(_ context.Context, s Batch, released int64) (found []Batch, err error) {
	err = f.request(func() {
		found = nil
		for _, key := range s.Keys {
			if item, exists := f.world.keys[key.Name]; exists && (released == 0 || item.Version <= released) {
				found = append(found, Batch{Keys: []Key{item.Key}})
			}
		}
	})
	return found, err
}

func (f *fakeTransactions) Delete(_ context.Context, s Batch, released int64) (done bool, err error) {
	if len(s.Keys) > 2 {
		return false, errTooLarge
	}
	err = f.request(func() {
		done = f.owns() && len(f.pods()) == 0
		for _, key := range s.Keys {
			item, exists := f.world.keys[key.Name]
			done = done && (key.Version == 0 || exists && item.Version == key.Version) && (released == 0 || item.Version <= released)
		}
		if done {
			for _, key := range s.Keys {
				f.delete(key.Name)
			}
		}
	})
	return done, err
}

func (f *fakeTransactions) Abandon(context.Context, int64) (done bool, err error) {
	err = f.request(func() {
		if done = f.owns() && len(f.pods()) == 0 && len(f.world.under(f.run.Prefix+"registry/")) == 0; done {
			f.delete(f.run.Marker())
		}
	})
	return done, err
}

// fakeWalker lists keys, or names all that a run can write if the store is unread.
type fakeWalker struct {
	store *fakeTransactions
	over  bool
}

func (w *fakeWalker) Next(_ context.Context, released int64) (page []Batch, done bool, err error) {
	if w.over {
		return nil, true, nil
	}
	w.over = true
	if w.store.world.unread {
		var keys []Key
		for number := range modelKeys {
			keys = append(keys, Key{Name: loadKey(w.store.run.Prefix, number)})
		}
		return []Batch{{Keys: keys}}, false, nil
	}
	err = w.store.request(func() {
		var keys []Key
		for _, item := range w.store.load() {
			if released == 0 || item.Version <= released {
				keys = append(keys, item.Key)
			}
		}
		if page = nil; len(keys) > 0 {
			page = []Batch{{Keys: keys}}
		}
	})
	return page, false, err
}

func (w *fakeWalker) Passed() (passed, of int64) { return 0, 0 }

func (w *fakeWalker) Spared() int64 { return 0 }
