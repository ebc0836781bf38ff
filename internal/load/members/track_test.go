package members

import (
	"maps"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var begin = time.Unix(1_800_000_000, 0)

// after is a member's sample at some time after the window's start. Each counter rises by one per second, and the log
// is flushed once per second.
func after(d time.Duration, change ...func(*Sample)) Sample {
	n := d.Seconds()
	s := Sample{
		At:       begin.Add(d),
		Counters: map[results.Figure]float64{results.FigureLeaderChanges: 7, results.FigureCPUSeconds: 100 + n/2},
		Gauges: map[Gauge]float64{
			GaugeStart: 1, GaugeMemoryBytes: 1000 + 100*n, GaugeDatabaseBytes: 5000 + 10*n, GaugeProcessors: 2, GaugePendingProposals: n,
		},
		Timers: map[results.Timer]Histogram{results.TimerWALFsync: {
			Count: 50 + n, Seconds: 1 + n/4,
			Buckets: []Bucket{{0.001, 50}, {0.25, 50 + n*0.9}, {0.5, 50 + n}, {math.Inf(1), 50 + n}},
		}},
	}
	for _, c := range change {
		c(&s)
	}
	return s
}

// rounded has the precision of figures.
func rounded(v float64) float64 { return math.Round(v*precision) / precision }

func TestWindow(t *testing.T) {
	want := map[results.Figure]float64{
		results.FigureSampledSeconds: 10, results.FigureSampleLagSeconds: 3,
		results.FigureLeaderChanges: 0, results.FigureCPUSeconds: 5,
		results.FigureMemoryBytes: 2100, results.FigureDatabaseStartBytes: 5010, results.FigureDatabaseEndBytes: 5110,
		results.FigureProcessors: 2, results.FigurePendingProposals: 11,
		results.FigurePendingMean: 6, results.FigurePendingSamples: 3, results.FigurePendingBusySamples: 3, results.FigureMemoryStartBytes: 1100,
		results.FigurePings: 3, results.FigurePingShortestSeconds: 1.0 / 256, results.FigurePingMedianSeconds: 0.004, results.FigurePingLongestSeconds: 0.25,
		results.TimerWALFsync.Count(): 10, results.TimerWALFsync.Seconds(): 2.5,
		results.TimerWALFsync.P99Above(): 0.25, results.TimerWALFsync.P99AtMost(): 0.5,
		// 9 of 10 observations are in the bucket from 1 to 250 ms, one in that to 500 ms.
		results.TimerWALFsync.Estimate(spec.StatisticP50): rounded(0.001 + 0.249*5/9),
		results.TimerWALFsync.Estimate(spec.StatisticP90): 0.25, results.TimerWALFsync.Estimate(spec.StatisticP99): rounded(0.25 + 0.25*0.9),
	}
	var track Track
	for _, d := range []time.Duration{time.Second, 6 * time.Second, 11 * time.Second} {
		track.Add(after(d))
	}
	for _, took := range []time.Duration{time.Second / 256, 4 * time.Millisecond, 250 * time.Millisecond} {
		track.Ping(took)
	}
	got := track.Window(begin, begin.Add(9*time.Second))
	// The median is the middle of a bucket.
	if median := got.Figures[results.FigurePingMedianSeconds]; median > 0.00398 && median < 0.00402 {
		got.Figures[results.FigurePingMedianSeconds] = 0.004
	}
	if diff := cmp.Diff(&results.MemberWindow{Figures: want}, got); diff != "" {
		t.Errorf("window (-want +got):\n%s", diff)
	}
	if got, want := track.MeanMemory(), int64(1600); got != want {
		t.Errorf("mean memory is %d, wanted %d", got, want)
	}
}

// What only a sampler sees counts, too: memory between two samples, and the highest use of processors.
// Durations that were cut to whole milliseconds have no short mean, and none over the course of the window.
func TestShortMeansOfCutDurationsAreUnknown(t *testing.T) {
	for mean, want := range map[float64]bool{0.0029: false, 0.003: true} {
		var track Track
		for _, n := range []float64{0, 1000} {
			track.Add(after(time.Duration(n)*time.Second, func(s *Sample) {
				s.Timers[results.TimerWALFsync] = Histogram{Count: 5 + n, Seconds: 1 + n*mean, Cut: true}
			}))
		}
		if _, known := track.Window(begin, begin).Timing(results.TimerWALFsync); known != want {
			t.Errorf("a mean of %v s: known is %t", mean, known)
		}
		if got := track.Samples(begin).Values[results.TimerWALFsync.Count()]; got != nil {
			t.Errorf("got %v over the window", got)
		}
	}
}

func TestWindowHasTheHighestOfASampler(t *testing.T) {
	var track Track
	for i, gauges := range []map[Gauge]float64{{GaugeMemoryHighest: 1000}, {GaugeMemoryHighest: 9000, GaugeCPUHighest: 1.5}, {GaugeMemoryHighest: 9000, GaugeCPUHighest: 1.25}} {
		track.Add(after(time.Duration(i)*time.Second, func(s *Sample) { maps.Copy(s.Gauges, gauges) }))
	}
	got := track.Window(begin, begin.Add(2*time.Second)).Figures
	if got[results.FigureMemoryBytes] != 9000 || got[results.FigureCPUHighest] != 1.5 || track.MeanMemory() != 1100 {
		t.Errorf("got %v and the mean memory %d, wanted the highest values, and the mean of the samples", got, track.MeanMemory())
	}
}

// A figure that was not sampled at both ends is absent, never 0.
func TestWindowLeavesOutUnknownFigures(t *testing.T) {
	const end = 10 * time.Second
	tests := map[string]struct {
		last    func(*Sample)
		without results.Figure
	}{
		"a counter that is not served": {func(s *Sample) { delete(s.Counters, results.FigureLeaderChanges) }, results.FigureLeaderChanges},
		"a timer that is not served":   {func(s *Sample) { s.Timers = nil }, results.TimerWALFsync.Count()},
		"a gauge that is not served":   {func(s *Sample) { delete(s.Gauges, GaugeDatabaseBytes) }, results.FigureDatabaseEndBytes},
		"a number that is none":        {func(s *Sample) { s.Gauges[GaugeDatabaseBytes] = math.NaN() }, results.FigureDatabaseEndBytes},
		"a number without end":         {func(s *Sample) { s.Gauges[GaugeDatabaseBytes] = math.Inf(1) }, results.FigureDatabaseEndBytes},
		"other buckets":                {func(s *Sample) { s.Timers[results.TimerWALFsync].Buckets[0].AtMostSeconds = 2 }, results.TimerWALFsync.P99Above()},
		"fewer buckets": {func(s *Sample) {
			h := s.Timers[results.TimerWALFsync]
			h.Buckets = h.Buckets[1:]
			s.Timers[results.TimerWALFsync] = h
		}, results.TimerWALFsync.P99Above()},
		"a percentile above all buckets": {func(s *Sample) {
			s.Timers[results.TimerWALFsync].Buckets[2].Count = 50
		}, results.TimerWALFsync.P99AtMost()},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var track Track
			track.Add(after(0))
			track.Add(after(end, tc.last))
			got := track.Window(begin, begin.Add(end))
			if v, known := got.Value(tc.without); known || len(got.Figures) < 5 {
				t.Errorf("%s is %v of %d figures, wanted all but this one", tc.without, v, len(got.Figures))
			}
		})
	}
}

