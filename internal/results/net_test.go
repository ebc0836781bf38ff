package results

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

const oneMS = int64(time.Millisecond)

// waited is a pod whose puts took these services, after these waits for a free client.
func waited(services, waits []int64) *Snapshot {
	s := pod(0, 10*time.Second, 0)
	put := &OperationResult{Errors: map[string]uint64{}}
	for i, service := range services {
		wait := waits[i]
		put.Latency.Record(wait + service)
		put.Service.Record(service)
		put.Lateness.Record(0)
		if wait > 0 {
			put.Backlog.Record(wait)
		}
	}
	for i, service := range services {
		if put.Backlog.Count() > 0 {
			put.Net.Record(waits[i] + service)
		}
	}
	s.Operations[spec.OperationPut] = put
	return s
}

// A pod in which no request waited has no net latencies of its own: they are its service times.
func TestNetLatenciesOfSeveralPodsAddUp(t *testing.T) {
	quick, slow := waited([]int64{oneMS, 2 * oneMS}, []int64{0, 0}), waited([]int64{3 * oneMS, 4 * oneMS}, []int64{0, 90 * oneMS})
	for name, pods := range map[string][]*Snapshot{"quick first": {quick, slow}, "slow first": {slow, quick}, "none waited": {quick, quick}} {
		merged := Merge(pods).Operations[spec.OperationPut]
		want := merged.Latency
		if got := merged.NetLatency(); got.Count() != 4 || got.Sum() != want.Sum() || got.Max() != want.Max() {
			t.Errorf("%s: got %d net latencies up to %v, wanted the four latencies up to %v", name, got.Count(), got.Max(), want.Max())
		}
		if name == "none waited" && merged.Net.Count() > 0 {
			t.Errorf("%s: got %d net latencies besides the service times", name, merged.Net.Count())
		}
	}
	if quick.Operations[spec.OperationPut].Service.Count() != 2 || quick.Operations[spec.OperationPut].Net.Count() > 0 {
		t.Error("the merge changed a pod's result")
	}
}

// Requests that did not wait count as a wait of 0.
func TestTheBacklogOfAllRequests(t *testing.T) {
	s := Summarize([]*Snapshot{waited([]int64{oneMS, oneMS, oneMS, oneMS}, []int64{0, 0, 0, 8 * oneMS}), waited([]int64{oneMS, oneMS}, []int64{6 * oneMS, 6 * oneMS})})
	for name, d := range map[string]Distribution{"put": s.Operations[0].Backlog, "all": s.Backlog} {
		p50, p90 := d.Values[spec.StatisticP50].Duration, d.Values[spec.StatisticP90].Duration
		if d.Count != 6 || p50 > time.Microsecond || p90.Round(time.Millisecond) != 8*time.Millisecond || d.Min != 0 {
			t.Errorf("%s: got %d waits, p50 %v, p90 %v, wanted 6, 0 and 8 ms", name, d.Count, p50, p90)
		}
	}
	if s.Service.Count != 6 {
		t.Errorf("got %d service times", s.Service.Count)
	}
}

func TestArrivalsAndPausesOfSeveralPodsAddUp(t *testing.T) {
	one, two := pod(0, time.Second, 0), pod(1, time.Second, 0)
	one.Arrivals, two.Arrivals = Arrivals{1, 2, 3, time.Second}, Arrivals{10, 20, 30, time.Minute}
	one.Pauses, two.Pauses = Pauses{1, time.Second}, Pauses{2, time.Minute}
	s := Summarize([]*Snapshot{one, two})
	if diff := cmp.Diff(Arrivals{11, 22, 33, 61 * time.Second}, s.Arrivals); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Pauses{3, 61 * time.Second}, s.Pauses); diff != "" {
		t.Error(diff)
	}
}
