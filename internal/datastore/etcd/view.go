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

// View implements load.Driver. Each member is asked over its own connection, because a member's report about another
// one proves nothing.
func (d *Driver) View(ctx context.Context) members.View {
	view := members.View{At: time.Now()}
	var asking sync.WaitGroup
	asking.Go(func() { view.Voters = d.voters(ctx) })
	view.Members = ofEach(d.members(), func(m member) (members.State, bool) { return d.stateOf(ctx, m), true })
	asking.Wait()
	return view
}

// stateOf reads a member's status.
func (d *Driver) stateOf(ctx context.Context, m member) members.State {
	client, err := d.viewer(ctx, m.endpoint)
	if err != nil {
		return members.State{Problem: err.Error()}
	}
	status, err := etcdserverpb.NewMaintenanceClient(client.ActiveConnection()).Status(ctx, &etcdserverpb.StatusRequest{})
	switch {
	case isRefused(err):
		return d.restrictedState(ctx, m)
	case err != nil:
		return members.State{Problem: explain(err, m.endpoint).Error()}
	case status.Header.GetMemberId() != m.id:
		return elsewhere(m)
	}
	return stateIn(status)
}

func elsewhere(m member) members.State {
	return members.State{Problem: m.endpoint + " leads to another member now: name an address that leads only to this member"}
}

// stateIn is the state in a member's answer.
func stateIn(status *etcdserverpb.StatusResponse) members.State {
	state := members.State{
		Alarm: alarmOf(status.Errors), Term: status.RaftTerm, Version: status.Version, DatabaseBytes: status.DbSize,
	}
	if status.Leader != 0 {
		state.Leader = hexID(status.Leader)
	}
	return state
}

// voters lists the voting members. The list is read from one member, since a quorum read each time would be load.
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

// viewer returns the connection for reading the status at an address. A lost connection reconnects by itself.
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
