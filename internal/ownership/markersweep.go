package ownership

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// State implements Store.
func (m *Markers) State(ctx context.Context) (owned bool, writers int64, err error) {
	found, err := m.read(ctx)
	if err != nil || !found.own {
		return false, 0, err
	}
	pods, err := m.pods(ctx)
	return true, int64(len(pods)), err
}

// Leave implements Store. If several pods find at the same time that they are the last, each of them deletes the keys.
func (m *Markers) Leave(ctx context.Context) (left Release, err error) {
	registered, err := m.Get(ctx, m.Run.PodKey())
	if err != nil {
		return left, err
	}
	// A pod that was given up must not make keys of others older than the marker, which came since.
	if registered != nil {
		err = m.covers(ctx)
	}
	if err == nil {
		err = m.unregister(ctx)
	}
	if err != nil {
		return left, err
	}
	found, err := m.read(ctx)
	switch {
	case err != nil || !found.own:
		return left, err
	case found.is(claiming) && m.Run.Pod > 0:
		return left, fmt.Errorf("client pod 0 is still claiming the prefix %s, so its marker %s was left", m.Run.Prefix, m.Run.Marker())
	}
	pods, err := m.pods(ctx)
	return Release{Owned: true, Alone: len(pods) == 0}, err
}

// covers writes a marker in the state deleting again, before registered pods end: they had joined before that state, and their
// keys must not be newer than the marker.
func (m *Markers) covers(ctx context.Context) error {
	found, err := m.read(ctx)
	if err != nil || !found.is(deleting) {
		return err
	}
	return m.set(ctx, found, deleting)
}

// GiveUp implements Store. It deletes the pods' keys, each at the version of its last sign of life.
func (m *Markers) GiveUp(ctx context.Context, signs map[string]int64) (Release, error) {
	for {
		dead, err := m.pods(ctx)
		if err != nil {
			return Release{}, err
		}
		found, err := m.read(ctx)
		if err != nil || !found.own || len(dead) == 0 {
			return Release{Owned: found.own, Alone: found.own}, err
		}
		for _, pod := range dead {
			if signs[pod.Name] != pod.Version {
				return Release{Owned: true}, load.ErrStillWrites(pod.Name)
			}
		}
		if err := m.covers(ctx); err != nil {
			return Release{}, err
		}
		if _, err := m.DeleteAll(ctx, dead...); err != nil {
			return Release{}, err
		}
	}
}

// close returns the marker if it names the run and no pod may write, and lets no further pod join. Otherwise the error is
// ErrNotAlone.
func (m *Markers) close(ctx context.Context) (marker, error) {
	found, err := m.read(ctx)
	if err == nil && found.is(owned) {
		if err = m.set(ctx, found, deleting); err == nil {
			found, err = m.read(ctx)
		}
	}
	if err != nil {
		return found, err
	}
	pods, err := m.pods(ctx)
	if err == nil && (!found.own || len(pods) > 0) {
		err = ErrNotAlone
	}
	return found, err
}

// Walk implements Store. The batches of a page have no more keys than a server checks at a time.
func (m *Markers) Walk() Walker { return &markersWalker{markers: m} }

// markersWalker lists a page, and then looks at the marker. So no other run has written a key of that page.
type markersWalker struct {
	markers *Markers
	after   string
	spared  int64
}

func (m *Markers) pageKeys() int64 {
	const usual = 1000
	return cmp.Or(m.Page, usual)
}

// Next implements Walker. The marker was last written when no pod could write any more.
func (w *markersWalker) Next(ctx context.Context, _ int64) (page []Batch, done bool, err error) {
	m := w.markers
	items, err := m.List(ctx, m.Keys.Folder, w.after, m.pageKeys())
	if err != nil || len(items) == 0 {
		return nil, true, err
	}
	found, err := m.close(ctx)
	if err != nil {
		return nil, true, err
	}
	if found.is(claiming) {
		// A run whose claim has not ended has written nothing else.
		return nil, true, nil
	}
	var own []Key
	for _, item := range items {
		switch w.after = item.Name; {
		case m.Keys.IsOwn(item.Name) && item.Version <= found.item.Version:
			own = append(own, item.Key)
		case item.Name != m.Run.Marker() && !IsPod(m.Run.Prefix, item.Name):
			w.spared++
		}
	}
	if len(own) > 0 {
		page = []Batch{{Keys: own}}
	}
	return page, false, nil
}

// Passed implements Walker.
func (w *markersWalker) Passed() (passed, of int64) { return 0, 0 }

// Spared implements Walker.
func (w *markersWalker) Spared() int64 { return w.spared }

// Delete implements Store. Next has looked at the marker.
func (m *Markers) Delete(ctx context.Context, s Batch, _ int64) (done bool, err error) {
	_, err = m.DeleteAll(ctx, s.Keys...)
	return err == nil, err
}

// Reread implements Store.
func (m *Markers) Reread(context.Context, Batch, int64) ([]Batch, error) { return nil, nil }

// IsTooLarge implements Store: no request has several keys.
func (m *Markers) IsTooLarge(error) bool { return false }

// Abandon implements Store.
func (m *Markers) Abandon(ctx context.Context, _ int64) (done bool, err error) {
	found, err := m.close(ctx)
	if err != nil {
		return false, err
	}
	if !found.is(claiming) {
		left, err := m.List(ctx, m.Keys.Folder, "", 2)
		if err != nil || slices.ContainsFunc(left, func(item Item) bool { return item.Name != m.Run.Marker() }) {
			return false, err
		}
	}
	return m.DeleteAll(ctx, found.item.Key)
}
