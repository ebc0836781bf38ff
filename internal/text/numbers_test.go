package text

import (
	"math"
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

func TestMicros(t *testing.T) {
	for us, want := range map[int64]string{
		0: "0µs", 812: "812µs", 999: "999µs", 1_000: "1ms", 25_149: "25.1ms", 999_949: "1s", 999_499: "999ms",
		1_234_567: "1.23s", 60_000_000: "60s", 4_321_000_000: "4,321s",
	} {
		if got := Micros(us); got != want {
			t.Errorf("%d µs: wanted %s, got %s", us, want, got)
		}
	}
}

func TestSignedPercent(t *testing.T) {
	for share, want := range map[float64]string{
		0: "+0.0 %", -0.0004: "+0.0 %", 0.0006: "+0.1 %", -0.034: "-3.4 %", 0.994: "+99.4 %", 1.5: "+150 %", -1: "-100 %",
	} {
		if got := SignedPercent(share); got != want {
			t.Errorf("%v: wanted %s, got %s", share, want, got)
		}
	}
}
