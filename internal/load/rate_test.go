package load

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Runners send what is due in each second of a rate that changes, and nothing
// else, on time.
func TestRunnersKeepStages(t *testing.T) {
	stages := []plan.Stage{{FromPerSecond: 100, ToPerSecond: 100, Seconds: 1}, {Seconds: 1}, {ToPerSecond: 200, Seconds: 2}}
	want := map[int]int{0: 100, 1: 100, 3: 50, 4: 150}
	for _, loops := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			var mutex sync.Mutex
			sent := map[int]int{}
			var start Instant
			e := newTrial(t, plan.Load{Clients: 9, DurationSeconds: 4, WarmupSeconds: 1, Stages: stages}, loops, quickly, func(*Request) {
				mutex.Lock()
				defer mutex.Unlock()
				sent[int(Now().Sub(start)/time.Second)]++
			})
			start = e.warmup.start
			<-e.start(t.Context())
			if diff := cmp.Diff(want, sent); diff != "" {
				t.Errorf("%d loops: requests by second (-want +got):\n%s", loops, diff)
			}
			if late := e.recorder.results(results.OperationPut).Lateness.Max(); late > 0 {
				t.Errorf("%d loops: a request was %v late", loops, late)
			}
		})
	}
}

// Each arrival of all pods' schedules is counted once, by clients with
// goroutines of their own, whether it could be sent or not.
func TestEverySchedulesArrivalsAreCounted(t *testing.T) {
	tests := map[string]struct {
		change func(*plan.Load)
		want   uint64
		// off is how far off chance may be.
		off float64
	}{
		"stages":  {func(l *plan.Load) { l.Stages = []plan.Stage{{FromPerSecond: 500, ToPerSecond: 500, Seconds: 1}} }, 500, 0},
		"a ramp":  {func(l *plan.Load) { l.Stages = []plan.Stage{{ToPerSecond: 1_001, Seconds: 1}} }, 501, 0},
		"poisson": {func(l *plan.Load) { l.RatePerSecond, l.Poisson = 1_000, true }, 1_000, 5 * math.Sqrt(1_000)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := planOf(func(p *plan.Plan) {
				p.Pods, p.Load.Requests, p.Load.DurationSeconds = 3, 0, 1
				tc.change(&p.Load)
			})
			var sum uint64
			for _, s := range runParts(t, p, []*fakeDriver{{}, {}, {}}) {
				e := endedOf(s)
				sum += e.Succeeded + e.Censored
			}
			if off := math.Abs(float64(sum) - float64(tc.want)); off > tc.off {
				t.Errorf("%d requests were counted, wanted %d ± %.0f", sum, tc.want, tc.off)
			}
		})
	}
}

// What a Poisson schedule owes at the end is censored, arrival by arrival.
func TestAPoissonBacklogIsCensored(t *testing.T) {
	slow := func(*Request) (string, time.Duration) { return "", 100 * time.Millisecond }
	synctest.Test(t, func(t *testing.T) {
		e := newTrial(t, plan.Load{Clients: 2, DurationSeconds: 10, RatePerSecond: 100, Poisson: true}, 2, slow, nil)
		due := 0
		for w := e.walk(e.measured.stream, e.measured.part); w.Due() < 10*time.Second; w.Next() {
			due++
		}
		done := e.start(t.Context())
		e.drain(t.Context(), done, time.Hour, func() { t.Error("aborted") })
		got := e.counts()
		if got.Latency+got.Censored != due || got.Latency < 150 || got.Latency > 202 {
			t.Errorf("got %+v, want some 200 answered and the rest of %d owed", got, due)
		}
	})
}
