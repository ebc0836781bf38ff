package etcd

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/workload"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Tests of what workloads do to the store, by the history that etcd keeps of
// every key until somebody compacts it.

// change is one event of the store, on a key of a run's load. The key has no
// prefix.
type change struct {
	deleted    bool
	key, value string
}

// changesOf runs a plan and returns its snapshots and what it changed under its
// prefix, in order, up to the deletion of its keys.
func changesOf(t *testing.T, client *clientv3.Client, p plan.Plan) ([]*results.Snapshot, []change) {
	t.Helper()
	before, err := client.Get(t.Context(), "none")
	if err != nil {
		t.Fatal(err)
	}
	snapshots := runAll(t, p)
	ctx := withTimeout(t)
	var changes []change
	for batch := range client.Watch(ctx, p.Prefix, clientv3.WithPrefix(), clientv3.WithRev(before.Header.Revision+1)) {
		for _, e := range batch.Events {
			key := strings.TrimPrefix(string(e.Kv.Key), p.Prefix)
			switch {
			case key == ".owner" && e.Type == clientv3.EventTypeDelete:
				return snapshots, changes
			case !strings.HasPrefix(key, "."):
				changes = append(changes, change{e.Type == clientv3.EventTypeDelete, key, string(e.Kv.Value)})
			}
		}
	}
	t.Fatal("the history has no end of the run")
	return nil, nil
}

// puts counts the changes that are not deletions.
func puts(changes []change) (n uint64) {
	for _, c := range changes {
		if !c.deleted {
			n++
		}
	}
	return n
}

// overBoth runs a test for each transport, with a change to plans that chooses
// it.
func overBoth(t *testing.T, test func(t *testing.T, transport func(*plan.Plan))) {
	for _, transport := range []string{plan.TransportClientV3, plan.TransportFast} {
		t.Run(transport, func(t *testing.T) {
			test(t, func(p *plan.Plan) { p.Load.Transport = transport })
		})
	}
}

// Every arrival of a schedule is a put in the store, or is accounted for as
// owed.
func TestSchedulesReachTheStore(t *testing.T) {
	cluster, client := oneMember(t)
	tests := map[string]struct {
		change func(*plan.Load)
		// measured is what falls due, 0 if chance decides.
		measured uint64
	}{
		"stages": {func(l *plan.Load) {
			l.Stages = []plan.Stage{{FromPerSecond: 300, ToPerSecond: 300, Seconds: 1}, {FromPerSecond: 0, ToPerSecond: 400, Seconds: 1}}
		}, 500},
		"poisson": {func(l *plan.Load) { l.RatePerSecond, l.Poisson = 300, true }, 0},
	}
	for name, tc := range tests {
		overBoth(t, func(t *testing.T, transport func(*plan.Plan)) {
			p := planFor(cluster.Endpoints, transport, func(p *plan.Plan) {
				p.Pods, p.Load.Requests, p.Load.DurationSeconds, p.Load.WarmupSeconds = 2, 0, 2, 1
				tc.change(&p.Load)
			})
			snapshots, changes := changesOf(t, client, p)
			sent, measured := account(snapshots)
			if puts(changes) != sent[results.RPCPut] || successes(snapshots) != measured {
				t.Errorf("%s: %d puts are in the store, %d were sent; %d of %d measured ones succeeded",
					name, puts(changes), sent[results.RPCPut], successes(snapshots), measured)
			}
			if due := measured + owed(snapshots); tc.measured > 0 && due != tc.measured || due < 400 {
				t.Errorf("%s: %d requests fell due, wanted %d", name, due, tc.measured)
			}
		})
	}
}

// The keys that were put are those that the seed gives, each as often, however
// they are shared between pods.
func TestChosenKeysReachTheStore(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	tests := map[string]struct {
		order  plan.KeyOrder
		demand plan.Demand
	}{
		"uniform":  {plan.KeyOrderUniform, plan.Demand{}},
		"zipf":     {plan.KeyOrderZipf, plan.Demand{ZipfThousandths: 990}},
		"hot spot": {plan.KeyOrderHotSpot, plan.Demand{HotKeysPerThousand: 20, HotRequestsPerThousand: 800}},
	}
	for name, tc := range tests {
		overBoth(t, func(t *testing.T, transport func(*plan.Plan)) {
			p := planFor(cluster.Endpoints, transport, func(p *plan.Plan) {
				p.Pods, p.Workload.KeyCount = 2, 300
				p.Workload.KeyOrder, p.Workload.Demand = tc.order, tc.demand
			})
			_, changes := changesOf(t, client, p)
			want, got := map[string]int{}, map[string]int{}
			w := workload.New(p)
			for n := range p.Load.Requests {
				want[strings.TrimPrefix(string(w.AppendKey(nil, w.At(workload.Measured, n).Key)), p.Prefix)]++
			}
			for _, c := range changes {
				if !c.deleted {
					got[c.key]++
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: puts by key (-want +got):\n%s", name, diff)
			}
		})
	}
}

// Values in the store are made of what the plan says.
func TestValuesReachTheStore(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	tests := map[string]struct {
		values plan.Values
		// zeros is the share of zero bytes, and mean the mean length.
		zeros, mean float64
	}{
		"random":       {plan.Values{}, 1. / 256, 200},
		"zero":         {plan.Values{ZeroPercent: 100}, 1, 200},
		"compressible": {plan.Values{ZeroPercent: 60, Spread: 100}, 0.6, 150},
		"log-uniform":  {plan.Values{ZeroPercent: 60, Spread: 175, LogUniform: true}, 0.6, 175 / math.Log(8)},
	}
	for name, tc := range tests {
		overBoth(t, func(t *testing.T, transport func(*plan.Plan)) {
			p := planFor(cluster.Endpoints, transport, func(p *plan.Plan) {
				p.Workload.KeyCount, p.Workload.ValueSize, p.Workload.Values = 1, 200, tc.values
			})
			_, changes := changesOf(t, client, p)
			var bytes, zeros float64
			for _, c := range changes {
				bytes += float64(len(c.value))
				zeros += float64(strings.Count(c.value, "\x00"))
			}
			if mean := bytes / float64(puts(changes)); math.Abs(mean-tc.mean) > 5 || math.Abs(zeros/bytes-tc.zeros) > 0.02 {
				t.Errorf("%s: values have %.1f bytes on average, %.3f of them zero; wanted %.0f and %.3f", name, mean, zeros/bytes, tc.mean, tc.zeros)
			}
		})
	}
}
