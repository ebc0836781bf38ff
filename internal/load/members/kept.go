package members

import (
	"maps"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// kept holds the figures of single samples, evenly over the window and at most results.MaxSamples.
type kept struct {
	at      []time.Time
	figures []figureSet
	// first and last are the first and the last sample. every is the number of samples of which one is kept, seen how many there were.
	first, last Sample
	every, seen int
}

// add keeps a sample that could be read.
func (k *kept) add(s Sample) {
	if s.Problem != "" {
		return
	}
	if k.seen == 0 {
		k.first, k.every = s, 1
	}
	// One place is left for the last sample.
	if len(k.at) == results.MaxSamples-1 {
		k.halve()
	}
	if k.seen%k.every == 0 {
		k.at, k.figures = append(k.at, s.At), append(k.figures, s.since(k.first))
	}
	k.last = s
	k.seen++
}

// all returns the kept samples, and the last one.
func (k *kept) all() (at []time.Time, figures []figureSet) {
	at, figures = k.at, k.figures
	if n := len(at); n > 0 && k.last.At.After(at[n-1]) {
		at, figures = append(slices.Clone(at), k.last.At), append(slices.Clone(figures), k.last.since(k.first))
	}
	return at, figures
}

// halve drops each second sample.
func (k *kept) halve() {
	half := 0
	for i := 0; i < len(k.at); i += 2 {
		k.at[half], k.figures[half] = k.at[i], k.figures[i]
		half++
	}
	k.at, k.figures, k.every = k.at[:half], k.figures[:half], 2*k.every
}

// Samples returns single samples, with times from start on. It returns nil if the member's figures for the window are
// unknown.
func (t *Track) Samples(start time.Time) *results.Samples {
	if t.unknown() != "" {
		return nil
	}
	out := &results.Samples{Values: map[results.Figure][]float64{}}
	at, all := t.withLooks(t.kept.all())
	for i, figures := range all {
		out.At = append(out.At, at[i].Sub(start))
		for figure, value := range figures {
			if out.Values[figure] == nil {
				out.Values[figure] = slices.Repeat([]float64{results.NoValue}, len(all))
			}
			out.Values[figure][i] = value
		}
	}
	return out
}

// withLooks adds looks to samples, in order of time, if there is room for them.
func (t *Track) withLooks(at []time.Time, figures []figureSet) ([]time.Time, []figureSet) {
	if len(at)+len(t.looks) > results.MaxSamples {
		return at, figures
	}
	byTime := map[time.Time]figureSet{}
	for i := range at {
		byTime[at[i]] = figures[i]
		if len(t.looks) > 0 {
			byTime[at[i]] = figures[i].withoutProcess()
		}
	}
	for _, l := range t.looks {
		if byTime[l.At] == nil {
			byTime[l.At] = l.since(t.kept.first)
		}
	}
	at, figures = slices.SortedFunc(maps.Keys(byTime), time.Time.Compare), nil
	for _, when := range at {
		figures = append(figures, byTime[when])
	}
	return at, figures
}

// ofProcess are what a sampler of the process counts.
var ofProcess = []results.Figure{results.FigureCPUSeconds, results.FigurePodReceivedBytes, results.FigurePodSentBytes}

// withoutProcess leaves out what looks have more exactly: a member's own sample has the time of its metrics.
func (f figureSet) withoutProcess() figureSet {
	f = maps.Clone(f)
	for _, figure := range ofProcess {
		delete(f, figure)
	}
	return f
}

// since returns the sampled figures; counters count from the first sample on.
func (s Sample) since(first Sample) figureSet {
	f := newFigures()
	for _, counter := range ofProcess {
		before, known := first.Counters[counter]
		if after, stillKnown := s.Counters[counter]; known && stillKnown {
			f.set(counter, after-before)
		}
	}
	for _, timer := range []results.Timer{results.TimerWALFsync, results.TimerBackendCommit} {
		before, known := first.Timers[timer]
		after, stillKnown := s.Timers[timer]
		if known && stillKnown && !after.Cut {
			f.set(timer.Count(), after.Count-before.Count)
			f.set(timer.Seconds(), after.Seconds-before.Seconds)
		}
	}
	f.copy(results.FigureMemoryNowBytes, s.Gauges, GaugeMemoryBytes)
	f.copy(results.FigureDatabaseNowBytes, s.Gauges, GaugeDatabaseBytes)
	f.copy(results.FigurePendingNow, s.Gauges, GaugePendingProposals)
	return f
}
