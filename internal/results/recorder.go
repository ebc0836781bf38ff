package results

import (
	"math"
	"sync/atomic"
)

// Recorder is a Histogram at MaxSchema that one goroutine writes while others
// read it. It takes 41 KB; make one for each event loop or processor and merge
// them, never one for each client.
//
// The bucket is written last and read first, and the count is the sum of the
// buckets. So whoever reads while others record finds a count that agrees with
// the buckets, and a minimum and a maximum that hold for them; only the sums may
// be ahead by what was recorded during the reading.
type Recorder struct {
	counts          [Buckets]atomic.Uint64
	sum, sumSquares atomicFloat
	// minimum is kept as nanoseconds+1, so that the zero value means none.
	minimum, maximum atomic.Int64
}

// Record counts one duration of ns nanoseconds, a negative one as 0. Only one
// goroutine may call it. It allocates nothing.
func (r *Recorder) Record(ns int64) { r.RecordAlike(ns, 1) }

// RecordAlike counts n durations of ns nanoseconds each, as Record does one, in
// the time of one.
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

// AddTo merges what was recorded so far into h. Any goroutine may call it at
// any time.
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

// atomicFloat has one writer, which therefore needs no compare-and-swap.
type atomicFloat struct{ bits atomic.Uint64 }

func (f *atomicFloat) load() float64 { return math.Float64frombits(f.bits.Load()) }

func (f *atomicFloat) add(v float64) { f.bits.Store(math.Float64bits(f.load() + v)) }
