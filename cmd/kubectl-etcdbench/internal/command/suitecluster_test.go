package command

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// operateSuite changes the status of a suite, as an operator would.
func operateSuite(t *testing.T, key client.ObjectKey, change func(*v1alpha1.EtcdBenchmarkSuite)) {
	t.Helper()
	s := awaitSuite(t, key, anySuite)
	s.Status.ObservedGeneration = s.Generation
	change(s)
	if err := apiServer.client.Status().Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// awaitSuite waits until a suite of that name exists and a condition holds.
func awaitSuite(t *testing.T, key client.ObjectKey, is func(*v1alpha1.EtcdBenchmarkSuite) bool) *v1alpha1.EtcdBenchmarkSuite {
	t.Helper()
	s := &v1alpha1.EtcdBenchmarkSuite{}
	eventually(t, "the suite "+key.String(), func() bool {
		*s = v1alpha1.EtcdBenchmarkSuite{}
		return apiServer.client.Get(t.Context(), key, s) == nil && is(s)
	})
	return s
}

func anySuite(*v1alpha1.EtcdBenchmarkSuite) bool       { return true }
func stoppedSuite(s *v1alpha1.EtcdBenchmarkSuite) bool { return s.Spec.Stop }

// starts begins a suite.
func starts(s *v1alpha1.EtcdBenchmarkSuite) {
	suite.Start(s, 7, time.Now())
	suite.Continue(s, v1alpha1.StageRunning, "The runs of the suite start one after the other.", time.Now())
	nextRun(s)
}

func nextRun(s *v1alpha1.EtcdBenchmarkSuite) {
	s.Status.Current = ""
	if p, more := suite.Next(s); more {
		s.Status.Current = p.Name
	}
}

// endsRun ends the current run, and starts the next one.
func endsRun(change func(*v1alpha1.EtcdBenchmark)) func(*v1alpha1.EtcdBenchmarkSuite) {
	return func(s *v1alpha1.EtcdBenchmarkSuite) {
		p, _ := suite.Next(s)
		run := p.Run(s)
		run.Status.Summary = &v1alpha1.Summary{
			Transport: spec.TransportClient, MeasuredRequests: 50,
			Operations: []v1alpha1.OperationSummary{{
				Operation: spec.OperationPut, Succeeded: 50, ThroughputPerSecond: "12345",
				Latency: &v1alpha1.LatencySummary{Count: 50, MeanMicroseconds: 900, P99Microseconds: 25_100},
			}},
		}
		meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted})
		if change != nil {
			change(run)
		}
		suite.Add(s, p, run, time.Now())
		nextRun(s)
	}
}

// endsSuite ends a suite. stopped: a user stopped it.
func endsSuite(stopped bool) func(*v1alpha1.EtcdBenchmarkSuite) {
	return func(s *v1alpha1.EtcdBenchmarkSuite) { suite.SetFinished(s, stopped, time.Now()) }
}

func passes(status metav1.ConditionStatus) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: status, Reason: "Judged", Message: "p99 25.1ms > 5ms."})
	}
}

// judgedSuite is smallSuite with an objective for puts.
var judgedSuite = strings.Replace(smallSuite, "  - name: range", "    objectives: [{name: p99, type: Latency, latency: {operation: Put, statistic: P99, maxMicroseconds: 5000}}]\n  - name: range", 1)

