package etcd

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/codes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/reach"
)

// Answers implements load.Prober. It asks all addresses at once, each over a connection of its own, and the first answer
// ends the others.
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
	client, err := d.dial(ctx, endpoint)
	if err != nil {
		return ctx.Err() == nil && !isUnreachable(err)
	}
	defer client.Close()
	_, err = client.Get(ctx, d.markerKey())
	switch codeOf(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return false
	}
	return true
}
