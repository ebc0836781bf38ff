package supervisor

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore"
)

const (
	// healthInterval is how often a member that starts is asked whether it serves, and healthTimeout bounds the answer.
	healthInterval = 20 * time.Millisecond
	healthTimeout  = time.Second
)

// errLate: the members run and do not serve in time.
var errLate = errors.New("the members did not serve in time")

// awaitReady waits until all members serve. It returns the first one that did not if the time is up.
func (c *Cluster) awaitReady(ctx context.Context, limit time.Duration) (late int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errLate)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	serve := make([]bool, len(c.Endpoints))
	for i, e := range c.Endpoints {
		group.Go(func() error {
			err := c.awaitHealthy(ctx, e)
			serve[i] = err == nil
			return err
		})
	}
	err = group.Wait()
	return slices.Index(serve, false), err
}

// awaitHealthy returns when a member answers that it serves and its cluster has a leader.
func (c *Cluster) awaitHealthy(ctx context.Context, endpoint string) error {
	ticker := time.NewTicker(healthInterval)
	defer ticker.Stop()
	for {
		bounded, cancel := context.WithTimeout(ctx, healthTimeout)
		serves := datastore.Serves(bounded, c.store, endpoint)
		cancel()
		if serves {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