func TestASuiteRunsInACluster(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "small"}
	c := call(judgedSuite, "run", "-f", "-", "-n", key.Namespace)
	c.err.await(t, "Created the suite "+key.String()+".")
	operateSuite(t, key, starts)
	c.err.await(t, "small  Run 1 of 4: put/one, round 1.")
	operateSuite(t, key, endsRun(passes(metav1.ConditionFalse)))
	c.err.await(t, "put/one, round 1: Completed  12,345/s  Put p99 25.1ms  missed: p99 25.1ms > 5ms.")
	c.err.await(t, "small  Run 2 of 4: put/two, round 1. All runs end in about")
	for _, result := range []func(*v1alpha1.EtcdBenchmark){passes(metav1.ConditionTrue), nil, nil} {
		operateSuite(t, key, endsRun(result))
	}
	operateSuite(t, key, endsSuite(false))
	c.wantStatus(t, exitMissed)
	for _, want := range []string{"put/two, round 1: Completed  12,345/s  Put p99 25.1ms  passed", "range/two, round 1: Completed  12,345/s"} {
		if strings.Count(c.err.String(), want) != 1 {
			t.Errorf("wanted %q once in\n%s", want, c.err)
		}
	}
	for _, want := range []string{"EtcdBenchmarkSuite " + key.String() + ": Completed", "4 of 4 planned", "12,345"} {
		if !strings.Contains(c.out.String(), want) {
			t.Errorf("wanted %q in\n%s", want, c.out)
		}
	}
	runs := &v1alpha1.EtcdBenchmarkList{}
	if err := apiServer.client.List(t.Context(), runs, client.InNamespace(key.Namespace)); err != nil || len(runs.Items) > 0 {
		t.Errorf("wanted no run of the command itself, got %d and %v", len(runs.Items), err)
	}
}

func TestASuiteInAClusterAsJSON(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "small"}
	c := call(smallSuite, "run", "-f", "-", "-n", key.Namespace, "-o", "json")
	operateSuite(t, key, func(s *v1alpha1.EtcdBenchmarkSuite) {
		suite.EndAsInvalid(s, "The cell put/one was refused: spec.load is not allowed here.", time.Now())
	})
	c.wantStatus(t, exitFailed)
	var s v1alpha1.EtcdBenchmarkSuite
	if err := json.Unmarshal([]byte(c.out.String()), &s); err != nil {
		t.Fatalf("standard output is not one JSON object: %v\n%s", err, c.out)
	}
	if s.Kind != "EtcdBenchmarkSuite" || s.Status.Conditions[0].Reason != v1alpha1.ReasonInvalidCell || len(s.ManagedFields) > 0 {
		t.Errorf("wanted the finished object, got %s", c.out)
	}
	if want := "InvalidCell: The cell put/one was refused: spec.load is not allowed here."; !strings.Contains(c.err.String(), want) {
		t.Errorf("wanted %q in\n%s", want, c.err)
	}
}

// The first interrupt stops the suite, and the command writes the result. The second one leaves it.
func TestASuiteInAClusterIsStopped(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "small"}
	c := call(smallSuite, "run", "-f", "-", "-n", key.Namespace)
	operateSuite(t, key, starts)
	c.err.await(t, "Run 1 of 4")
	c.signals <- os.Interrupt
	awaitSuite(t, key, stoppedSuite)
	c.err.await(t, "Stopping the suite.")
	operateSuite(t, key, endsSuite(true))
	c.wantStatus(t, exitUnknown)
	if !strings.Contains(c.out.String(), "small: Stopped") {
		t.Errorf("wanted the result of a stopped suite, got\n%s", c.out)
	}
}

func TestASecondInterruptLeavesASuite(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "small"}
	c := call(smallSuite, "run", "-f", "-", "-n", key.Namespace)
	c.err.await(t, "Created")
	c.signals <- os.Interrupt
	awaitSuite(t, key, stoppedSuite)
	c.signals <- os.Interrupt
	c.wantStatus(t, exitUnknown)
	if want := "stopped following the suite " + key.String() + " before it finished."; !strings.Contains(c.err.String(), want) {
		t.Errorf("wanted %q in\n%s", want, c.err)
	}
	wantTyped(t, exitUnknown, commandAfter(t, c.err.String(), "To follow it: "), "--timeout", "1ms")
}

