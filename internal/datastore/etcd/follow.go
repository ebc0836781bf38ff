package etcd

import (
	"context"
	"time"

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

// followOnce moves the connections if the leader has moved.
func (d *Driver) followOnce(ctx context.Context) {
	leader := d.askLeader(ctx)
	d.mutex.Lock()
	moved := leader != 0 && leader != d.topology.leader
	conns := d.conns
	if moved {
		before := d.topology.leader
		d.topology.leader = leader
		if len(d.topology.eligible(d.plan.Target.Members)) == 0 {
			// The new leader's address is not in the plan.
			d.topology.leader, moved = before, false
		}
	}
	d.mutex.Unlock()
	if !moved {
		return
	}
	for _, c := range conns {
		d.move(ctx, c)
	}
}

// askLeader returns the leader's ID as the first member that knows it says; 0
// if none does.
func (d *Driver) askLeader(ctx context.Context) uint64 {
	client, err := d.controlClient(ctx)
	if err != nil {
		return 0
	}
	for _, endpoint := range d.plan.Target.Endpoints {
		if s, err := d.status(ctx, client, endpoint); err == nil && s.Leader != 0 {
			return s.Leader
		}
	}
	return 0
}

// move connects c to where it belongs now. What is in flight on the old
// connection gets the time that a request may take.
func (d *Driver) move(ctx context.Context, c *conn) {
	endpoint := d.endpointOf(c.number)
	if endpoint == c.endpoint {
		return
	}
	client, err := d.dial(ctx, endpoint)
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
