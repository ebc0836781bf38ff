package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// Disturb implements load.Driver. It does not retry: a second attempt would be another disturbance.
func (d *Driver) Disturb(ctx context.Context, p spec.Disturbance, report func(load.Step)) {
	began := load.Now()
	client, err := d.controlClient(ctx)
	switch {
	case err != nil:
		report(load.Step{Began: began, Err: err})
	case p.Type == spec.DisturbanceCompact:
		report(load.Step{Began: began, Err: d.compact(ctx, client, p.KeepRevisions())})
	case p.Type == spec.DisturbanceDefragment:
		d.defragment(ctx, client, report)
	case p.Type == spec.DisturbanceLeaseExpiry:
		report(d.storm(ctx, client, *p.LeaseExpiry))
	}
}

var errNothingToCompact = errors.New("nothing to compact: too few revisions were written since the last compaction")

// compact compacts the whole store except for its newest revisions. It waits until the member that it asked has removed
// the history from its database: without that, the call returns when the members have agreed on the compaction.
func (d *Driver) compact(ctx context.Context, client *clientv3.Client, keep int64) error {
	now, err := client.Get(ctx, d.run.Marker(), clientv3.WithCountOnly())
	if err != nil {
		return err
	}
	revision := now.Header.Revision - keep
	if revision <= d.compacted.Load() {
		return errNothingToCompact
	}
	if _, err = client.Compact(ctx, revision, clientv3.WithCompactPhysical()); err != nil {
		return fmt.Errorf("compacting revision %d: %w", revision, err)
	}
	d.compacted.Store(revision)
	return nil
}

// defragment defragments each member that the plan's addresses lead to, one after the other, the leader last. A member
// that defragments does not answer; one at a time leaves a quorum.
func (d *Driver) defragment(ctx context.Context, client *clientv3.Client, report func(load.Step)) {
	creds, err := d.secrets()
	for _, m := range d.leaderLast() {
		step := load.Step{Began: load.Now(), Member: hexID(m.id), Err: err}
		if err == nil {
			_, step.Err = client.Defragment(ctx, urls([]string{m.endpoint}, creds.tls != nil)[0])
		}
		report(step)
		if ctx.Err() != nil {
			return
		}
	}
}

// leaderLast returns the members, each with one address.
func (d *Driver) leaderLast() []member {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	var followers, leaders []member
	for _, m := range d.topology.members {
		same := func(other member) bool { return other.id == m.id }
		switch {
		case slices.ContainsFunc(followers, same) || slices.ContainsFunc(leaders, same):
		case m.id == d.topology.leader:
			leaders = append(leaders, m)
		default:
			followers = append(followers, m)
		}
	}
	return append(followers, leaders...)
}