func TestASuiteOfANameThatExists(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "small"}
	first := call(smallSuite, "run", "-f", "-", "-n", key.Namespace, "--timeout", "1ms")
	first.wantStatus(t, exitUnknown)
	if want := "the suite " + key.String() + " has not finished after 1ms and continues"; !strings.Contains(first.err.String(), want) {
		t.Errorf("wanted %q in\n%s", want, first.err)
	}
	second := call(smallSuite, "run", "-f", "-", "-n", key.Namespace)
	second.wantStatus(t, exitFailed)
	if want := "the suite " + key.String() + " exists already, in state Pending. A suite is never repeated: delete it first (kubectl delete etcdbenchmarksuite -n " + key.Namespace; !strings.Contains(second.err.String(), want) {
		t.Errorf("wanted %q in\n%s", want, second.err)
	}
	call(smallSuite, "run", "-f", "-", "-n", key.Namespace, "--generate-name", "--timeout", "1ms").wantStatus(t, exitUnknown)
	if all := suitesIn(t, key.Namespace); len(all) != 2 {
		t.Errorf("wanted a second suite under a name of its own, got %d", len(all))
	}
}

func suitesIn(t *testing.T, namespace string) []v1alpha1.EtcdBenchmarkSuite {
	t.Helper()
	all := &v1alpha1.EtcdBenchmarkSuiteList{}
	if err := apiServer.client.List(t.Context(), all, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	return all.Items
}

// A suite is refused with the same words with and without a cluster, and nothing is created.
func TestSuitesAreRefusedInACluster(t *testing.T) {
	ns := namespace(t)
	for name, tc := range map[string]struct{ old, new, want string }{
		"an unknown field":         {"clients: 2", "conections: 2", "line 15: spec.loads[1].load.conections: unknown field"},
		"an empty axis":            {"  - {name: one, load: {requests: 50}}\n  - {name: two, load: {requests: 60, clients: 2}}\n", "    []\n", "spec.loads"},
		"a name that is not there": {"  loads:", "  exclude: [{load: three}]\n  loads:", "spec.exclude"},
		"no cell at all":           {"  loads:", "  exclude: [{target: etcd}]\n  loads:", "spec.exclude leaves no cell"},
		"a rule across axes":       {"type: Range, range: {keys: {count: 10}}", "type: Lock, lock: {names: 2}", "line 12: spec.workloads[1].workload"},
		"text for a number":        {"requests: 50", "requests: many", "spec.loads[0].load.requests"},
		"a long name":              {"name: small", "name: " + strings.Repeat("x", 41), "at most 40 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(smallSuite, tc.old, tc.new, 1)
			cluster, local := call(bad, "run", "-f", "-", "-n", ns), call(bad, "run", "-f", "-", "--local")
			cluster.wantStatus(t, exitFailed)
			local.wantStatus(t, exitFailed)
			if !strings.Contains(cluster.err.String(), tc.want) || cluster.err.String() != local.err.String() {
				t.Errorf("wanted %q, in a cluster:\n%s\nwithout one:\n%s", tc.want, cluster.err, local.err)
			}
		})
	}
	for _, flag := range [][]string{{"-o", "jsonl"}, {"-o", "jsonl", "--interval", "5s"}} {
		c := call(smallSuite, append([]string{"run", "-f", "-", "-n", ns}, flag...)...)
		c.wantStatus(t, exitFailed)
		if !strings.Contains(c.err.String(), flag[0]) && !strings.Contains(c.err.String(), "--output") && !strings.Contains(c.err.String(), "--interval") {
			t.Errorf("%v: got %s", flag, c.err)
		}
	}
	if all := suitesIn(t, ns); len(all) > 0 {
		t.Errorf("wanted no suite, got %d", len(all))
	}
}

func TestSweepInACluster(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "swept"}
	c := call(sweepable, "run", "-f", "-", "-n", key.Namespace, "--sweep", "load.clients=1,2", "--rounds", "2")
	operateSuite(t, key, starts)
	c.err.await(t, "Run 1 of 4: clients-1, round 1.")
	for range 4 {
		operateSuite(t, key, endsRun(passes(metav1.ConditionTrue)))
	}
	operateSuite(t, key, endsSuite(false))
	c.wantStatus(t, exitDone)
	call(sweepable, "run", "-f", "-", "-n", key.Namespace, "--sweep", "load.clients=1,2", "--generate-name", "--timeout", "1ms").wantStatus(t, exitUnknown)
	all := suitesIn(t, key.Namespace)
	if len(all) != 2 || !strings.HasPrefix(all[1].Name, "swept-") {
		t.Errorf("wanted a second suite with a generated name, got %d", len(all))
	}
}
