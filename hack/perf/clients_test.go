package main

import (
	"crypto/tls"
	"crypto/x509"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func recorded(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestParseBenchmark(t *testing.T) {
	got, err := parseBenchmark(recorded(t, "put.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := sample{rate: 2632.199938748707, latencyMean: 376.7615, latencyP50: 222.52, writeP50: 222.52, latencyP99: 4564.958}
	if diff := cmp.Diff(want, got, approximately); diff != "" {
		t.Errorf("put (-want +got):\n%s", diff)
	}
	if got, err = parseBenchmark(recorded(t, "txn-mixed.txt")); err != nil {
		t.Fatal(err)
	}
	rates := numbers(benchmarkRate, recorded(t, "txn-mixed.txt"))
	if len(rates) != 2 || got[rate] != rates[0]+rates[1] || got[latencyP50] == got[writeP50] {
		t.Errorf("wanted the rates of reads and writes added, and a median of each, got %v", got)
	}
	if got, err = parseBenchmark(recorded(t, "watch-latency.txt")); err != nil {
		t.Fatal(err)
	}
	if got = got.ofWatch(); !cmp.Equal(got[sendingP50], 1426.277, approximately) || !cmp.Equal(got[eventP50], 426.523, approximately) {
		t.Errorf("wanted the medians of puts and of events, got %v", got)
	}
	for name, text := range map[string]string{"errors": recorded(t, "errors.txt"), "nothing": "", "half": recorded(t, "put.txt")[:300]} {
		if got, err := parseBenchmark(text); err == nil {
			t.Errorf("%s was parsed as %v, wanted an error", name, got)
		}
	}
}

func TestParseGoBenchmark(t *testing.T) {
	const text = "pkg: example.org/load\nBenchmarkRecord-2   \t27153411\t        41.94 ns/op\t       0 B/op\t       0 allocs/op\nPASS\n"
	want := sample{requestCount: 27153411, recordNanos: 41.94, recordAllocations: 0}
	if got, err := parseGoBenchmark(text); err != nil || !cmp.Equal(want, got) {
		t.Errorf("wanted %v, got %v and the error %v", want, got, err)
	}
	for name, text := range map[string]string{"nothing": "PASS\n", "no allocations": "BenchmarkRecord-2 \t 1 \t 41.94 ns/op\n"} {
		if got, err := parseGoBenchmark(text); err == nil {
			t.Errorf("%s was parsed as %v, wanted an error", name, got)
		}
	}
}

var approximately = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(a) })

func TestParseH2load(t *testing.T) {
	text := recorded(t, "h2load.txt")
	if got, err := parseH2load(text, 200, 32); err != nil || got[rate] != 7234.58 {
		t.Errorf("got %v and the error %v", got, err)
	}
	for name, tc := range map[string]struct {
		text            string
		requests, bytes int64
	}{
		"fewer requests": {text, 201, 32},
		"empty replies":  {text, 200, 33},
		"refused":        {recorded(t, "h2load-failed.txt"), 20, 0},
		"nothing":        {"", 0, 0},
	} {
		if got, err := parseH2load(tc.text, tc.requests, tc.bytes); err == nil {
			t.Errorf("%s was parsed as %v, wanted an error", name, got)
		}
	}
}

func TestParseKernelFiles(t *testing.T) {
	got, err := cpuOfStat("27685 (et) cd) S 27683 27683 23400 0 -1 4194304 7700 0 0 0 16 15 0 0 20 0 8 0 2574568\n")
	if err != nil || got != 310*time.Millisecond {
		t.Errorf("got %v and the error %v, wanted 310 ms", got, err)
	}
	if _, err := cpuOfStat("27685 (etcd) S 1"); err == nil {
		t.Error("half a line was parsed, wanted an error")
	}
	kilobytes, err := socketMemory("sockets: used 304\nTCP: inuse 181 orphan 0 tw 803 alloc 522 mem 308\nUDP: inuse 0 mem 0\n")
	if err != nil || kilobytes != 1232 {
		t.Errorf("got %v KB and the error %v, wanted 1232", kilobytes, err)
	}
	if _, err := socketMemory("UDP: inuse 0 mem 0\n"); err == nil {
		t.Error("a text without TCP was parsed, wanted an error")
	}
}

// With any combination of options, each comparison has runnable loads, and figures of its own sides.
func TestComparisonsFit(t *testing.T) {
	for _, section := range sections {
		for _, c := range comparisonsOf(section, size{}) {
			var names []string
			for _, s := range c.sides {
				names = append(names, s.name)
			}
			for _, f := range c.figures {
				if f.bound == (bound{}) {
					t.Errorf("%s: %s has no bound, and is not marked as reported only", c.name, f.what)
				}
				if !slices.Contains(names, f.of) || f.by != "" && !slices.Contains(names, f.by) {
					t.Errorf("%s: %s compares %q with %q, the sides are %q", c.name, f.what, f.of, f.by, names)
				}
			}
		}
	}
	for name, w := range map[string]spec.Workload{"reads": reads(), "writes": writes(), "transactions": transactions(), "mixture": mixture(), "renewals": renewals()} {
		l := load{transport: client, workload: w, connections: 10, clients: 100, requests: 1000}
		p := l.plan((&server{endpoint: "127.0.0.1:2379"}).target())
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if keys := p.KeyWriter(); w.Type != spec.WorkloadLease && keys.KeyBytes() != wireKey {
			t.Errorf("%s: keys have %d bytes, wanted %d", name, keys.KeyBytes(), wireKey)
		}
	}
	if len(peerKey) != wireKey {
		t.Errorf("others read a key of %d bytes, wanted %d", len(peerKey), wireKey)
	}
}

func TestTable(t *testing.T) {
	c := comparison{name: "a", what: "a load", sides: []side{{name: "x"}, {name: "y"}}, figures: []figure{
		{what: "kept", metric: clientCPU, of: "x", by: "y", bound: atMost(0.5)},
		{what: "missed", metric: rate, of: "x", bound: atLeast(1000)},
		{what: "no bound", metric: memory, of: "y", bound: reported()},
		{what: "not known", metric: latencyP50, of: "x", bound: atMost(1)},
	}}
	one := func(cpu float64) round {
		return round{"x": {clientCPU: cpu, rate: 900 + cpu}, "y": {clientCPU: 10, memory: 12.3456}}
	}
	kept := records{"a": {Machine: "a machine", Rounds: []round{one(9), one(4), one(1)}}, "c": {Machine: "a machine", Commit: "1234567+", Rounds: []round{one(1)}}}
	text := table([]comparison{c, {name: "b", what: "another", figures: c.figures[:1]}, {name: "c", what: "a third", figures: c.figures[:1]}}, kept)
	for _, want := range []string{
		"| a load (`a`) | kept | 0.4 | 0.1 – 0.9 | 4 ÷ 10 µs | ≤ 0.5 | yes |\n",
		"|  | missed | 904 | 901 – 909 |  | ≥ 1000 | **no** |\n",
		"|  | no bound | 12.3 | 12.3 – 12.3 |  |  |  |\n",
		"|  | not known | missing in a round |  |  | ≤ 1 |  |\n",
		"| another (`b`) | kept | not measured |",
		"- `a`: 3 rounds; a machine\n",
		"- `c`: 1 rounds; commit 1234567+; a machine\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("wanted %q in:\n%s", want, text)
		}
	}
}

func TestBounds(t *testing.T) {
	for name, tc := range map[string]struct {
		bound     bound
		kept, not float64
	}{
		"at most":  {atMost(1), 1, 1.01},
		"at least": {atLeast(1.3), 1.3, 1.29},
		"within":   {within(0.15, 900), 1035, 1036},
		"below":    {within(0.15, 900), 765, 764},
		"exactly":  {exactly(0), 0, 1},
	} {
		if !tc.bound.holds(tc.kept) || tc.bound.holds(tc.not) {
			t.Errorf("%s: wanted %v to be kept by %v and not by %v", name, tc.bound, tc.kept, tc.not)
		}
	}
}

func TestOneComparisonIsSavedWithTheOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "below", "clients.json")
	first, err := readRecords(path)
	if err != nil || len(first) != 0 {
		t.Fatalf("got %v and the error %v of no file", first, err)
	}
	first["range"] = record{Machine: "m", Commit: "1234567", Rounds: []round{{fast: {rate: 1.5}}}}
	if err := first.write(path); err != nil {
		t.Fatal(err)
	}
	again, err := readRecords(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("records (-written +read):\n%s", diff)
	}
}

