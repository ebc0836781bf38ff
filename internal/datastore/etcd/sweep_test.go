package etcd

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// every returns every step-th number below an end.
func every(step, end int64) []int64 {
	var out []int64
	for n := int64(0); n < end; n += step {
		out = append(out, n)
	}
	return out
}

// between are foreign keys, one after each of these keys of two digits.
func between(own []int64) []string {
	var out []string
	for _, n := range own {
		out = append(out, fmt.Sprintf("%02dx", n))
	}
	return out
}

// writeObjects writes objects of these numbers, of each resource in turn.
func writeObjects(t *testing.T, client *clientv3.Client, p plan.Plan, numbers []int64) {
	t.Helper()
	keys := p.KeyWriter()
	for _, n := range numbers {
		put(t, client, string(keys.AppendObject(nil, workload.Resources[int(n)%len(workload.Resources)], n)), "v")
	}
}

// leavesForeign releases a claimed prefix with foreign keys under it, and checks that only these are left. Then it
// deletes them, and checks that nothing is left.
func leavesForeign(t *testing.T, d *Driver, client *clientv3.Client, foreign []string) {
	t.Helper()
	want := map[string]string{d.run.Marker(): d.plan.RunUID}
	for _, rest := range foreign {
		put(t, client, d.plan.Prefix+rest, "precious")
		want[d.plan.Prefix+rest] = "precious"
	}
	if cleaning, err := d.Release(withTimeout(t)); err == nil || cleaning != results.CleaningKeysLeft {
		t.Errorf("got %s, %v, wanted that keys are left", cleaning, err)
	}
	if diff := cmp.Diff(want, keysUnder(t, client, d.plan.Prefix)); diff != "" {
		t.Errorf("keys after the release (-want +got):\n%s", diff)
	}
	for _, rest := range foreign {
		remove(t, client, d.plan.Prefix+rest)
	}
	if err := cleanAtOnce(t, d); err != nil {
		t.Errorf("cleaning once they are gone: %v", err)
	}
	if left := keysUnder(t, client, d.plan.Prefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}

// Foreign keys among the run's keys stay and are reported. All of the run's keys are deleted.
func TestASweepLeavesWhatOthersWriteAmongTheKeys(t *testing.T) {
	cluster, client := oneMember(t)
	for name, tc := range map[string]struct {
		count   int64
		keySize int32
		written []int64
		foreign []string
		// atMost is how many transactions both the release and the cleaning may send.
		atMost uint64
	}{
		"another prefix within":         {10, 1, upTo(10), []string{"1/.owner", "1/5", "9\x00"}, 20},
		"in the place of a missing key": {10, 1, upTo(9), []string{"1/.owner"}, 20},
		"as many as there are missing":  {100, 2, every(2, 100), between(every(2, 100)), 20},
		"in a block that looks full":    {1_000, 8, append(upTo(7), upTo(1_000)[8:]...), []string{"00000007x"}, 30},
		"what looks like the next keys": {10, 1, upTo(10), []string{"10", "5a", "55555"}, 20},
		"in some of many full blocks":   {5_000, 8, upTo(5_000), []string{"00001234x", "00001234/1", "000012", "0000299a"}, 80},
		"between blocks, and at ends":   {3_000, 8, upTo(3_000), []string{"0", "00000999x", "00002999\x00"}, 60},
		"where few keys are":            {1_000_000, 8, every(99_999, 1_000_000), []string{"00000000x", "0005", "00500000/"}, 250},
		"where every seventh key is":    {3_000, 8, every(7, 3_000), []string{"00001001x"}, 80},
	} {
		t.Run(name, func(t *testing.T) {
			p := planFor(cluster.Endpoints, func(p *plan.Plan) { p.Workload.Put.Keys.Count, p.Workload.Put.Keys.SizeBytes = tc.count, tc.keySize })
			d := newDriver(t, p, 0)
			if err := d.Claim(withTimeout(t)); err != nil {
				t.Fatal(err)
			}
			fill(t, client, p, tc.written)
			leavesForeign(t, d, client, tc.foreign)
			if n := d.Requests()[spec.RPCTxn][results.PhaseControl]; n > tc.atMost {
				t.Errorf("the keys were deleted by %d transactions, wanted at most %d", n, tc.atMost)
			}
		})
	}
}

func TestASweepLeavesWhatOthersWriteAmongTheObjects(t *testing.T) {
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints, registryPlan, func(p *plan.Plan) { p.Load.Pods = 1 })
	d := newDriver(t, p, 0)
	if err := d.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	writeObjects(t, client, p, upTo(300))
	leavesForeign(t, d, client, []string{
		"registry/pods/namespace-1/other", "registry/pods/namespace-2/pod-000000000001",
		"registry/configmaps/x/y", "registry/leases/kube-node-lease/node-000001/x",
	})
}

