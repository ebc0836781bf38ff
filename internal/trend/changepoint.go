package trend

import (
	"math"
	"slices"
)

const (
	// MaxPoints is how many of the newest values Changes looks at.
	MaxPoints = 200
	// MinPoints is the smallest number of values with which Changes gives an answer: 9 before a change and 3 after it.
	// 2 of the 220 ways to choose 3 of 12 values are as extreme as such a change, so the least p is 0.009.
	MinPoints = 12
	// minSegment is the smallest number of values between two changes.
	minSegment = 3
	// level is the largest p of a change.
	level = 0.01
)

// Change is a place in a history where the level changes.
type Change struct {
	// Index is that of the first value of the new segment.
	Index int
	// Before and After are the medians of the segments on both sides. Both are logarithms.
	Before, After float64
	// P is the share of random orders of the values that separate as clearly as the real order. It is at most 0.01.
	P float64
}

// Relative is the size of the change: 0.1 is 10 % more.
func (c Change) Relative() float64 { return relative(c.After - c.Before) }

// Changes returns the changes of level in a history, oldest first, whose size exceeds the tolerance. The tolerance is
// relative: 0.05 is 5 %, of the value and not of its logarithm. Changes may be for the better or for the worse. A slow
// drift appears as one or several changes. A change that lasted for fewer than 6 values may be missed once it is over.
//
// An acknowledged index begins a segment without a test. Only values from the last acknowledged index on take part, and
// of these only the newest MaxPoints. Indexes are those of the whole history, also in the result.
//
// The answer is not known if fewer than MinPoints values take part, or if one of them is not the logarithm of a
// positive float64. NaN and infinities are not. An unknown answer has no changes.
func Changes(values []float64, acknowledged []int, tolerance float64) (changes []Change, known bool) {
	start := begin(values, acknowledged)
	points := values[start:]
	if len(points) < MinPoints || !areLogarithms(points) {
		return nil, false
	}
	changes = large(points, divide(points, 0), tolerance)
	for i := range changes {
		changes[i].Index += start
	}
	return changes, true
}

// Segment returns the index at which the current segment of a history begins: at the last change, at the last
// acknowledged index or MaxPoints before the end, whichever is latest.
func Segment(values []float64, acknowledged []int, changes []Change) (start int) {
	start = begin(values, acknowledged)
	for _, c := range changes {
		start = max(start, c.Index)
	}
	return start
}

// begin is the index of the first value that takes part.
func begin(values []float64, acknowledged []int) int {
	start := max(0, len(values)-MaxPoints)
	for _, index := range acknowledged {
		start = max(start, index)
	}
	return min(start, len(values))
}

// split is a change before its size is known.
type split struct {
	at int
	p  float64
}

// divide splits values where they differ most, and then each side again, until no split is significant. It adds the
// offset to every index.
func divide(values []float64, offset int) []split {
	at, p := strongestSplit(values)
	if p > level {
		return nil
	}
	splits := append(divide(values[:at], offset), split{offset + at, p})
	return append(splits, divide(values[at:], offset+at)...)
}

// large removes the smallest change until all exceed the tolerance. Several small changes may add up to a large one.
func large(values []float64, splits []split, tolerance float64) []Change {
	for {
		changes := measure(values, splits)
		smallest := 0
		for i, c := range changes {
			if math.Abs(c.Relative()) < math.Abs(changes[smallest].Relative()) {
				smallest = i
			}
		}
		if len(changes) == 0 || Exceeds(changes[smallest].After-changes[smallest].Before, tolerance) {
			return changes
		}
		splits = slices.Delete(splits, smallest, smallest+1)
	}
}

// measure compares the segments on both sides of each split.
func measure(values []float64, splits []split) (changes []Change) {
	from := 0
	for i, s := range splits {
		to := len(values)
		if i+1 < len(splits) {
			to = splits[i+1].at
		}
		changes = append(changes, Change{Index: s.at, Before: median(values[from:s.at]), After: median(values[s.at:to]), P: s.p})
		from = s.at
	}
	return changes
}

// Level is the level of a segment: its median, which does not move with a single outlier.
func Level(values []float64) float64 { return median(values) }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
