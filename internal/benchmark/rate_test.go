package benchmark

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestRatesHaveSignificantDigits(t *testing.T) {
	for want, perSecond := range map[string]float64{
		"0/s": 0, "0.000001/s": 0.000001, "0.0166/s": 1.0 / 60, "0.333/s": 1.0 / 3, "1/s": 1, "2.5/s": 2.5, "12.3/s": 12.345, "99.9/s": 99.99,
		"100/s": 100, "999/s": 999.9, "48,123/s": 48123.9, "0.29/s": 0.29,
	} {
		if got := rateOf(perSecond).String(); got != want {
			t.Errorf("%v per second: wanted %s, got %s", perSecond, want, got)
		}
	}
}

// slow is a pod whose puts took a window of this length.
func slow(puts int, window time.Duration) *results.Snapshot {
	return measured(0, puts, func(s *results.Snapshot) {
		s.Window.End = s.Window.Start.Add(window)
		s.Window.LastResponse = s.Window.End
	})
}

// Every place that shows a rate shows the same one, also one below one request
// per second.
func TestTheSameRateEverywhere(t *testing.T) {
	for want, snap := range map[string]*results.Snapshot{
		"0.0166": slow(1, time.Minute),
		"1.5":    slow(3, 2*time.Second),
		"999":    slow(1999, 2*time.Second),
	} {
		t.Run(want, func(t *testing.T) {
			b := finished([]*results.Snapshot{snap}, withObjectives(minThroughput(1000)))
			if got := b.Status.Objectives[0].Got; got != want+"/s" {
				t.Errorf("the objective got %s, wanted %s/s", got, want)
			}
			if got := Display(b).Throughput; got != want+"/s" {
				t.Errorf("the display shows %s, wanted %s/s", got, want)
			}
			op := b.Status.Summary.Operations[0]
			if got := rateIn(op.ThroughputPerSecond, op.ThroughputPerMillionSeconds); got.digits() != want {
				t.Errorf("status has %v, wanted %s/s", got, want)
			}
			so := &v1alpha1.EtcdBenchmark{Spec: b.Spec}
			so.Status.Progress = Progress(b, []*results.Snapshot{snap})
			so.Status.Progress.Requests = 1
			if got := Display(so).Throughput; got != want+"/s" {
				t.Errorf("progress shows %s, wanted %s/s", got, want)
			}
		})
	}
}

func TestASlowRateInTableAndPerfdash(t *testing.T) {
	b := finished([]*results.Snapshot{slow(1, time.Minute)})
	_, lines := cells(t, b)
	wantLine(t, lines, "Put 1 4 10 all members 0.0166 1ms 126 MB")
	items := readPerfdash(t, b).DataItems
	if got := items[len(items)-1].Data["Average"]; got < 0.0166 || got > 0.0167 {
		t.Errorf("perfdash has a throughput of %v/s, wanted a sixtieth", got)
	}
	if got, want := PerSecond(b.Status.Summary), items[len(items)-1].Data["Average"]; got != want {
		t.Errorf("the summary has a throughput of %v/s, wanted %v", got, want)
	}
}

// What is shown is what was judged.
func TestAThroughputJustBelowItsLimit(t *testing.T) {
	for want, perSecond := range map[v1alpha1.ObjectiveResult]float64{
		v1alpha1.ObjectiveMet:    1000,
		v1alpha1.ObjectiveMissed: 999.9999999,
	} {
		v := judgeThroughput(v1alpha1.ThroughputObjective{MinPerSecond: 1000}, knownRate{lowest: perSecond, highest: perSecond}, results.Summary{Throughput: perSecond})
		if v.result != want || (v.got == "1,000/s") != (want == v1alpha1.ObjectiveMet) {
			t.Errorf("%v/s: wanted %s, got %+v", perSecond, want, v)
		}
	}
}
