package transports

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

const prefix = "etcdbench/11111111/"

// workloads are those that Fast supports. Each key is written by at most one request of the load, or all
// requests are sequential. So the seed determines the store.
var workloads = map[string]func(*plan.Plan){
	"puts": func(*plan.Plan) {},
	"puts at random, one after the other": func(p *plan.Plan) {
		p.Workload.Put.Keys.Distribution, p.Load.Connections, p.Load.Clients = spec.Uniform, 1, 1
	},
	"puts on a schedule": func(p *plan.Plan) { p.Load.Rate = &spec.Rate{PerSecond: 2_000, Arrival: spec.ArrivalConstant} },
	"reads": func(p *plan.Plan) {
		p.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
			KeysPerRequest: 1, Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, Keys: keys(), Values: values(),
		}}
	},
	"mixed": func(p *plan.Plan) {
		p.Workload = spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
			ReadPercent: 50, Consistency: spec.Linearizable, Keys: keys(), Values: values(),
		}}
	},
	"deletions": func(p *plan.Plan) {
		p.Workload = spec.Workload{Type: spec.WorkloadDelete, Delete: &spec.Delete{Keys: keys(), Values: values()}}
		p.Load.Requests = new(int64(200))
	},
	"transactions": func(p *plan.Plan) {
		p.Workload = transactions(spec.Txn{Mode: spec.TxnPuts, PutsPerTransaction: new(int32(3))})
		p.Load.Requests = new(int64(100))
	},
	"swaps":              func(p *plan.Plan) { p.Workload = transactions(spec.Txn{Mode: spec.TxnCompareAndSwap}) },
	"grants of leases":   func(p *plan.Plan) { p.FirstLease, p.Workload = 7*workload.LeaseIDs, leases(spec.LeaseGrant) },
	"leases' revocation": func(p *plan.Plan) { p.FirstLease, p.Workload = 7*workload.LeaseIDs, leases(spec.LeaseRevoke) },
}

func keys() spec.Keys { return spec.Keys{Count: 300, SizeBytes: 8, Distribution: spec.Sequential} }

func values() spec.Values {
	return spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 300}
}

func transactions(t spec.Txn) spec.Workload {
	t.Keys, t.Values = keys(), values()
	return spec.Workload{Type: spec.WorkloadTxn, Txn: &t}
}

func leases(o spec.LeaseOperation) spec.Workload {
	return spec.Workload{Type: spec.WorkloadLease, Lease: &spec.Lease{Operation: o, TTLSeconds: 600}}
}

// planFor is a plan of one pod.
func planFor(target plan.Target, transport spec.Transport, seed int64, change func(*plan.Plan)) plan.Plan {
	p := plan.Plan{
		Version: plan.Version, RunUID: "11111111-0000-4000-8000-000000000000", Name: "test/run", TimeoutSeconds: 120,
		Target: target,
		Run: workload.Run{
			Prefix:   prefix,
			Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: keys(), Values: values()}},
			Load: spec.Load{
				Transport: transport, Pods: 1, Connections: 3, Clients: 12, Requests: new(int64(300)), RequestTimeoutSeconds: 30, Seed: seed,
			},
		},
		// The run may write any amount, and no rule ends it.
		Guard: spec.Guard{AcceptWrites: true, StopOn: &spec.StopRules{}},
	}
	change(&p)
	if !transport.Multiplexed() {
		p.Load.Clients = p.Load.Connections
	}
	return p
}

// entry is the value of a key, and how often it was written.
type entry struct {
	Value   string
	Version int64
}

// effect is the effect of a run up to the end of its load.
type effect struct {
	Store map[string]entry
	// Leases are the run's leases that exist.
	Leases []int64
	// Requests are the workload's reads and writes, by phase.
	Requests map[spec.RPC]map[results.Phase]uint64
	Answered map[spec.Operation]answered
	Failed   map[string]uint64
	Cleaning results.Cleaning
}

// answered are the successes of an operation: all measured ones, and those with a response in the window.
type answered struct{ All, InWindow uint64 }

// atOnce is a load.Control that starts at once.
type atOnce struct{}

func (atOnce) StartAt(context.Context) (time.Time, error) { return time.Now(), nil }
func (atOnce) Admitted(context.Context) error             { return nil }
func (atOnce) Stopped() <-chan struct{}                   { return nil }

