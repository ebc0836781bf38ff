package etcd

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
)

// View implements load.Driver. Each member is asked over a connection of its
// own, for what one member says of another proves nothing of that one.
func (d *Driver) View(ctx context.Context) members.View {
	d.mutex.Lock()
	all := distinct(d.topology.members)
	d.mutex.Unlock()
	view := members.View{At: time.Now(), Members: map[string]members.State{}}
	var mutex sync.Mutex
	var asking sync.WaitGroup
	for _, m := range all {
		asking.Go(func() {
			state := d.stateOf(ctx, m)
			mutex.Lock()
			defer mutex.Unlock()
			view.Members[hexID(m.id)] = state
		})
	}
	asking.Go(func() { view.Voters = d.voters(ctx) })
	asking.Wait()
	return view
}

// stateOf asks a member for its status.
func (d *Driver) stateOf(ctx context.Context, m member) members.State {
	client, err := d.viewer(ctx, m.endpoint)
	if err != nil {
		return members.State{Problem: err.Error()}
	}
	status, err := etcdserverpb.NewMaintenanceClient(client.ActiveConnection()).Status(ctx, &etcdserverpb.StatusRequest{})
	switch {
	case err != nil:
		return members.State{Problem: explain(err, m.endpoint).Error()}
	case status.Header.GetMemberId() != m.id:
		return members.State{Problem: m.endpoint + " leads to another member now: name an address of each member's own"}
	}
	return stateIn(status)
}

// stateIn is what a member's answer says of it and its cluster.
func stateIn(status *etcdserverpb.StatusResponse) members.State {
	state := members.State{
		Alarm: alarmOf(status.Errors), Term: status.RaftTerm, Version: status.Version, DatabaseBytes: status.DbSize,
	}
	if status.Leader != 0 {
		state.Leader = hexID(status.Leader)
	}
	return state
}

// voters lists the voting members. To ask the cluster for a quorum's answer
// each time would be load.
func (d *Driver) voters(ctx context.Context) []string {
	client, err := d.controlClient(ctx)
	if err != nil {
		return nil
	}
	list, err := client.MemberList(ctx, clientv3.WithSerializable())
	if err != nil {
		return nil
	}
	var ids []string
	for _, m := range list.Members {
		if !m.IsLearner {
			ids = append(ids, hexID(m.ID))
		}
	}
	slices.Sort(ids)
	return ids
}

// viewer returns the connection over which the member behind an address is
// asked how it is. One that was lost comes up again by itself.
func (d *Driver) viewer(ctx context.Context, endpoint string) (*clientv3.Client, error) {
	d.mutex.Lock()
	client := d.viewers[endpoint]
	d.mutex.Unlock()
	if client != nil {
		return client, nil
	}
	client, err := d.dial(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.viewers == nil {
		d.viewers = map[string]*clientv3.Client{}
	}
	d.viewers[endpoint] = client
	return client, nil
}
