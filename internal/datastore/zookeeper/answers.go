package zookeeper

import (
	"context"
	"sync/atomic"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/reach"
)

// Answers implements load.Prober: a server answers if it opens a session and its sync
// passes the quorum. All servers are asked at once, and the first answer ends the others.
func (d *Driver) Answers(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var answered atomic.Bool
	reach.All(d.plan.Target.Endpoints, func(i int) error {
		if d.answers(ctx, d.plan.Target.Endpoints[i]) {
			answered.Store(true)
			cancel()
		}
		return nil
	})
	return answered.Load()
}

func (d *Driver) answers(ctx context.Context, endpoint string) bool {
	s, err := d.open(ctx, controlFrame, endpoint)
	if err != nil {
		return false
	}
	defer s.close()
	done := make(chan error, 1)
	go func() {
		_, err := s.Sync(d.tree.marker())
		done <- err
	}()
	select {
	case err := <-done:
		return err == nil
	case <-ctx.Done():
		return false
	}
}
