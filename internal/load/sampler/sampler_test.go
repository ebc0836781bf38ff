package sampler

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// looks are looks at a process, one per tenth of a second.
func looks(s *Sampler, start time.Time, cpuAndMemory ...look) {
	for i, l := range cpuAndMemory {
		l.at = start.Add(time.Duration(i) * every)
		s.keep(l)
	}
}

func TestHighestOfATime(t *testing.T) {
	start := time.Now().Add(-time.Minute)
	s := &Sampler{}
	// The process uses both of two processors for half a second, after two seconds without any work.
	all, cpu := []look{}, time.Duration(0)
	for i := range 40 {
		if i > 20 && i <= 25 {
			cpu += 2 * every
		}
		memory := int64(1000)
		if i == 10 {
			memory = 5000
		}
		all = append(all, look{cpu: cpu, resident: memory})
	}
	looks(s, start, all...)
	for name, tc := range map[string]struct {
		from time.Duration
		want map[members.Gauge]float64
	}{
		"all":                {0, map[members.Gauge]float64{members.GaugeMemoryHighest: 5000, members.GaugeCPUHighest: 1}},
		"after the memory":   {1100 * time.Millisecond, map[members.Gauge]float64{members.GaugeMemoryHighest: 1000, members.GaugeCPUHighest: 1}},
		"after half of work": {2300 * time.Millisecond, map[members.Gauge]float64{members.GaugeMemoryHighest: 1000, members.GaugeCPUHighest: 0.4}},
		"less than a second": {3500 * time.Millisecond, map[members.Gauge]float64{members.GaugeMemoryHighest: 1000}},
		"nothing":            {time.Minute, map[members.Gauge]float64{}},
	} {
		if diff := cmp.Diff(tc.want, s.Answer(start.Add(tc.from)).Gauges); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Only the newest looks are kept.
func TestSamplerForgets(t *testing.T) {
	start := time.Now().Add(-2 * time.Hour)
	s := &Sampler{}
	looks(s, start, append([]look{{resident: 9}, {resident: 8}}, make([]look, kept-1)...)...)
	if got := s.Answer(start).Gauges[members.GaugeMemoryHighest]; got != 8 || len(s.ring) != kept {
		t.Errorf("the highest is %v of %d looks, wanted 8 of %d", got, len(s.ring), kept)
	}
}

func TestAddKeepsWhatTheMemberServes(t *testing.T) {
	text, err := json.Marshal(Answer{
		Counters: map[results.Figure]float64{results.FigureCPUSeconds: 9, results.FigureStorageReadBytes: 4},
		Gauges:   map[members.Gauge]float64{members.GaugeDatabaseBytes: 1, members.GaugeStart: 1, members.GaugeMemoryHighest: 7},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := members.Sample{Counters: map[results.Figure]float64{results.FigureCPUSeconds: 1}, Gauges: map[members.Gauge]float64{members.GaugeStart: 5}}
	want := members.Sample{
		Counters: map[results.Figure]float64{results.FigureCPUSeconds: 9, results.FigureStorageReadBytes: 4},
		Gauges:   map[members.Gauge]float64{members.GaugeStart: 5, members.GaugeMemoryHighest: 7},
	}
	if err := Add(text, &got); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(want, got))
	}
	if Add([]byte("<html>"), &got) == nil {
		t.Error("wanted an error of another document")
	}
}

// A probe asks whether the member serves.
func TestSamplerAnswersAProbe(t *testing.T) {
	for want, s := range map[int]*Sampler{
		http.StatusOK:                 {Ready: func(context.Context) bool { return true }},
		http.StatusServiceUnavailable: {Ready: func(context.Context) bool { return false }},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, plan.ReadyPath, nil))
		if w.Code != want {
			t.Errorf("got the status %d, wanted %d", w.Code, want)
		}
	}
}

func TestSamplerRefusesARequestWithoutATime(t *testing.T) {
	w := httptest.NewRecorder()
	(&Sampler{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusBadRequest {
		t.Errorf("got the status %d", w.Code)
	}
}

// An answer about a short time has each look, at its age, and one about a long time has none.
func TestLooksOfAShortTime(t *testing.T) {
	start, sent := time.Now().Add(-10*time.Second), map[results.Figure]float64{results.FigurePodSentBytes: 3}
	s := &Sampler{}
	looks(s, start, look{cpu: time.Second, resident: 7, network: sent}, look{cpu: 2 * time.Second, resident: 8})
	text, err := json.Marshal(s.Answer(start))
	if err != nil {
		t.Fatal(err)
	}
	var got members.Sample
	if err := Add(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Looks) != 2 {
		t.Fatalf("got %d looks, wanted 2", len(got.Looks))
	}
	for i, want := range []members.Sample{
		{At: start, Counters: map[results.Figure]float64{results.FigureCPUSeconds: 1, results.FigurePodSentBytes: 3}, Gauges: map[members.Gauge]float64{members.GaugeMemoryBytes: 7}},
		{At: start.Add(every), Counters: map[results.Figure]float64{results.FigureCPUSeconds: 2}, Gauges: map[members.Gauge]float64{members.GaugeMemoryBytes: 8}},
	} {
		late := got.Looks[i].At.Sub(want.At)
		want.At = got.Looks[i].At
		// The answer takes some time until it is read.
		if diff := cmp.Diff(want, got.Looks[i]); diff != "" || late < -time.Millisecond || late > 5*time.Second {
			t.Errorf("look %d is %v late (-want +got):\n%s", i, late, diff)
		}
	}
	looks(s, start.Add(time.Second), make([]look, members.MaxLooks)...)
	if n := len(s.Answer(start).Looks); n != 0 {
		t.Errorf("got %d looks of a long time, wanted none", n)
	}
}
