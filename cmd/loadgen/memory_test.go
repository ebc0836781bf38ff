package main

import (
	"encoding/json"
	"os"
	"os/signal"
	"runtime"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// liveHeapMessage is the log message with the live heap.
	liveHeapMessage = "live heap"
	// manyRequests are enough to fill all pools and buffers.
	manyRequests = 5_000
	// heapSlack, in bytes, is for memory that the load does not use, such as the connection of a scrape: 20 KB were
	// seen. It is 3 % of the memory in use, and half of the memory for one number per request of the longer run.
	heapSlack = 192 << 10
)

// logLiveHeap logs the memory in use after a collection whenever this process gets SIGUSR1.
func logLiveHeap() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		log := json.NewEncoder(os.Stderr)
		for range asked {
			_ = log.Encode(map[string]any{"msg": liveHeapMessage, "bytes": liveHeap()})
		}
	}()
}

// liveHeap collects twice, because the content of a sync.Pool survives one collection.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}

// liveHeap waits until the process has logged "done", and requests its live heap.
func (p *pod) liveHeap() uint64 {
	p.t.Helper()
	<-p.idle
	if err := p.command.Process.Signal(syscall.SIGUSR1); err != nil {
		p.t.Fatal(err)
	}
	select {
	case bytes := <-p.heaps:
		return bytes
	case <-time.After(20 * time.Second):
		p.t.Fatal("the process does not log its live heap")
		return 0
	}
}

// The memory of a client process must not depend on the number of its requests. It is read after the load, while the
// process still has all its measurements. Both loads take equally long, because the course of the window grows with time.
func TestMemoryDoesNotGrowWithTheRequests(t *testing.T) {
	cluster, _ := oneMember(t)
	for _, transport := range []spec.Transport{spec.TransportClient, spec.TransportFast} {
		t.Run(string(transport), func(t *testing.T) {
			inUse := func(requests int64, limit func(*spec.Load)) (bytes uint64, took time.Duration) {
				p := newPod(t, planFor(cluster.Endpoints, func(p *plan.Plan) {
					p.Workload = spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
						ReadPercent: 80, Consistency: spec.Serializable, Keys: keys(), Values: values(),
					}}
					p.Load.Transport = transport
					limit(&p.Load)
				})).start(0)
				p.control(plan.StartAtFile, startNow())
				s := p.reaches(results.StageDone)
				if got := s.Started; s.Failure != nil || got != uint64(requests) {
					t.Fatalf("%d requests were sent, wanted %d; failure %v", got, requests, s.Failure)
				}
				return p.liveHeap(), s.Window.End.Sub(s.Window.Start)
			}
			tenTimes, took := inUse(10*manyRequests, func(l *spec.Load) { l.Requests = new(int64(10 * manyRequests)) })
			seconds := int32(took/time.Second) + 1
			rate := int64(manyRequests) / int64(seconds)
			many, _ := inUse(rate*int64(seconds), func(l *spec.Load) {
				l.Requests, l.DurationSeconds, l.Rate = nil, &seconds, &spec.Rate{PerSecond: rate, Arrival: spec.ArrivalConstant}
			})
			if tenTimes > many+heapSlack {
				t.Errorf("%d bytes are in use after %d requests and %d after ten times as many, wanted at most %d more",
					many, rate*int64(seconds), tenTimes, heapSlack)
			}
		})
	}
}
