package results

// Since returns what was recorded after an earlier state of the histogram. Minimum and maximum are those of the buckets.
// It returns false if before is no earlier state, for example because a pod's counts are missing, or if buckets are
// lost.
func (h *Histogram) Since(before *Histogram) (Histogram, bool) {
	if !h.HasBuckets() || !before.HasBuckets() || before.count > h.count {
		return Histogram{}, false
	}
	out, earlier := h.Clone(), before.Clone()
	out.Reduce(earlier.Schema())
	earlier.Reduce(out.Schema())
	out.widen()
	for bucket, n := range earlier.buckets() {
		if out.counts[bucket] < n {
			return Histogram{}, false
		}
		out.counts[bucket] -= n
	}
	out.count -= earlier.count
	out.sum, out.sumSquares = max(out.sum-earlier.sum, 0), max(out.sumSquares-earlier.sumSquares, 0)
	out.trim()
	if out.count == 0 {
		return Histogram{}, true
	}
	schema := out.Schema()
	lowest, highest := 0.0, bucketPoint(schema, float64(out.first+len(out.counts)-1))
	if out.first > 0 {
		lowest = bucketPoint(schema, float64(out.first-1))
	}
	out.minimum, out.maximum = max(int64(lowest), h.minimum), min(int64(highest), h.maximum)
	return out, true
}
