package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/reach"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Release implements load.Driver.
func (k *Kine) Release(ctx context.Context) (results.Cleaning, error) {
	k.driver.endBeat()
	c, err := k.client(ctx)
	if err == nil {
		err = k.release(ctx, c)
	}
	if err != nil {
		return results.CleaningKeysLeft, settled(ctx, err, k.driver.addresses())
	}
	return results.CleaningKeysDeleted, nil
}

// release: if several pods are the last ones at the same time, each of them deletes the keys.
func (k *Kine) release(ctx context.Context, c kineClient) error {
	if err := k.leave(ctx, c); err != nil {
		return err
	}
	m, err := k.marker(ctx, c)
	switch {
	case err != nil:
		return err
	case m.is(markerClaiming) && k.driver.index > 0:
		return fmt.Errorf("client pod 0 has not ended the claim of the prefix %s; its marker stays", k.driver.plan.Prefix)
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
func (k *Kine) Clean(ctx context.Context) error {
	c, err := k.client(ctx)
	if err == nil {
		err = k.clean(ctx, c)
	}
	return settled(ctx, err, k.driver.addresses())
}

func (k *Kine) clean(ctx context.Context, c kineClient) error {
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
		if err := c.deleteAll(ctx, dead); err != nil {
			return err
		}
	}
}

// sweep deletes the run's objects, and then the marker. A run whose claim has not ended has written nothing else.
func (k *Kine) sweep(ctx context.Context, c kineClient) error {
	m, err := k.marker(ctx, c)
	if err != nil || m.is(markerClaiming) {
		if err == nil {
			err = c.delete(ctx, k.driver.markerKey(), m.kv.ModRevision)
		}
		return err
	}
	for range sweepAttempts {
		if err := k.deleteObjects(ctx, c); err != nil {
			return err
		}
		if swept, err := k.deleteMarker(ctx, c); swept || err != nil {
			return err
		}
	}
	return k.driver.errKeysOfOthers()
}

// check looks whether the prefix is the run's and no pod may write, and lets no further pod join. gone: the marker is no
// longer the run's.
func (k *Kine) check(ctx context.Context, c kineClient) (m kineMarker, gone bool, err error) {
	m, err = k.marker(ctx, c)
	if err != nil || !m.own {
		return m, !m.own, err
	}
	if m.state != markerDeleting {
		if err := k.setMarker(ctx, c, m, markerDeleting); err != nil {
			return m, false, err
		}
		if m, err = k.marker(ctx, c); err != nil || !m.own {
			return m, !m.own, err
		}
	}
	pods, err := k.pods(ctx, c)
	if err == nil && len(pods) > 0 {
		err = errNotAlone
	}
	return m, false, err
}

// deleteObjects looks at the marker after it has listed a page, and before it deletes the page: if the marker is still the
// run's, no other run has written a key of the page.
func (k *Kine) deleteObjects(ctx context.Context, c kineClient) error {
	keys := k.driver.plan.KeyWriter()
	from, to := k.driver.loadRange()
	for {
		began := time.Now()
		found, err := c.list(ctx, from, to, sweepBlock)
		if err != nil || len(found) == 0 {
			return err
		}
		if _, gone, err := k.check(ctx, c); gone || err != nil {
			return err
		}
		var own []*mvccpb.KeyValue
		for _, kv := range found {
			if keys.IsObject(kv.Key) {
				own = append(own, kv)
			}
		}
		if err := c.deleteAll(ctx, own); err != nil {
			return err
		}
		from = string(found[len(found)-1].Key) + "\x00"
		// Half of the time is left to other users of the target.
		if err := pause(ctx, time.Since(began)); err != nil {
			return err
		}
	}
}

// deleteMarker gives up the prefix if none of the run's objects is left.
func (k *Kine) deleteMarker(ctx context.Context, c kineClient) (swept bool, err error) {
	m, gone, err := k.check(ctx, c)
	if err != nil {
		return false, err
	}
	if gone {
		return true, k.checkNothingLeft(ctx, c)
	}
	from, to := k.driver.loadRange()
	left, err := c.list(ctx, from, to, 1)
	if err != nil || len(left) > 0 {
		return false, err
	}
	return true, c.delete(ctx, k.driver.markerKey(), m.kv.ModRevision)
}
