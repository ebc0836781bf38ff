package etcd

import (
	"context"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Observing is load.Driver for a run that only looks at its members: it takes no lock, makes no claim and writes nothing. It
// accepts an etcd that has alarms, users of other systems or no leader.
type Observing struct {
	load.Keyless
	checkup *checkup
}

var (
	_ load.Driver    = (*Observing)(nil)
	_ load.Sampler   = (*Observing)(nil)
	_ load.Diagnoser = (*Observing)(nil)
)

// NewObserving returns the driver of a plan. It reads nothing and connects to nothing yet.
func NewObserving(p plan.Plan) *Observing { return &Observing{checkup: newCheckup(p, OwnThrottling)} }

// Preflight implements load.Driver. At least one member must answer.
func (o *Observing) Preflight(ctx context.Context) (*results.Target, members.View, error) {
	c := o.checkup
	found, err := c.firstLook(ctx)
	if err == nil && len(c.Driver.members()) == 0 {
		err = load.Errorf(results.FailureTargetUnreachable, "no member answers; %s: %s", found.Members[0].Endpoint, found.Members[0].Problem)
	}
	if err != nil {
		return nil, members.View{}, settled(ctx, err, c.addresses())
	}
	t := &results.Target{Skipped: map[string]string{}, Unlisted: found.ListUnread}
	for i, m := range found.Members {
		if m.Problem != "" {
			t.Skipped[m.Endpoint] = m.Problem
			continue
		}
		if c.ids[i] == 0 {
			// Neither its status nor its metrics may be read.
			continue
		}
		t.ClusterID = hexID(c.clusters[i])
		t.Members = append(t.Members, results.Member{ID: hexID(c.ids[i]), Name: m.Name, Endpoint: m.Endpoint, Version: m.Version, Leader: m.IsLeader})
	}
	return t, members.View{At: time.Now()}, nil
}

// Diagnose implements load.Diagnoser.
func (o *Observing) Diagnose(ctx context.Context, length time.Duration) (*results.Diagnosis, error) {
	found, err := o.checkup.examine(ctx, length)
	if err != nil {
		return nil, settled(ctx, err, o.checkup.addresses())
	}
	d := doctor.Diagnose(found)
	return &d, nil
}

// Sample implements load.Sampler.
func (o *Observing) Sample(ctx context.Context) map[string]members.Sample {
	return o.checkup.Driver.Sample(ctx)
}

// Connect implements load.Driver.
func (o *Observing) Connect(context.Context, int) (load.Conn, error) {
	c := &observingConn{checkup: o.checkup}
	for _, m := range o.checkup.Driver.members() {
		c.endpoints = append(c.endpoints, m.endpoint)
	}
	return c, nil
}

// Release implements load.Driver.
func (*Observing) Release(context.Context) (results.Cleaning, error) {
	return results.CleaningNothingWritten, nil
}

// Requests implements load.Driver.
func (o *Observing) Requests() map[spec.RPC]map[results.Phase]uint64 { return o.checkup.Requests() }

// Close implements load.Driver.
func (o *Observing) Close() error { return o.checkup.Close() }

// observingConn asks one member after the other.
type observingConn struct {
	checkup   *checkup
	endpoints []string
	asked     atomic.Int64
}

// Do implements load.Conn.
func (c *observingConn) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	*resp = load.Response{}
	ctx, cancel := context.WithTimeout(ctx, req.Timeout)
	defer cancel()
	client, err := c.checkup.viewer(ctx, c.endpoints[int(c.asked.Add(1))%len(c.endpoints)])
	resp.Sent = load.Now()
	if err == nil {
		_, err = etcdserverpb.NewMaintenanceClient(client.ActiveConnection()).Status(ctx, &etcdserverpb.StatusRequest{})
	}
	if isRefused(err) {
		// It answered: this user may not read its status.
		err = nil
	}
	finish(resp, err)
}