func TestReplaceSection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.md")
	document := "# Title\n<!-- perf:a:begin -->\nold\n<!-- perf:a:end -->\nrest <!-- perf:b:begin -->\n"
	if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replaceSection(path, "a", "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := strings.Replace(document, "old", "new", 1); err != nil || string(got) != want {
		t.Errorf("got %q and the error %v, wanted %q", got, err, want)
	}
	if err := replaceSection(path, "b", "new\n"); err == nil {
		t.Error("a section without an end was replaced")
	}
}

func TestChoose(t *testing.T) {
	all := comparisonsOf("clients", size{})
	if got, err := choose(all, nil); err != nil || len(got) != len(all) {
		t.Errorf("got %d of %d and the error %v", len(got), len(all), err)
	}
	got, err := choose(all, []string{"put", "range"})
	if !slices.EqualFunc(all, comparisonsOf("clients", size{}), func(a, b comparison) bool { return a.name == b.name }) {
		t.Error("choosing some has changed the list of all, which the table is made from")
	}
	if err != nil || len(got) != 2 || got[0].name != "range" {
		t.Errorf("got %v and the error %v, wanted range and put in their own order", got, err)
	}
	if _, err := choose(all, []string{"nothing"}); err == nil {
		t.Error("a comparison that does not exist was chosen")
	}
}

func TestTheDocumentHasEverySection(t *testing.T) {
	document, err := os.ReadFile("results.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range sections {
		for _, mark := range []string{"begin", "end"} {
			if want := "<!-- perf:" + section + ":" + mark + " -->\n"; !strings.Contains(string(document), want) {
				t.Errorf("wanted the line %q in results.md", want)
			}
		}
	}
}

// The certificate that etcd serves is trusted by the client pods' folder.
func TestTheClientTrustsEtcdsCertificate(t *testing.T) {
	i, err := writeIdentity(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(i.certificate(), i.key())
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(i.dir, plan.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: "127.0.0.1"}); err != nil {
		t.Error(err)
	}
}
