package etcdtool

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// benchmark returns the EtcdBenchmark of a command line.
func benchmark(t *testing.T, command string, args ...string) *v1alpha1.EtcdBenchmark {
	t.Helper()
	for _, c := range Commands() {
		if c.Name != command {
			continue
		}
		set := pflag.NewFlagSet(command, pflag.ContinueOnError)
		f := c.Define(set)
		if err := set.Parse(args); err != nil {
			t.Fatal(err)
		}
		b, err := f.Benchmark(set.Args())
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Fatalf("there is no command %s", command)
	return nil
}

// Without flags, a command does what the tool does without flags.
func TestDefaultsOfTheTool(t *testing.T) {
	b := benchmark(t, "put")
	total := int64(10_000)
	wantLoad := spec.Load{Transport: spec.TransportClient, Pods: 1, Connections: 1, Clients: 1, Requests: &total, RequestTimeoutSeconds: 10, Seed: 1}
	if diff := cmp.Diff(wantLoad, b.Spec.Load); diff != "" {
		t.Errorf("load (-want +got):\n%s", diff)
	}
	wantPut := &spec.Put{
		Keys:   spec.Keys{Count: 1, SizeBytes: 8, Distribution: spec.Uniform},
		Values: spec.Values{SizeBytes: 8, Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform},
	}
	if diff := cmp.Diff(wantPut, b.Spec.Workload.Put); diff != "" || b.Spec.Guard != nil {
		t.Errorf("put (-want +got):\n%s", diff)
	}
	latency := benchmark(t, "watch-latency")
	if rate := latency.Spec.Load.Rate; rate == nil || rate.PerSecond != 100 || latency.Spec.Workload.Watch.Connections != 1 {
		t.Errorf("watch-latency has the load %+v", latency.Spec.Load)
	}
}

// A compaction affects all users of the store. The flag asks for it, so the manifest allows it.
func TestCompactionIsAllowed(t *testing.T) {
	b := benchmark(t, "put", "--compact-interval=2m", "--compact-index-delta=7")
	want := []spec.Disturbance{{Type: spec.DisturbanceCompact, EverySeconds: 120, Compact: &spec.CompactSettings{KeepRevisions: 7}}}
	if diff := cmp.Diff(want, b.Spec.Disturbances); diff != "" || !b.Spec.Guard.AllowStoreWide {
		t.Errorf("disturbances (-want +got):\n%s", diff)
	}
}

func TestRatioBecomesAPercentage(t *testing.T) {
	for ratio, want := range map[string]int32{"0": 0, "0.5": 33, "1": 50, "2": 67, "9": 90, "1000": 100} {
		if got := benchmark(t, "txn-mixed", "--rw-ratio="+ratio).Spec.Workload.Mixed.ReadPercent; got != want {
			t.Errorf("ratio %s: got %d %%, wanted %d", ratio, got, want)
		}
	}
}

// The line of rw-benchmark.sh, with the store that the script fills before it.
func TestTheLineOfTheHeatmaps(t *testing.T) {
	line := []string{"", "--conns=32", "--clients=32", "--total=200000", "--rw-ratio=.1250", "--limit=100", "--val-size=256"}
	got := benchmark(t, "txn-mixed", append(line, "--key-space-size=65536", "--key-size=256")...).Spec
	want := &spec.Mixed{
		ReadPercent: 11, InTransaction: true, ReadLimit: new(int64(100)), Consistency: spec.Linearizable,
		Keys:   spec.Keys{Count: 65_536, SizeBytes: 256, Distribution: spec.Sequential},
		Values: spec.Values{SizeBytes: 256, Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform},
	}
	if diff := cmp.Diff(want, got.Workload.Mixed); diff != "" || got.Load.Clients != 32 || got.Load.Connections != 32 || *got.Load.Requests != 200_000 {
		t.Errorf("workload (-want +got):\n%s\nload: %+v", diff, got.Load)
	}
	for _, tc := range []struct {
		args  []string
		notes int
	}{{line, 1}, {append(line, "--key-space-size=65536"), 0}, {append(line, "--rw-ratio=.0078"), 2}, {append(line, "--rw-ratio=0", "--key-space-size=9"), 0}} {
		if got := notesOf(t, tc.args); len(got) != tc.notes {
			t.Errorf("%v: wanted %d notes, found %q", tc.args, tc.notes, got)
		}
	}
}

func notesOf(t *testing.T, args []string) []string {
	t.Helper()
	set := pflag.NewFlagSet("txn-mixed", pflag.ContinueOnError)
	i := slices.IndexFunc(Commands(), func(c Command) bool { return c.Name == "txn-mixed" })
	f := Commands()[i].Define(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f.Notes()
}

// A read returns no more keys than there are.
func TestLimitsOfReads(t *testing.T) {
	for limit, want := range map[string]int64{"0": 50, "1": 1, "100": 50} {
		if got := *benchmark(t, "txn-mixed", "--key-space-size=50", "--limit="+limit).Spec.Workload.Mixed.ReadLimit; got != want {
			t.Errorf("limit %s: got %d, wanted %d", limit, got, want)
		}
	}
}

// KEY alone reads one of the keys. An interval and a prefix read all of them.
func TestIntervalsReadAllKeys(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want int64
	}{
		"one key":  {[]string{"k", "--key-space-size=9"}, 1},
		"interval": {[]string{"k", "l", "--key-space-size=9"}, 9},
		"prefix":   {[]string{"k", "--prefix", "--key-space-size=9"}, 9},
	} {
		if got := benchmark(t, "range", tc.args...).Spec.Workload.Range; got.KeysPerRequest != tc.want || got.Keys.Count != 9 {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// In the tool, each client has its lease, and each stream equally many watchers.
func TestSharesOfClientsAndStreams(t *testing.T) {
	if got := benchmark(t, "lease-keepalive", "--clients=7").Spec.Workload.Lease.KeepAlive.Leases; got != 7 {
		t.Errorf("got %d leases, wanted 7", got)
	}
	got := benchmark(t, "watch-get", "--watchers=60", "--streams=5", "--conns=3").Spec
	if w := got.Workload.WatchGet; w.WatchersPerStream != 12 || w.Connections != 3 || got.Load.Connections != 1 {
		t.Errorf("got %+v", w)
	}
}

// A flag without an equivalent is refused, with a value and without one.
func TestFlagsWithoutEquivalent(t *testing.T) {
	for _, given := range []string{"--precise", "--precise=false", "--check-hashkv=true", "--dial-timeout=5s"} {
		set := pflag.NewFlagSet("put", pflag.ContinueOnError)
		f := Commands()[0].Define(set)
		if err := set.Parse([]string{given}); err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(given, "=")
		if _, err := f.Benchmark(nil); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: wanted a refusal that names it, found %v", given, err)
		}
	}
}
