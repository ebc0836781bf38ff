package command

import (
	"encoding/json"
	"strings"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

const limited = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {name: limited}
spec:
  target: {endpoints: ["127.0.0.1:2379"]}
  workload: {type: Put, put: {keys: {count: 1000}}}
  load: {clients: 50, warmupSeconds: 0, requests: 10}
  objectives:
  - {name: mean, type: Latency, latency: {operation: Put, statistic: Mean, maxMicroseconds: 5000000}}
`

// The highest rate that is allowed meets the objective. On a busy machine, requests of a probe can fail, which leaves its
// latency undecided.
func TestFindRate(t *testing.T) {
	t.Parallel()
	c := call(limited, "run", "--local", "-f", "-", "--members", "1", "--find-rate", "--min-rate", "20", "--max-rate", "40", "--probe-seconds", "1", "--pause-seconds", "0", "-o", "json")
	c.wantStatus(t, exitDone)
	var got v1alpha1.EtcdBenchmarkSuite
	if err := json.Unmarshal([]byte(c.out.String()), &got); err != nil {
		t.Fatalf("%v\n%s", err, c.out)
	}
	if found := got.Status.Capacities; len(found) != 1 || found[0].State != v1alpha1.CapacityAtLeast || found[0].RatePerSecond != 40 || found[0].Confirmed != 3 {
		t.Errorf("got %+v", found)
	}
	if r := got.Status.Results[0]; r.Probe.Role != v1alpha1.ProbeCeiling || r.Probe.ThroughputMilliPerSecond < 40_000 || r.Operations[0].P50Microseconds == 0 {
		t.Errorf("got %+v, wanted the ceiling first", r)
	}
	for _, r := range got.Status.Results[1:] {
		if p := r.Probe; p.AskedPerSecond < 20 || p.AskedPerSecond > 40 || r.Passed == metav1.ConditionFalse || p.ThroughputMilliPerSecond > 2000*p.AskedPerSecond {
			t.Errorf("got %+v, wanted a rate from 20 to 40 that was reached", r)
		}
	}
}

// No rate meets an objective on the share of errors while etcd refuses every request. This is decided on a busy machine,
// too, where the load generator may be a limit that leaves a missed latency undecided.
func TestFindRateBelowMinimum(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1, nil, func(c *embed.Config) { c.MaxRequestBytes = 2048 })
	manifest := strings.Replace(limited, "{count: 1000}", "{count: 1000}, values: {sizeBytes: 4096}", 1) + "  - {name: errors, type: ErrorRatio, errorRatio: {maxPerMillion: 0}}\n"
	c := call(manifest, "run", "--local", "-f", "-", "--endpoints", cluster.Endpoints[0], "--find-rate", "--min-rate", "20", "--max-rate", "40", "--probe-seconds", "1", "--pause-seconds", "0")
	c.wantStatus(t, exitMissed)
	if out := c.out.String(); !strings.Contains(out, "\nBelowMinimum. ") || !strings.Contains(out, "20/s misses errors (wanted ≤0 per million") {
		t.Errorf("got\n%s", out)
	}
}

// A target that is not there ends the search with its first probe.
func TestFindRateWithoutATarget(t *testing.T) {
	t.Parallel()
	c := call(limited, "run", "--local", "-f", "-", "--endpoints", "127.0.0.1:1", "--find-rate", "--probe-seconds", "1", "--pause-seconds", "0")
	c.wantStatus(t, exitFailed)
	if out := c.out.String(); !strings.Contains(out, "TargetUnreachable") {
		t.Errorf("got\n%s", out)
	}
}

// --find-rate searches for each value of --sweep.
func TestFindRateOfSweptWorkloads(t *testing.T) {
	manifest := strings.Replace(limited, "requests: 10}", "requests: 10, rate: {perSecond: 7, arrival: Constant}}", 1)
	c := call(manifest, "run", "-f", "-", "--find-rate", "--sweep", "workload.put.values.sizeBytes=64,1024", "--print-manifest")
	c.wantStatus(t, exitDone)
	var s v1alpha1.EtcdBenchmarkSuite
	if err := yaml.UnmarshalStrict([]byte(c.out.String()), &s); err != nil {
		t.Fatalf("%v\n%s", err, c.out)
	}
	f := s.Spec.Search
	if len(s.Spec.Workloads) != 2 || len(s.Spec.Workloads[1].Objectives) != 1 || f.Arrival != spec.ArrivalConstant || f.Load.Rate != nil || f.Load.Requests != nil || *f.Load.DurationSeconds != 30 || s.Spec.Loads != nil {
		t.Errorf("got %+v", s.Spec)
	}
}

func TestFindRateRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		manifest string
		args     []string
		want     string
	}{
		"flags without a search": {limited, []string{"--local", "--min-rate", "5"}, "add --find-rate"},
		"bounds the wrong way":   {limited, []string{"--local", "--find-rate", "--min-rate", "50", "--max-rate", "20"}, "found 50 and 20"},
		"a probe of no length":   {limited, []string{"--local", "--find-rate", "--probe-seconds", "0"}, "found 0"},
		"a pause without end":    {limited, []string{"--local", "--find-rate", "--pause-seconds", "121"}, "found 121"},
		"a form for runs":        {limited, []string{"--local", "--find-rate", "-o", "jsonl"}, "jsonl"},
		"rounds":                 {limited, []string{"--local", "--find-rate", "--rounds", "3"}, "--rounds"},
		"arrivals of no kind":    {strings.Replace(limited, "requests: 10}", "requests: 10, rate: {perSecond: 9, arrival: Uniform}}", 1), []string{"--find-rate", "--print-manifest"}, "spec.search.arrival"},
		"loads":                  {limited, []string{"--local", "--find-rate", "--sweep", "load.clients=1,2"}, "a search has one load"},
		"no objective":           {limited[:strings.Index(limited, "  objectives")], []string{"--local", "--find-rate"}, "spec.objectives: wanted a limit"},
		"no limit of a rate":     {strings.Replace(limited, "type: Latency, latency: {operation: Put, statistic: Mean, maxMicroseconds: 5000000}", "type: ErrorRatio, errorRatio: {maxPerMillion: 0}", 1), []string{"--local", "--find-rate"}, "spec.objectives: wanted a limit"},
		"a profile":              {limited[:strings.Index(limited, "  workload")] + "  profile: Small\n", []string{"--local", "--find-rate"}, "profile"},
		"an unknown field":       {strings.Replace(limited, "clients", "conections", 1), []string{"--local", "--find-rate"}, "line 8: spec.load.conections: unknown field"},
		"a suite":                {smallSuite, []string{"--local", "--find-rate"}, "take the manifest of a single run"},
	} {
		t.Run(name, func(t *testing.T) {
			c := call(tc.manifest, append([]string{"run", "-f", "-"}, tc.args...)...)
			c.wantStatus(t, exitFailed)
			if !strings.Contains(c.err.String(), tc.want) {
				t.Errorf("got %q, wanted %q", c.err, tc.want)
			}
		})
	}
}
