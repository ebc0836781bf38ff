package zookeeper

import (
	"context"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
)

// Answers implements load.Prober: a sync is answered, over the control session or a new one.
// The leader takes part in a sync, and no quorum does. A server without a quorum, or with too many connections from
// this host, closes a new connection without a response. So the control session is asked, too.
func (d *Driver) Answers(ctx context.Context) bool {
	const control = ""
	return remote.Answered(ctx, append([]string{control}, d.plan.Target.Endpoints...), func(ctx context.Context, endpoint string) bool {
		if endpoint == control {
			return d.catchUp(ctx) == nil
		}
		return d.answers(ctx, endpoint)
	})
}

func (d *Driver) answers(ctx context.Context, endpoint string) bool {
	s, err := d.open(ctx, controlTimeout, controlFrame, endpoint)
	if err != nil {
		return false
	}
	defer s.close()
	_, err = within(ctx, func() (string, error) { return s.Sync(d.tree.root) })
	return err == nil
}
