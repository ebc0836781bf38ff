package results

import (
	"testing"
	"time"
)

// wide has every bucket filled from low to high.
func wide(low, high time.Duration) (h Histogram) {
	for bucket := BucketIndex(int64(low)); bucket <= BucketIndex(int64(high)); bucket++ {
		h.Record(int64(midpoint(MaxSchema, bucket)))
	}
	return h
}

func snapshotOf(operations []Operation, h func() Histogram) *Snapshot {
	s := &Snapshot{RunUID: "run", Transport: "ClientV3", Stage: StageMeasuring, Cleaning: CleaningKeysLeft, Operations: map[Operation]*OperationResult{}}
	for _, operation := range operations {
		s.Operations[operation] = &OperationResult{Latency: h(), Service: h(), Lateness: h(), Failed: h(), Censored: h()}
	}
	return s
}

// memoryOf is what the snapshot's buckets take, in bytes.
func memoryOf(s *Snapshot) (bytes int) {
	for _, result := range s.Operations {
		for _, h := range result.all() {
			bytes += 8 * cap(h.counts)
		}
	}
	return bytes
}

// TestWhatIsReadIsBoundedInMemory: a pod that sends all that may be sent takes no
// more of the operator's memory, and loses nothing but resolution.
func TestWhatIsReadIsBoundedInMemory(t *testing.T) {
	const most = 8*maxBuckets + 64<<10
	hour := func() Histogram { return wide(time.Microsecond, time.Hour) }
	tests := map[string]struct {
		sent       *Snapshot
		wantSchema int
		wantMost   int
	}{
		"everything, wide open":   {snapshotOf(operations[:maxOperations], hour), MaxSchema - 3, most},
		"one operation, of any":   {snapshotOf(operations[:1], hour), MaxSchema, most},
		"three that take seconds": {snapshotOf(operations[:3], func() Histogram { return wide(time.Millisecond, time.Second) }), MaxSchema, 15 * 1400 * 8},
		"empty buckets are free":  {snapshotOf(operations[:maxOperations], func() Histogram { return recorded(1e6) }), MaxSchema, maxOperations * 5 * 8},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(tc.sent.Families())
			if err != nil {
				t.Fatal(err)
			}
			if n := memoryOf(got); n > tc.wantMost {
				t.Errorf("the buckets take %d bytes, wanted at most %d", n, tc.wantMost)
			}
			for operation, sent := range tc.sent.Operations {
				want := sent.Latency.Clone()
				want.Reduce(tc.wantSchema)
				if read := got.Operations[operation].Latency; !near(want.sum, read.sum) || read.Schema() != tc.wantSchema || read.count != want.count {
					t.Errorf("%s: schema %d and count %d, wanted %d and %d", operation, read.Schema(), read.count, tc.wantSchema, want.count)
				}
			}
		})
	}
}

// TestATrimmedHistogramIsTheSame: what was decoded has room for few buckets, and
// counts, adds up and is asked as one that has all.
func TestATrimmedHistogramIsTheSame(t *testing.T) {
	whole, trimmed := wide(time.Millisecond, time.Second), wide(time.Millisecond, time.Second)
	trimmed.trim()
	if len(trimmed.counts) >= len(whole.counts) || !trimmed.Equal(whole) || !whole.Equal(trimmed) {
		t.Fatalf("%d buckets of %d, wanted fewer, and the same counts", len(trimmed.counts), len(whole.counts))
	}
	for schema := MaxSchema; schema >= MinSchema; schema-- {
		whole.Reduce(schema)
		trimmed.Reduce(schema)
		requireSame(t, whole, trimmed)
		wanted, _ := whole.Over(30 * time.Millisecond)
		if got, _ := trimmed.Over(30 * time.Millisecond); got != wanted {
			t.Errorf("schema %d: %d are over 30 ms, wanted %d", schema, got, wanted)
		}
		if got, want := trimmed.countUpTo(-6), whole.countUpTo(-6); got != want {
			t.Errorf("schema %d: %d are up to 16 ms, wanted %d", schema, got, want)
		}
		for _, q := range []float64{0.001, 0.5, 0.999, 1} {
			want, _ := whole.Quantile(q)
			if got, _ := trimmed.Quantile(q); got != want {
				t.Errorf("schema %d: the quantile %v is %s, wanted %s", schema, q, got, want)
			}
		}
		whole.Record(1)
		trimmed.Record(1)
		trimmed.trim()
	}
}
