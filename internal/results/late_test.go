package results

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// idle has the figures of ten seconds of a pod that was no limit.
func idle(change ...func(map[ProcessFigure]float64)) *ProcessWindow {
	w := &ProcessWindow{Figures: map[ProcessFigure]float64{
		ProcessWindowSeconds: 10, ProcessCPUSeconds: 4, ProcessProcessors: 2, ProcessThrottledSeconds: 0,
		ProcessGoroutineDelaySeconds: 100e-6, ProcessThreadDelaySeconds: 20e-6, ProcessCollectionRatio: 0.02,
	}}
	for _, c := range change {
		c(w.Figures)
	}
	return w
}

// served is a pod whose requests had this service time and this lateness.
func served(w *ProcessWindow, latency, lateness time.Duration) *Snapshot {
	s := pod(0, 10*time.Second, 0)
	s.Process = w
	put := s.Operations[spec.OperationPut]
	for range 100 {
		put.Latency.Record(int64(latency))
		put.Service.Record(int64(latency))
		if lateness > 0 {
			put.Lateness.Record(int64(lateness))
		}
	}
	put.CompletedInWindow = 100
	return s
}

func at(index int, s *Snapshot) *Snapshot {
	s.Index = index
	return s
}

// Late requests are counted by the limit of the verdict, for each operation by its own service time.
func TestLateRequests(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	// late has 200 requests: half are late by 100 µs, half by this much.
	late := func(latency, lateness time.Duration) *Snapshot {
		return Merge([]*Snapshot{served(idle(), latency, 100*us), at(1, served(idle(), latency, lateness))})
	}
	both, lost := late(ms, 300*us), late(ms, 300*us)
	both.Operations[spec.OperationRange] = late(9*ms, ms).Operations[spec.OperationPut]
	lost.Operations[spec.OperationRange] = late(9*ms, ms).Operations[spec.OperationPut]
	lost.Operations[spec.OperationRange].Lateness.DropBuckets()
	unanswered := late(0, 300*us)
	unanswered.Operations[spec.OperationPut].Latency, unanswered.Operations[spec.OperationPut].Service = Histogram{}, Histogram{}
	tests := map[string]struct {
		pod  *Snapshot
		want any
	}{
		"none was sent":      {served(idle(), ms, 0), nil},
		"in time":            {late(ms, 200*us), uint64(0)},
		"late":               {late(ms, 300*us), uint64(100)},
		"harmless lateness":  {late(4*ms, 300*us), uint64(0)},
		"more than harmless": {late(4*ms, 500*us), uint64(100)},
		"two operations":     {both, uint64(200)},
		"not known of one":   {lost, nil},
		"none was answered":  {unanswered, uint64(100)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got any
			if s := Summarize([]*Snapshot{tc.pod}); s.Late != nil {
				got = *s.Late
			}
			if got != tc.want {
				t.Errorf("%v requests were late, wanted %v", got, tc.want)
			}
		})
	}
}
