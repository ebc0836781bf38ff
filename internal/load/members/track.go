package members

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Track follows one member over a window. The zero value is ready.
type Track struct {
	first, last Sample
	// before are the gauges before the window, if they were to be read; empty if that failed.
	before  map[Gauge]float64
	samples int
	memory  spread
	pending spread
	cpu     spread
	kept    kept
	pings   results.Histogram
	// looks are those of the last sample: short windows have few samples of their own.
	looks []Sample
}

// mostBytes is the largest whole number that a metric can hold exactly.
const mostBytes = 1 << 53

// spread holds the sum and the maximum of a gauge's samples.
type spread struct {
	sum, highest float64
	// busy counts the samples above 0.
	samples, busy int
}

func (s *spread) add(v float64) {
	s.sum, s.highest, s.samples = s.sum+v, max(s.highest, v), s.samples+1
	if v > 0 {
		s.busy++
	}
}

// Add takes the next sample. The first one belongs to the start of the window, the last one to its end.
func (t *Track) Add(s Sample) {
	if t.samples == 0 {
		t.first = s
	}
	t.samples++
	t.last, t.looks = s, s.Looks
	t.kept.add(s)
	if v := s.Gauges[GaugeMemoryBytes]; v > 0 && v < mostBytes {
		t.memory.add(v)
	}
	if v := s.Gauges[GaugeMemoryHighest]; v < mostBytes {
		t.memory.highest = max(t.memory.highest, v)
	}
	if v, ok := s.Gauges[GaugeCPUHighest]; ok {
		t.cpu.add(v)
	}
	if v, ok := s.Gauges[GaugePendingProposals]; ok {
		t.pending.add(v)
	}
}

// Before takes a sample from before the window, which has the memory at its start. If it failed, that is not known.
func (t *Track) Before(s Sample) {
	t.before = map[Gauge]float64{}
	maps.Copy(t.before, s.Gauges)
}

// Ping takes how long the member took to answer a ping.
func (t *Track) Ping(took time.Duration) { t.pings.Record(int64(took)) }

// MeanMemory returns the mean resident memory in bytes; 0 if no sample had it.
func (t *Track) MeanMemory() int64 {
	if t.memory.samples == 0 {
		return 0
	}
	return int64(t.memory.sum / float64(t.memory.samples))
}

// Window returns the member's figures for a window from start to end.
func (t *Track) Window(start, end time.Time) *results.MemberWindow {
	if why := t.unknown(); why != "" {
		return &results.MemberWindow{Unknown: why}
	}
	f := newFigures()
	f.set(results.FigureSampledSeconds, t.last.At.Sub(t.first.At).Seconds())
	f.set(results.FigureSampleLagSeconds, (t.first.At.Sub(start).Abs() + t.last.At.Sub(end).Abs()).Seconds())
	for figure, after := range t.last.Counters {
		if before, ok := t.first.Counters[figure]; ok {
			f.set(figure, after-before)
		}
	}
	for timer, after := range t.last.Timers {
		if before, ok := t.first.Timers[timer]; ok {
			f.setTimer(timer, before, after)
		}
	}
	t.setGauges(f)
	return &results.MemberWindow{Figures: f}
}

func (t *Track) setGauges(f figureSet) {
	f.copy(results.FigureDatabaseStartBytes, t.first.Gauges, GaugeDatabaseBytes)
	f.copy(results.FigureDatabaseEndBytes, t.last.Gauges, GaugeDatabaseBytes)
	f.copy(results.FigureProcessors, t.last.Gauges, GaugeProcessors)
	atStart := t.first.Gauges
	if t.before != nil {
		atStart = t.before
	}
	f.copy(results.FigureMemoryStartBytes, atStart, GaugeMemoryBytes)
	if t.memory.samples > 0 {
		f.set(results.FigureMemoryBytes, t.memory.highest)
	}
	if t.cpu.samples > 0 {
		f.set(results.FigureCPUHighest, t.cpu.highest)
	}
	if p := t.pending; p.samples > 0 {
		f.set(results.FigurePendingProposals, p.highest)
		f.set(results.FigurePendingMean, p.sum/float64(p.samples))
		f.set(results.FigurePendingSamples, float64(p.samples))
		f.set(results.FigurePendingBusySamples, float64(p.busy))
	}
	if t.pings.Count() > 0 {
		median, _ := t.pings.Quantile(0.5)
		f.set(results.FigurePings, float64(t.pings.Count()))
		f.set(results.FigurePingShortestSeconds, t.pings.Min().Seconds())
		f.set(results.FigurePingMedianSeconds, median.Seconds())
		f.set(results.FigurePingLongestSeconds, t.pings.Max().Seconds())
	}
}

