package etcd

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Tests of the effects of workloads on the store. They read the history that etcd keeps of every key until a
// compaction.

// change is one event of the store, on a key of a run's load. The key has no prefix.
type change struct {
	deleted    bool
	key, value string
}

// changesOf runs a plan. It returns its snapshots and its changes under its prefix, in order, up to the deletion of its
// keys.
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

// over is a change to plans that chooses a transport. If a connection carries one request at a time, it has one client.
func over(transport spec.Transport) func(*plan.Plan) {
	return func(p *plan.Plan) {
		if p.Load.Transport = transport; !transport.Multiplexed() {
			p.Load.Clients = p.Load.Connections
		}
	}
}

// overAll runs a test for each transport, with a change to plans that chooses the transport.
func overAll(t *testing.T, test func(t *testing.T, transport func(*plan.Plan))) {
	for _, transport := range loadTransports() {
		t.Run(string(transport), func(t *testing.T) { test(t, over(transport)) })
	}
}

// overBoth is overAll for the transports that also carry leases and compare-and-swaps.
func overBoth(t *testing.T, test func(t *testing.T, transport func(*plan.Plan))) {
	for _, transport := range []spec.Transport{spec.TransportClient, spec.TransportFast} {
		t.Run(string(transport), func(t *testing.T) { test(t, over(transport)) })
	}
}

// Every arrival of a schedule is a put in the store, or is counted as unsent.
func TestSchedulesReachTheStore(t *testing.T) {
	cluster, client := oneMember(t)
	tests := map[string]struct {
		change func(*spec.Load)
		// measured is how many arrivals fall due, 0 if that is random.
		measured uint64
	}{
		"stages": {func(l *spec.Load) {
			l.DurationSeconds, l.Rate.Stages = nil, []spec.RateStage{{PerSecond: 300, Seconds: 1}, {PerSecond: 200, Seconds: 1}}
		}, 500},
		"a ramp":  {func(l *spec.Load) { l.Rate.Ramp = &spec.Ramp{FromPerSecond: 100, ToPerSecond: 400} }, 500},
		"poisson": {func(l *spec.Load) { l.Rate.PerSecond, l.Rate.Arrival = 300, spec.ArrivalPoisson }, 0},
	}
	for name, tc := range tests {
		overAll(t, func(t *testing.T, transport func(*plan.Plan)) {
			p := planFor(cluster.Endpoints, transport, func(p *plan.Plan) {
				p.Load.Pods, p.Load.WarmupSeconds = 2, 1
				timed(&p.Load, 2, 0)
				tc.change(&p.Load)
			})
			snapshots, changes := changesOf(t, client, p)
			sent, measured := account(snapshots)
			if puts(changes) != sent[spec.RPCPut] || successes(snapshots) != measured {
				t.Errorf("%s: %d puts are in the store, %d were sent; %d of %d measured ones succeeded",
					name, puts(changes), sent[spec.RPCPut], successes(snapshots), measured)
			}
			if due := measured + unsent(snapshots); tc.measured > 0 && due != tc.measured || due < 400 {
				t.Errorf("%s: %d requests fell due, wanted %d", name, due, tc.measured)
			}
		})
	}
}

// The keys that were put are those that the seed gives, each as often, for any division between pods.
func TestChosenKeysReachTheStore(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	tests := map[string]spec.Keys{
		"uniform":  {Distribution: spec.Uniform},
		"zipf":     {Distribution: spec.ZipfLaw, Zipf: &spec.Zipf{Exponent: "0.99"}},
		"hot spot": {Distribution: spec.HotSpots, HotSpot: &spec.HotSpot{KeysPerMillion: 20_000, RequestsPerMillion: 800_000}},
	}
	for name, keys := range tests {
		overAll(t, func(t *testing.T, transport func(*plan.Plan)) {
			keys.Count, keys.SizeBytes = 300, 8
			p := planFor(cluster.Endpoints, transport, func(p *plan.Plan) { p.Load.Pods, p.Workload.Put.Keys = 2, keys })
			_, changes := changesOf(t, client, p)
			want, got := map[string]int{}, map[string]int{}
			w := workload.New(p.Run)
			for n := range *p.Load.Requests {
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

// compressible values are zero except for 40 % of their bytes.
func compressible(minSizeBytes int32, sizes spec.SizeDistribution) spec.Values {
	return spec.Values{Content: spec.ContentCompressible, RandomPercent: new(int32(40)), MinSizeBytes: &minSizeBytes, SizeDistribution: sizes}
}

// Values in the store have the content that the plan describes.
func TestValuesReachTheStore(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	tests := map[string]struct {
		values spec.Values
		// zeros is the share of zero bytes, and mean the mean length.
		zeros, mean float64
	}{
		"random":       {spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform}, 1. / 256, 200},
		"zero":         {spec.Values{Content: spec.ContentZero, SizeDistribution: spec.SizesUniform}, 1, 200},
		"compressible": {compressible(100, spec.SizesUniform), 0.6, 150},
		"log-uniform":  {compressible(25, spec.SizesLogUniform), 0.6, 175 / math.Log(8)},
	}
	for name, tc := range tests {
		overAll(t, func(t *testing.T, transport func(*plan.Plan)) {
			p := planFor(cluster.Endpoints, transport, func(p *plan.Plan) {
				tc.values.SizeBytes = 200
				p.Workload.Put.Keys.Count, p.Workload.Put.Values = 1, tc.values
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
