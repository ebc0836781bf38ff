package arrival

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

// exact is n·Per/Freq in numbers without a bound.
func exact(s Schedule, n uint64) time.Duration {
	v := new(big.Int).SetUint64(n)
	v.Mul(v, big.NewInt(int64(s.Per)))
	v.Div(v, new(big.Int).SetUint64(s.Freq))
	if !v.IsInt64() {
		return math.MaxInt64
	}
	return time.Duration(v.Int64())
}

func TestAtIsExactUpToTwoToTheForty(t *testing.T) {
	for _, rate := range []int64{1, 7, 300_000, 1_500_000, 999_999_937} {
		s := PerSecond(rate)
		numbers := []uint64{0, 1, 2, 6, 7, 8, uint64(rate) - 1, uint64(rate), uint64(rate) + 1, 1<<32 - 1, 1<<40 - 1, 1 << 40}
		random := rand.New(rand.NewPCG(1, uint64(rate)))
		for range 10_000 {
			numbers = append(numbers, random.Uint64N(1<<40+1))
		}
		for _, n := range numbers {
			if got, want := s.At(n), exact(s, n); got != want {
				t.Fatalf("%d per second: arrival %d is due at %d ns, wanted %d", rate, n, got, want)
			}
		}
	}
}

func TestAtNeverWrapsAround(t *testing.T) {
	for _, s := range []Schedule{PerSecond(1), PerSecond(7), {Freq: 1, Per: time.Hour}, {Freq: 2, Per: 1}} {
		for _, n := range []uint64{1 << 62, math.MaxInt64, math.MaxUint64} {
			if got, want := s.At(n), exact(s, n); got != want {
				t.Errorf("%+v: arrival %d is due at %d, wanted %d", s, n, got, want)
			}
		}
	}
}

// Before is the inverse of At: arrival Before(d)-1 is due before d, arrival
// Before(d) is not.
func TestBeforeCountsTheArrivalsThatAreDue(t *testing.T) {
	for _, rate := range []int64{1, 7, 300_000, 1_500_000} {
		s := PerSecond(rate)
		times := []time.Duration{1, 2, 666, 667, 3333, 3334, time.Second - 1, time.Second, time.Second + 1, 24 * time.Hour}
		random := rand.New(rand.NewPCG(2, uint64(rate)))
		for range 10_000 {
			times = append(times, time.Duration(1+random.Int64N(int64(time.Hour))))
		}
		for _, d := range times {
			n := s.Before(d)
			if n == 0 || s.At(n-1) >= d || s.At(n) < d {
				t.Fatalf("%d per second: %d arrivals before %d ns, but arrivals %d and %d are due at %d and %d",
					rate, n, d, n-1, n, s.At(n-1), s.At(n))
			}
		}
	}
}

func TestNothingIsDue(t *testing.T) {
	tests := map[string]struct {
		schedule Schedule
		before   time.Duration
	}{
		"before the start":   {PerSecond(10), 0},
		"before time itself": {PerSecond(10), -time.Second},
		"without a rate":     {PerSecond(0), time.Hour},
		"below zero":         {PerSecond(-1), time.Hour},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if n := tc.schedule.Before(tc.before); n != 0 {
				t.Errorf("found %d arrivals, wanted none", n)
			}
		})
	}
	if got := PerSecond(0).At(0); got != math.MaxInt64 {
		t.Errorf("without a rate the first arrival is due at %v, wanted never", got)
	}
}

// The shares of any number of pods are the whole schedule, each arrival once,
// and each at its own time.
func TestSharesAddUpToTheSchedule(t *testing.T) {
	whole := PerSecond(1_000)
	for pods := 1; pods <= 7; pods++ {
		for _, d := range []time.Duration{1, time.Millisecond, 2500 * time.Microsecond, time.Second, time.Second + 1} {
			var sum int64
			for index := range pods {
				share := Share{Schedule: whole, Pods: pods, Index: index}
				n := share.Before(d)
				sum += n
				for k := range n {
					if got, want := share.At(k), whole.At(uint64(k)*uint64(pods)+uint64(index)); got != want {
						t.Fatalf("pod %d of %d: arrival %d is due at %v, wanted %v", index, pods, k, got, want)
					}
				}
			}
			if uint64(sum) != whole.Before(d) {
				t.Fatalf("%d pods have %d arrivals before %v, wanted %d", pods, sum, d, whole.Before(d))
			}
		}
	}
}
