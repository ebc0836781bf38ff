package results

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestRecorderRecordsWhatAHistogramDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	want, shards := Histogram{}, make([]Recorder, 3)
	for i := range 30_000 {
		ns := r.Int64N(1 << (4 + i%45))
		want.Record(ns)
		shards[i%len(shards)].Record(ns)
	}
	var got Histogram
	for i := range shards {
		shards[i].AddTo(&got)
	}
	requireSame(t, want, got)
}

func TestRecorderCountsDurationsThatAreAlike(t *testing.T) {
	var alike, single Recorder
	for n, ns := range []int64{5e6, 3e9, -1, 5e6} {
		alike.RecordAlike(ns, uint64(n))
		for range n {
			single.Record(ns)
		}
	}
	var want, got Histogram
	single.AddTo(&want)
	alike.AddTo(&got)
	requireSame(t, want, got)
}

func TestRecorderOfNothing(t *testing.T) {
	var r Recorder
	h := recorded(1e6)
	r.AddTo(&h)
	requireSame(t, recorded(1e6), h)
	r.Record(0)
	r.Record(-7)
	var zeros Histogram
	r.AddTo(&zeros)
	requireSame(t, recorded(0, 0), zeros)
}

// A reader that runs concurrently with the writer must find a valid histogram, and counts that only grow.
func TestRecorderCanBeReadWhileItIsWritten(t *testing.T) {
	var r Recorder
	const records = 200_000
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range int64(records) {
			r.Record(1000 + i*i%1e9)
		}
	}()
	var before uint64
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		var h Histogram
		r.AddTo(&h)
		if err := h.check(); err != nil {
			t.Fatal(err)
		}
		if h.Count() < before {
			t.Fatalf("count went from %d to %d", before, h.Count())
		}
		before = h.Count()
	}
	if before != records {
		t.Errorf("the last reading has %d records, wanted %d", before, records)
	}
}

func TestRecordAllocatesNothing(t *testing.T) {
	var (
		r Recorder
		h Histogram
	)
	h.Record(1)
	ns := int64(time.Microsecond)
	allocations := testing.AllocsPerRun(1000, func() {
		r.Record(ns)
		h.Record(ns)
		ns += ns / 64
	})
	if allocations != 0 {
		t.Errorf("%v allocations for each record, wanted none", allocations)
	}
}

func BenchmarkRecorder(b *testing.B) {
	var r Recorder
	durations := randomDurations()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Record(durations[i%len(durations)])
	}
}

func BenchmarkHistogram(b *testing.B) {
	var h Histogram
	durations := randomDurations()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.Record(durations[i%len(durations)])
	}
}

func randomDurations() []int64 {
	r := rand.New(rand.NewPCG(4, 4))
	durations := make([]int64, 1<<12)
	for i := range durations {
		durations[i] = int64(2e6 * (1 + r.ExpFloat64()))
	}
	return durations
}
