package load

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// Runners send exactly the arrivals of each second of a changing rate, on time.
func TestRunnersKeepStages(t *testing.T) {
	for _, tc := range []struct {
		load spec.Load
		want map[int]int
	}{
		{spec.Load{Rate: &spec.Rate{Stages: []spec.RateStage{{PerSecond: 100, Seconds: 1}, {Seconds: 1}, {PerSecond: 50, Seconds: 1}, {PerSecond: 150, Seconds: 1}}}}, map[int]int{0: 100, 1: 100, 3: 50, 4: 150}},
		{spec.Load{DurationSeconds: new(int32(2)), Rate: &spec.Rate{Ramp: &spec.Ramp{ToPerSecond: 200}}}, map[int]int{1: 50, 2: 150}},
		{spec.Load{DurationSeconds: new(int32(2)), Rate: &spec.Rate{Ramp: &spec.Ramp{FromPerSecond: 200}}}, map[int]int{0: 200, 1: 150, 2: 50}},
	} {
		tc.load.Clients, tc.load.WarmupSeconds, tc.load.Rate.Arrival = 9, 1, spec.ArrivalConstant
		for _, loops := range []int{1, 3} {
			synctest.Test(t, func(t *testing.T) {
				var mutex sync.Mutex
				sent := map[int]int{}
				var start Instant
				e := newTrial(t, tc.load, loops, quickly, func(*Request) {
					mutex.Lock()
					defer mutex.Unlock()
					sent[int(Now().Sub(start)/time.Second)]++
				})
				start = e.warmup.start
				<-e.start(t.Context())
				if diff := cmp.Diff(tc.want, sent); diff != "" {
					t.Errorf("%d loops: requests by second (-want +got):\n%s", loops, diff)
				}
				if late := e.recorder.results(spec.OperationPut).Lateness.Max(); late > 0 {
					t.Errorf("%d loops: a request was %v late", loops, late)
				}
			})
		}
	}
}

// Each arrival of all pods' schedules is counted once, sent or unsent. The clients have their own goroutines.
func TestEverySchedulesArrivalsAreCounted(t *testing.T) {
	tests := map[string]struct {
		change func(*spec.Load)
		want   uint64
		// off is the tolerance for random variation.
		off float64
	}{
		"stages": {func(l *spec.Load) {
			l.DurationSeconds, l.Rate = nil, &spec.Rate{Stages: []spec.RateStage{{PerSecond: 500, Seconds: 1}}, Arrival: spec.ArrivalConstant}
		}, 500, 0},
		"a ramp": {func(l *spec.Load) {
			l.Rate = &spec.Rate{Ramp: &spec.Ramp{ToPerSecond: 1_001}, Arrival: spec.ArrivalConstant}
		}, 501, 0},
		"poisson": {func(l *spec.Load) { l.Rate = &spec.Rate{PerSecond: 1_000, Arrival: spec.ArrivalPoisson} }, 1_000, 5 * math.Sqrt(1_000)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := planOf(func(p *plan.Plan) {
				p.Load.Pods, p.Load.Requests, p.Load.DurationSeconds = 3, nil, new(int32(1))
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

// The unsent arrivals of a Poisson schedule are censored one by one.
func TestAPoissonBacklogIsCensored(t *testing.T) {
	slow := func(*Request) (string, time.Duration) { return "", 100 * time.Millisecond }
	synctest.Test(t, func(t *testing.T) {
		e := newTrial(t, spec.Load{Clients: 2, DurationSeconds: new(int32(10)), Rate: &spec.Rate{PerSecond: 100, Arrival: spec.ArrivalPoisson}}, 2, slow, nil)
		due, distances, last := 0, map[time.Duration]bool{}, time.Duration(0)
		for w := e.walk(e.measured.stream, e.measured.part); w.Due() < 10*time.Second; w.Next() {
			distances[w.Due()-last] = true
			due, last = due+1, w.Due()
		}
		if len(distances) < due*9/10 {
			t.Errorf("%d arrivals have %d different distances, wanted them at random", due, len(distances))
		}
		done := e.start(t.Context())
		e.drain(t.Context(), done, time.Hour, func() { t.Error("aborted") })
		got := e.counts()
		if got.Latency+got.Censored != due || got.Latency < 150 || got.Latency > 202 {
			t.Errorf("got %+v, wanted some 200 successes and the rest of %d censored", got, due)
		}
	})
}
