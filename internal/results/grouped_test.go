package results

import (
	"math"
	"strings"
	"testing"
)

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1_000: "1,000", -12_345: "-12,345", 1_234_567: "1,234,567", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Grouped(n); got != want {
			t.Errorf("wanted %s, got %s", want, got)
		}
	}
	if got := Grouped(uint64(math.MaxUint64)); got != "18,446,744,073,709,551,615" {
		t.Errorf("the greatest number is written as %s", got)
	}
}

func TestWarningsGroupDigits(t *testing.T) {
	s := finalSnapshot(0, 100, OperationPut)
	s.Watch = Watch{Watchers: 1, Expected: 1_234_567, Missed: 12_345, Cancelled: 1_000, Resumed: 2_000, Duplicate: 3_000}
	wanted := map[string]bool{"12,345 of 1,234,567": false, "1,000 times": false, "2,000 times": false, "3,000 events": false}
	for _, w := range Summarize([]*Snapshot{s}).Warnings {
		for text := range wanted {
			wanted[text] = wanted[text] || strings.Contains(w, text)
		}
	}
	for text, found := range wanted {
		if !found {
			t.Errorf("no warning says %q", text)
		}
	}
}
