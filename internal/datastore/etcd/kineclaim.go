package etcd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/reach"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// markerState follows the UID in the marker. No transaction of kine can compare one key and write another. So a pod first
// writes its own key, and then reads the keys of others. If two pods do so at the same time, at least one of them reads
// what the other has written.
type markerState string

// The states of a marker. In claiming, client pod 0 checks that the prefix holds no other key, and the other pods wait. In
// owned, pods may join and write. In deleting, no further pod may join.

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
	if err != nil && k.marked && ctx.Err() == nil && load.FailureOf(err).Reason != results.FailurePrefixNotEmpty {
		// load.Session takes an error such as TLSFailed as a sign that the claim has written nothing.
		err = load.Errorf(results.FailureTargetUnhealthy, "claiming the prefix %s failed after the marker was sent: %w", k.driver.plan.Prefix, err)
	}
	if err == nil {
		err = k.awaitOwned(ctx, c)
	}
	if err == nil {
		err = k.join(ctx, c)
	}
	return settled(ctx, err, k.driver.addresses())
}

// own makes the run the owner of the prefix. It checks for other keys twice: before it writes the marker, so that a refused
// run usually writes nothing; and after that, because another run may claim a prefix around or below this one meanwhile.
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
	k.marked = true
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
			return k.refuse(ctx, c, string(kv.Key))
		}
	}
	return err
}

// refuse returns why the run may not use its prefix: because of this key under it.
func (k *Kine) refuse(ctx context.Context, c kineClient, key string) error {
	prefix, isMarker := strings.CutSuffix(key, markerOf(""))
	marker, err := c.get(ctx, key)
	switch {
	case err != nil:
		return err
	case key == k.driver.markerKey() && (marker == nil || ownerIn(marker.Value) == k.driver.plan.RunUID):
		return load.Errorf(results.FailurePrefixNotEmpty, "client pod %d started when the other client pods were already deleting the keys of this run under %s. Find out why it started so late", k.driver.index, prefix)
	case marker == nil || !isMarker:
		return k.driver.holdsForeign(fmt.Sprintf("such as %q", key))
	}
	return load.Errorf(results.FailurePrefixNotEmpty,
		"the run %q owns the prefix %s, and the prefix of this run is %s. Wait until that run has ended and its keys are deleted, or choose another spec.target.keyPrefix",
		ownerIn(marker.Value), prefix, k.driver.plan.Prefix)
}

// awaitOwned waits until client pod 0 has claimed the prefix, or ctx ends.
func (k *Kine) awaitOwned(ctx context.Context, c kineClient) error {
	for {
		m, err := k.marker(ctx, c)
		switch {
		case err != nil || m.is(markerOwned):
			return err
		case m.kv != nil && !m.is(markerClaiming):
			return k.refuse(ctx, c, k.driver.markerKey())
		}
		if err := pause(ctx, reach.LookEvery); err != nil {
			return err
		}
	}
}

// join registers this pod: it writes the pod's key, and then reads the marker. A pod that deletes the run's keys does the
// reverse: it writes the marker, and then reads the keys of pods.
func (k *Kine) join(ctx context.Context, c kineClient) error {
	if _, err := c.put(ctx, k.driver.podKey(), k.driver.lifeSign(), 0, kubernetes.PutOptions{}); err != nil {
		return err
	}
	registered, err := c.get(ctx, k.driver.podKey())
	if err == nil && registered == nil {
		err = fmt.Errorf("kine has not kept the key %s", k.driver.podKey())
	}
	if err != nil {
		return err
	}
	m, err := k.marker(ctx, c)
	if err != nil || m.is(markerOwned) {
		return err
	}
	if err := k.leave(ctx, c); err != nil {
		return err
	}
	return k.refuse(ctx, c, k.driver.markerKey())
}

// Sign implements load.Driver. A pod that was given up has no key: it is deleted before the run's objects are.
func (k *Kine) Sign(ctx context.Context) error {
	c, err := k.client(ctx)
	if err != nil {
		return err
	}
	own, err := c.get(ctx, k.driver.podKey())
	switch {
	case err != nil:
		return k.driver.signError(err)
	case own == nil:
		return load.ErrDisowned
	}
	written, err := c.put(ctx, k.driver.podKey(), k.driver.lifeSign(), own.ModRevision, kubernetes.PutOptions{})
	if err == nil && !written {
		// The next sign finds out whether the key is gone. Two signs at a time do this, too.
		return context.DeadlineExceeded
	}
	return k.driver.signError(err)
}

// Signs implements load.Driver.
func (k *Kine) Signs(ctx context.Context) (map[string]int64, error) {
	c, err := k.client(ctx)
	var found []*mvccpb.KeyValue
	if err == nil {
		found, err = k.pods(ctx, c)
	}
	return revisions(found), settled(ctx, err, k.driver.addresses())
}

// leave deletes this pod's registration.
func (k *Kine) leave(ctx context.Context, c kineClient) error {
	return c.remove(ctx, k.driver.podKey())
}

// pods lists the keys of pods that may still write.
func (k *Kine) pods(ctx context.Context, c kineClient) ([]*mvccpb.KeyValue, error) {
	// kine lists only whole folders.
	prefix := k.driver.podsPrefix()
	all, err := c.list(ctx, prefix, clientv3.GetPrefixRangeEnd(prefix), sweepBlock)
	return slices.DeleteFunc(all, func(kv *mvccpb.KeyValue) bool { return !isPod(k.driver.plan.Prefix, string(kv.Key)) }), err
}
