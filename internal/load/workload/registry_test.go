package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func smallCluster() *Workload {
	return New(plan.Plan{Prefix: "p/", Load: plan.Load{Seed: 3}, Workload: plan.Workload{
		Type: plan.WorkloadKubernetes, ValueSize: 100, Kubernetes: &plan.Kubernetes{
			Nodes: 5, Pods: 40, LeaseBytes: 20, PodBytes: 100, EventBytes: 30,
			PerMinute: plan.KubernetesMinute{LeaseUpdates: 30, PodCreates: 4, PodUpdates: 16, Events: 20, ListsBy500: 6, ListsBy10000: 1},
		},
	}})
}

func TestEveryMinuteHasItsRequests(t *testing.T) {
	w := smallCluster()
	want := map[string]int{"leases": 30, "new pods": 4, "pods": 16, "events": 20, "gone": 4, "ListBy500": 6, "ListBy10000": 1}
	for minute := range int64(5) {
		got := map[string]int{}
		for n := minute * 81; n < (minute+1)*81; n++ {
			op := w.At(Measured, n)
			switch {
			case op.PageSize() > 0:
				got[string(op.Kind)]++
			case op.Kind == results.OperationOptimisticDelete:
				got["gone"]++
			case op.Resource == Leases:
				got["leases"]++
			case op.Resource == Events:
				got["events"]++
			case op.Create:
				got["new pods"]++
			default:
				got["pods"]++
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("minute %d (-want +got):\n%s", minute, diff)
		}
	}
}

// Each pod is created once, deleted once after that, and changed only between.
func TestTheLifeOfPods(t *testing.T) {
	w := smallCluster()
	const minutes, margin = 30, 1
	created, deleted := map[int64]int64{}, map[int64]int64{}
	for pod := range int64(40) {
		created[pod] = -1 - margin
	}
	leases, events := map[int64]int{}, map[int64]bool{}
	for n := range int64(minutes * 81) {
		op := w.At(Measured, n)
		switch {
		case op.Kind == results.OperationOptimisticDelete:
			if at, exists := created[op.Key]; !exists || at >= n/81-margin {
				t.Errorf("pod %d is deleted in minute %d, and created in %d (%v)", op.Key, n/81, at, exists)
			}
			if _, twice := deleted[op.Key]; twice {
				t.Errorf("pod %d is deleted twice", op.Key)
			}
			deleted[op.Key] = n / 81
		case op.Resource == Pods && op.Create:
			created[op.Key] = n / 81
		case op.Resource == Leases:
			leases[op.Key]++
		case op.Resource == Events:
			if events[op.Key] {
				t.Errorf("event %d is created twice", op.Key)
			}
			events[op.Key] = true
		}
	}
	for n := range int64(minutes * 81) {
		op := w.At(Measured, n)
		if op.Resource != Pods || op.Create || op.Kind != results.OperationOptimisticPut {
			continue
		}
		at, exists := created[op.Key]
		end, ends := deleted[op.Key]
		if !exists || at >= n/81-margin || ends && end <= n/81+margin {
			t.Errorf("pod %d is changed in minute %d, created in %d (%v), deleted in %d (%v)", op.Key, n/81, at, exists, end, ends)
		}
	}
	if len(created) != 40+4*minutes || len(deleted) != 4*minutes || len(events) != 20*minutes {
		t.Errorf("%d pods, %d deleted, %d events", len(created), len(deleted), len(events))
	}
	for node := range int64(5) {
		if leases[node] != 6*minutes {
			t.Errorf("node %d has renewed its lease %d times in %d minutes", node, leases[node], minutes)
		}
	}
}

func TestKeysOfARegistry(t *testing.T) {
	w := smallCluster()
	for want, got := range map[string][]byte{
		"p/registry/leases/kube-node-lease/node-000003":    w.AppendObject(nil, Leases, 3),
		"p/registry/pods/namespace-2/pod-000000000042":     w.AppendObject(nil, Pods, 42),
		"p/registry/events/namespace-9/event-000000000009": w.AppendObject(nil, Events, 9),
		"p/registry/pods/": w.AppendResource(nil, Pods),
	} {
		if string(got) != want {
			t.Errorf("got the key %s, wanted %s", got, want)
		}
	}
	if w.KeyBytes() != len("p/registry/pods/namespace-2/pod-000000000042") {
		t.Errorf("a key has %d bytes", w.KeyBytes())
	}
	for resource, want := range map[Resource]int{Leases: 20, Pods: 100, Events: 30} {
		value := w.AppendMarked(nil, Operation{Kind: results.OperationOptimisticPut, Resource: resource, Stream: Measured, Value: 8}, 2)
		if mark, _ := MarkOf(value); len(value) != want || mark != (Mark{Stream: Measured, Pod: 2, Sequence: 8}) {
			t.Errorf("resource %d has values of %d bytes with the mark %+v, wanted %d", resource, len(value), mark, want)
		}
	}
}

func TestWhatIsThereBeforeTheLoad(t *testing.T) {
	w := smallCluster()
	if w.PreloadCount() != 45 {
		t.Fatalf("%d objects come before the load, wanted 45", w.PreloadCount())
	}
	counts := map[Resource]map[int64]bool{Leases: {}, Pods: {}}
	for n := range w.PreloadCount() {
		op := w.Preload(n)
		if !op.Create || op.Stream != 0 {
			t.Errorf("object %d is %+v", n, op)
		}
		counts[op.Resource][op.Key] = true
	}
	if len(counts[Leases]) != 5 || len(counts[Pods]) != 40 {
		t.Errorf("%d leases and %d pods", len(counts[Leases]), len(counts[Pods]))
	}
}

func TestARegistryAllocatesNothing(t *testing.T) {
	w := smallCluster()
	n, key, value := int64(0), make([]byte, 0, 100), make([]byte, 0, 200)
	if got := testing.AllocsPerRun(1000, func() {
		op := w.At(Measured, n)
		key = w.AppendObject(key[:0], op.Resource, op.Key)
		value = w.AppendMarked(value[:0], op, 1)
		n++
	}); got > 0 {
		t.Errorf("a request allocates %v times", got)
	}
}
