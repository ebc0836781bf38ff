//go:build stores

package zookeeper

import (
	"slices"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestPreflightRefuses(t *testing.T) {
	t.Parallel()
	small := zookeepertest.Start(t, 1, "maxClientCnxns=20", "4lw.commands.whitelist=srvr,conf")[0]
	tenant := zookeepertest.Start(t, 1)[0]
	makeNodeAt(t, zookeepertest.Client(t, tenant.Endpoint()), "/brokers")
	for name, tc := range map[string]struct {
		endpoint string
		change   func(*plan.Plan)
		reason   results.FailureReason
		words    []string
	}{
		"too many connections": {
			small.Endpoint(), func(p *plan.Plan) { p.Load.Connections, p.Load.Clients = 19, 19 },
			results.FailureTargetUnhealthy, []string{"maxClientCnxns", "takes 20 ", "needs 23"},
		},
		"more connections than the default": {
			tenant.Endpoint(), func(p *plan.Plan) { p.Load.Connections, p.Load.Clients = 100, 100 },
			results.FailureTargetUnhealthy, []string{"takes 60 ", "needs 104"},
		},
		"a tenant": {tenant.Endpoint(), nil, results.FailureControlPlaneTarget, []string{"/brokers", "Kafka", "acknowledgeControlPlane"}},
		"two ensembles": {
			small.Endpoint(), func(p *plan.Plan) { p.Target.Endpoints = append(p.Target.Endpoints, tenant.Endpoint()) },
			results.FailureTargetUnhealthy, []string{"not servers of one ensemble"},
		},
		"no server":     {tenant.Host + ":1", nil, results.FailureTargetUnreachable, []string{"refuses connections"}},
		"not ZooKeeper": {tenant.Host + ":8080", nil, results.FailureTargetUnreachable, []string{"the process there is ZooKeeper"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := planFor([]string{tc.endpoint})
			if tc.change != nil {
				tc.change(&p)
			}
			_, _, err := driverOf(t, p, 0).Preflight(bounded(t))
			wantReason(t, err, tc.reason, append(tc.words, tc.endpoint)...)
		})
	}
	skips := planFor([]string{small.Endpoint(), small.Host + ":1"}, func(p *plan.Plan) { p.Target.UnreachableMembers = spec.UnreachableSkip })
	d := driverOf(t, skips, 0)
	// A run that waits for the lock checks the target twice.
	for range 2 {
		target, _, err := d.Preflight(bounded(t))
		if err != nil || len(target.Members) != 1 || target.Skipped[small.Host+":1"] == "" {
			t.Errorf("a server that the run skips: %v, %+v", err, target)
		}
	}
	for connection := range 2 {
		if _, err := d.Connect(bounded(t), connection); err != nil {
			t.Errorf("connection %d of a run that skips a server: %v", connection, err)
		}
	}
	acknowledged := planFor([]string{tenant.Endpoint()}, func(p *plan.Plan) { p.Guard.AcknowledgeControlPlane = true })
	if _, _, err := driverOf(t, acknowledged, 0).Preflight(bounded(t)); err != nil {
		t.Errorf("an acknowledged tenant: %v", err)
	}
	fits := planFor([]string{small.Endpoint()}, func(p *plan.Plan) { p.Load.Connections, p.Load.Clients = 16, 16 })
	if _, _, err := driverOf(t, fits, 0).Preflight(bounded(t)); err != nil {
		t.Errorf("as many connections as there may be: %v", err)
	}
}

// If the limit cannot be read, the error of the first connection beyond it explains the limit.
func TestAConnectionTooManyIsExplained(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1, "maxClientCnxns=4", "admin.enableServer=false")[0]
	p := planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.Load.Connections = 10 })
	d := driverOf(t, p, 0)
	var err error
	for i := range 10 {
		if _, err = d.Connect(bounded(t), i); err != nil {
			break
		}
	}
	wantReason(t, err, results.FailureTargetUnhealthy, "maxClientCnxns", server.Endpoint())
}

func TestAnEnsembleSaysWhoLeads(t *testing.T) {
	t.Parallel()
	servers := zookeepertest.Start(t, 3)
	var endpoints []string
	for _, s := range servers {
		endpoints = append(endpoints, s.Endpoint())
	}
	d := driverOf(t, planFor(endpoints), 0)
	target, view, err := d.Preflight(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(target.Members) != 3 || len(view.Voters) != 3 || target.ClusterID == "" || target.Unlisted != "" {
		t.Errorf("wanted three members and voters, found %+v, %v", target, view.Voters)
	}
	leader, term := view.Election()
	var led *zookeepertest.Server
	for i, m := range target.Members {
		if m.Leader != (m.ID == leader) {
			t.Errorf("%+v leads, and the view has %s", m, leader)
		}
		if m.Leader {
			led = servers[i]
		}
	}
	if led == nil {
		t.Fatalf("no server leads: %+v", target.Members)
	}
	led.Kill()
	ctx := bounded(t)
	for ; ctx.Err() == nil; pause(ctx) {
		view := d.View(ctx)
		if next, now := view.Election(); next != "" && next != leader && now > term {
			if view.Members[leader].Problem == "" {
				t.Errorf("the killed server has no problem: %+v", view.Members)
			}
			break
		}
	}
	if ctx.Err() != nil {
		t.Fatal("no other server leads")
	}
	survivor := slices.IndexFunc(servers, func(s *zookeepertest.Server) bool { return s != led })
	for i, s := range servers {
		if i != survivor && s != led {
			s.Kill()
		}
	}
	for ; ctx.Err() == nil && d.View(ctx).Members[target.Members[survivor].ID].Problem == ""; pause(ctx) {
	}
	_, _, err = driverOf(t, planFor(endpoints), 0).Preflight(bounded(t))
	wantReason(t, err, results.FailureNoQuorum, "majority")
}

// A server that accepts connections and answers nothing does not prevent a session with the others.
func TestAHungServerIsLeftForAnother(t *testing.T) {
	t.Parallel()
	servers := zookeepertest.Start(t, 3)
	var endpoints []string
	for _, s := range servers {
		endpoints = append(endpoints, s.Endpoint())
	}
	p := planFor(endpoints)
	before, after := driverOf(t, p, 0), driverOf(t, p, 0)
	if err := before.Claim(bounded(t)); err != nil {
		t.Fatal(err)
	}
	hung := servers[0]
	resume := hung.Pause(t)
	for name, d := range map[string]*Driver{"a new session": after, "an open session": before} {
		if err := d.Claim(bounded(t)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	view := after.View(bounded(t))
	for i, endpoint := range endpoints {
		if problem := view.Members[remote.Hashed(endpoint)].Problem; (problem != "") != (i == 0) {
			t.Errorf("server %d has the problem %q; wanted one of the first alone", i, problem)
		}
	}
	if cleaning, err := before.Release(bounded(t)); err != nil || cleaning != results.CleaningKeysDeleted {
		t.Errorf("released with %s, %v", cleaning, err)
	}
	resume()
}
