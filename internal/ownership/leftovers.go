package ownership

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// Searcher is a store in which runs can have left keys.
type Searcher interface {
	// Names returns the names after a folder, up to their next slash, and with it.
	Names(ctx context.Context, folder string) ([]string, error)
	// Nested returns the prefixes of runs below a folder that no run owns, and whether there is anything else. It looks at about
	// a thousand keys, and takes it that there is more.
	Nested(ctx context.Context, folder string) (prefixes []string, others bool, err error)
	// See returns what lies under a prefix.
	See(ctx context.Context, prefix string) (Seen, error)
	// Claims returns the store for deleting all keys that any run can have written under the prefix of this one, and the leases
	// with IDs from firstLease on.
	Claims(run *Run, firstLease int64) Store
	// Settle is the error that a method of Leftovers returns.
	Settle(context.Context, error) error
	// Close closes the connections.
	Close() error
}

// Seen is what lies under a prefix.
type Seen struct {
	// Owner is the UID of the run that owns the prefix; empty without a marker.
	Owner string
	// Marker is the version of the marker.
	Marker int64
	// Unread: the user may not read all of it.
	Unread bool
	// Pods are the keys of registered pods.
	Pods []Item
	// Keys counts all keys under the prefix, the marker included.
	Keys int64
}

// NestedIn returns the prefixes of runs among names, and whether another name lies beside these.
func NestedIn(names []string) (prefixes []string, others bool) {
	for _, name := range names {
		if prefix, isMarker := strings.CutSuffix(name, MarkerOf("")); isMarker && strings.HasSuffix(prefix, "/") {
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes, slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
}

// SeenAt is what lies under a prefix with this marker, if there is one, and these keys in the folder of its pods.
func SeenAt(prefix string, marker *Item, pods []Item, keys int64) Seen {
	seen := Seen{Keys: keys, Pods: slices.DeleteFunc(pods, func(item Item) bool { return !IsPod(prefix, item.Name) })}
	if marker != nil {
		seen.Owner, _ = OwnerIn(marker.Value)
		seen.Marker = marker.Version
	}
	return seen
}

// Leftovers finds and removes what runs left in a target that could not delete their keys.
type Leftovers struct{ Searcher }

// Leftover is what lies under one prefix.
type Leftover struct {
	Prefix string
	// Owner is the UID of the run that owns the prefix; empty without a marker.
	Owner string
	// Unread: the user may not read all of it, so the other fields are incomplete.
	Unread bool
	// Keys counts all keys under the prefix, the marker included.
	Keys int64
	// Began and Seen are the times of the first and of the newest sign of life of its pods, by their clocks; zero if
	// unknown.
	Began, Seen time.Time
	// Quiet is how long the keys of its pods must not change until the pods send nothing any more.
	Quiet time.Duration
	// marker is the version of the marker, signs those of the pods' keys.
	marker int64
	signs  map[string]int64
}

// IsSame reports whether nothing has changed between two looks at a prefix.
func (l Leftover) IsSame(other Leftover) bool {
	return l.Prefix == other.Prefix && l.Keys == other.Keys && l.Owner == other.Owner && l.marker == other.marker && maps.Equal(l.signs, other.signs)
}

// List returns what lies under root, which ends with a slash: a leftover for each prefix with a marker, and one for each name
// after root under which there is more. The lock of the target is none: it expires by itself.
func (l *Leftovers) List(ctx context.Context, root string) (all []Leftover, err error) {
	names, err := l.Names(ctx, root)
	for _, name := range names {
		if root+name == LockKey {
			continue
		}
		if all, err = l.add(ctx, all, root+name); err != nil {
			break
		}
	}
	return all, l.Settle(ctx, err)
}

// add adds what lies at a name, and the prefixes of runs below it if no run owns it.
func (l *Leftovers) add(ctx context.Context, all []Leftover, name string) ([]Leftover, error) {
	found, err := l.look(ctx, name)
	if err != nil {
		return nil, err
	}
	if found.Owner != "" || !strings.HasSuffix(name, "/") {
		return append(all, found), nil
	}
	below, others, err := l.Nested(ctx, name)
	if err != nil {
		return nil, err
	}
	if others {
		all = append(all, found)
	}
	for _, prefix := range below {
		if found, err = l.look(ctx, prefix); err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all, nil
}

// Look returns what lies under a prefix now.
func (l *Leftovers) Look(ctx context.Context, prefix string) (Leftover, error) {
	found, err := l.look(ctx, prefix)
	return found, l.Settle(ctx, err)
}

func (l *Leftovers) look(ctx context.Context, prefix string) (Leftover, error) {
	seen, err := l.See(ctx, prefix)
	if err != nil {
		return Leftover{}, err
	}
	out := Leftover{Prefix: prefix, Owner: seen.Owner, Unread: seen.Unread, Keys: seen.Keys, marker: seen.Marker, signs: map[string]int64{}, Quiet: plan.StillFor(0)}
	for _, pod := range seen.Pods {
		out.signs[pod.Name] = pod.Version
		var sign LifeSign
		if json.Unmarshal(pod.Value, &sign) != nil || sign.Began.IsZero() {
			continue
		}
		out.Quiet = max(out.Quiet, plan.StillFor(time.Duration(max(sign.RequestTimeoutSeconds, 0))*time.Second))
		if out.Began.IsZero() || sign.Began.Before(out.Began) {
			out.Began = sign.Began
		}
		if sign.Seen.After(out.Seen) {
			out.Seen = sign.Seen
		}
	}
	return out, nil
}

// Removal is what Remove has deleted.
type Removal struct {
	Keys, Leases int64
	// Foreign is at least how many keys are left, because no run writes such keys, or because they changed after the run had
	// ended.
	Foreign int64
}

// ErrChanged is returned if a prefix has changed since it was looked at: it may be in use.
var ErrChanged = errors.New("it changed while its keys were deleted, so it may be in use; the remaining keys were left alone")

// Remove deletes what a run can have written under a prefix that it owns, and the leases of the run, which begin with the
// ID firstLease, as the cleanup of the run does. The marker stays while keys of others are left.
func (l *Leftovers) Remove(ctx context.Context, old Leftover, firstLease int64) (done Removal, err error) {
	now, err := l.look(ctx, old.Prefix)
	if err != nil {
		return done, l.Settle(ctx, err)
	}
	if !now.IsSame(old) || old.Owner == "" || !strings.HasSuffix(old.Prefix, "/") {
		return done, ErrChanged
	}
	run := &Run{Prefix: old.Prefix, UID: old.Owner}
	o := New(run, l.Claims(run, firstLease))
	err = o.clean(ctx, old.signs)
	done = Removal{Keys: o.work.keys.Load(), Leases: o.work.revoked, Foreign: o.work.spared}
	switch {
	case o.spares:
		done.Foreign = max(done.Foreign, 1)
		return done, nil
	case load.StillWrites(err), errors.Is(err, ErrNotAlone):
		return done, ErrChanged
	case err == nil:
		// The marker, and the keys of the pods.
		done.Keys += 1 + int64(len(old.signs))
	}
	return done, l.Settle(ctx, err)
}

// LockKey is the lock of the target, in stores where it is a key. It lies beside the default prefixes of runs: most users with
// rights on these may write it.
const LockKey = "etcdbench/.lock"
