package verdict

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// alwaysInFlight are ten seconds of clients that always have a request in flight, each for this long. They share the
// connections.
func alwaysInFlight(clients, connections int32, service time.Duration, change ...func(map[results.ProcessFigure]float64)) (*v1alpha1.EtcdBenchmark, *results.Snapshot) {
	b := runtest.Puts()
	b.Spec.Load = spec.Load{Clients: clients, Connections: connections, Pods: 1, Transport: spec.TransportClient}
	s := pod(0, 10*time.Second, 0)
	s.Process = idle(append([]func(map[results.ProcessFigure]float64){with(results.ProcessGoroutineDelayTotalSeconds, 0), with(results.ProcessThreadDelaySeconds, 0)}, change...)...)
	n := uint64(clients) * uint64(10*time.Second/service)
	put := s.Operations[spec.OperationPut]
	put.Latency.RecordAlike(int64(service), n)
	put.Service.RecordAlike(int64(service), n)
	put.CompletedInWindow, s.Started = n, n
	return b, s
}

// A pod of ten seconds whose threads waited for three of them can have added 30 % of the latency in a closed loop, whatever
// the number of clients: each of them may have waited all that time.
func TestTheShareThatAClientCanHaveAdded(t *testing.T) {
	const threads, goroutines, ms = results.ProcessThreadDelaySeconds, results.ProcessGoroutineDelayTotalSeconds, time.Millisecond
	type change = func(*v1alpha1.EtcdBenchmark, *results.Snapshot)
	openLoop := func(b *v1alpha1.EtcdBenchmark, s *results.Snapshot) { b.Spec.Load.Rate = &spec.Rate{PerSecond: 100} }
	late := func(by time.Duration) change {
		return func(b *v1alpha1.EtcdBenchmark, s *results.Snapshot) {
			openLoop(b, s)
			put := s.Operations[spec.OperationPut]
			n := put.Service.Count()
			put.Lateness.RecordAlike(int64(by), n)
			put.Latency = results.Histogram{}
			put.Latency.RecordAlike(int64(10*ms+by), n)
		}
	}
	for name, tc := range map[string]struct {
		clients, connections int32
		figures              []func(map[results.ProcessFigure]float64)
		change               change
		// want is in per cent; -1: not known.
		want int64
	}{
		"nothing":                       {8, 2, nil, nil, 0},
		"threads":                       {8, 2, []func(map[results.ProcessFigure]float64){with(threads, 3)}, nil, 30},
		"threads, one client":           {1, 1, []func(map[results.ProcessFigure]float64){with(threads, 3)}, nil, 30},
		"threads, a thousand clients":   {1000, 100, []func(map[results.ProcessFigure]float64){with(threads, 3)}, nil, 30},
		"goroutines of two connections": {8, 2, []func(map[results.ProcessFigure]float64){with(goroutines, 3)}, nil, 15},
		"both":                          {8, 4, []func(map[results.ProcessFigure]float64){with(threads, 1), with(goroutines, 4)}, nil, 20},
		"more threads than time":        {8, 2, []func(map[results.ProcessFigure]float64){with(threads, 15)}, nil, 100},
		"also throttled":                {8, 2, []func(map[results.ProcessFigure]float64){with(threads, 3), with(results.ProcessThrottledSeconds, 5)}, nil, -1},
		"also busy":                     {8, 2, []func(map[results.ProcessFigure]float64){with(threads, 3), with(results.ProcessCPUSeconds, 18)}, nil, -1},
		"a loop that is never free":     {8, 2, []func(map[results.ProcessFigure]float64){with(threads, 9), with(results.ProcessLoopBusyRatio, 0.9)}, nil, -1},
		"waits not known":               {8, 2, []func(map[results.ProcessFigure]float64){unknown(threads)}, nil, -1},
		// One request of 10 ms is in flight on average, and each that waits is one more.
		"an open loop": {50, 2, []func(map[results.ProcessFigure]float64){with(threads, 1)}, openLoop, 20},
		"late":         {1, 1, nil, late(10 * ms), 50},
		// 2 ms each, and the 10 ms for which they waited for a client that was slow to read.
		"a backlog of a slow client": {1, 1, []func(map[results.ProcessFigure]float64){with(threads, 2)}, func(b *v1alpha1.EtcdBenchmark, s *results.Snapshot) {
			late(0)(b, s)
			put := s.Operations[spec.OperationPut]
			put.Latency = results.Histogram{}
			put.Latency.RecordAlike(int64(20*ms), 1000)
			put.Backlog.RecordAlike(int64(10*ms), 1000)
		}, 60},
		"late, in bursts": {1, 1, nil, func(b *v1alpha1.EtcdBenchmark, s *results.Snapshot) {
			late(10*ms)(b, s)
			s.Arrivals.Bunched = s.Started / 2
		}, -1},
		"late, and not all was sent": {1, 1, nil, func(b *v1alpha1.EtcdBenchmark, s *results.Snapshot) {
			late(10*ms)(b, s)
			s.Arrivals.Skipped = s.Started
		}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			running := tc.clients
			if name == "an open loop" {
				running = 1
			}
			b, s := alwaysInFlight(running, tc.connections, 10*ms, tc.figures...)
			b.Spec.Load.Clients = tc.clients
			if tc.change != nil {
				tc.change(b, s)
			}
			got := int64(-1)
			v := Clients(b, results.Summarize([]*results.Snapshot{s}))
			if v.AddedPerMillion != nil {
				got = (*v.AddedPerMillion + 5000) / 10_000
			}
			if got != tc.want {
				t.Errorf("got %d %%, wanted %d %%: %+v", got, tc.want, v)
			}
		})
	}
}

