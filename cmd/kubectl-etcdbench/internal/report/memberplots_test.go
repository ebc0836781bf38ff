package report

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// A stall of one sample is not lost when samples are put together.
func TestThinningKeepsStalls(t *testing.T) {
	s := &results.Samples{Values: map[results.Figure][]float64{}}
	add := func(f results.Figure, v float64) { s.Values[f] = append(s.Values[f], v) }
	for i := range results.MaxSamples {
		s.At = append(s.At, time.Duration(i)*time.Second)
		add(results.TimerWALFsync.Count(), float64(10*i))
		seconds := 0.001 * float64(10*i)
		if i >= 75 {
			seconds += 5
		}
		add(results.TimerWALFsync.Seconds(), seconds)
		pending := 1.0
		if i == 75 {
			pending = 900
		}
		add(results.FigurePendingNow, pending)
	}
	fsync, pending := means(s, results.TimerWALFsync), gauge(s, results.FigurePendingNow)
	if len(fsync.Values) > maxPoints || len(pending.Values) > maxPoints {
		t.Errorf("found %d and %d points", len(fsync.Values), len(pending.Values))
	}
	stall := 0.0
	for _, v := range fsync.Values {
		stall = max(stall, v)
	}
	// 5 s and 20 ordinary milliseconds over the 20 flushes of two samples.
	if stall < 250_000 || stall > 252_000 {
		t.Errorf("the stall became %g µs", stall)
	}
	if slices.Max(pending.Values) != 900 {
		t.Errorf("the peak became %g", slices.Max(pending.Values))
	}
	if at := pending.At[slices.Index(pending.Values, 900)]; at != 75 {
		t.Errorf("the peak is at %g s", at)
	}
}

// Members are read one after the other, so each has its own times.
func TestMembersHaveTheirOwnTimes(t *testing.T) {
	a := plots.TimeLine{Label: "a", At: []float64{0, 1}, Values: []float64{1, 2}}
	b := plots.TimeLine{Label: "b", At: []float64{0.5}, Values: []float64{3}}
	want := [][]string{{"a at", "a", "b at", "b"}, {"0 s", "1", "0.5 s", "3"}, {"1 s", "2", "", ""}}
	if diff := cmp.Diff(want, memberRows([]plots.TimeLine{a, b}, plots.Count)); diff != "" {
		t.Errorf("apart (-wanted +found):\n%s", diff)
	}
	b.At, b.Values = a.At, []float64{3, 4}
	want = [][]string{{"at", "a", "b"}, {"0 s", "1", "3"}, {"1 s", "2", "4"}}
	if diff := cmp.Diff(want, memberRows([]plots.TimeLine{a, b}, plots.Count)); diff != "" {
		t.Errorf("together (-wanted +found):\n%s", diff)
	}
}
