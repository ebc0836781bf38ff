package zookeeper

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// Sign implements load.Driver.
func (d *Driver) Sign(ctx context.Context) error {
	sign := &zk.SetDataRequest{Path: d.tree.pod(d.index), Data: []byte(time.Now().UTC().Format(time.RFC3339)), Version: -1}
	failed, why, err := d.commit(ctx, d.owns(), sign)
	switch {
	case err != nil || failed < 0:
		return err
	case why == zk.ErrNoNode:
		return load.ErrDisowned
	}
	return fmt.Errorf("%w: %w", load.ErrRefused, why)
}

// Signs implements load.Driver.
func (d *Driver) Signs(ctx context.Context) (map[string]int64, error) {
	if err := d.catchUp(ctx); err != nil {
		return nil, settled(ctx, err, d.addresses())
	}
	found, err := d.registrations(ctx)
	signs := map[string]int64{}
	for path, pod := range found {
		signs[path] = pod.changed
	}
	return signs, settled(ctx, err, d.addresses())
}

// registrations returns the znodes of the pods that may write, by their paths.
func (d *Driver) registrations(ctx context.Context) (map[string]node, error) {
	names, err := d.list(ctx, d.tree.pods())
	if err != nil {
		return nil, err
	}
	out := map[string]node{}
	for _, name := range names {
		path := d.tree.pods() + "/" + name
		found, err := d.read(ctx, path)
		if err != nil {
			return nil, err
		}
		if found.exists {
			out[path] = found
		}
	}
	return out, nil
}
