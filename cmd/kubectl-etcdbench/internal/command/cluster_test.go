package command

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

const puts = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {name: puts}
spec:
  target: {endpoints: ["127.0.0.1:2379"]}
  workload: {type: Put, put: {}}
  load: {pods: 2, connections: 2, clients: 2, requests: 2000}
`

func TestRunCreatesAndFollows(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "puts"}
	c := call(puts, "run", "-f", "-", "-n", key.Namespace, "-o", "json")
	operate(t, key, stage(v1alpha1.StagePreparing, metav1.ConditionFalse))
	c.err.await(t, "Preparing")
	operate(t, key, func(s *v1alpha1.EtcdBenchmarkStatus) {
		stage(v1alpha1.StageRunning, metav1.ConditionFalse)(s)
		s.Progress = &v1alpha1.Progress{Percent: 50, Requests: 1000, ThroughputPerSecond: "48123", P99Microseconds: 25100, ReadyPods: 2}
	})
	c.err.await(t, "48,123/s")
	operate(t, key, func(s *v1alpha1.EtcdBenchmarkStatus) {
		stage(v1alpha1.ReasonCompleted, metav1.ConditionTrue)(s)
		s.Summary = &v1alpha1.Summary{Transport: spec.TransportClient, MeasuredRequests: 2000}
	})
	c.wantStatus(t, exitDone)
	run := &v1alpha1.EtcdBenchmark{}
	if err := json.Unmarshal([]byte(c.out.String()), run); err != nil {
		t.Fatalf("standard output is not one JSON object: %v\n%s", err, c.out)
	}
	if run.Kind != "EtcdBenchmark" || run.Status.Summary.MeasuredRequests != 2000 || len(run.ManagedFields) > 0 {
		t.Errorf("wanted the finished object, got %s", c.out)
	}
}

func TestRunStopsAtTheFirstInterrupt(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "puts"}
	c := call(puts, "run", "-f", "-", "-n", key.Namespace)
	operate(t, key, stage(v1alpha1.StageRunning, metav1.ConditionFalse))
	c.err.await(t, "Running")
	c.signals <- os.Interrupt
	awaitRun(t, key, func(run *v1alpha1.EtcdBenchmark) bool { return run.Spec.Stop })
	operate(t, key, stage(v1alpha1.ReasonStopped, metav1.ConditionTrue))
	c.wantStatus(t, exitUnknown)
	if !strings.Contains(c.out.String(), "Stopped") {
		t.Errorf("wanted the result of a stopped run, got:\n%s", c.out)
	}
}

func TestRunExitsAtTheSecondInterrupt(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "puts"}
	c := call(puts, "run", "-f", "-", "-n", key.Namespace)
	c.err.await(t, "Created")
	c.signals <- os.Interrupt
	awaitRun(t, key, func(run *v1alpha1.EtcdBenchmark) bool { return run.Spec.Stop })
	c.signals <- os.Interrupt
	c.wantStatus(t, exitUnknown)
	wantTyped(t, exitUnknown, commandAfter(t, c.err.String(), "To follow it: "), "--timeout", "1ms")
}

func TestRunIsDeleted(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "puts"}
	c := call(puts, "run", "-f", "-", "-n", key.Namespace)
	operate(t, key, stage(v1alpha1.StageRunning, metav1.ConditionFalse))
	c.err.await(t, "Running")
	if err := apiServer.client.Delete(t.Context(), awaitRun(t, key, anyState)); err != nil {
		t.Fatal(err)
	}
	c.wantStatus(t, exitUnknown)
	if !strings.Contains(c.err.String(), "deleted") {
		t.Errorf("wanted an error that the run was deleted, got:\n%s", c.err)
	}
}

func TestRunOfANameThatExists(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "puts"}
	first := call(puts, "run", "-f", "-", "-n", key.Namespace)
	operate(t, key, stage(v1alpha1.ReasonCompleted, metav1.ConditionTrue))
	first.wantStatus(t, exitDone)

	second := call(puts, "run", "-f", "-", "-n", key.Namespace)
	second.wantStatus(t, exitFailed)
	for _, want := range []string{"Completed", "kubectl delete", "--generate-name"} {
		if !strings.Contains(second.err.String(), want) {
			t.Errorf("wanted %q in:\n%s", want, second.err)
		}
	}

	third := call(puts, "run", "-f", "-", "-n", key.Namespace, "--generate-name", "--timeout", "1ms")
	third.wantStatus(t, exitUnknown)
	runs := &v1alpha1.EtcdBenchmarkList{}
	if err := apiServer.client.List(t.Context(), runs, client.InNamespace(key.Namespace)); err != nil {
		t.Fatal(err)
	}
	if len(runs.Items) != 2 {
		t.Errorf("wanted a second run under a name of its own, got %d", len(runs.Items))
	}
}

func TestRunInAnotherNamespaceThanAsked(t *testing.T) {
	other := strings.Replace(puts, "name: puts", "name: puts, namespace: elsewhere", 1)
	c := call(other, "run", "-f", "-", "-n", namespace(t))
	c.wantStatus(t, exitFailed)
	if !strings.Contains(c.err.String(), "elsewhere") {
		t.Errorf("wanted an error with both namespaces, got:\n%s", c.err)
	}
}

func TestWatch(t *testing.T) {
	ns := namespace(t)
	cases := map[string]struct {
		passed metav1.ConditionStatus
		want   int
	}{
		"met": {metav1.ConditionTrue, exitDone}, "missed": {metav1.ConditionFalse, exitMissed}, "unknown": {metav1.ConditionUnknown, exitUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			key := client.ObjectKey{Namespace: ns, Name: name}
			call(strings.Replace(puts, "name: puts", "name: "+name, 1), "run", "-f", "-", "-n", ns, "--timeout", "1ms").wantStatus(t, exitUnknown)
			c := call("", "watch", name, "-n", ns)
			c.err.await(t, "Pending")
			operate(t, key, func(s *v1alpha1.EtcdBenchmarkStatus) {
				stage(v1alpha1.ReasonCompleted, metav1.ConditionTrue)(s)
				s.Conditions = append(s.Conditions, metav1.Condition{
					Type: v1alpha1.ConditionPassed, Status: tc.passed, Reason: "Judged", LastTransitionTime: metav1.Now(),
				})
			})
			c.wantStatus(t, tc.want)
			// The result of a finished run is printed at once.
			call("", "watch", name, "-n", ns).wantStatus(t, tc.want)
		})
	}
}

func TestWatchLeavesTheRunAlone(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "puts"}
	call(puts, "run", "-f", "-", "-n", key.Namespace, "--timeout", "1ms").wantStatus(t, exitUnknown)
	c := call("", "watch", "puts", "-n", key.Namespace)
	c.err.await(t, "Pending")
	c.signals <- os.Interrupt
	c.wantStatus(t, exitUnknown)
	if run := awaitRun(t, key, anyState); run.Spec.Stop {
		t.Error("watch stopped the run")
	}
}

func TestWatchOfNothing(t *testing.T) {
	c := call("", "watch", "nothing", "-n", namespace(t))
	c.wantStatus(t, exitFailed)
	if !strings.Contains(c.err.String(), "nothing") {
		t.Errorf("wanted the name that was not found, got:\n%s", c.err)
	}
}

// A local run refuses the same manifests as a cluster, with the same words.
func TestRefusalsAreTheSameWithAndWithoutACluster(t *testing.T) {
	ns := namespace(t)
	cases := map[string][2]string{
		"unknown field":           {"clients: 2", "cleints: 2"},
		"unknown nested field":    {"put: {}", "put: {keys: {count: 5, distributon: Uniform}}"},
		"unknown field in a list": {"requests: 2000}", "requests: 2000}\n  objectives: [{nme: a, type: ErrorRatio, errorRatio: {maxPerMillion: 1}}]"},
		"endpoint with a path":    {`"127.0.0.1:2379"`, `"http://127.0.0.1:2379/v3"`},
		"endpoint, other scheme":  {`"127.0.0.1:2379"`, `"tcp://127.0.0.1:2379"`},
		"zero clients":            {"clients: 2", "clients: 0"},
		"more connections":        {"connections: 2", "connections: 3"},
		"fewer connections":       {"connections: 2", "connections: 1"},
		"two bounds":              {"requests: 2000", "requests: 2000, durationSeconds: 5"},
		"no bound":                {", requests: 2000", ""},
		"no target":               {`{endpoints: ["127.0.0.1:2379"]}`, "{}"},
		"two targets":             {`{endpoints: ["127.0.0.1:2379"]}`, `{endpoints: ["127.0.0.1:2379"], service: {name: etcd}}`},
		"unknown workload":        {"{type: Put, put: {}}", "{type: Stm}"},
		"workload of other type":  {"{type: Put, put: {}}", "{type: Range, put: {}}"},
		"negative value":          {"put: {}", "put: {values: {sizeBytes: -1}}"},
		"value over etcd's limit": {"put: {}", "put: {values: {sizeBytes: 20000000}}"},
		"text for a number":       {"pods: 2", "pods: two"},
		"name too long":           {"name: puts", "name: " + strings.Repeat("x", 53)},
		"name with capitals":      {"name: puts", "name: Puts"},
		"no name":                 {"{name: puts}", "{}"},
		"no spec":                 {puts[strings.Index(puts, "spec:"):], ""},
		"same endpoint twice":     {`["127.0.0.1:2379"]`, `["127.0.0.1:2379", "127.0.0.1:2379"]`},
		"same objective twice":    {"requests: 2000}", "requests: 2000}\n  objectives: [{name: a, type: ErrorRatio, errorRatio: {maxPerMillion: 1}}, {name: a, type: ErrorRatio, errorRatio: {maxPerMillion: 1}}]"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(puts, tc[0], tc[1], 1)
			cluster, local := call(bad, "run", "-f", "-", "-n", ns), call(bad, "run", "-f", "-", "--local")
			cluster.wantStatus(t, exitFailed)
			local.wantStatus(t, exitFailed)
			if cluster.err.String() != local.err.String() {
				t.Errorf("in a cluster:\n%s\nwithout one:\n%s", cluster.err, local.err)
			}
		})
	}
}

// A local run has the same defaults as a run in a cluster.
func TestDefaultsAreTheSameWithAndWithoutACluster(t *testing.T) {
	ns := namespace(t)
	call(puts, "run", "-f", "-", "-n", ns, "--timeout", "1ms").wantStatus(t, exitUnknown)
	created := awaitRun(t, client.ObjectKey{Namespace: ns, Name: "puts"}, anyState)

	closed := strings.Replace(puts, "2379", "1", 1)
	local := call(closed, "run", "-f", "-", "--local", "-o", "json")
	local.wantStatus(t, exitFailed)
	run := &v1alpha1.EtcdBenchmark{}
	if err := json.Unmarshal([]byte(local.out.String()), run); err != nil {
		t.Fatal(err)
	}
	run.Spec.Target.Endpoints = created.Spec.Target.Endpoints
	if got, want := specOf(t, run), specOf(t, created); got != want {
		t.Errorf("wanted %s\ngot %s", want, got)
	}
}

func specOf(t *testing.T, run *v1alpha1.EtcdBenchmark) string {
	t.Helper()
	data, err := json.Marshal(run.Spec)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestLinesOfARunInACluster(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "puts"}
	c := call(puts, "run", "-f", "-", "-n", key.Namespace, "-o", "jsonl", "--interval", "1h")
	operate(t, key, func(s *v1alpha1.EtcdBenchmarkStatus) {
		stage(v1alpha1.StageRunning, metav1.ConditionFalse)(s)
		s.Pods = []v1alpha1.PodStatus{{Index: 0, Stage: "Measuring"}}
		s.Progress = &v1alpha1.Progress{Percent: 50, Requests: 1000, StartedRequests: 1002, ThroughputPerSecond: "48123", P99Microseconds: 25100, ReadyPods: 2}
	})
	c.out.await(t, `"state":"Running","stage":"Measuring","percent":50,"started":1002,"completed":1000,`)
	c.signals <- os.Interrupt
	awaitRun(t, key, func(run *v1alpha1.EtcdBenchmark) bool { return run.Spec.Stop })
	operate(t, key, func(s *v1alpha1.EtcdBenchmarkStatus) {
		stage(v1alpha1.ReasonStopped, metav1.ConditionTrue)(s)
		s.Summary = &v1alpha1.Summary{Transport: spec.TransportClient, MeasuredRequests: 1200, Partial: true}
	})
	c.wantStatus(t, exitUnknown)
	lines := strings.Split(strings.TrimSpace(c.out.String()), "\n")
	for _, want := range []string{`"state":"Stopped"`, `"final":true,"partial":true`, `"measuredRequests":1200`} {
		if last := lines[len(lines)-1]; !strings.Contains(last, want) {
			t.Errorf("wanted %s in the last line, found %s", want, last)
		}
	}
}
