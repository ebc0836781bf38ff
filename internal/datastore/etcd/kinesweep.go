package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/reach"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Release implements load.Driver.
func (k *Kine) Release(ctx context.Context) (results.Cleaning, error) {
	c, err := k.client(ctx)
	if err == nil {
		err = k.release(ctx, c)
	}
	if err != nil {
		return results.CleaningKeysLeft, settled(ctx, err, k.driver.addresses())
	}
	return results.CleaningKeysDeleted, nil
}

// release gives up this pod's registration. The last pod deletes the keys; if several pods find at the same time that they
// are the last, each of them does.
func (k *Kine) release(ctx context.Context, c kineClient) error {
	if err := k.leave(ctx, c); err != nil {
		return err
	}
	m, err := k.marker(ctx, c)
	switch {
	case err != nil:
		return err
	case m.is(markerClaiming) && k.driver.index > 0:
		return fmt.Errorf("client pod 0 is still claiming the prefix %s, so its marker %s was left", k.driver.plan.Prefix, k.driver.markerKey())
	}
	if err := k.hasLeft(ctx, c, m); err != nil {
		return err
	}
	deleted, writers, err := k.claimState(ctx, c)
	if err != nil || deleted {
		return err
	}
	if writers == 0 {
		if err := k.sweep(ctx, c); !errors.Is(err, errNotAlone) {
			return err
		}
	}
	return reach.AwaitDeleted(ctx, deletionFactor*k.driver.plan.PreloadCount(), func(ctx context.Context) (bool, int64, error) { return k.claimState(ctx, c) })
}

// hasLeft is called after a pod has given up its registration, or was given up. It writes a marker in the state deleting again:
// this pod had joined before that state, and its keys must not be newer than the marker.
func (k *Kine) hasLeft(ctx context.Context, c kineClient, m kineMarker) error {
	if !m.is(markerDeleting) {
		return nil
	}
	return k.setMarker(ctx, c, m, markerDeleting)
}

// deletionFactor is how much longer kine needs for a deletion than etcd.
const deletionFactor = 8

// claimState returns whether the run's marker is gone, and with it all keys that it covered. If not, it returns how many
// pods may still write.
func (k *Kine) claimState(ctx context.Context, c kineClient) (deleted bool, writers int64, err error) {
	m, err := k.marker(ctx, c)
	switch {
	case err != nil:
		return false, 0, err
	case !m.own:
		err = k.checkNothingLeft(ctx, c)
		return err == nil, 0, err
	}
	pods, err := k.pods(ctx, c)
	return false, int64(len(pods)), err
}

// checkNothingLeft is called once the prefix no longer belongs to the run. It fails if keys of the run are left. Those of
// another run are newer than its marker, which is read after them: a run that claims in between has no older keys.
func (k *Kine) checkNothingLeft(ctx context.Context, c kineClient) error {
	left, err := k.pods(ctx, c)
	if err != nil {
		return err
	}
	from, to := k.driver.loadRange()
	objects, err := c.list(ctx, from, to, 1)
	if err != nil {
		return err
	}
	m, err := k.marker(ctx, c)
	if err != nil || m.own {
		return err
	}
	for _, kv := range append(left, objects...) {
		if m.kv == nil {
			return k.driver.leftWithout(nil, fmt.Sprintf("the key %q", kv.Key))
		}
		if kv.CreateRevision < m.kv.CreateRevision {
			return k.driver.leftWithout([]*mvccpb.KeyValue{m.kv}, fmt.Sprintf("the key %q", kv.Key))
		}
	}
	return nil
}

// Clean implements load.Driver.
func (k *Kine) Clean(ctx context.Context, signs map[string]int64) error {
	c, err := k.client(ctx)
	if err == nil {
		err = k.clean(ctx, c, signs)
	}
	return settled(ctx, err, k.driver.addresses())
}

// clean first gives the dead pods up, each at the revision of its last sign of life.
func (k *Kine) clean(ctx context.Context, c kineClient, signs map[string]int64) error {
	for {
		dead, err := k.pods(ctx, c)
		if err != nil {
			return err
		}
		m, err := k.marker(ctx, c)
		switch {
		case err != nil:
			return err
		case !m.own:
			return k.checkNothingLeft(ctx, c)
		case len(dead) == 0:
			return k.sweep(ctx, c)
		}
		for _, kv := range dead {
			if signs[string(kv.Key)] != kv.ModRevision {
				return load.ErrStillWrites(string(kv.Key))
			}
		}
		if err := c.deleteAll(ctx, dead); err != nil {
			return err
		}
		if err := k.hasLeft(ctx, c, m); err != nil {
			return err
		}
	}
}