func TestWindowSaysWhyItIsUnknown(t *testing.T) {
	const end = 10 * time.Second
	failing := func(s *Sample) { *s = Sample{Problem: "no answer"} }
	tests := map[string][]Sample{
		"never sampled":              {},
		"sampled once":               {after(0)},
		"at the start of the window": {after(0, failing), after(end)},
		"at the end of the window":   {after(0), after(end, failing)},
		"restarted":                  {after(0), after(end, func(s *Sample) { s.Gauges[GaugeStart] = 5 })},
		"a counter that fell": {after(0), after(end, func(s *Sample) {
			s.Counters[results.FigureCPUSeconds] = 1
		})},
	}
	for name, samples := range tests {
		t.Run(name, func(t *testing.T) {
			var track Track
			for _, s := range samples {
				track.Add(s)
			}
			if got := track.Window(begin, begin.Add(end)); got.Unknown == "" || len(got.Figures) > 0 {
				t.Errorf("got %+v, wanted no figures and the reason", got)
			}
		})
	}
}

// A clock that is set moves the start of a process, which is no restart.
func TestASetClockIsNoRestart(t *testing.T) {
	var track Track
	track.Add(after(0))
	track.Add(after(time.Second, func(s *Sample) { s.Gauges[GaugeStart]++ }))
	if got := track.Window(begin, begin.Add(time.Second)); got.Unknown != "" {
		t.Errorf("got %q", got.Unknown)
	}
}

func TestImplausibleMemoryIsIgnored(t *testing.T) {
	var track Track
	for _, v := range []float64{math.Inf(1), math.NaN(), -1, 1e18, 0} {
		track.Add(after(0, func(s *Sample) { s.Gauges[GaugeMemoryBytes] = v }))
	}
	w := track.Window(begin, begin)
	if _, known := w.Value(results.FigureMemoryBytes); known || track.MeanMemory() != 0 {
		t.Errorf("got a mean of %d bytes and %+v, wanted neither", track.MeanMemory(), w)
	}
}

// A failed sample between the first and the last has no effect.
func TestAFailedSampleInTheMiddleHasNoEffect(t *testing.T) {
	var track Track
	track.Add(after(0))
	track.Add(Sample{Problem: "no answer"})
	track.Add(after(10 * time.Second))
	if got := track.Window(begin, begin.Add(10*time.Second)); got.Unknown != "" {
		t.Errorf("unknown: %s", got.Unknown)
	}
}

// A sample from before the window has the memory at its start. If it failed, the first one of the window does not.
func TestMemoryBeforeTheWindow(t *testing.T) {
	for want, before := range map[float64]*Sample{1100: nil, 700: {Gauges: map[Gauge]float64{GaugeMemoryBytes: 700}}, 0: {Problem: "no answer"}} {
		var track Track
		if before != nil {
			track.Before(*before)
		}
		track.Add(after(time.Second))
		track.Add(after(11 * time.Second))
		if got := track.Window(begin, begin.Add(9*time.Second)).Figures[results.FigureMemoryStartBytes]; got != want {
			t.Errorf("the memory at the start is %v, wanted %v", got, want)
		}
	}
}
