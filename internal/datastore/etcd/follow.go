package etcd

import (
	"context"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// followEvery is how often a member is asked for the leader. The answer costs the member microseconds.
const followEvery = time.Second

// follow starts to follow the leader, if the plan depends on it. The caller holds the mutex.
func (d *Driver) follow() {
	if d.following != nil || d.plan.Target.Members == spec.MembersAll {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.following = cancel
	d.followed.Go(func() {
		ticker := time.NewTicker(followEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				d.followOnce(ctx)
			}
		}
	})
}

// followOnce moves the connections that are at the wrong address, because the leader changed or an earlier move failed.
func (d *Driver) followOnce(ctx context.Context) {
	leader := d.askLeader(ctx)
	d.mutex.Lock()
	if leader != 0 {
		d.topology.lead(leader, d.plan.Target)
	}
	conns := slices.Clone(d.conns)
	d.mutex.Unlock()
	for _, c := range conns {
		d.place(ctx, c)
	}
}

// askLeader returns the leader's ID as one of the members reports it, 0 if that member knows none. Each call goes to
// the next member.
func (d *Driver) askLeader(ctx context.Context) uint64 {
	client, err := d.controlClient(ctx)
	if err != nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, followEvery)
	defer cancel()
	status, err := etcdserverpb.NewMaintenanceClient(client.ActiveConnection()).Status(ctx, &etcdserverpb.StatusRequest{})
	if err != nil {
		return 0
	}
	return status.Leader
}
