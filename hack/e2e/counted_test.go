//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkCounted runs, one after the other, the scenarios that compare the server's counters.
func checkCounted(t *testing.T) {
	t.Run("followers", checkFollowers)
	t.Run("leader", checkLeader)
	for _, pods := range []int32{1, 2, 5} {
		t.Run(fmt.Sprintf("%d pods", pods), func(t *testing.T) { checkPods(t, pods, spec.TransportClient) })
	}
	t.Run("fast", func(t *testing.T) { checkPods(t, 2, spec.TransportFast) })
	t.Run("burst", checkBurst)
	t.Run("starved", checkStarved)
}

// checkBurst starts 7,000 processes in three pods at once, each with a connection.
func checkBurst(t *testing.T) {
	const processes, parameters, size = 7_000, 20, 100
	b := newPut(suite.counted, "burst", 0)
	b.Spec.Workload = spec.Workload{Type: spec.WorkloadFetch, Fetch: &spec.Fetch{Layout: spec.LayoutTree, ParametersPerProcess: parameters, ParameterBytes: size}}
	b.Spec.Load = spec.Load{Transport: spec.TransportFast, Pods: 3, Connections: processes, Clients: processes, Seed: 1}
	before := mustCounters(t, suite.counted)
	b = runToEnd(t, b)
	requireCompleted(t, b)
	requireMeasured(t, b, processes)
	requireSameCounts(t, b, mustCounters(t, suite.counted).since(before))
	if burst := b.Status.Summary.Burst; burst == nil || burst.ValueBytes != processes*parameters*size || burst.LastProcessMicroseconds == 0 {
		t.Errorf("wanted the values of all processes and the end of the last one, found %+v", burst)
	}
}

// checkFollowers sends serializable reads to the followers; the leader must receive none. Half of the clients belong to
// each follower, and all start together. The number of reads of each client depends on the speed of its follower,
// because a closed loop takes the next read from a shared counter.
func checkFollowers(t *testing.T) {
	b := newRange(suite.counted, "followers", spec.Serializable, 4000)
	b.Spec.Target.Members = spec.MembersFollowers
	rise, leader := runCounted(t, b)
	share := rangeShare(b)
	for member, byRPC := range rise {
		if got := byRPC["Range"]; member == leader && got > share.control {
			t.Errorf("the leader %s answered %d reads, more than the %d of control", member, got, share.control)
		} else if member != leader && got < int64(b.Spec.Load.Clients)/2 {
			t.Errorf("the follower %s answered %d of %d reads, fewer than it has clients", member, got, share.load)
		}
	}
}

// checkLeader sends linearizable reads to the leader; it must receive all of them.
func checkLeader(t *testing.T) {
	b := newRange(suite.counted, "leader", spec.Linearizable, 4000)
	b.Spec.Target = v1alpha1.Target{
		Pods:    &v1alpha1.PodsTarget{Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": etcdName}}},
		Members: spec.MembersLeader,
	}
	rise, leader := runCounted(t, b)
	if share, got := rangeShare(b), rise[leader]["Range"]; got < share.load {
		t.Errorf("the leader %s answered %d of the run's %d reads", leader, got, share.load)
	}
}

// readShare is how many reads a run sent as load, and as control requests.
type readShare struct{ load, control int64 }

func rangeShare(b *v1alpha1.EtcdBenchmark) readShare {
	for _, count := range b.Status.Summary.RequestCounts {
		if count.RPC == "Range" {
			return readShare{load: count.Warmup + count.Measured, control: count.Preload + count.Control}
		}
	}
	return readShare{}
}

// runCounted runs b, stores the result in it, and returns the increase of the members' counters and the leader.
func runCounted(t *testing.T, b *v1alpha1.EtcdBenchmark) (counters, string) {
	t.Helper()
	leader, err := suite.counted.leader()
	if err != nil {
		t.Fatal(err)
	}
	before := mustCounters(t, suite.counted)
	runToEnd(t, b).DeepCopyInto(b)
	requireCompleted(t, b)
	requireMeasured(t, b, *b.Spec.Load.Requests)
	requireOrderedPercentiles(t, b)
	rise := mustCounters(t, suite.counted).since(before)
	requireSameCounts(t, b, rise)
	return rise, leader
}

// checkPods splits the same load over a number of pods, over a transport, under a prefix with close neighbours.
func checkPods(t *testing.T, pods int32, transport spec.Transport) {
	name := strings.ToLower(fmt.Sprintf("%s-%d", transport, pods))
	prefix := "e2e/" + name
	store := putNeighbours(t, suite.counted, []string{prefix, prefix + ".", prefix + "0"})
	b := newPut(suite.counted, name, 10_007)
	b.Spec.Target = v1alpha1.Target{
		Service:   &v1alpha1.ServiceTarget{Name: etcdName, Port: intstr.FromInt32(2379)},
		KeyPrefix: prefix + "/",
	}
	b.Spec.Load.Pods, b.Spec.Load.Connections, b.Spec.Load.Clients = pods, 7, 23
	b.Spec.Load.WarmupSeconds = 1
	b.Spec.Load.Transport = transport
	runCounted(t, b)
	requireStore(t, suite.counted, store)
	requireMessagesAgree(t, b)
}
