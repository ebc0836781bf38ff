//go:build stores

package etcd

import (
	"slices"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/kinetest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Tests against a real kine.

// onKine is a small plan of API servers.
func onKine(s *kinetest.Server, changes ...func(*plan.Plan)) plan.Plan {
	p := planFor([]string{s.Endpoint}, func(p *plan.Plan) {
		p.Target.Datastore, p.FirstLease = spec.Kine, workload.LeaseIDs
		p.Workload = spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Nodes: 50}}
		p.Load.Pods, p.Load.Connections, p.Load.Clients, p.Load.Requests = 3, 3, 6, new(int64(1_001))
		p.Lock = &plan.Lock{WaitSeconds: 60}
	})
	for _, change := range changes {
		change(&p)
	}
	return p
}

// kineOf returns a driver that is closed with the test.
func kineOf(t *testing.T, p plan.Plan, index int) *Kine {
	t.Helper()
	k := NewKine(p, index)
	t.Cleanup(func() { _ = k.Close() })
	return k
}

// kineClient reads and writes beside a run.
type kineClient struct {
	*clientv3.Client
	kv kineKV
}

// get returns nil if the key does not exist.
func (c kineClient) get(t *testing.T, key string) *ownership.Item {
	t.Helper()
	found, err := c.kv.Get(withTimeout(t), key)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// create writes a key that does not exist, as kine allows.
func create(t *testing.T, c kineClient, key, value string) {
	t.Helper()
	if done, err := c.kv.Create(withTimeout(t), key, []byte(value)); err != nil || !done {
		t.Fatalf("creating %s: %t, %v", key, done, err)
	}
}

func (c kineClient) remove(t *testing.T, key string) {
	t.Helper()
	if found := c.get(t, key); found != nil {
		if _, err := c.kv.DeleteAll(withTimeout(t), found.Key); err != nil {
			t.Fatal(err)
		}
	}
}

// startKine starts kine, and returns a client of it and a plan for it.
func startKine(t *testing.T) (kineClient, plan.Plan) {
	t.Helper()
	server := kinetest.Start(t)
	return kineClientOf(t, server), onKine(server)
}

func kineClientOf(t *testing.T, s *kinetest.Server) kineClient {
	t.Helper()
	return kineClient{s.Client(t), kineKV{kineOf(t, onKine(s), 0).driver}}
}

func TestKineServesARunThatIsCountedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t, "--debug")
	client := server.Client(t)
	p := onKine(server)
	snapshots := runAll(t, p)
	sent, _ := account(snapshots)
	for _, rpc := range []spec.RPC{spec.RPCRange, spec.RPCTxn, spec.RPCStatus, spec.RPCLeaseGrant} {
		if served := server.Served(t, string(rpc), sent[rpc]); served != sent[rpc] || served == 0 {
			t.Errorf("%s: kine served %d, the pods count %d", rpc, served, sent[rpc])
		}
	}
	merged := results.Merge(snapshots)
	succeeded := uint64(0)
	for name, o := range merged.Operations {
		if o.Failed.Count() > 0 || o.Lost > 0 {
			t.Errorf("%v: %d failed, %d lost", name, o.Failed.Count(), o.Lost)
		}
		if slices.Contains([]spec.Operation{spec.OperationOptimisticPut, spec.OperationOptimisticDelete, spec.OperationListBy500, spec.OperationListBy10000}, name) {
			succeeded += o.Latency.Count()
		}
	}
	if succeeded != 1_001 {
		t.Errorf("%d requests succeeded, wanted 1,001", succeeded)
	}
	if w := merged.Watch; w.Expected == 0 || w.Missed > 0 {
		t.Errorf("watchers: %+v", w)
	}
	for _, s := range snapshots {
		if s.Cleaning != results.CleaningKeysDeleted || s.Stage != results.StageDone {
			t.Errorf("pod %d ends in %s with %s", s.Index, s.Stage, s.Cleaning)
		}
	}
	if left := keysUnder(t, client, "etcdbench/"); len(left) > 0 {
		t.Errorf("%d keys are left, wanted none, not even a lock: %v", len(left), left)
	}
}

// kine takes the ID of a lease as a time to live.
func TestKineLetsEventsExpire(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	k := kineOf(t, onKine(server), 0)
	if _, _, err := k.Preflight(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	conn, err := k.Connect(withTimeout(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	request := load.Request{Operation: spec.OperationOptimisticPut, Key: []byte("event"), Value: []byte("x"), Create: true, Expires: true, Timeout: 10 * time.Second}
	var response load.Response
	conn.Do(withTimeout(t), &request, &response)
	if !response.Succeeded() {
		t.Fatalf("%+v", response)
	}
	found, err := c.Get(withTimeout(t), "event")
	if err != nil || len(found.Kvs) != 1 || time.Duration(found.Kvs[0].Lease)*time.Second != eventTTL+eventLeaseReuse {
		t.Errorf("the event has the lease %+v, %v", found, err)
	}
}

func TestKinePreflightRefuses(t *testing.T) {
	t.Parallel()
	server, used := kinetest.Start(t), kinetest.Start(t)
	server.Client(t)
	create(t, kineClientOf(t, used), "/registry/pods/default/a", "{}")
	etcd := etcdtest.Start(t, 1, nil)
	for name, tc := range map[string]struct {
		endpoints []string
		change    func(*plan.Plan)
		reason    results.FailureReason
		words     []string
	}{
		"the objects of an API server": {[]string{used.Endpoint}, nil, results.FailureControlPlaneTarget, []string{"/registry/pods/default/a"}},
		"two addresses":                {[]string{server.Endpoint, used.Endpoint}, nil, results.FailureTargetUnhealthy, []string{"needs one"}},
		"an etcd":                      {etcd.Endpoints, nil, results.FailureUnsupported, []string{"Etcd"}},
		"kine that is said to be etcd": {[]string{server.Endpoint}, func(p *plan.Plan) { p.Target.Datastore = spec.Etcd }, results.FailureUnsupported, []string{"Kine"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := onKine(server, func(p *plan.Plan) { p.Target.Endpoints = tc.endpoints })
			if tc.change != nil {
				tc.change(&p)
			}
			d := driverOf(p, 0)
			defer d.Close()
			_, _, err := d.Preflight(withTimeout(t))
			wantFailure(t, err, tc.reason, append(tc.words, tc.endpoints...)...)
		})
	}
	acknowledged := kineOf(t, onKine(used, func(p *plan.Plan) { p.Guard.AcknowledgeControlPlane = true }), 0)
	for _, k := range []*Kine{kineOf(t, onKine(server), 0), acknowledged} {
		target, _, err := k.Preflight(withTimeout(t))
		if err != nil || len(target.Members) != 1 || target.Members[0].Name != "kine" || target.Members[0].Version == "" {
			t.Errorf("got %+v, %v", target, err)
		}
	}
}

func TestKineIsReachedByTLS(t *testing.T) {
	t.Parallel()
	authority := etcdtest.NewAuthority(t, "kine.example")
	files := authority.ServerFiles(t)
	server := kinetest.Start(t, "--server-cert-file", files.CertFile, "--server-key-file", files.KeyFile)
	p := onKine(server, withTLS(authority.SecretDir(t), "kine.example"))
	if _, _, err := kineOf(t, p, 0).Preflight(withTimeout(t)); err != nil {
		t.Error(err)
	}
	_, _, err := kineOf(t, onKine(server), 0).Preflight(withTimeout(t))
	wantFailure(t, err, results.FailureTLSFailed, server.Endpoint)
}
