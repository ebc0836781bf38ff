//go:build e2e

package e2e

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkStarved gives the clients a tenth of a processor. The result must report that they were the limit, from the
// kernel's counters of the container, and the run must not pass.
func checkStarved(t *testing.T) {
	b := newPut(suite.counted, "starved", 4000)
	b.Spec.Pod = &v1alpha1.PodSettings{Resources: &corev1.ResourceRequirements{
		Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
	}}
	b.Spec.Objectives = []v1alpha1.Objective{{
		Name: "rate", Type: spec.ObjectiveThroughput, Throughput: &v1alpha1.ThroughputObjective{MinPerSecond: 1_000_000},
	}}
	b = runToEnd(t, b)
	requireCompleted(t, b)
	v := b.Status.Summary.Validity
	if v == nil || v.Verdict != v1alpha1.ValidityClientBound || len(v.Reasons) != 1 || v.Reasons[0].Cause != v1alpha1.CauseThrottled {
		t.Fatalf("wanted throttled clients to be the only limit, found %+v", v)
	}
	if v.ThrottledMicroseconds == nil || *v.ThrottledMicroseconds == 0 {
		t.Errorf("wanted the time for which they were throttled, found %+v", v)
	}
	if err := wantReason(b, v1alpha1.ConditionPassed, v1alpha1.ReasonClientBound); err != nil {
		t.Error(err)
	}
}

func names(v *v1alpha1.Validity, cause v1alpha1.ValidityCause) bool {
	for _, r := range v.Reasons {
		if r.Cause == cause {
			return true
		}
	}
	return false
}

// requireReadClients requires that all figures for judging the clients of a run could be read. The verdict itself
// depends on the machine.
func requireReadClients(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	v := b.Status.Summary.Validity
	if v == nil || v.Verdict == v1alpha1.ValidityUnknown || names(v, v1alpha1.CauseUnread) {
		t.Errorf("wanted the clients to be judged, found %+v", v)
	}
}

// checkNeighbour lets other processes of the node use all of its processors. The result names the node, which the client
// pod and a member share. The operator learns the members' nodes from the endpoints of their Service.
func checkNeighbour(t *testing.T) {
	occupyNode(t)
	b := newPut(suite.counted, "neighbour", 500)
	b.Spec.Load.Rate = &spec.Rate{PerSecond: 50}
	b.Spec.Target.Endpoints, b.Spec.Target.Service = nil, &v1alpha1.ServiceTarget{Name: etcdName, Port: intstr.FromInt32(2379)}
	b = runToEnd(t, b)
	requireCompleted(t, b)
	named := slices.ContainsFunc(b.Status.Summary.Evidence, func(e v1alpha1.Evidence) bool {
		return e.Resource == v1alpha1.ResourceCPU && strings.Contains(e.Message, "node")
	})
	if !named {
		t.Errorf("wanted the processors of the node in the evidence, found %+v", b.Status.Summary.Evidence)
	}
}

// occupyNode starts twice as many busy processes as the machine has processors. They end with the test.
func occupyNode(t *testing.T) {
	t.Helper()
	for range 2 * runtime.NumCPU() {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
}
