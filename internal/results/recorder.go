package results

import (
	"math"
	"sync/atomic"
)

// Recorder is a Histogram at MaxSchema that one goroutine writes while others read it. It takes 41 KB: create one per
// event loop or processor and merge them, not one per client.
//
// The bucket is written last and read first, and the count is the sum of the buckets. So a concurrent reader finds a
// count that matches the buckets, and a valid minimum and maximum. Only the sums may be ahead, by the records during
// the read.
type Recorder struct {
	counts          [Buckets]atomic.Uint64
	sum, sumSquares atomicFloat
	// minimum is stored as nanoseconds+1, so that zero means none.
	minimum, maximum atomic.Int64
}

// Record counts one duration of ns nanoseconds; a negative one counts as 0. Only one goroutine may call it. It does not
// allocate.
func (r *Recorder) Record(ns int64) { r.RecordAlike(ns, 1) }

// RecordAlike counts n durations of ns nanoseconds each, in the time of one Record.
func (r *Recorder) RecordAlike(ns int64, n uint64) {
	if n == 0 {
		return
	}
	ns = max(ns, 0)
	if low := r.minimum.Load(); low == 0 || ns < low-1 {
		r.minimum.Store(ns + 1)
	}
	if ns > r.maximum.Load() {
		r.maximum.Store(ns)
	}
	r.sum.add(float64(ns) * float64(n))
	r.sumSquares.add(squareSeconds(ns) * float64(n))
	bucket := &r.counts[BucketIndex(ns)]
	bucket.Store(bucket.Load() + n)
}

// AddTo merges the records so far into h. Any goroutine may call it at any time.
func (r *Recorder) AddTo(h *Histogram) {
	var copied Histogram
	counts := make([]uint64, Buckets)
	for bucket := range r.counts {
		counts[bucket] = r.counts[bucket].Load()
		copied.count += counts[bucket]
	}
	copied.counts = counts
	copied.sum, copied.sumSquares = r.sum.load(), r.sumSquares.load()
	copied.minimum, copied.maximum = r.minimum.Load()-1, r.maximum.Load()
	h.Merge(&copied)
}

// atomicFloat has a single writer, so it needs no compare-and-swap.
type atomicFloat struct{ bits atomic.Uint64 }

func (f *atomicFloat) load() float64 { return math.Float64frombits(f.bits.Load()) }

func (f *atomicFloat) add(v float64) { f.bits.Store(math.Float64bits(f.load() + v)) }
