package plan

import (
	"slices"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Every connection, client and request belongs to exactly one part, for any number of pods.
func TestPartsAddUpToThePlan(t *testing.T) {
	for pods := 1; pods <= 12; pods++ {
		for connections := pods; connections < pods+14; connections++ {
			p := valid()
			p.Load.Pods, p.Load.Connections, p.Load.Clients = int32(pods), int32(connections), int32(3*connections+pods)
			p.Load.Requests = new(int64(1000 + connections))
			next, clients, requests := 0, 0, int64(0)
			numbers := map[int64]bool{}
			for i := range pods {
				part, err := p.Part(i)
				if err != nil {
					t.Fatal(err)
				}
				if part.FirstConnection != next || part.Connections < 1 || part.Clients() < part.Connections {
					t.Fatalf("%d pods, %d connections: part %d is %+v, its first connection should be %d", pods, connections, i, part, next)
				}
				next += part.Connections
				clients += part.Clients()
				requests += part.Requests
				for k := range part.Requests {
					numbers[part.Number(k)] = true
				}
			}
			if int64(len(numbers)) != requests || !numbers[0] || !numbers[requests-1] {
				t.Fatalf("%d pods: %d requests have %d numbers", pods, requests, len(numbers))
			}
			if next != connections || clients != int(p.Load.Clients) || requests != *p.Load.Requests {
				t.Fatalf("%d pods: parts have %d connections, %d clients, %d requests; the plan has %+v", pods, next, clients, requests, p.Load)
			}
		}
	}
}

func TestPartRefusesAnIndexOutsideThePlan(t *testing.T) {
	for _, index := range []int{-1, 3} {
		if _, err := valid().Part(index); err == nil {
			t.Errorf("index %d of 3 pods was accepted", index)
		}
	}
}

// Every connection for watchers belongs to exactly one pod, and that pod has a stream for it.
func TestCarriersAddUpToThePlan(t *testing.T) {
	for pods := int32(1); pods <= 5; pods++ {
		for streams := pods; streams <= 12; streams++ {
			p := of(spec.Workload{Type: spec.WorkloadWatch, Watch: &spec.Watch{Scope: spec.WatchScopeKey, Streams: streams, WatchersPerStream: 5, Keys: someKeys}}, false)
			p.Load.Pods = pods
			w := workload.New(p.Run)
			for p.Workload.Watch.Connections = pods; p.Workload.Watch.Connections <= streams; p.Workload.Watch.Connections++ {
				requireCarriers(t, p, w)
			}
		}
	}
}

func requireCarriers(t *testing.T, p Plan, w *workload.Workload) {
	t.Helper()
	var all []int
	for i := range p.Pods() {
		part, err := p.Part(i)
		if err != nil {
			t.Fatal(err)
		}
		own, streams := part.OwnCarriers(), w.Watchers(i)
		if len(own) == 0 || len(own) > len(streams) {
			t.Fatalf("%d pods, %+v: part %d has the carriers %v for %d streams", p.Pods(), p.Workload.Watch, i, own, len(streams))
		}
		all = append(all, own...)
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) != int(p.Workload.Watch.Connections) {
		t.Fatalf("%d pods, %+v: the parts have the carriers %v", p.Pods(), p.Workload.Watch, all)
	}
}
