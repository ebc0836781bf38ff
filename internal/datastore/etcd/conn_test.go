package etcd

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// connected returns a driver after its preflight.
func connected(t *testing.T, p plan.Plan) *Driver {
	t.Helper()
	d := newDriver(t, p, 0)
	if _, _, err := d.Preflight(withTimeout(t)); err != nil {
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

// connectionOf returns the first connection of a plan, over any transport.
func connectionOf(t *testing.T, p plan.Plan) load.Conn {
	t.Helper()
	c, err := connected(t, p).Connect(withTimeout(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDoPutsAndReads(t *testing.T) {
	cluster, client := oneMember(t)
	d := connected(t, planFor(cluster.Endpoints))
	c := connect(t, d, 0)
	put := load.Request{Operation: spec.OperationPut, Key: []byte(ownPrefix + "1"), Value: []byte("v"), Timeout: 5 * time.Second}
	read := load.Request{Operation: spec.OperationRange, Key: put.Key, Needs: 1, Timeout: 5 * time.Second}
	serializable, missing := read, read
	serializable.Consistency = spec.Serializable
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
	if counts[spec.RPCPut][results.PhaseMeasured] != 1 || counts[spec.RPCRange][results.PhaseMeasured] != 3 {
		t.Errorf("counted %v, wanted 1 put and 3 ranges measured", counts)
	}
}

// overloaded is an etcd that refuses each read in a way that clientv3 retries.
type overloaded struct {
	etcdserverpb.UnimplementedKVServer
	asked atomic.Int64
}

func (o *overloaded) Range(context.Context, *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	o.asked.Add(1)
	return nil, status.Error(codes.Unavailable, "etcdserver: request timed out")
}

// A failure that clientv3 would retry silently must be visible: one attempt, one failure.
func TestAFailureIsOneAttempt(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := &overloaded{}
	server := grpc.NewServer()
	etcdserverpb.RegisterKVServer(server, target)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)

	d := newDriver(t, planFor([]string{l.Addr().String()}), 0)
	d.topology = topology{members: []member{{endpoint: l.Addr().String()}}}
	c := connect(t, d, 0)
	for n := range int64(3) {
		request := load.Request{Operation: spec.OperationRange, Key: []byte("k"), Needs: 1, Timeout: 5 * time.Second}
		var response load.Response
		c.Do(load.WithPhase(t.Context(), results.PhaseMeasured), &request, &response)
		if response.Code != load.CodeUnavailable {
			t.Errorf("got code %q, wanted %q", response.Code, load.CodeUnavailable)
		}
		counted := d.Requests()[spec.RPCRange][results.PhaseMeasured]
		if target.asked.Load() != n+1 || counted != uint64(n+1) {
			t.Errorf("%d requests were sent %d times and counted %d times", n+1, target.asked.Load(), counted)
		}
	}
}

func TestDoGivesUpAfterItsTimeout(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1, nil)
	c := connect(t, connected(t, planFor(cluster.Endpoints)), 0)
	cluster.Stop(0)
	began := load.Now()
	var response load.Response
	c.Do(t.Context(), &load.Request{Operation: spec.OperationRange, Key: []byte("k"), Needs: 1, Timeout: 300 * time.Millisecond}, &response)
	if response.Code != load.CodeUnavailable && response.Code != load.CodeDeadlineExceeded {
		t.Errorf("got code %q, wanted the failure of a stopped member", response.Code)
	}
	if took := load.Now().Sub(began); took > 5*time.Second {
		t.Errorf("it took %v to give up after 300 ms", took)
	}
}

func TestDoEndsWithItsContext(t *testing.T) {
	t.Parallel()
	silent := etcdtest.Start(t, 1, nil)
	d := connected(t, planFor(silent.Endpoints))
	c := connect(t, d, 0)
	silent.Stop(0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var response load.Response
	c.Do(ctx, &load.Request{Operation: spec.OperationRange, Key: []byte("k"), Needs: 1, Timeout: time.Minute}, &response)
	if response.Code != load.CodeCanceled {
		t.Errorf("got code %q, wanted %q", response.Code, load.CodeCanceled)
	}
}

// A cluster of three takes seconds to start, so tests that leave it unchanged share it.
func TestWithThreeMembers(t *testing.T) {
	cluster := etcdtest.Start(t, 3, nil)
	for name, test := range map[string]func(*testing.T, *etcdtest.Cluster){
		"preflight reports the target":  preflightReportsTheTarget,
		"connections by selection":      connectionsGoToTheMembersThatThePlanSelects,
		"connections follow the leader": connectionsFollowTheLeader,
		"the account is exact":          theAccountIsExact,
		"samples of a shared process":   samplesOfASharedProcessAreUnknown,
		"answers say who got load":      answersSayWhichMembersGotLoad,
	} {
		t.Run(name, func(t *testing.T) { test(t, cluster) })
	}
}

// endpointsOf returns the addresses of connections 0 to n-1.
func endpointsOf(t *testing.T, d *Driver, n int) []string {
	t.Helper()
	out := make([]string, n)
	for i := range out {
		out[i] = strings.TrimPrefix(connect(t, d, i).client.Load().Endpoints()[0], "http://")
	}
	return out
}

func connectionsGoToTheMembersThatThePlanSelects(t *testing.T, cluster *etcdtest.Cluster) {
	leader := cluster.Leader(t)
	all := cluster.Endpoints
	var followers []string
	for i, e := range all {
		if i != leader {
			followers = append(followers, e)
		}
	}
	tests := map[string]struct {
		members spec.MemberSelection
		index   *int
		want    []string
	}{
		"all":       {spec.MembersAll, nil, []string{all[0], all[1], all[2], all[0]}},
		"leader":    {spec.MembersLeader, nil, []string{all[leader], all[leader], all[leader], all[leader]}},
		"followers": {spec.MembersFollowers, nil, []string{followers[0], followers[1], followers[0], followers[1]}},
		"first":     {spec.MembersAll, new(0), []string{all[0], all[0], all[0], all[0]}},
		"third":     {spec.MembersAll, new(2), []string{all[2], all[2], all[2], all[2]}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := connected(t, planFor(all, func(p *plan.Plan) { p.Target.Members, p.Target.MemberIndex = tc.members, tc.index }))
			if diff := cmp.Diff(tc.want, endpointsOf(t, d, 4)); diff != "" {
				t.Errorf("connections (-want +got):\n%s", diff)
			}
		})
	}
}

func connectionsFollowTheLeader(t *testing.T, cluster *etcdtest.Cluster) {
	d := connected(t, planFor(cluster.Endpoints, func(p *plan.Plan) { p.Target.Members = spec.MembersLeader }))
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
	c.Do(t.Context(), &load.Request{Operation: spec.OperationPut, Key: []byte("elsewhere/1"), Timeout: 5 * time.Second}, &response)
	if !response.Succeeded() {
		t.Errorf("a put after the move failed with %s: %s", response.Code, response.Detail)
	}
}

// An operation that the driver does not know fails, over every transport and for every kind of client, and nothing is
// sent.
func TestUnknownOperationsFail(t *testing.T) {
	cluster, _ := oneMember(t)
	plans := map[string]func(*plan.Plan){
		"Client": func(*plan.Plan) {},
		"Fast":   over(spec.TransportFast),
		"JSON":   over(spec.TransportJSON),
		"locks": func(p *plan.Plan) {
			p.FirstLease, p.Workload = 7*workload.LeaseIDs, spec.Workload{Type: spec.WorkloadLock, Lock: &spec.Lock{Names: 1}}
		},
	}
	for name, change := range plans {
		t.Run(name, func(t *testing.T) {
			d := connected(t, planFor(cluster.Endpoints, change))
			conn, err := d.Connect(withTimeout(t), 0)
			if err != nil {
				t.Fatal(err)
			}
			if shared, ok := conn.(load.SharedConn); ok {
				if conn, err = shared.Client(t.Context(), 0); err != nil {
					t.Fatal(err)
				}
			}
			before := d.Requests()
			var response load.Response
			conn.Do(t.Context(), &load.Request{Operation: "Rename", Key: []byte("k"), Timeout: time.Minute}, &response)
			if response.Code != load.CodeUnimplemented || response.Received < response.Sent {
				t.Errorf("got %+v, wanted %s", response, load.CodeUnimplemented)
			}
			after := d.Requests()
			// A session renews its lease in the background.
			delete(before, spec.RPCLeaseKeepAlive)
			delete(after, spec.RPCLeaseKeepAlive)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("something was sent (-before +after):\n%s", diff)
			}
		})
	}
}
