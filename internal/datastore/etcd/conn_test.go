package etcd

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// connected returns a driver after its preflight.
func connected(t *testing.T, p plan.Plan) *Driver {
	t.Helper()
	d := newDriver(t, p, 0)
	if _, err := d.Preflight(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	return d
}

func connect(t *testing.T, d *Driver, connection int) *conn {
	t.Helper()
	c, err := d.Connect(withTimeout(t), connection)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*conn)
}

func TestDoPutsAndReads(t *testing.T) {
	cluster, client := oneMember(t)
	d := connected(t, planFor(cluster.Endpoints))
	c := connect(t, d, 0)
	put := load.Request{Operation: results.OperationPut, Key: []byte(ownPrefix + "1"), Value: []byte("v"), Timeout: 5 * time.Second}
	read := load.Request{Operation: results.OperationRange, Key: put.Key, Timeout: 5 * time.Second}
	serializable, missing := read, read
	serializable.Serializable = true
	missing.Key = []byte(ownPrefix + "2")
	steps := []struct {
		name    string
		request load.Request
		code    string
	}{
		{"put", put, ""}, {"linearizable read", read, ""}, {"serializable read", serializable, ""},
		{"a read that finds nothing", missing, "NotFound"},
	}
	for _, step := range steps {
		var response load.Response
		before := load.Now()
		c.Do(load.WithPhase(t.Context(), results.PhaseMeasured), &step.request, &response)
		if response.Code != step.code {
			t.Errorf("%s: got code %q (%s), wanted %q", step.name, response.Code, response.Detail, step.code)
		}
		if response.Sent < before || response.Received <= response.Sent || response.Received > load.Now() {
			t.Errorf("%s: sent at %d and received at %d do not follow each other", step.name, response.Sent, response.Received)
		}
	}
	if got := keysUnder(t, client, ownPrefix)[ownPrefix+"1"]; got != "v" {
		t.Errorf("etcd has the value %q, wanted v", got)
	}
	counts := d.Requests()
	if counts[results.RPCPut][results.PhaseMeasured] != 1 || counts[results.RPCRange][results.PhaseMeasured] != 3 {
		t.Errorf("counted %v, wanted 1 put and 3 ranges measured", counts)
	}
}

// What clientv3 would retry in silence must show: one attempt, one failure.
func TestAFailureIsOneAttempt(t *testing.T) {
	cluster := etcdtest.Start(t, 1, nil)
	d := connected(t, planFor(cluster.Endpoints))
	c := connect(t, d, 0)
	cluster.Stop(0)
	for n := range uint64(3) {
		request := load.Request{Operation: results.OperationRange, Key: []byte("k"), Timeout: 300 * time.Millisecond}
		var response load.Response
		c.Do(load.WithPhase(t.Context(), results.PhaseMeasured), &request, &response)
		if response.Code != load.CodeUnavailable && response.Code != load.CodeDeadlineExceeded {
			t.Errorf("got code %q, wanted a failure of a member that is gone", response.Code)
		}
		if got := d.Requests()[results.RPCRange][results.PhaseMeasured]; got != n+1 {
			t.Errorf("%d attempts after %d requests", got, n+1)
		}
	}
}

func TestDoEndsWithItsContext(t *testing.T) {
	silent := etcdtest.Start(t, 1, nil)
	d := connected(t, planFor(silent.Endpoints))
	c := connect(t, d, 0)
	silent.Stop(0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var response load.Response
	c.Do(ctx, &load.Request{Operation: results.OperationRange, Key: []byte("k"), Timeout: time.Minute}, &response)
	if response.Code != load.CodeCanceled {
		t.Errorf("got code %q, wanted %q", response.Code, load.CodeCanceled)
	}
}

// endpointsOf returns where connections 0 to n-1 go.
func endpointsOf(t *testing.T, d *Driver, n int) []string {
	t.Helper()
	out := make([]string, n)
	for i := range out {
		out[i] = strings.TrimPrefix(connect(t, d, i).client.Load().Endpoints()[0], "http://")
	}
	return out
}

func TestConnectionsGoToTheMembersThatThePlanSelects(t *testing.T) {
	cluster := etcdtest.Start(t, 3, nil)
	leader := cluster.Leader(t)
	all := cluster.Endpoints
	var followers []string
	for i, e := range all {
		if i != leader {
			followers = append(followers, e)
		}
	}
	tests := map[plan.Members][]string{
		plan.MembersAll:       {all[0], all[1], all[2], all[0]},
		plan.MembersLeader:    {all[leader], all[leader], all[leader], all[leader]},
		plan.MembersFollowers: {followers[0], followers[1], followers[0], followers[1]},
	}
	for members, want := range tests {
		t.Run(string(members), func(t *testing.T) {
			d := connected(t, planFor(all, func(p *plan.Plan) { p.Target.Members = members }))
			if diff := cmp.Diff(want, endpointsOf(t, d, 4)); diff != "" {
				t.Errorf("connections (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConnectionsFollowTheLeader(t *testing.T) {
	cluster := etcdtest.Start(t, 3, nil)
	d := connected(t, planFor(cluster.Endpoints, func(p *plan.Plan) { p.Target.Members = plan.MembersLeader }))
	c := connect(t, d, 0)
	before := c.client.Load()
	to := (cluster.Leader(t) + 1) % 3
	cluster.MoveLeader(t, to)
	deadline := time.NewTimer(30 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for c.client.Load() == before {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatal("the connection has not moved")
		}
	}
	if got, want := c.client.Load().Endpoints()[0], "http://"+cluster.Endpoints[to]; got != want {
		t.Errorf("the connection goes to %s, the leader is at %s", got, want)
	}
	var response load.Response
	c.Do(t.Context(), &load.Request{Operation: results.OperationPut, Key: []byte(ownPrefix + "1"), Timeout: 5 * time.Second}, &response)
	if !response.Succeeded() {
		t.Errorf("a put after the move failed with %s: %s", response.Code, response.Detail)
	}
}

func TestSampleReadsTheMembersMemory(t *testing.T) {
	tests := map[string]*etcdtest.Authority{"plain text": nil, "TLS": etcdtest.NewAuthority(t)}
	for name, authority := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := etcdtest.Start(t, 1, authority)
			p := planFor(cluster.Endpoints)
			if authority != nil {
				withTLS(authority.SecretDir(t), "")(&p)
			}
			d := connected(t, p)
			id := cluster.Members[0].Server.MemberID().String()
			if got := d.Sample(withTimeout(t)); got[id] < 1<<20 {
				t.Errorf("got %v, wanted more than 1 MiB of member %s", got, id)
			}
			cluster.Stop(0)
			if got := d.Sample(withTimeout(t)); len(got) != 0 {
				t.Errorf("got %v of a member that is gone, wanted nothing", got)
			}
		})
	}
}