// sweep deletes the run's objects, and then the marker. A run whose claim has not ended has written nothing else.
func (k *Kine) sweep(ctx context.Context, c kineClient) error {
	m, err := k.marker(ctx, c)
	switch {
	case err != nil:
		return err
	case m.is(markerClaiming):
		return c.delete(ctx, k.driver.markerKey(), m.kv.ModRevision)
	}
	for range sweepAttempts {
		if err := k.deleteObjects(ctx, c); err != nil {
			return err
		}
		if swept, err := k.deleteMarker(ctx, c); swept || err != nil {
			return err
		}
	}
	left, err := c.list(ctx, k.driver.plan.Prefix, clientv3.GetPrefixRangeEnd(k.driver.plan.Prefix), 2)
	if err == nil {
		err = k.driver.errKeysOfOthers(left)
	}
	return err
}

// errGone: the marker no longer names the run.
var errGone = errors.New("the prefix no longer belongs to the run")

// check returns the marker if it names the run and no pod may write. It lets no further pod join. The error is errGone if
// another run, or none, owns the prefix, and errNotAlone if a pod may write.
func (k *Kine) check(ctx context.Context, c kineClient) (kineMarker, error) {
	m, err := k.marker(ctx, c)
	if err == nil && m.is(markerOwned) {
		if err = k.setMarker(ctx, c, m, markerDeleting); err == nil {
			m, err = k.marker(ctx, c)
		}
	}
	switch {
	case err != nil:
		return m, err
	case !m.own:
		return m, errGone
	}
	pods, err := k.pods(ctx, c)
	if err == nil && len(pods) > 0 {
		err = errNotAlone
	}
	return m, err
}

func (k *Kine) deleteObjects(ctx context.Context, c kineClient) error {
	from, to := k.driver.loadRange()
	var marker kineMarker
	check := func(ctx context.Context) (err error) {
		marker, err = k.check(ctx, c)
		return err
	}
	// The marker was last written when no pod could write any more.
	_, err := c.deletePages(ctx, from, to, check, func(kv *mvccpb.KeyValue) bool {
		return kv.ModRevision <= marker.kv.ModRevision && workload.IsObject(k.driver.plan.Prefix, kv.Key)
	})
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// deleteMarker gives up the prefix if none of the run's objects is left.
func (k *Kine) deleteMarker(ctx context.Context, c kineClient) (swept bool, err error) {
	m, err := k.check(ctx, c)
	if errors.Is(err, errGone) {
		return true, k.checkNothingLeft(ctx, c)
	}
	if err != nil {
		return false, err
	}
	from, to := k.driver.loadRange()
	left, err := c.list(ctx, from, to, 1)
	if err != nil || len(left) > 0 {
		return false, err
	}
	return true, c.delete(ctx, k.driver.markerKey(), m.kv.ModRevision)
}

// deletePages deletes the keys of a range that isOwn accepts, page by page. It lists a page, calls check, and then deletes
// the keys at the revisions that were listed. So if check finds that the run still owns the prefix, no other run has written
// a key of that page. It returns how many keys it has deleted.
func (c kineClient) deletePages(ctx context.Context, from, to string, check func(context.Context) error, isOwn func(*mvccpb.KeyValue) bool) (deleted int64, err error) {
	for {
		began := time.Now()
		page, err := c.list(ctx, from, to, sweepBlock)
		if err != nil || len(page) == 0 {
			return deleted, err
		}
		if err := check(ctx); err != nil {
			return deleted, err
		}
		from = string(page[len(page)-1].Key) + "\x00"
		own := slices.DeleteFunc(page, func(kv *mvccpb.KeyValue) bool { return !isOwn(kv) })
		if err := c.deleteAll(ctx, own); err != nil {
			return deleted, err
		}
		deleted += int64(len(own))
		// Half of the time is left to other users of the target.
		if err := pause(ctx, time.Since(began)); err != nil {
			return deleted, err
		}
	}
}
