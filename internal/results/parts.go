package results

import "fmt"

// Parts are what a Histogram is made of, for who writes it down or reads it.
type Parts struct {
	Schema int
	// Counts are of the buckets from First on, where the zero bucket is 0. There
	// are none if nothing was recorded, or if they are lost.
	First  int
	Counts []uint64
	Count  uint64
	// Sum is in nanoseconds, SumSquares in square seconds.
	Sum, SumSquares float64
	// Minimum and Maximum are in nanoseconds; they mean nothing if Count is 0.
	Minimum, Maximum int64
}

// Parts takes a histogram apart; it shares its counts.
func (h *Histogram) Parts() Parts {
	return Parts{h.Schema(), h.first, h.counts, h.count, h.sum, h.sumSquares, h.minimum, h.maximum}
}

// HistogramOf puts a histogram together, which keeps the counts. It refuses those
// that do not add up; Snapshot.Check looks at what else parts may contradict.
func HistogramOf(p Parts) (Histogram, error) {
	h := Histogram{
		halvings: MaxSchema - p.Schema, first: p.First, counts: p.Counts, count: p.Count,
		sum: p.Sum, sumSquares: p.SumSquares, minimum: p.Minimum, maximum: p.Maximum,
	}
	if p.Schema < MinSchema || p.Schema > MaxSchema || p.First < 0 || p.First+len(p.Counts) > BucketCount(p.Schema) {
		return Histogram{}, fmt.Errorf("wanted buckets that there are, found %d from %d at schema %d", len(p.Counts), p.First, p.Schema)
	}
	if p.Counts == nil {
		return h, nil
	}
	if err := h.checkTotal(); err != nil {
		return Histogram{}, err
	}
	h.trim()
	return h, nil
}

// checkTotal finds buckets that hold more or less than was recorded.
func (h *Histogram) checkTotal() error {
	var total uint64
	for _, n := range h.counts {
		if n > h.count || total+n > h.count {
			return fmt.Errorf("wanted buckets that add up to %d, found more", h.count)
		}
		total += n
	}
	if total != h.count {
		return fmt.Errorf("wanted buckets that add up to %d, found %d", h.count, total)
	}
	return nil
}

// check finds a minimum or a maximum that no duration in the buckets can have,
// and a sum of squares that would overflow.
func (h *Histogram) check() error {
	if h.minimum > h.maximum {
		return fmt.Errorf("wanted a minimum of at most %d ns, the maximum, found %d ns", h.maximum, h.minimum)
	}
	if h.sumSquares > MaxSeconds*MaxSeconds*float64(h.count) {
		return fmt.Errorf("wanted the squares of %d durations, found %v square seconds", h.count, h.sumSquares)
	}
	if h.counts == nil {
		return nil
	}
	low, high := coarser(BucketIndex(h.minimum), h.halvings), coarser(BucketIndex(h.maximum), h.halvings)
	for bucket, n := range h.buckets() {
		if bucket < low || bucket > high {
			return fmt.Errorf("wanted durations between %d and %d ns, found %d around %.0f ns",
				h.minimum, h.maximum, n, midpoint(h.Schema(), bucket))
		}
	}
	return nil
}
