package members

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Samples are kept evenly, however long the window is, and counters count from the first one on.
func TestSamplesOverTime(t *testing.T) {
	var track Track
	const n = 4*results.MaxSamples + 8
	for i := range n {
		track.Add(after(time.Duration(i)*time.Second, func(s *Sample) {
			if i == 0 {
				delete(s.Gauges, GaugePendingProposals)
			}
		}))
	}
	got := track.Samples(begin.Add(time.Second))
	if len(got.At) > results.MaxSamples || len(got.At) < results.MaxSamples/2 {
		t.Fatalf("got %d samples", len(got.At))
	}
	last := len(got.At) - 1
	if at := got.At[last]; at != (n-2)*time.Second || got.Values[results.FigureCPUSeconds][last] != (n-1)/2.0 {
		t.Errorf("the last sample is at %v", at)
	}
	for i, at := range got.At[:last] {
		offset := time.Duration(8*i) * time.Second
		want := map[results.Figure]float64{
			results.FigureCPUSeconds: 4 * float64(i), results.TimerWALFsync.Count(): 8 * float64(i), results.TimerWALFsync.Seconds(): 2 * float64(i),
			results.FigureMemoryNowBytes: 1000 + 800*float64(i), results.FigureDatabaseNowBytes: 5000 + 80*float64(i), results.FigurePendingNow: 8 * float64(i),
		}
		if i == 0 {
			want[results.FigurePendingNow] = results.NoValue
		}
		values := map[results.Figure]float64{}
		for figure, all := range got.Values {
			values[figure] = all[i]
		}
		if diff := cmp.Diff(want, values); diff != "" || at != offset-time.Second {
			t.Fatalf("sample %d at %v, wanted %v (-want +got):\n%s", i, at, offset-time.Second, diff)
		}
	}
}

func TestSamplesOfARestartedMemberAreUnknown(t *testing.T) {
	var track Track
	track.Add(after(0))
	track.Add(after(time.Second, func(s *Sample) { s.Gauges[GaugeStart] = 5 }))
	if got := track.Samples(begin); got != nil {
		t.Errorf("got %+v", got)
	}
}

// A short window has a value for each look at the process, and a long one only those of the samples.
func TestLooksBetweenSamples(t *testing.T) {
	looks := func(n int) (all []Sample) {
		for i := range n {
			all = append(all, Sample{
				At:       begin.Add(time.Duration(i+1) * 100 * time.Millisecond),
				Counters: map[results.Figure]float64{results.FigureCPUSeconds: 100 + float64(i), results.FigurePodSentBytes: 7},
				Gauges:   map[Gauge]float64{GaugeMemoryBytes: 500},
			})
		}
		return all
	}
	sampled := func(n int) *results.Samples {
		var track Track
		for i := range 2 {
			track.Add(after(time.Duration(i)*time.Second, func(s *Sample) {
				s.Counters[results.FigureCPUSeconds], s.Looks = 100+float64(i), looks(n*i)
			}))
		}
		return track.Samples(begin)
	}
	got := sampled(3)
	want := map[results.Figure][]float64{
		results.FigureCPUSeconds:     {results.NoValue, 0, 1, 2, results.NoValue},
		results.FigureMemoryNowBytes: {1000, 500, 500, 500, 1100},
	}
	for figure, values := range want {
		if !cmp.Equal(got.Values[figure], values) {
			t.Errorf("%s: got %v, wanted %v", figure, got.Values[figure], values)
		}
	}
	if n := len(sampled(results.MaxSamples).At); n != 2 {
		t.Errorf("with too many looks, got %d samples, wanted 2", n)
	}
}
