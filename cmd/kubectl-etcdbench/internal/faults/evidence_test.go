package faults

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/local"
)

// named are the resources that a run's evidence names, but for some.
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

// quietRun is one of a single member, in which nothing is slow. No resource is
// named: what there is, no number of the member shows.
func quietRun(t *testing.T) *v1alpha1.EtcdBenchmark {
	t.Helper()
	run := completed(t, puts(start(t, fault{})), nil)
	requireEvidence(t, run, trial{unexplained: true})
	requireObjectives(t, run, trial{})
	return run
}

// busyAttempts: a machine that is busy with something else can keep processors
// from a member, which is then not what is busy, or from who asks how it is.
const busyAttempts = 3

// A member that may use one processor, and is kept busy by people who log in, is
// named for that and for nothing else.
func TestBusyProcessorsAreTold(t *testing.T) {
	cluster := start(t, fault{processors: 1, preferred: true, arguments: []string{"--bcrypt-cost=10"}})
	secret := cluster.enableUsers(t)
	cluster.logInOverAndOver(t)
	for range busyAttempts {
		run := completed(t, puts(cluster, asUser), nil, func(o *local.Options) { o.AuthDir = secret })
		if used := run.Status.Summary.Members[0].CPUMillicores; used == nil || *used < 800 || resultOf(run, v1alpha1.ObjectiveMemberCPU) == v1alpha1.ObjectiveUnknown {
			continue
		}
		if diff := cmp.Diff([]v1alpha1.Resource{v1alpha1.ResourceCPU}, named(run)); diff != "" {
			t.Errorf("the evidence names (-want +got):\n%s", diff)
		}
		requireResults(t, run, v1alpha1.ObjectiveMissed, v1alpha1.ObjectiveMemberCPU)
		return
	}
	t.Errorf("in none of %d runs this machine gave a member four fifths of a processor and asked it in time: end what else keeps it busy", busyAttempts)
}

// asUser logs in, too. A busy member says late how it is: that takes a long window.
func asUser(run *v1alpha1.EtcdBenchmark) {
	run.Spec.Target.Auth = &v1alpha1.TargetAuth{SecretName: user}
	run.Spec.Load.Connections, run.Spec.Load.DurationSeconds = 2, new(int32(20))
}

// A load generator that gets little of a processor is named as the limit, and the
// members are not.
func TestMembersAreSparedForAStarvedClient(t *testing.T) {
	cluster := start(t, fault{})
	starve(t)
	run := completed(t, puts(cluster), nil)
	if v := run.Status.Summary.Validity; v == nil || v.Verdict != v1alpha1.ValidityClientBound {
		t.Errorf("wanted the client to be the limit, found %+v", v)
	}
	if got := named(run); len(got) > 0 {
		t.Errorf("the evidence names %v, wanted nothing of the members", got)
	}
}

// starve leaves this process, which is the load generator's, one processor, for
// which others compete, until the test ends.
func starve(t *testing.T) {
	const competitors = 3
	before := runtime.GOMAXPROCS(1)
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
		runtime.GOMAXPROCS(before)
	})
}
