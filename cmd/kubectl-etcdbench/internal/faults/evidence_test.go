package faults

import (
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// named are the resources that a run's evidence names, except some.
func named(run *v1alpha1.EtcdBenchmark, except ...v1alpha1.Resource) (out []v1alpha1.Resource) {
	for _, e := range run.Status.Summary.Evidence {
		if !slices.Contains(append(except, v1alpha1.ResourceUnexplained), e.Resource) {
			out = append(out, e.Resource)
		}
	}
	return out
}

func isUnexplained(run *v1alpha1.EtcdBenchmark) bool {
	return slices.ContainsFunc(run.Status.Summary.Evidence, func(e v1alpha1.Evidence) bool { return e.Resource == v1alpha1.ResourceUnexplained })
}

func meanService(run *v1alpha1.EtcdBenchmark) time.Duration {
	return time.Duration(run.Status.Summary.Operations[0].ServiceTime.MeanMicroseconds) * time.Microsecond
}

func requireEvidence(t *testing.T, run *v1alpha1.EtcdBenchmark, tc trial) {
	t.Helper()
	if diff := cmp.Diff(tc.named, named(run, tc.mayName...)); diff != "" {
		t.Errorf("the evidence names (-want +got):\n%s", diff)
	}
	if got := isUnexplained(run); got != tc.unexplained && !slices.Contains(tc.mayName, v1alpha1.ResourceUnexplained) {
		t.Errorf("the greater part stays unexplained: %v, wanted %v", got, tc.unexplained)
	}
}

// shownShare matches the share of the window, in percent, in the evidence on a resource.
var shownShare = regexp.MustCompile(`(\d+) % of the window`)

// requireShare wants the evidence on a resource to name a share of the window between two limits, in percent.
func requireShare(t *testing.T, run *v1alpha1.EtcdBenchmark, resource v1alpha1.Resource, least, most int) {
	t.Helper()
	for _, e := range run.Status.Summary.Evidence {
		if e.Resource != resource {
			continue
		}
		match := shownShare.FindStringSubmatch(e.Message)
		if match == nil {
			t.Errorf("wanted the evidence on %s to name its share of the window, found %q", resource, e.Message)
			return
		}
		if share, err := strconv.Atoi(match[1]); err != nil || share < least || share > most {
			t.Errorf("wanted %s to have taken %d to %d %% of the window, found %q", resource, least, most, e.Message)
		}
	}
}

// quietRun is a run of a single member without a fault. Its evidence names no resource: most of the service time is
// unexplained.
func quietRun(t *testing.T) *v1alpha1.EtcdBenchmark {
	t.Helper()
	run := trial{}.result(t)
	requireEvidence(t, run, trial{unexplained: true})
	requireObjectives(t, run, trial{})
	return run
}

// The result names a load generator with too little processor time as the limit, and no member.
func TestAloneAStarvedClientIsTheLimit(t *testing.T) {
	cluster := start(t, fault{})
	starve(t)
	run := completed(t, puts(cluster), nil)
	if v := run.Status.Summary.Validity; v == nil || v.Verdict != v1alpha1.ValidityClientBound {
		t.Errorf("wanted the client to be the limit, found %+v", v)
	}
	if got := named(run); len(got) > 0 {
		t.Errorf("the evidence names %v, wanted no resource of the members", got)
	}
}

// Other processes of the machine take the processors: the load generator waits for them, and that is the only cause. A
// kernel may serve a thread that slept before one that did not, so the load generator has a lower priority.
func TestAloneANeighbourDelaysTheClient(t *testing.T) {
	if !atLowPriority(t) {
		return
	}
	cluster := start(t, fault{})
	occupy(t, 4*runtime.NumCPU())
	run := completed(t, puts(cluster, func(run *v1alpha1.EtcdBenchmark) { run.Spec.Load.Transport = spec.TransportClient }), nil)
	v := run.Status.Summary.Validity
	if v == nil || v.Verdict != v1alpha1.ValidityClientBound || len(v.Reasons) != 1 || v.Reasons[0].Cause != v1alpha1.CauseDelayed {
		t.Errorf("wanted the client to be delayed, found %+v", v)
	}
}

// One event loop sends and receives all requests of the transport Fast on two processors. A target that answers at once
// leaves it no time to wait: the loop is full, and that is the only cause.
func TestAloneAFullLoopIsTheLimit(t *testing.T) {
	useProcessors(t, 2)
	cluster := start(t, fault{})
	cluster.endpoints = []string{startInstant(t, cluster.endpoints[0])}
	run := completed(t, puts(cluster, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Load.Rate, run.Spec.Load.Clients, run.Spec.Load.Connections = nil, 4000, 10
		run.Spec.Objectives = nil
	}), nil)
	v := run.Status.Summary.Validity
	if v == nil || v.Verdict != v1alpha1.ValidityClientBound || len(v.Reasons) != 1 || v.Reasons[0].Cause != v1alpha1.CauseLoop {
		t.Errorf("wanted a full loop to be the limit, found %+v", v)
	}
}

// occupy starts processes that use all the processor time that they get, until the test ends.
func occupy(t *testing.T, processes int) {
	t.Helper()
	for range processes {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
}

// starve gives this process, the load generator, one processor with competitors until the test ends.
func starve(t *testing.T) {
	const competitors = 3
	useProcessors(t, 1)
	var over atomic.Bool
	var competing sync.WaitGroup
	for range competitors {
		competing.Go(func() {
			for !over.Load() {
			}
		})
	}
	t.Cleanup(func() {
		over.Store(true)
		competing.Wait()
	})
}

// useProcessors lets this process, the load generator, use this many processors at a time until the test ends.
func useProcessors(t *testing.T, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}
