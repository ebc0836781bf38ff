package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// smallCluster is smaller than those of all profiles.
func smallCluster(servers int32) *Workload {
	w := New(Run{
		Prefix: "p/", Load: spec.Load{Pods: servers, Seed: 3},
		Workload: spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Profile: spec.ClusterSmall}},
	})
	w.kind = kubernetes{cluster: Cluster{
		Nodes: 5, Pods: 120, LeaseBytes: 20, PodBytes: 100, EventBytes: 30,
		PerMinute: spec.ClusterMinute{LeaseUpdates: 30, PodCreates: 4, PodUpdates: 16, Events: 20, ListsBy500: 6, ListsBy10000: 1},
	}}
	w.kind.begin(w)
	return w
}

// As long as all servers are equally fast, each minute of the cluster, and each minute of a server, has all its
// requests.
func TestEveryMinuteHasItsRequests(t *testing.T) {
	want := map[string]int{"leases": 30, "new pods": 4, "pods": 16, "events": 20, "gone": 4, "ListBy500": 6, "ListBy10000": 1}
	for _, servers := range []int64{1, 3} {
		w := smallCluster(int32(servers))
		for minute := range int64(5) {
			together, alone := map[string]int{}, map[string]int{}
			for n := minute * 81; n < (minute+1)*81; n++ {
				together[what(w.At(Measured, n))]++
				alone[what(w.At(Measured, n*servers+servers-1))]++
			}
			for who, got := range map[string]map[string]int{"all servers": together, "the last server": alone} {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("minute %d of %s, %d servers (-want +got):\n%s", minute, who, servers, diff)
				}
			}
		}
	}
}

// what names the purpose of an operation of a registry.
func what(op Operation) string {
	switch {
	case op.PageSize > 0:
		return string(op.Kind)
	case op.Kind == spec.OperationOptimisticDelete:
		return "gone"
	case op.Resource == Leases:
		return "leases"
	case op.Resource == Events:
		return "events"
	case op.Create:
		return "new pods"
	default:
		return "pods"
	}
}

// life has the events of a pod, each as the number of requests that its server had sent before.
type life struct {
	server, created, deleted int64
	changes                  []int64
}

const never = 1 << 40

// lives returns the life of each pod, how often each lease was renewed, and how often each event was created, if the
// servers send so many requests each.
func lives(t *testing.T, w *Workload, requests []int64) (pods map[int64]*life, leases, events map[int64]int) {
	t.Helper()
	pods, leases, events = map[int64]*life{}, map[int64]int{}, map[int64]int{}
	for pod := range int64(120) {
		pods[pod] = &life{server: pod % 3, created: -never, deleted: never}
	}
	// The servers run one after the other, so none can rely on another.
	for server, count := range requests {
		for own := range count {
			op := w.At(Measured, own*int64(len(requests))+int64(server))
			pod := pods[op.Key]
			switch kind := what(op); {
			case kind == "leases":
				leases[op.Key]++
			case kind == "events":
				events[op.Key]++
			case kind == "new pods" && pod == nil:
				pods[op.Key] = &life{server: int64(server), created: own, deleted: never}
			case kind == "new pods":
				t.Errorf("pod %d is created twice", op.Key)
			case op.PageSize > 0:
			case pod == nil || pod.server != int64(server) || pod.deleted < never:
				t.Fatalf("%s: server %d, after %d requests: pod %d is not there, or another server's: %+v", kind, server, own, op.Key, pod)
			case kind == "gone":
				pod.deleted = own
			default:
				pod.changes = append(pod.changes, own)
			}
		}
	}
	return pods, leases, events
}

// Each pod is created once, deleted once after that, and changed in between, all by one server. The progress of other
// servers does not matter, and there is time between any two of these requests.
func TestTheLifeOfPods(t *testing.T) {
	w := smallCluster(3)
	pods, leases, events := lives(t, w, []int64{60 * 81, 81, 0})
	deleted := 0
	for number, pod := range pods {
		// A quarter of a server's 40 pods is created in two and a half minutes.
		for _, change := range pod.changes {
			if change-pod.created < 2*81 || pod.deleted-change < 2*81 {
				t.Errorf("pod %d is changed after %d requests: %+v", number, change, pod)
			}
		}
		if pod.deleted < never {
			deleted++
		}
	}
	if len(pods) != 120+61*4 || deleted != 61*4 || len(events) != 61*20 {
		t.Errorf("%d pods, %d deleted, %d events", len(pods), deleted, len(events))
	}
	for event, times := range events {
		if times != 1 {
			t.Errorf("event %d is created %d times", event, times)
		}
	}
	// Each node is connected to one server, whose 30 renewals a minute are those of its nodes.
	if diff := cmp.Diff(map[int64]int{0: 900, 3: 900, 1: 15, 4: 15}, leases); diff != "" {
		t.Errorf("leases were renewed as often as this (-want +got):\n%s", diff)
	}
}