// unknown returns why the samples cannot be compared.
func (t *Track) unknown() string {
	switch {
	case t.samples < 2:
		return "the member was not sampled at both ends of the measured window"
	case t.first.Problem != "":
		return "at the start of the window " + t.first.Problem
	case t.last.Problem != "":
		return results.UnknownAtEnd + t.last.Problem
	case t.restarted():
		return results.UnknownRestarted + ", which reset its counters"
	}
	return ""
}

// clockStep is how far the start of a process can move without a restart, in seconds. A member adds it up from the time at
// which its kernel booted, in whole seconds, and that time moves when the clock is set.
const clockStep = 2

func (t *Track) restarted() bool {
	if math.Abs(t.first.Gauges[GaugeStart]-t.last.Gauges[GaugeStart]) > clockStep {
		return true
	}
	for figure, after := range t.last.Counters {
		if after < t.first.Counters[figure] {
			return true
		}
	}
	return false
}

// figureSet holds only numbers that a metric can hold.
type figureSet map[results.Figure]float64

func newFigures() figureSet { return figureSet{} }

// precision rounds fractions to a millionth. The zeros that follow cost nothing in a compressed message.
const precision = 1 << 20

func (f figureSet) set(figure results.Figure, v float64) {
	f.setExact(figure, math.Round(v*precision)/precision)
}

func (f figureSet) setExact(figure results.Figure, v float64) {
	if v >= 0 && !math.IsInf(v, 0) {
		f[figure] = v
	}
}

func (f figureSet) copy(figure results.Figure, from map[Gauge]float64, gauge Gauge) {
	if v, ok := from[gauge]; ok {
		f.set(figure, v)
	}
}

func (f figureSet) setTimer(timer results.Timer, before, after Histogram) {
	count, seconds := after.Count-before.Count, after.Seconds-before.Seconds
	f.set(timer.Count(), count)
	if after.Cut && seconds < results.LeastCutMean.Seconds()*count {
		return
	}
	f.set(timer.Seconds(), seconds)
	above, atMost, ok := decidingBucket(0.99, count, before.Buckets, after.Buckets)
	if ok {
		f.setExact(timer.P99Above(), above)
		f.setExact(timer.P99AtMost(), atMost)
	}
	if !ok || !slices.Contains(results.Estimated, timer) {
		return
	}
	for _, s := range results.Estimates {
		f.set(timer.Estimate(s), estimate(results.QuantileOf(s)*count, before.Buckets, after.Buckets))
	}
}

// estimate returns what Prometheus's histogram_quantile returns for an observation of this rank: its share of the way through its
// bucket, or the lower bound of a bucket without an upper one. The bounds of both histograms are equal.
func estimate(rank float64, before, after []Bucket) float64 {
	below, from := 0.0, 0.0
	for i, b := range after {
		n := b.Count - before[i].Count
		switch {
		case n < rank:
		case math.IsInf(b.AtMostSeconds, 1):
			return from
		case n == below:
			return b.AtMostSeconds
		default:
			return from + (b.AtMostSeconds-from)*(rank-below)/(n-below)
		}
		below, from = n, b.AtMostSeconds
	}
	return from
}

// decidingBucket returns the bounds of the bucket that holds the q-th quantile of the difference of two histograms.
func decidingBucket(q, count float64, before, after []Bucket) (above, atMost float64, ok bool) {
	if count < 1 || len(before) != len(after) {
		return 0, 0, false
	}
	wanted := math.Ceil(q * count)
	for i, b := range after {
		if b.AtMostSeconds != before[i].AtMostSeconds {
			return 0, 0, false
		}
		if b.Count-before[i].Count >= wanted {
			return above, b.AtMostSeconds, true
		}
		above = b.AtMostSeconds
	}
	return 0, 0, false
}