// Nothing is left of any layout, neither after a release nor after the command. In a tree, keys do not sort by their numbers.
func TestASweepDeletesTheKeysOfEveryLayout(t *testing.T) {
	cluster, client := oneMember(t)
	for _, layout := range []spec.Layout{spec.LayoutFragmented, spec.LayoutBlob, spec.LayoutFlat, spec.LayoutTree} {
		for _, sets := range []spec.ParameterSets{spec.ParametersShared, spec.ParametersOwn} {
			t.Run(fmt.Sprint(layout, sets), func(t *testing.T) {
				p := planFor(cluster.Endpoints, fetching(spec.Fetch{Layout: layout, Parameters: sets, Connect: spec.ConnectBefore, TimeoutMilliseconds: 1000}, 11),
					func(p *plan.Plan) { p.Ephemeral, p.Workload.Fetch.ParametersPerProcess = false, 200 })
				write := func() *Driver {
					d := newDriver(t, p, 0)
					if err := d.Claim(withTimeout(t)); err != nil {
						t.Fatal(err)
					}
					fill(t, client, p, upTo(p.Keys().Count))
					return d
				}
				leavesForeign(t, write(), client, []string{"0/foreign", "00/a/b0", "00/b/a0", "12/1", "99/000"})
				d := write()
				if _, err := d.claims.Leave(withTimeout(t)); err != nil {
					t.Fatal(err)
				}
				l := leftovers(t, cluster.Endpoints)
				done, err := l.Remove(withTimeout(t), look(t, l, p.Prefix), firstLease)
				if left := keysUnder(t, client, p.Prefix); err != nil || done.Foreign > 0 || len(left) > 0 {
					t.Errorf("removed %+v, %v, and %d keys are left", done, err, len(left))
				}
			})
		}
	}
}

// A key of others among those of the pods does not count as a pod.
func TestAKeyOfOthersIsNoPod(t *testing.T) {
	cluster, client := oneMember(t)
	d := newDriver(t, planFor(cluster.Endpoints), 0)
	if err := d.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	fill(t, client, d.plan, upTo(10))
	foreign := d.run.Prefix + ownership.PodsFolder + "zz"
	put(t, client, foreign, "precious")
	if cleaning, err := d.Release(withTimeout(t)); err != nil || cleaning != results.CleaningKeysDeleted {
		t.Errorf("got %s, %v", cleaning, err)
	}
	if diff := cmp.Diff(map[string]string{foreign: "precious"}, keysUnder(t, client, ownPrefix)); diff != "" {
		t.Errorf("keys after the release (-want +got):\n%s", diff)
	}
}

// What is written after the last pod has given up its registration is not the run's, also under a name of the run's keys:
// the last pod, the cleanup Job, its retry and the command spare it.
func TestASweepLeavesWhatIsWrittenAfterTheRelease(t *testing.T) {
	cluster, client := oneMember(t)
	objects := planFor(cluster.Endpoints, registryPlan, func(p *plan.Plan) { p.Load.Pods = 1 })
	numbers := planFor(cluster.Endpoints, func(p *plan.Plan) { p.Workload.Put.Keys.Count, p.Workload.Put.Keys.SizeBytes = 2_000, 8 })
	writer := objects.KeyWriter()
	object := func(n int64) string { return string(writer.AppendObject(nil, workload.Pods, n)) }
	for name, tc := range map[string]struct {
		p       plan.Plan
		written func(p plan.Plan)
		// later are keys that others write after the release: over a key of the run, or beside one.
		later []string
	}{
		"numbers": {numbers, func(p plan.Plan) { fill(t, client, p, upTo(1_500)) }, []string{"00000003", "00000700", "00000701", "00001999", "00000010x", ".lock/1/a"}},
		"objects": {objects, func(p plan.Plan) { writeObjects(t, client, p, upTo(300)) }, []string{object(4)[len(objects.Prefix):], "registry/pods/namespace-1/other"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, tc.p, 0)
			ctx := withTimeout(t)
			if err := d.Claim(ctx); err != nil {
				t.Fatal(err)
			}
			tc.written(tc.p)
			if left, err := d.claims.Leave(ctx); err != nil || !left.Alone {
				t.Fatalf("%+v, %v", left, err)
			}
			want := map[string]string{d.run.Marker(): d.plan.RunUID}
			for _, rest := range tc.later {
				put(t, client, tc.p.Prefix+rest, "precious")
				want[tc.p.Prefix+rest] = "precious"
			}
			spares := func(who string) {
				t.Helper()
				if diff := cmp.Diff(want, keysUnder(t, client, tc.p.Prefix)); diff != "" {
					t.Errorf("keys after %s (-want +got):\n%s", who, diff)
				}
			}
			for range 2 {
				wantFailure(t, d.Clean(ctx, nil), results.FailurePrefixNotEmpty, d.run.Marker())
				spares("the cleanup")
			}
			l := leftovers(t, cluster.Endpoints)
			if done, err := l.Remove(ctx, look(t, l, tc.p.Prefix), firstLease); err != nil || done.Foreign != int64(len(tc.later)) {
				t.Errorf("removed %+v, %v", done, err)
			}
			spares("the command")
			if _, err := client.Delete(ctx, tc.p.Prefix, clientv3.WithPrefix()); err != nil {
				t.Fatal(err)
			}
		})
	}
}
