package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/reach"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// No transaction of kine can compare one key and write another. So the marker has states, and a pod of the run first
// writes and then looks: of two pods that do so at the same time, at least one sees what the other has written.
//   - claiming: client pod 0 has created the marker, and looks for other keys under the prefix. The other pods wait.
//   - owned: pods may join and write.
//   - deleting: no further pod may join.
type markerState string

const (
	markerClaiming markerState = " claiming"
	markerOwned    markerState = ""
	markerDeleting markerState = " deleting"
)

// kineMarker is the marker of a prefix.
type kineMarker struct {
	// kv is nil if there is no marker. own: it names this run.
	kv    *mvccpb.KeyValue
	own   bool
	state markerState
}

func (m kineMarker) is(s markerState) bool { return m.own && m.state == s }

func (k *Kine) marker(ctx context.Context, c kineClient) (m kineMarker, err error) {
	m.kv, err = c.get(ctx, k.driver.markerKey())
	if err != nil || m.kv == nil {
		return m, err
	}
	state, own := strings.CutPrefix(string(m.kv.Value), k.driver.plan.RunUID)
	return kineMarker{kv: m.kv, own: own, state: markerState(state)}, nil
}

// setMarker changes the state of the run's marker.
func (k *Kine) setMarker(ctx context.Context, c kineClient, m kineMarker, s markerState) error {
	done, err := c.put(ctx, k.driver.markerKey(), k.driver.plan.RunUID+string(s), m.kv.ModRevision, kubernetes.PutOptions{})
	if err != nil || done {
		return err
	}
	now, err := k.marker(ctx, c)
	if err == nil && !now.is(s) {
		err = errNotAlone
	}
	return err
}

// Claim implements load.Driver.
func (k *Kine) Claim(ctx context.Context) error {
	c, err := k.client(ctx)
	if err == nil && k.driver.index == 0 {
		err = k.own(ctx, c)
	}
	if err == nil {
		err = k.awaitOwned(ctx, c)
	}
	if err == nil {
		err = k.join(ctx, c)
	}
	return settled(ctx, err, k.driver.addresses())
}

// own makes the run the owner of the prefix. It looks for other keys before it writes, so that a refusal usually writes
// nothing, and after that, in case another run claims a prefix around or below this one at the same time.
func (k *Kine) own(ctx context.Context, c kineClient) error {
	m, err := k.marker(ctx, c)
	if err == nil && m.kv == nil {
		m, err = k.createMarker(ctx, c)
	}
	if err != nil || !m.is(markerClaiming) {
		return err
	}
	if refused := k.checkAlone(ctx, c); refused != nil {
		if err := c.delete(ctx, k.driver.markerKey(), m.kv.ModRevision); err != nil {
			return err
		}
		return refused
	}
	return k.setMarker(ctx, c, m, markerOwned)
}

func (k *Kine) createMarker(ctx context.Context, c kineClient) (kineMarker, error) {
	if err := k.checkAlone(ctx, c); err != nil {
		return kineMarker{}, err
	}
	if _, err := c.put(ctx, k.driver.markerKey(), k.driver.plan.RunUID+string(markerClaiming), 0, kubernetes.PutOptions{}); err != nil {
		return kineMarker{}, err
	}
	return k.marker(ctx, c)
}

// checkAlone fails if another run owns a prefix around this one, or if the prefix has a key besides the marker.
func (k *Kine) checkAlone(ctx context.Context, c kineClient) error {
	if _, err := k.driver.checkOuter(ctx, c.Client.Client); err != nil {
		return err
	}
	prefix := k.driver.plan.Prefix
	found, err := c.list(ctx, prefix, clientv3.GetPrefixRangeEnd(prefix), 2)
	for _, kv := range found {
		if string(kv.Key) != k.driver.markerKey() {
			return k.driver.foreign(ctx, c.Client.Client)
		}
	}
	return err
}

// claimLimit bounds how long a pod waits for client pod 0 to claim the prefix.
const claimLimit = 30 * time.Second

// awaitOwned waits until client pod 0 has claimed the prefix.
func (k *Kine) awaitOwned(ctx context.Context, c kineClient) error {
	for deadline := time.Now().Add(claimLimit); ; {
		m, err := k.marker(ctx, c)
		switch {
		case err != nil || m.is(markerOwned):
			return err
		case m.kv != nil && !m.is(markerClaiming):
			return k.driver.foreign(ctx, c.Client.Client)
		case time.Now().After(deadline):
			return fmt.Errorf("client pod 0 did not claim the prefix %s within %v; read its log", k.driver.plan.Prefix, claimLimit)
		}
		if err := pause(ctx, reach.LookEvery); err != nil {
			return err
		}
	}
}

// join registers this pod. It writes the pod's key before it looks at the marker: whoever deletes the run's keys changes
// the marker before it looks for keys of pods.
func (k *Kine) join(ctx context.Context, c kineClient) error {
	now := time.Now()
	if _, err := c.put(ctx, k.driver.podKey(), lifeSign{Began: now, Seen: now}.encode(), 0, kubernetes.PutOptions{}); err != nil {
		return err
	}
	m, err := k.marker(ctx, c)
	if err != nil || m.is(markerOwned) {
		return err
	}
	if err := k.leave(ctx, c); err != nil {
		return err
	}
	return k.driver.foreign(ctx, c.Client.Client)
}

