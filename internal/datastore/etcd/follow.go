package etcd

import (
	"context"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// followEvery is how often a member is asked who leads. The answer costs it
// microseconds.
const followEvery = time.Second

// follow starts to follow the leader, if the plan depends on it. The caller
// holds the mutex.
func (d *Driver) follow() {
	if d.following != nil || d.plan.Target.Members == plan.MembersAll {
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

// followOnce moves the connections that are not where they belong: because the
// leader has moved, or because an earlier move failed.
func (d *Driver) followOnce(ctx context.Context) {
	leader := d.askLeader(ctx)
	d.mutex.Lock()
	if leader != 0 {
		d.topology.lead(leader, d.plan.Target.Members)
	}
	conns, fastConns := slices.Clone(d.conns), slices.Clone(d.fastConns)
	d.mutex.Unlock()
	for _, c := range conns {
		d.move(ctx, c)
	}
	for _, c := range fastConns {
		d.moveFast(c)
	}
}

// askLeader returns the leader's ID as one of the members says, 0 if it does
// not know. The question goes over the control connections, which take turns.
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

// move connects c to where it belongs now. What is in flight on the old
// connection gets the time that a request may take.
func (d *Driver) move(ctx context.Context, c *conn) {
	endpoint := d.endpointOf(c.number)
	if endpoint == c.endpoint {
		return
	}
	client, err := d.dialMember(ctx, endpoint)
	if err != nil {
		// It stays where it is; its requests say how that goes.
		return
	}
	c.endpoint = endpoint
	retire(c.client.Swap(client), d.plan.Load.RequestTimeout())
}

func retire(client *clientv3.Client, after time.Duration) {
	time.AfterFunc(after, func() { _ = closeClient(client) })
}
