package results

import "fmt"

// Parts are the contents of a Histogram, for encoders and decoders.
type Parts struct {
	Schema int
	// Counts are the counts of the buckets from First on; the zero bucket is 0. Counts is nil if nothing was recorded
	// or the buckets are lost.
	First  int
	Counts []uint64
	Count  uint64
	// Sum is in nanoseconds, SumSquares in square seconds.
	Sum, SumSquares float64
	// Minimum and Maximum are in nanoseconds; they are undefined if Count is 0.
	Minimum, Maximum int64
}

// Parts returns the contents of a histogram; the counts are shared, unless they are packed.
func (h *Histogram) Parts() Parts {
	if h.packed != nil {
		c := *h
		c.unpack()
		return c.Parts()
	}
	return Parts{h.Schema(), h.first, h.counts, h.count, h.sum, h.sumSquares, h.minimum, h.maximum}
}

// Unbinned are the figures of a histogram that its Prometheus form does not have. Minimum and Maximum are in nanoseconds,
// SumSquares in square seconds.
type Unbinned struct {
	Minimum, Maximum int64
	SumSquares       float64
}

// Unbinned returns these figures; they are undefined if Count is 0.
func (h *Histogram) Unbinned() Unbinned { return Unbinned{h.minimum, h.maximum, h.sumSquares} }

// SetUnbinned replaces these figures. Snapshot.Check finds figures that contradict the buckets.
func (h *Histogram) SetUnbinned(u Unbinned) {
	h.minimum, h.maximum, h.sumSquares = u.Minimum, u.Maximum, u.SumSquares
}

// HistogramOf builds a histogram from its parts; the counts are shared. It refuses counts that do not add up;
// Snapshot.Check finds other contradictions.
func HistogramOf(p Parts) (Histogram, error) {
	h := Histogram{
		halvings: MaxSchema - p.Schema, first: p.First, counts: p.Counts, count: p.Count,
		sum: p.Sum, sumSquares: p.SumSquares, minimum: p.Minimum, maximum: p.Maximum,
	}
	if p.Schema < MinSchema || p.Schema > MaxSchema || p.First < 0 || p.First+len(p.Counts) > BucketCount(p.Schema) {
		return Histogram{}, fmt.Errorf("wanted buckets within the schema's range, found %d from %d at schema %d", len(p.Counts), p.First, p.Schema)
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

// checkTotal returns an error if the buckets do not add up to the count.
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

// check returns an error if the buckets contradict the minimum or the maximum, or if the sum of squares is impossibly
// large.
func (h *Histogram) check() error {
	if h.minimum > h.maximum {
		return fmt.Errorf("wanted a minimum of at most %d ns, the maximum, found %d ns", h.maximum, h.minimum)
	}
	if h.sumSquares > MaxSeconds*MaxSeconds*float64(h.count) {
		return fmt.Errorf("wanted a sum of squares of %d durations, found %v square seconds", h.count, h.sumSquares)
	}
	if !h.hasCounts() {
		return nil
	}
	bounds := [2]int{coarser(BucketIndex(h.minimum), h.halvings), coarser(BucketIndex(h.maximum), h.halvings)}
	low, high, found := h.ends()
	if !found || low >= bounds[0] && high <= bounds[1] {
		return nil
	}
	outside := low
	if low >= bounds[0] {
		outside = high
	}
	return fmt.Errorf("wanted durations between %d and %d ns, found some around %.0f ns", h.minimum, h.maximum, midpoint(h.Schema(), outside))
}
