package faults

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/local"
)

// puts is an admitted open loop of 200 puts per second for five seconds, with enough clients for the slowest put. The
// warm-up is long enough that the members' round trips during their start no longer count.
func puts(c *cluster, changes ...func(*v1alpha1.EtcdBenchmark)) *v1alpha1.EtcdBenchmark {
	run := &v1alpha1.EtcdBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "puts", UID: "11112222-3333-4444-5555-666677778888", Generation: 1},
		Spec: v1alpha1.EtcdBenchmarkSpec{
			Target: v1alpha1.Target{Datastore: spec.Etcd, Endpoints: c.endpoints, Members: spec.MembersAll, SampleIntervalSeconds: 1},
			Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{
				Keys: spec.Keys{Count: 1000, SizeBytes: 8, Distribution: spec.Uniform}, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 256},
			}},
			Load: spec.Load{
				Transport: spec.TransportFast, Pods: 1, Connections: 6, Clients: 240, WarmupSeconds: 2,
				DurationSeconds: new(int32(5)), RequestTimeoutSeconds: 10, Seed: 1, Rate: &spec.Rate{PerSecond: 200, Arrival: spec.ArrivalConstant},
			},
			Objectives:     limits(),
			TimeoutSeconds: 120,
		},
	}
	for _, change := range changes {
		change(run)
	}
	return run
}

func valuesOf(bytes int32) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) { run.Spec.Workload.Put.Values.SizeBytes = bytes }
}

// guarded sets these rules, and a duration of a minute unless one of them fires.
func guarded(rules spec.StopRules) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Guard = &spec.Guard{AcceptWrites: true, StopOn: &rules}
		run.Spec.Load.DurationSeconds = new(int32(60))
	}
}

// result runs a run to its end, and calls inWindow once in its measured window.
func result(t *testing.T, run *v1alpha1.EtcdBenchmark, inWindow func()) *v1alpha1.EtcdBenchmark {
	t.Helper()
	if inWindow == nil {
		return resultWhen(t, run, func(*v1alpha1.EtcdBenchmark) bool { return true }, func() {})
	}
	// The figures of a member count from its first sample.
	measures := func(seen *v1alpha1.EtcdBenchmark) bool {
		unsampled := func(m v1alpha1.MemberStatus) bool { return m.ResidentMemoryBytes == nil }
		return seen.Status.Progress != nil && seen.Status.Progress.Requests > 0 && !slices.ContainsFunc(seen.Status.Target.Members, unsampled)
	}
	return resultWhen(t, run, measures, inWindow)
}

// resultWhen runs a run to its end, and calls do once, when isSo holds.
func resultWhen(t *testing.T, run *v1alpha1.EtcdBenchmark, isSo func(*v1alpha1.EtcdBenchmark) bool, do func()) *v1alpha1.EtcdBenchmark {
	t.Helper()
	done := false
	options := local.Options{
		Notice: func(string) {},
		Show: func(seen *v1alpha1.EtcdBenchmark) {
			if !done && isSo(seen) {
				done = true
				do()
			}
		},
	}
	if _, err := local.Run(t.Context(), run, options); err != nil {
		t.Fatal(err)
	}
	if !done {
		t.Fatal("the run ended before the condition held")
	}
	t.Log(described(run))
	return run
}

// completed runs a run that must complete.
func completed(t *testing.T, run *v1alpha1.EtcdBenchmark, inWindow func()) *v1alpha1.EtcdBenchmark {
	t.Helper()
	result(t, run, inWindow)
	requireFinished(t, run, v1alpha1.ReasonCompleted)
	return run
}

func requireFinished(t *testing.T, run *v1alpha1.EtcdBenchmark, reason string) {
	t.Helper()
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	if c == nil || c.Status != metav1.ConditionTrue || c.Reason != reason {
		t.Fatalf("wanted the run to finish as %s, found %+v", reason, c)
	}
}

// described has the figures that explain a failed test.
func described(run *v1alpha1.EtcdBenchmark) string {
	var out strings.Builder
	if s := run.Status.Summary; s != nil {
		fmt.Fprintf(&out, "%d requests at %s per second\n", s.MeasuredRequests, s.ThroughputPerSecond)
		for _, e := range s.Evidence {
			out.WriteString(string(e.Resource) + ": " + e.Message + "\n")
		}
	}
	for _, o := range run.Status.Objectives {
		out.WriteString(o.Name + ": " + string(o.Result) + ", wanted " + o.Wanted + ", got " + o.Got + " " + o.Message + "\n")
	}
	return out.String()
}
