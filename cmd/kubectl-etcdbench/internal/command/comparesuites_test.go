package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

const storedSuite = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmarkSuite
metadata: {name: NAME}
spec:
  targets:
  - {name: etcd, target: {endpoints: ["127.0.0.1:2379"]}}
  workloads:
  - name: put
    workload: {type: Put, put: {keys: {count: 1000}}}
  loads:
  - {name: one, load: {requests: 60}}
  - {name: two, load: {requests: 60, clients: 2}}
  rounds: 3
`

const comparedWithStored = "  compare: {baseline: {suite: {name: release}}, metrics: [{type: Throughput}]}\n"

// ranLocally runs a suite and returns the file with its result.
func ranLocally(t *testing.T, manifest string, status int, args ...string) (path string, s v1alpha1.EtcdBenchmarkSuite, c *called) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "suite.json")
	c = call(manifest, append([]string{"run", "--local", "-f", "-", "--members", "1", "-o", "json=" + path, "-o", "table"}, args...)...)
	c.wantStatus(t, status)
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, c.err)
	}
	return path, s, c
}

// judgeAll makes each run valid. Beside other tests, the load generator can be the limit of one.
func judgeAll(s *v1alpha1.EtcdBenchmarkSuite) {
	for i := range s.Status.Results {
		r := &s.Status.Results[i]
		r.ClientBound, r.AddedPerMillion, r.Invalid = false, 0, ""
	}
}

// judged rewrites the file of a suite with valid runs.
func judged(t *testing.T, path string, s v1alpha1.EtcdBenchmarkSuite) {
	t.Helper()
	judgeAll(&s)
	data, err := json.Marshal(s)
	must(t, err)
	must(t, os.WriteFile(path, data, 0o600))
}

func TestSuitesOfTwoSessionsAreCompared(t *testing.T) {
	t.Parallel()
	release, before, _ := ranLocally(t, strings.Replace(storedSuite, "NAME", "release", 1), exitDone)
	judged(t, release, before)
	now, s, c := ranLocally(t, strings.Replace(storedSuite, "NAME", "now", 1)+comparedWithStored, exitUnknown, "--baseline", release)
	if b := s.Status.Baseline; b == nil || b.Suite != "release" || len(s.Status.Comparisons) != 2 {
		t.Fatalf("found %+v and %+v", b, s.Status.Comparisons)
	}
	for _, got := range s.Status.Comparisons {
		if got.Verdict != v1alpha1.NotCompared || got.Reason == "" {
			t.Errorf("found %+v, wanted no verdict", got)
		}
	}
	if out := c.out.String(); !strings.Contains(out, "The baseline is the suite release") || !strings.Contains(out, "Unknown (") {
		t.Errorf("found\n%s", out)
	}
	judged(t, now, s)
	c = call("", "compare", release, now, "-o", "json")
	c.wantStatus(t, exitUnknown)
	var r suite.Sessions
	if err := json.Unmarshal([]byte(c.out.String()), &r); err != nil || r.Verdict != v1alpha1.NotCompared || r.Baseline.Suite != "release" || len(r.Comparisons) < 4 {
		t.Errorf("found %s, %v", c.out, err)
	}
	page := filepath.Join(t.TempDir(), "page.md")
	c = call("", "compare", release, now, "--metric", "Throughput", "-o", "md="+page)
	c.wantStatus(t, exitUnknown)
	for _, want := range []string{"suite release (3 rounds, finished ", "one", "two", "Unknown (NotConcurrent)", "history needs at least 5 more sessions"} {
		if !strings.Contains(strings.Join(strings.Fields(c.out.String()), " "), want) {
			t.Errorf("found\n%s\nwanted %q", c.out, want)
		}
	}
	fileWith(t, page, "## ❔ Unknown", "suites release and now", "| CELL | METRIC |", "\n| one | Throughput | 3 |", "\n| two | Throughput | 3 |")
}

func TestStoredBaselinesAreRefused(t *testing.T) {
	t.Parallel()
	release, _, _ := ranLocally(t, strings.Replace(storedSuite, "NAME", "release", 1), exitDone)
	other, _, _ := ranLocally(t, strings.Replace(strings.Replace(storedSuite, "NAME", "release", 1), "requests: 60", "requests: 70", 1), exitDone)
	run := resultFile(t, "run", measured(0, 5000))
	now := strings.Replace(storedSuite, "NAME", "now", 1)
	local := []string{"run", "--local", "-f", "-", "--members", "1"}
	for name, tc := range map[string]struct {
		manifest string
		args     []string
		want     string
	}{
		"no file":             {now + comparedWithStored, local, "add --baseline FILE"},
		"an absent file":      {now + comparedWithStored, append(local, "--baseline", "absent.json"), "absent.json"},
		"a run":               {now + comparedWithStored, append(local, "--baseline", run), "wanted an EtcdBenchmarkSuite"},
		"another load":        {now + comparedWithStored, append(local, "--baseline", other), "load.requests (70, 60)"},
		"not compared":        {now, append(local, "--baseline", release), "compared with no suite"},
		"in a cluster":        {now + comparedWithStored, []string{"run", "-f", "-", "--baseline", release}, "--baseline needs --local"},
		"a suite and a run":   {"", []string{"compare", release, run}, "a suite and something else"},
		"suites of two loads": {"", []string{"compare", other, release}, "load.requests (70, 60)"},
		"what is not kept":    {"", []string{"compare", release, other, "--metric", "Latency:Put:P95"}, "does not keep Put P95"},
		"no such suite":       {"", []string{"compare", "suite/absent", release}, "absent"},
	} {
		c := call(tc.manifest, tc.args...)
		c.wantStatus(t, exitFailed)
		if !strings.Contains(c.err.String(), tc.want) {
			t.Errorf("%s: found %q, wanted %q", name, c.err, tc.want)
		}
	}
}

func TestSuitesOfAClusterAreCompared(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	for name, perSecond := range map[string]int64{"old": 5000, "new": 4000} {
		_, ran, _ := ranLocally(t, strings.Replace(storedSuite, "NAME", name, 1), exitDone)
		ran.Namespace, ran.UID, ran.ResourceVersion = ns, "", ""
		status := ran.Status
		if err := apiServer.client.Create(t.Context(), &ran); err != nil {
			t.Fatal(err)
		}
		before := ran.DeepCopy()
		ran.Status = status
		judgeAll(&ran)
		for i := range ran.Status.Results {
			ran.Status.Results[i].Operations[0].ThroughputMilliPerSecond = 1000 * perSecond
		}
		if err := apiServer.client.Status().Patch(t.Context(), &ran, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
	c := call("", "compare", "suite/old", "suite/new", "-n", ns, "--metric", "Throughput")
	c.wantStatus(t, exitUnknown)
	if !strings.Contains(c.out.String(), "-20.0 %") {
		t.Errorf("found\n%s\nwanted a change of -20 %%", c.out)
	}
	c = call("", "compare", "suite/old", "suite/old", "-n", ns)
	c.wantStatus(t, exitFailed)
}
