package command

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

const smallSuite = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmarkSuite
metadata: {name: small}
spec:
  targets:
  - {name: etcd, target: {endpoints: ["127.0.0.1:2379"]}}
  workloads:
  - name: put
    workload: {type: Put, put: {keys: {count: 1000}}}
  - name: range
    workload: {type: Range, range: {keys: {count: 10}}}
  loads:
  - {name: one, load: {requests: 50}}
  - {name: two, load: {requests: 60, clients: 2}}
`

func TestASuiteRunsLocally(t *testing.T) {
	t.Parallel()
	c := call(smallSuite, "run", "--local", "-f", "-", "--members", "1", "-o", "json")
	c.wantStatus(t, exitDone)
	var s v1alpha1.EtcdBenchmarkSuite
	if err := json.Unmarshal([]byte(c.out.String()), &s); err != nil {
		t.Fatalf("%v\n%s", err, c.out)
	}
	// Beside other tests, the load generator can be the limit of a run.
	s.Status.Runs.Invalid = 0
	if s.Status.Runs != (v1alpha1.SuiteRuns{Cells: 4, Planned: 4, Finished: 4}) || s.Status.Conditions[0].Reason != v1alpha1.ReasonCompleted {
		t.Errorf("got %+v %+v", s.Status.Runs, s.Status.Conditions)
	}
	for i, want := range []int64{50, 60, 50, 60} {
		if r := s.Status.Results[i]; len(r.Operations) != 1 || r.Operations[0].Succeeded != want || r.Operations[0].ThroughputMilliPerSecond == 0 {
			t.Errorf("run %d: got %+v, wanted %d requests", i, r, want)
		}
	}
	for _, r := range s.Status.Results {
		if r.ServerMemoryBytes == 0 || r.Client == "" || !slices.Contains(r.Warnings, "OneMachine") {
			t.Errorf("found %+v, wanted the memory of its members, and that they shared its machine", r)
		}
	}
	if got := s.Spec.Targets[0].Target.Endpoints; len(got) != 1 || got[0] == "127.0.0.1:2379" {
		t.Errorf("the result shows the addresses %v, which got no load", got)
	}
	if !strings.Contains(c.err.String(), "Run 4 of 4: range/two") {
		t.Errorf("got\n%s\nwanted a line for each run", c.err)
	}
}

// An interrupt ends the present run, and no other starts.
func TestASuiteIsStopped(t *testing.T) {
	t.Parallel()
	c := call(strings.ReplaceAll(smallSuite, "requests: 50", "durationSeconds: 60"), "run", "--local", "-f", "-", "--members", "1")
	c.err.await(t, "Running")
	c.signals <- os.Interrupt
	c.wantStatus(t, exitUnknown)
	if out := c.out.String(); !strings.Contains(out, "Stopped") || !strings.Contains(out, "1 of 4 planned") || !strings.Contains(out, "put/one") {
		t.Errorf("got\n%s", out)
	}
}

func TestPlanListsTheCells(t *testing.T) {
	c := call(strings.Replace(smallSuite, "requests: 60", "durationSeconds: 30, warmupSeconds: 5", 1)+"  rounds: 3\n", "plan", "-f", "-")
	c.wantStatus(t, exitDone)
	for _, want := range []string{"put/one: as long as the target takes", "range/two: 35 seconds", "4 cells × 3 rounds = 12 runs, at least 3m30s"} {
		if !strings.Contains(c.out.String(), want) {
			t.Errorf("got\n%s\nwanted %q", c.out, want)
		}
	}
	for name, tc := range map[string]struct{ manifest, want string }{
		"a run":          {sweepable, "wanted EtcdBenchmarkSuite"},
		"a bad cell":     {strings.Replace(smallSuite, "clients: 2", "connections: 3", 1), "spec.loads[1].load"},
		"a bad field":    {strings.Replace(smallSuite, "clients: 2", "conections: 3", 1), "unknown field"},
		"no cell at all": {smallSuite + "  exclude: [{target: etcd}]\n", "leaves no cell"},
	} {
		c := call(tc.manifest, "plan", "-f", "-")
		c.wantStatus(t, exitFailed)
		if !strings.Contains(c.err.String(), tc.want) {
			t.Errorf("%s: got %q, wanted %q", name, c.err, tc.want)
		}
	}
}

// onlyTarget is the target of smallSuite. membersOf replaces it by two, which load one member each.
const onlyTarget = `  - {name: etcd, target: {endpoints: ["127.0.0.1:2379"]}}`

func membersOf(a, b int) string {
	return fmt.Sprintf("  - {name: a, target: {service: {name: etcd}, memberIndex: %d}}\n  - {name: b, target: {service: {name: etcd}, memberIndex: %d}}", a, b)
}

func TestSuitesAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		old, new string
		args     []string
		want     string
	}{
		"a search":                 {"", "", []string{"--local", "--find-rate"}, "take the manifest of a single run"},
		"members, in a cluster":    {"", "", []string{"--members", "1"}, "needs --local"},
		"a form for runs":          {"", "", []string{"--local", "-o", "jsonl"}, "no form jsonl"},
		"an unknown field":         {"clients: 2", "conections: 2", []string{"--local"}, "line 15: spec.loads[1].load.conections: unknown field"},
		"an empty axis":            {"  - {name: one, load: {requests: 50}}\n  - {name: two, load: {requests: 60, clients: 2}}\n", "    []\n", []string{"--local"}, "spec.loads"},
		"a cell that cannot be":    {"clients: 2", "connections: 3", []string{"--local"}, "spec.loads[1].load"},
		"a rule across axes":       {"type: Range, range: {keys: {count: 10}}", "type: Lock, lock: {names: 2}", []string{"--local"}, "line 12: spec.workloads[1].workload"},
		"a rule of the template":   {"requests: 60, clients: 2", "durationSeconds: 700", []string{"--local"}, "spec.template.timeoutSeconds: Invalid value: must be greater"},
		"a name that is not there": {"  loads:", "  exclude: [{load: three}]\n  loads:", []string{"--local"}, "spec.exclude"},
		"two equal names":          {"name: two", "name: one", []string{"--local"}, "spec.loads[1]"},
		"too few rounds":           {"  loads:", "  compare: {axis: Loads, baseline: {entry: one}, metrics: [{type: Throughput}]}\n  loads:", []string{"--local"}, "spec.rounds"},
		"no such baseline":         {"  loads:", "  rounds: 3\n  compare: {axis: Loads, baseline: {entry: three}, metrics: [{type: Throughput}]}\n  loads:", []string{"--local"}, "spec.compare.baseline"},
		"an axis of one entry":     {"  loads:", "  rounds: 3\n  compare: {axis: Targets, baseline: {entry: etcd}, metrics: [{type: Throughput}]}\n  loads:", []string{"--local"}, "spec.compare"},
		"a metric without a name":  {"  loads:", "  rounds: 3\n  compare: {axis: Loads, baseline: {entry: one}, metrics: [{type: Latency}]}\n  loads:", []string{"--local"}, "operation"},
		"too many runs":            {"  loads:", "  rounds: 51\n  loads:", []string{"--local"}, "spec.rounds"},
		"one target for two":       {"  workloads:", "  - {name: other, target: {endpoints: [\"127.0.0.2:2379\"]}}\n  workloads:", []string{"--local", "--members", "1"}, "all 2 targets"},
		"a member for two":         {onlyTarget, membersOf(1, 1), []string{"--local", "--members", "3"}, "all 2 targets"},
		"a member too many":        {onlyTarget, membersOf(0, 1), []string{"--local", "--members", "1"}, "spec.target.memberIndex is 1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := call(strings.Replace(smallSuite, tc.old, tc.new, 1), append([]string{"run", "-f", "-"}, tc.args...)...)
			c.wantStatus(t, exitFailed)
			if !strings.Contains(c.err.String(), tc.want) {
				t.Errorf("got %q, wanted %q", c.err, tc.want)
			}
		})
	}
}
