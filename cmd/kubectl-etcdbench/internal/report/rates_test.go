package report

import (
	"slices"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// A rate is between samples that have the counter, are not almost at one time, and in which it did not fall.
func TestRates(t *testing.T) {
	at := func(ms ...int) (all []time.Duration) {
		for _, n := range ms {
			all = append(all, time.Duration(n)*time.Millisecond)
		}
		return all
	}
	s := &results.Samples{At: at(0, 100, 110, 200, 300, 400), Values: map[results.Figure][]float64{
		results.FigureCPUSeconds: {0, 0.1, 0.9, results.NoValue, 0.05, 0.4},
	}}
	got := Rates(s, results.FigureCPUSeconds)
	wantAt, want := []float64{0.05, 0.25}, []float64{1, 1}
	near := func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }
	if !slices.EqualFunc(got.At, wantAt, near) || !slices.EqualFunc(got.Values, want, near) {
		t.Errorf("got %+v", got)
	}
}
