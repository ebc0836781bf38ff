package results

import "testing"

func TestRangesOfTimeouts(t *testing.T) {
	for timeouts, want := range map[int]int{0: 0, 1: 1, 15: 15, 16: 16, 31: 16, 32: 32, 63: 32, 64: 64, 1_000_000: 524_288, 1 << 40: 524_288} {
		var b Burst
		b.Count(timeouts)
		for bucket, n := range b.Timeouts {
			if from := TimeoutsFrom(bucket); (n == 1) != (from == want) {
				t.Errorf("%d time-outs: %d tasks in the range from %d, wanted one from %d", timeouts, n, from, want)
			}
		}
	}
}

// The sum of two pods has the counts of both.
func TestBurstsAddUp(t *testing.T) {
	var a, b, both Burst
	for i := range 100 {
		of := &a
		if i%3 == 0 {
			of = &b
		}
		for _, one := range []*Burst{of, &both} {
			one.Count(i)
			one.Values += uint64(i)
			one.Unavailable += uint64(i % 2)
			one.Wire.Sent++
			one.Wire.Received += 2
		}
	}
	if a.Add(&b); a != both || a.Tasks() != 100 {
		t.Errorf("the sum is %+v, wanted %+v", a, both)
	}
}