// run runs a plan and reads the store before the run's keys are deleted.
func run(t *testing.T, client *clientv3.Client, p plan.Plan) effect {
	t.Helper()
	var a effect
	config := load.Config{Plan: p, Driver: etcd.New(p, 0), Control: atOnce{}, Measured: func() { a.look(t, client, p) }}
	session, err := load.NewSession(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Run(t.Context()); err != nil {
		t.Fatalf("%s: %v", p.Load.Transport, err)
	}
	snapshot := session.Snapshot()
	if snapshot.Transport != p.Load.Transport {
		t.Errorf("the run reports the transport %q, wanted %q", snapshot.Transport, p.Load.Transport)
	}
	a.count(snapshot)
	left, err := client.Get(t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || left.Count != 0 {
		t.Errorf("%s: %d keys are left, %v", p.Load.Transport, left.Count, err)
	}
	return a
}

func (a *effect) look(t *testing.T, client *clientv3.Client, p plan.Plan) {
	found, err := client.Get(t.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		t.Error(err)
		return
	}
	a.Store = map[string]entry{}
	for _, kv := range found.Kvs {
		// Names with a leading dot are the run's own keys.
		if key := strings.TrimPrefix(string(kv.Key), prefix); key[0] != '.' {
			a.Store[key] = entry{string(kv.Value), kv.Version}
		}
	}
	all, err := client.Leases(t.Context())
	if err != nil {
		t.Error(err)
		return
	}
	for _, l := range all.Leases {
		if p.OwnsLease(int64(l.ID)) {
			a.Leases = append(a.Leases, int64(l.ID))
		}
	}
	slices.Sort(a.Leases)
}

func (a *effect) count(s *results.Snapshot) {
	a.Requests, a.Failed, a.Cleaning = map[spec.RPC]map[results.Phase]uint64{}, map[string]uint64{}, s.Cleaning
	a.Answered = map[spec.Operation]answered{}
	for rpc, phases := range s.Requests {
		for _, phase := range []results.Phase{results.PhasePreload, results.PhaseMeasured} {
			if n := phases[phase]; n > 0 {
				if a.Requests[rpc] == nil {
					a.Requests[rpc] = map[results.Phase]uint64{}
				}
				a.Requests[rpc][phase] = n
			}
		}
	}
	for name, o := range s.Operations {
		a.Answered[name] = answered{o.Latency.Count(), o.CompletedInWindow}
		for code, n := range o.Errors {
			a.Failed[code] += n
		}
	}
}

// wantTheSame runs each workload over all transports that send it, on an etcd without other users.
func wantTheSame(t *testing.T, client *clientv3.Client, target plan.Target, seeds ...int64) {
	for name, change := range workloads {
		for _, seed := range seeds {
			t.Run(fmt.Sprint(name, ", seed ", seed), func(t *testing.T) {
				want := run(t, client, planFor(target, spec.TransportClient, seed, change))
				if len(want.Store)+len(want.Leases) == 0 && name != "leases' revocation" {
					t.Error("the run over Client wrote no keys")
				}
				for _, transport := range []spec.Transport{spec.TransportFast, spec.TransportJSON} {
					p := planFor(target, transport, seed, change)
					if !slices.Contains(transport.Workloads(), p.Workload.Variant()) {
						continue
					}
					got := run(t, client, p)
					if diff := cmp.Diff(want, got); diff != "" || len(got.Failed) > 0 {
						t.Errorf("the transports have different effects (-Client +%s):\n%s", transport, diff)
					}
				}
			})
		}
	}
}

func TestTheStoreIsTheSame(t *testing.T) {
	cluster := etcdtest.Start(t, 1, nil)
	wantTheSame(t, cluster.Client(t, "", ""), plan.Target{Datastore: spec.Etcd, Endpoints: cluster.Endpoints, Members: spec.MembersAll}, 1, 20)
}

// Another seed gives another store; otherwise the comparison would prove nothing.
func TestTheStoreFollowsFromTheSeed(t *testing.T) {
	cluster := etcdtest.Start(t, 1, nil)
	client, target := cluster.Client(t, "", ""), plan.Target{Datastore: spec.Etcd, Endpoints: cluster.Endpoints, Members: spec.MembersAll}
	one := run(t, client, planFor(target, spec.TransportFast, 1, workloads["puts"]))
	two := run(t, client, planFor(target, spec.TransportFast, 2, workloads["puts"]))
	if len(one.Store) != 300 || cmp.Equal(one.Store, two.Store) {
		t.Errorf("%d keys, the same for two seeds, wanted different ones", len(one.Store))
	}
}