// The worst pod decides, and a pod whose waits are not known leaves nothing known.
func TestTheShareIsThatOfTheWorstPod(t *testing.T) {
	b, calm := alwaysInFlight(8, 2, 10*time.Millisecond)
	_, hot := alwaysInFlight(8, 2, 10*time.Millisecond, with(results.ProcessThreadDelaySeconds, 3))
	b.Spec.Load.Clients, b.Spec.Load.Connections, b.Spec.Load.Pods = 16, 4, 2
	hot.Index = 1
	if v := Clients(b, results.Summarize([]*results.Snapshot{calm, hot})); v.AddedPerMillion == nil || *v.AddedPerMillion < 290_000 || *v.AddedPerMillion > 310_000 {
		t.Errorf("got %+v, wanted 30 %%", v)
	}
	if v := Clients(b, results.Summarize([]*results.Snapshot{hot, nil})); v.AddedPerMillion != nil {
		t.Errorf("got %d of a pod that reported nothing", *v.AddedPerMillion)
	}
}

// The fastest operation has the largest share.
func TestTheShareIsThatOfTheFastestOperation(t *testing.T) {
	b, s := alwaysInFlight(1, 1, 10*time.Millisecond, with(results.ProcessThreadDelaySeconds, 1))
	fast := &results.OperationResult{CompletedInWindow: 1000}
	fast.Latency.RecordAlike(int64(2*time.Millisecond), 1000)
	fast.Service.RecordAlike(int64(2*time.Millisecond), 1000)
	s.Operations[spec.OperationDelete], s.Started = fast, 2000
	if v := Clients(b, results.Summarize([]*results.Snapshot{s})); v.AddedPerMillion == nil || *v.AddedPerMillion != 250_000 {
		t.Errorf("got %+v, wanted 0.5 ms of 2 ms", v)
	}
}

// In a run without a cluster, the parts of the load share a process, so its waits delay the requests of all parts.
func TestTheShareOfAProcessWithParts(t *testing.T) {
	b, s := alwaysInFlight(4, 1, 10*time.Millisecond, with(results.ProcessThreadDelaySeconds, 3), with(results.ProcessSessions, 2))
	_, other := alwaysInFlight(4, 1, 10*time.Millisecond, with(results.ProcessThreadDelaySeconds, 3), with(results.ProcessSessions, 2))
	b.Spec.Load.Clients, b.Spec.Load.Connections = 8, 2
	other.Index = 1
	if v := Clients(b, results.Summarize([]*results.Snapshot{s, other})); v.AddedPerMillion == nil || *v.AddedPerMillion < 290_000 || *v.AddedPerMillion > 310_000 {
		t.Errorf("got %+v, wanted 30 %%", v)
	}
}
