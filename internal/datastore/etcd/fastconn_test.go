package etcd_test

import (
	"context"
	"fmt"
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

// atOnce is a load.Control that starts at once and never stops.
type atOnce struct{}

func (atOnce) StartAt(context.Context) (time.Time, error) { return time.Now(), nil }
func (atOnce) Admitted(context.Context) error             { return nil }
func (atOnce) Stopped() <-chan struct{}                   { return nil }

// sessionOver runs a whole session over a transport.
func sessionOver(t *testing.T, transport spec.Transport, address string, rate *spec.Rate) *results.Snapshot {
	t.Helper()
	connections := int32(3)
	if !transport.Multiplexed() {
		connections = 10
	}
	p := plan.Plan{
		Version: plan.Version, RunUID: "uid-" + string(transport), Name: "ns/name", TimeoutSeconds: 60,
		Run: workload.Run{
			Prefix: "bench/" + string(transport) + "/",
			Workload: spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
				Consistency: spec.Linearizable, ReadPercent: 50, Keys: spec.Keys{Count: 50, SizeBytes: 8, Distribution: spec.Uniform}, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 100},
			}},
			Load: spec.Load{
				Transport: transport, Pods: 1, Connections: connections, Clients: 10, Requests: new(int64(1000)), RequestTimeoutSeconds: 10, Rate: rate, Seed: 7,
			},
		},
		Target: plan.Target{Datastore: spec.Etcd, Endpoints: []string{address}, Members: spec.MembersAll},
		Guard:  spec.Guard{AcceptWrites: true, StopOn: &spec.StopRules{}},
	}
	s, err := load.NewSession(load.Config{Plan: p, Control: atOnce{}, Driver: etcd.New(p, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.Snapshot()
}

// TestTransportsDoTheSame runs the same plan over all transports.
func TestTransportsDoTheSame(t *testing.T) {
	cluster := etcdtest.Start(t, 1, nil)
	address, client := cluster.Endpoints[0], cluster.Client(t, "", "")
	for name, rate := range map[string]*spec.Rate{"closed loop": nil, "open loop": {PerSecond: 2000, Arrival: spec.ArrivalConstant}} {
		v3 := sessionOver(t, spec.TransportClient, address, rate)
		for _, transport := range []spec.Transport{spec.TransportFast, spec.TransportJSON} {
			t.Run(fmt.Sprint(name, ", ", transport), func(t *testing.T) {
				wantTheSame(t, v3, sessionOver(t, transport, address, rate), transport)
				left, err := client.Get(t.Context(), "bench/", clientv3.WithPrefix(), clientv3.WithCountOnly())
				if err != nil || left.Count != 0 {
					t.Errorf("%d keys are left, %v", left.Count, err)
				}
			})
		}
	}
}

// wantTheSame compares a session over a transport with one over Client.
func wantTheSame(t *testing.T, v3, other *results.Snapshot, transport spec.Transport) {
	t.Helper()
	for _, phase := range []results.Phase{results.PhasePreload, results.PhaseMeasured} {
		for _, rpc := range []spec.RPC{spec.RPCPut, spec.RPCRange} {
			if want, got := v3.Requests[rpc][phase], other.Requests[rpc][phase]; got != want {
				t.Errorf("%s in %s: %d requests, Client sent %d", rpc, phase, got, want)
			}
		}
	}
	for operation, want := range v3.Operations {
		got := other.Operations[operation]
		if got.Latency.Count() != want.Latency.Count() || got.CompletedInWindow != want.CompletedInWindow {
			t.Errorf("%s: %d answered, Client had %d", operation, got.Latency.Count(), want.Latency.Count())
		}
		if diff := cmp.Diff(map[string]uint64{}, got.Errors); diff != "" {
			t.Error(diff)
		}
	}
	if other.Cleaning != v3.Cleaning || other.Transport != transport {
		t.Errorf("cleaning %v, transport %v", other.Cleaning, other.Transport)
	}
}
