package results

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// watched is a pod whose puts have two events each; some of them were missed.
func watched(puts, missedEvents int) *Snapshot {
	s := pod(0, 10*time.Second, puts)
	s.Watch = Watch{Watchers: 2, Expected: uint64(2 * puts), Missed: uint64(missedEvents)}
	event := &OperationResult{Errors: map[string]uint64{}}
	for i := range 2 * puts {
		if i < missedEvents {
			event.Failed.Record(int64(time.Second))
			event.Errors[ErrorMissed]++
		} else {
			event.Latency.Record(int64(3 * time.Millisecond))
			event.CompletedInWindow++
		}
	}
	s.Operations[spec.OperationWatchEvent] = event
	return s
}

// Events do not count as requests: otherwise the throughput would grow with the number of watchers.
func TestEventsAreInNoTotalOverRequests(t *testing.T) {
	s := Summarize([]*Snapshot{watched(100, 5), watched(50, 0)})
	if s.Succeeded != 150 || s.Failed != 0 || s.Throughput != 15 {
		t.Errorf("%d requests succeeded and %d failed, %v each second; wanted 150, 0 and 15", s.Succeeded, s.Failed, s.Throughput)
	}
	event := s.Operations[1]
	if event.Operation != spec.OperationWatchEvent || event.Succeeded != 295 || event.Failed != 5 || event.Throughput != 29.5 {
		t.Errorf("got the events %+v, wanted 295 delivered and 5 missed", event)
	}
	// The missed hundredth of the events ranks above every latency.
	if p99 := event.Judged.Values[spec.StatisticP99]; !p99.Unbounded {
		t.Errorf("the 99th percentile is judged as %v, though more than that were missed", p99)
	}
	if want := (Watch{Watchers: 4, Expected: 300, Missed: 5}); s.Watch != want {
		t.Errorf("got %+v, wanted %+v", s.Watch, want)
	}
}

func TestTheSteadyRateLeavesEventsOut(t *testing.T) {
	s := watched(1000, 0)
	s.Window.Planned, s.Window.PlannedRequests = 0, 1000
	if got := Summarize([]*Snapshot{s}).SteadyThroughput; got != 100 {
		t.Errorf("got a steady rate of %v, wanted 100", got)
	}
}

func TestTheEarliestCompactionIsKept(t *testing.T) {
	pods := make([]*Snapshot, 4)
	for i, after := range []time.Duration{0, 5 * time.Second, 2 * time.Second, 0} {
		pods[i] = at(i, pod(0, 10*time.Second, 10))
		pods[i].Watch.CompactedAfter = after
	}
	if got := Summarize(pods).Watch.CompactedAfter; got != 2*time.Second {
		t.Errorf("gone since %v, wanted 2s", got)
	}
}
