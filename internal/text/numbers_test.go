package text

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
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

// A duration beside its limit never looks as if it were on the other side, and looks as everywhere else if it can.
func TestADurationBesideItsLimit(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		limit, d time.Duration
		want     string
	}{
		{500 * ms, 22301 * time.Microsecond, "22.3ms"},
		{500 * ms, 500 * ms, "500ms"},
		{500 * ms, 500400 * time.Microsecond, "500.4ms"},
		{500 * ms, 499600 * time.Microsecond, "499.6ms"},
		{250 * time.Microsecond, 250400 * time.Nanosecond, "251µs"},
		{22340 * time.Microsecond, 22341 * time.Microsecond, "22.341ms"},
	} {
		if got := Beside(tc.limit, tc.d); got != tc.want {
			t.Errorf("%v beside %v: found %s, wanted %s", tc.d, tc.limit, got, tc.want)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		limit := time.Duration(random.Int64N(int64(time.Minute)))/time.Microsecond*time.Microsecond + time.Microsecond
		d := limit + time.Duration(random.NormFloat64()*float64(limit)/1000)
		shown, err := time.ParseDuration(strings.ReplaceAll(Beside(limit, d), ",", ""))
		if err != nil || d > limit && shown <= limit || d <= limit && shown > limit {
			t.Fatalf("%v beside %v is shown as %v (%v)", d, limit, shown, err)
		}
	}
}