// leave deletes this pod's registration.
func (k *Kine) leave(ctx context.Context, c kineClient) error {
	own, err := c.get(ctx, k.driver.podKey())
	if err != nil || own == nil {
		return err
	}
	return c.delete(ctx, k.driver.podKey(), own.ModRevision)
}

// pods lists the keys of pods that may still write.
func (k *Kine) pods(ctx context.Context, c kineClient) ([]*mvccpb.KeyValue, error) {
	prefix := k.driver.podsPrefix()
	return c.list(ctx, prefix, clientv3.GetPrefixRangeEnd(prefix), sweepBlock)
}

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

// release: if several pods are the last ones at the same time, each of them deletes the keys.
func (k *Kine) release(ctx context.Context, c kineClient) error {
	if err := k.leave(ctx, c); err != nil {
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
	return reach.AwaitDeleted(ctx, k.driver.plan.Keys().Count, func(ctx context.Context) (bool, int64, error) { return k.claimState(ctx, c) })
}

// claimState is as for etcd.
func (k *Kine) claimState(ctx context.Context, c kineClient) (deleted bool, writers int64, err error) {
	m, err := k.marker(ctx, c)
	switch {
	case err != nil:
		return false, 0, err
	case !m.own:
		err = k.checkNothingLeft(ctx, c, m)
		return err == nil, 0, err
	}
	pods, err := k.pods(ctx, c)
	return false, int64(len(pods)), err
}

// checkNothingLeft is as for etcd: keys that are older than another run's marker are not that run's.
func (k *Kine) checkNothingLeft(ctx context.Context, c kineClient, m kineMarker) error {
	left, err := k.pods(ctx, c)
	if err != nil {
		return err
	}
	from, to := k.driver.loadRange()
	objects, err := c.list(ctx, from, to, 1)
	if err != nil {
		return err
	}
	for _, kv := range append(left, objects...) {
		if m.kv == nil {
			return k.driver.leftWithout(nil, fmt.Sprintf("the key %q", kv.Key))
		}
		if kv.CreateRevision < m.kv.ModRevision {
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
	m, err := k.marker(ctx, c)
	switch {
	case err != nil:
		return err
	case !m.own:
		return k.checkNothingLeft(ctx, c, m)
	}
	for {
		dead, err := k.pods(ctx, c)
		if err != nil {
			return err
		}
		if len(dead) == 0 {
			return k.sweep(ctx, c)
		}
		if err := k.deleteAll(ctx, c, dead); err != nil {
			return err
		}
	}
}

// sweep deletes the run's objects, and then the marker. Before each page it looks whether the prefix is still the run's.
func (k *Kine) sweep(ctx context.Context, c kineClient) error {
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
// longer the run's, as another pod has deleted the keys.
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

func (k *Kine) deleteObjects(ctx context.Context, c kineClient) error {
	keys := k.driver.plan.KeyWriter()
	from, to := k.driver.loadRange()
	for {
		began := time.Now()
		if _, gone, err := k.check(ctx, c); gone || err != nil {
			return err
		}
		found, err := c.list(ctx, from, to, sweepBlock)
		if err != nil || len(found) == 0 {
			return err
		}
		var own []*mvccpb.KeyValue
		for _, kv := range found {
			if keys.IsObject(kv.Key) {
				own = append(own, kv)
			}
		}
		if err := k.deleteAll(ctx, c, own); err != nil {
			return err
		}
		from = string(found[len(found)-1].Key) + "\x00"
		// Half of the time is left to other users of the target.
		if err := pause(ctx, time.Since(began)); err != nil {
			return err
		}
	}
}

// deleteParallel is how many deletions are in flight.
const deleteParallel = 8

// deleteAll deletes keys that have not changed since they were listed.
func (k *Kine) deleteAll(ctx context.Context, c kineClient, all []*mvccpb.KeyValue) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	left := make(chan *mvccpb.KeyValue, len(all))
	for _, kv := range all {
		left <- kv
	}
	close(left)
	var deleting sync.WaitGroup
	for range min(deleteParallel, len(all)) {
		deleting.Go(func() {
			for kv := range left {
				if err := c.delete(ctx, string(kv.Key), kv.ModRevision); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	deleting.Wait()
	return context.Cause(ctx)
}

// deleteMarker gives up the prefix if none of the run's objects is left.
func (k *Kine) deleteMarker(ctx context.Context, c kineClient) (swept bool, err error) {
	m, gone, err := k.check(ctx, c)
	if gone || err != nil {
		return gone, err
	}
	from, to := k.driver.loadRange()
	left, err := c.list(ctx, from, to, 1)
	if err != nil || len(left) > 0 {
		return false, err
	}
	return true, c.delete(ctx, k.driver.markerKey(), m.kv.ModRevision)
}
