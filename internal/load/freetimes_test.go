package load

import "testing"

// The order is that of put.
func TestFreeTimesAreTakenInOrder(t *testing.T) {
	f := newFreeTimes(3)
	for _, step := range []struct{ put, want Instant }{{5, 0}, {7, 0}, {4, 0}, {9, 5}, {10, 7}, {11, 4}} {
		if got := f.take(); got != step.want {
			t.Errorf("took %d, wanted %d", got, step.want)
		}
		f.put(step.put)
	}
	if n := f.before(10); n != 1 {
		t.Errorf("%d clients are free since before 10, wanted 1", n)
	}
}
