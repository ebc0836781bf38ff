package etcd_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// atOnce is a load.Control that starts at once and never stops.
type atOnce struct{}

func (atOnce) StartAt(context.Context) (time.Time, error) { return time.Now(), nil }
func (atOnce) Turn(context.Context) error                 { return nil }
func (atOnce) Stopped() <-chan struct{}                   { return nil }

// sessionOver runs a whole session over a transport.
func sessionOver(t *testing.T, transport, address string, rate int64) *results.Snapshot {
	t.Helper()
	p := plan.Plan{
		Version: plan.Version, RunUID: "uid-" + transport, Name: "ns/name", Pods: 1, Prefix: "bench/" + transport + "/", TimeoutSeconds: 60,
		Target: plan.Target{Endpoints: []string{address}, Members: plan.MembersAll},
		Workload: plan.Workload{
			Type: plan.WorkloadMixed, ReadsPerHundred: 50, KeySize: 8, ValueSize: 100, KeyCount: 50, KeyOrder: plan.KeyOrderUniform,
		},
		Load: plan.Load{Transport: transport, Connections: 3, Clients: 10, Requests: 1000, RequestTimeoutSeconds: 10, RatePerSecond: rate, Seed: 7},
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

// TestTransportsDoTheSame runs the same plan over both transports.
func TestTransportsDoTheSame(t *testing.T) {
	cluster := etcdtest.Start(t, 1, nil)
	address, client := cluster.Endpoints[0], cluster.Client(t, "", "")
	for name, rate := range map[string]int64{"closed loop": 0, "open loop": 2000} {
		t.Run(name, func(t *testing.T) {
			v3 := sessionOver(t, plan.TransportClientV3, address, rate)
			fast := sessionOver(t, plan.TransportFast, address, rate)
			for _, phase := range []results.Phase{results.PhasePreload, results.PhaseMeasured} {
				for _, rpc := range []results.RPC{results.RPCPut, results.RPCRange} {
					if want, got := v3.Requests[rpc][phase], fast.Requests[rpc][phase]; got != want {
						t.Errorf("%s in %s: %d requests, ClientV3 sent %d", rpc, phase, got, want)
					}
				}
			}
			for operation, want := range v3.Operations {
				got := fast.Operations[operation]
				if got.Latency.Count() != want.Latency.Count() || got.CompletedInWindow != want.CompletedInWindow {
					t.Errorf("%s: %d answered, ClientV3 had %d", operation, got.Latency.Count(), want.Latency.Count())
				}
				if diff := cmp.Diff(map[string]uint64{}, got.Errors); diff != "" {
					t.Error(diff)
				}
			}
			if fast.Cleaning != v3.Cleaning || fast.Transport != plan.TransportFast {
				t.Errorf("cleaning %v, transport %v", fast.Cleaning, fast.Transport)
			}
			left, err := client.Get(t.Context(), "bench/", clientv3.WithPrefix(), clientv3.WithCountOnly())
			if err != nil || left.Count != 0 {
				t.Errorf("%d keys are left, %v", left.Count, err)
			}
		})
	}
}
