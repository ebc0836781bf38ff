package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

const sweepable = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {name: swept}
spec:
  target: {endpoints: ["127.0.0.1:2379"]}
  workload: {type: Put, put: {keys: {count: 1000}}}
  load: {requests: 20}
  timeoutSeconds: 99
  objectives:
  - {name: mean, type: Latency, latency: {operation: Put, statistic: Mean, maxMicroseconds: 5000000}}
`

func TestSweepIsASuite(t *testing.T) {
	c := call(sweepable, "run", "--local", "-f", "-", "--sweep", "load.clients=1,2", "--sweep", "workload.put.values.sizeBytes=64,1024", "--rounds", "3", "--print-manifest")
	c.wantStatus(t, exitDone)
	var s v1alpha1.EtcdBenchmarkSuite
	if err := yaml.UnmarshalStrict([]byte(c.out.String()), &s); err != nil {
		t.Fatalf("%v\n%s", err, c.out)
	}
	var got []any
	for _, l := range s.Spec.Loads {
		got = append(got, string(l.Name), l.Load.Clients, *l.Load.Requests)
	}
	for _, w := range s.Spec.Workloads {
		got = append(got, string(w.Name), w.Workload.Put.Values.SizeBytes, w.Workload.Put.Keys.Count, len(w.Objectives))
	}
	got = append(got, len(s.Spec.Targets), s.Spec.Rounds, s.Spec.Template.TimeoutSeconds, s.Name)
	want := []any{
		"clients-1", int32(1), int64(20), "clients-2", int32(2), int64(20),
		"sizebytes-64", int32(64), int64(1000), 1, "sizebytes-1024", int32(1024), int64(1000), 1,
		1, int32(3), int32(99), "swept",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSweepRuns(t *testing.T) {
	t.Parallel()
	c := call(sweepable, "run", "--local", "-f", "-", "--members", "1", "--sweep", "load.clients=1,2", "-o", "json")
	c.wantStatus(t, exitDone)
	var s v1alpha1.EtcdBenchmarkSuite
	if err := json.Unmarshal([]byte(c.out.String()), &s); err != nil {
		t.Fatalf("%v\n%s", err, c.out)
	}
	if s.Status.Runs.Finished != 2 || s.Status.Results[1].Cell != "clients-2" || s.Status.Results[1].Operations[0].Succeeded != 20 {
		t.Errorf("got %+v", s.Status)
	}
}

// Values of one axis are combined; names that would be too long are numbers.
func TestSweepsOfOneAxis(t *testing.T) {
	c := call(sweepable, "run", "--local", "-f", "-", "--sweep", "load.clients=1,2", "--sweep", "load.warmupSeconds=0,1", "--sweep", "load.requestTimeoutSeconds=5", "--print-manifest")
	c.wantStatus(t, exitDone)
	var s v1alpha1.EtcdBenchmarkSuite
	if err := yaml.UnmarshalStrict([]byte(c.out.String()), &s); err != nil {
		t.Fatalf("%v\n%s", err, c.out)
	}
	names := map[v1alpha1.EntryName]bool{}
	for _, l := range s.Spec.Loads {
		names[l.Name] = true
	}
	if len(s.Spec.Loads) != 4 || len(names) != 4 || s.Spec.Loads[3].Load.Clients != 2 || s.Spec.Loads[3].Load.WarmupSeconds != 1 {
		t.Errorf("got %+v", s.Spec.Loads)
	}
}

// What a sweep breaks is said of the flag, with the numbers that contradict each other; everything else, once, of the line of
// the file.
func TestSweepSaysWhatContradicts(t *testing.T) {
	const connected = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {name: swept}
spec:
  target: {endpoints: ["127.0.0.1:2379"]}
  workload: {type: Put, put: {keys: {count: 1000}}}
  load: {requests: 20, connections: 100, clients: 1000}
  objectives:
  - {name: mean, type: Latency, latency: {operation: Put, statistic: Mean, maxMicroseconds: 5000000}}
`
	for name, tc := range map[string]struct {
		manifest string
		args     []string
		want     []string
	}{
		"clients": {connected, []string{"--sweep", "load.clients=1,10,100"}, []string{
			"--sweep load.clients=1: Invalid value: must be at least load.connections (100), found 1",
			"--sweep load.clients=10: Invalid value: must be at least load.connections (100), found 10",
		}},
		"connections": {connected, []string{"--sweep", "load.connections=100,2000"}, []string{
			"line 8: spec.load.clients: Invalid value: must be at least load.connections (2000), found 1000",
		}},
		"two sweeps": {connected, []string{"--sweep", "load.clients=100,200", "--sweep", "load.connections=150"}, []string{
			"--sweep load.clients=100: Invalid value: must be at least load.connections (150), found 100",
		}},
		"what is not swept": {strings.Replace(connected, "Mean, max", "Mode, max", 1), []string{"--sweep", "workload.put.values.sizeBytes=1,2"}, []string{
			`line 10: spec.objectives[0].latency.statistic: Unsupported value: "Mode"`,
		}},
		"between workload and load": {connected, []string{"--sweep", "load.durationSeconds=700"}, []string{
			"line 8: spec.load: Invalid value: set load.requests or load.durationSeconds",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := call(tc.manifest, append([]string{"run", "--local", "-f", "-"}, tc.args...)...)
			c.wantStatus(t, exitFailed)
			problems := strings.Split(strings.TrimSpace(c.err.String()), "\n")[1:]
			for i, want := range tc.want {
				if len(problems) != len(tc.want) || !strings.HasPrefix(strings.TrimSpace(problems[i]), want) {
					t.Errorf("found %q, wanted %q", problems, tc.want)
				}
			}
		})
	}
}

func TestSweepRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		manifest string
		args     []string
		want     string
	}{
		"no values":         {sweepable, []string{"--local", "--sweep", "load.clients"}, "there are no values"},
		"no value":          {sweepable, []string{"--local", "--sweep", "load.clients=1,,2"}, "is no value"},
		"a value twice":     {sweepable, []string{"--local", "--sweep", "load.clients=1,1"}, "the value 1 is there twice"},
		"a field twice":     {sweepable, []string{"--local", "--sweep", "load.clients=1,2", "--sweep", "spec.load.clients=3,4"}, "found load.clients twice"},
		"no such part":      {sweepable, []string{"--local", "--sweep", "clients=1,2"}, `there is no field "clients"`},
		"no such field":     {sweepable, []string{"--local", "--sweep", "load.conections=1,2"}, "--sweep load.conections=1: unknown field; did you mean"},
		"a bad value":       {sweepable, []string{"--local", "--sweep", "load.clients=none"}, "spec.loads[0].load.clients"},
		"a value and below": {sweepable, []string{"--local", "--sweep", "load.requests.many=1"}, "--sweep"},
		"a suite":           {smallSuite, []string{"--local", "--sweep", "load.clients=1,2"}, "take the manifest of a single run"},
		"a profile":         {strings.Replace(sweepable, "  workload:", "  profile: Small\n  workload:", 1), []string{"--local", "--sweep", "load.clients=1,2"}, "spec.profile"},
		"nodes":             {strings.Replace(sweepable, "  workload:", "  kubernetes: {nodes: 50}\n  workload:", 1), []string{"--local", "--sweep", "load.clients=1,2"}, "spec.kubernetes"},
		"rounds of nothing": {sweepable, []string{"--local", "--rounds", "3"}, "--rounds is for --sweep"},
		"a print of what":   {sweepable, []string{"--local", "--print-manifest"}, "add one of them"},
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