// Between two changes of an object, its server changes all others that it may change.
func TestObjectsAreChangedInTurn(t *testing.T) {
	const servers = 3
	w := smallCluster(servers)
	for server, nodes := range []int{2, 2, 1} {
		last, count := map[Resource]map[int64]int{Leases: {}, Pods: {}}, map[Resource]int{}
		// 40 pods, without the 4 that are created and deleted, and without the margins of 10.
		turn := map[Resource]int{Leases: nodes, Pods: 16}
		for own := range int64(20 * 81) {
			op := w.At(Measured, own*servers+int64(server))
			if op.Kind != spec.OperationOptimisticPut || op.Create {
				continue
			}
			now, key := count[op.Resource], op.Key
			if before, changed := last[op.Resource][key]; changed && now-before < turn[op.Resource] {
				t.Fatalf("server %d changes object %d of resource %d again after %d others, wanted %d", server, key, op.Resource, now-before-1, turn[op.Resource]-1)
			}
			last[op.Resource][key] = now
			count[op.Resource]++
		}
		if count[Leases] != 20*30 || count[Pods] != 20*16 {
			t.Errorf("server %d has changed %d leases and %d pods", server, count[Leases], count[Pods])
		}
	}
}

// The requests of a kind that a server sends are numbered in their order, also where it does not begin with the first
// request of the minute.
func TestRequestsAreNumberedInTheirOrder(t *testing.T) {
	const servers = 3
	m := newMinute([]int64{30, 4, 16}, 7, servers)
	for server := range int64(servers) {
		next := make([]int64, 3)
		for own := range int64(4 * 50) {
			kind, at := m.at(own*servers + server)
			if want := (moment{server: server, minute: own / 50, number: next[kind]}); at != want {
				t.Fatalf("request %d, of kind %d: wanted %+v, got %+v", own, kind, want, at)
			}
			next[kind]++
		}
	}
}

func TestKeysOfARegistry(t *testing.T) {
	w := smallCluster(3)
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
		value := w.AppendMarked(nil, Operation{Kind: spec.OperationOptimisticPut, Subject: OnObject, Resource: resource, Stream: Measured, Value: 8}, 2)
		if mark, _ := MarkOf(value); len(value) != want || mark != (Mark{Stream: Measured, Pod: 2, Sequence: 8}) {
			t.Errorf("resource %d has values of %d bytes with the mark %+v, wanted %d", resource, len(value), mark, want)
		}
	}
}

func TestIsObject(t *testing.T) {
	keys := (&Run{Prefix: "p/"}).KeyWriter()
	for _, resource := range Resources {
		for _, number := range []int64{0, 7, 10, 999_999, 1_000_000, 1 << 40} {
			key := keys.AppendObject(nil, resource, number)
			if !IsObject("p/", key) {
				t.Errorf("%q is not taken for an object", key)
			}
			for _, other := range []string{string(key) + "/x", string(key) + "\x00", "q" + string(key)} {
				if IsObject("p/", []byte(other)) {
					t.Errorf("%q is taken for an object", other)
				}
			}
		}
	}
	for _, other := range []string{"", "7", "p/registry/pods/", "p/registry/pods/namespace-1/pod-000000000002", "p/registry/configmaps/namespace-1/pod-000000000001", "p/registry/pods/namespace-1/pod-99999999999999999999"} {
		if IsObject("p/", []byte(other)) {
			t.Errorf("%q is taken for an object", other)
		}
	}
}

func TestPreloadedObjects(t *testing.T) {
	w := smallCluster(3)
	if w.PreloadCount() != 125 {
		t.Fatalf("%d objects come before the load, wanted 125", w.PreloadCount())
	}
	counts := map[Resource]map[int64]bool{Leases: {}, Pods: {}}
	for n := range w.PreloadCount() {
		op := w.Preload(n)
		if !op.Create || op.Stream != 0 {
			t.Errorf("object %d is %+v", n, op)
		}
		counts[op.Resource][op.Key] = true
	}
	if len(counts[Leases]) != 5 || len(counts[Pods]) != 120 {
		t.Errorf("%d leases and %d pods", len(counts[Leases]), len(counts[Pods]))
	}
}

func TestARegistryAllocatesNothing(t *testing.T) {
	w := smallCluster(3)
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
