package wire

import (
	"math"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func snapshotOf(operations []spec.Operation, h func() results.Histogram) *results.Snapshot {
	s := &results.Snapshot{RunUID: "run", Transport: spec.TransportClient, Stage: results.StageMeasuring, Cleaning: results.CleaningKeysLeft, Operations: map[spec.Operation]*results.OperationResult{}}
	for _, operation := range operations {
		s.Operations[operation] = &results.OperationResult{Latency: h(), Service: h(), Lateness: h(), Failed: h(), Censored: h()}
	}
	return s
}

// memoryOf is the size of the snapshot's buckets in bytes.
func memoryOf(s *results.Snapshot) (bytes int) {
	for _, result := range s.Operations {
		for _, h := range result.Histograms() {
			bytes += h.Bytes()
		}
	}
	return bytes
}

// TestWhatIsReadIsBoundedInMemory: the memory for a snapshot of maximum size is bounded, and only resolution is lost.
func TestWhatIsReadIsBoundedInMemory(t *testing.T) {
	const most = 1 << 19
	hour := func() results.Histogram { return wide(time.Microsecond, time.Hour, 1) }
	huge := func() results.Histogram { return wide(time.Microsecond, time.Hour, 1<<35) }
	tests := map[string]struct {
		sent       *results.Snapshot
		wantSchema int
		wantMost   int
	}{
		"everything, wide open":   {snapshotOf(spec.AllOperations()[:maxOperations], hour), results.MaxSchema, most},
		"and with huge counts":    {snapshotOf(spec.AllOperations()[:maxOperations], huge), results.MaxSchema - 2, most},
		"one operation, of any":   {snapshotOf(spec.AllOperations()[:1], hour), results.MaxSchema, most},
		"three that take seconds": {snapshotOf(spec.AllOperations()[:3], func() results.Histogram { return wide(time.Millisecond, time.Second, 1) }), results.MaxSchema, 15 * 1400},
		"empty buckets are free":  {snapshotOf(spec.AllOperations()[:maxOperations], func() results.Histogram { return recorded(1e6) }), results.MaxSchema, maxOperations * 5},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(withTimeline(tc.sent))
			if err != nil {
				t.Fatal(err)
			}
			if n := memoryOf(got); n > tc.wantMost {
				t.Errorf("the buckets take %d bytes, wanted at most %d", n, tc.wantMost)
			}
			for operation, sent := range tc.sent.Operations {
				want := sent.Latency.Clone()
				want.Reduce(tc.wantSchema)
				if read := got.Operations[operation].Latency; !near(want.Sum(), read.Sum()) || read.Schema() != tc.wantSchema || read.Count() != want.Count() {
					t.Errorf("%s: schema %d and count %d, wanted %d and %d", operation, read.Schema(), read.Count(), tc.wantSchema, want.Count())
				}
			}
		})
	}
}

// wide has n durations in every bucket from low to high.
func wide(low, high time.Duration, n uint64) (h results.Histogram) {
	for bucket := results.BucketIndex(int64(low)); bucket <= results.BucketIndex(int64(high)); bucket++ {
		h.RecordAlike(int64(1e9*math.Exp2((float64(bucket)-0.5)/(1<<results.MaxSchema)-20)), n)
	}
	return h
}

func recorded(durations ...int64) (h results.Histogram) {
	for _, ns := range durations {
		h.Record(ns)
	}
	return h
}
