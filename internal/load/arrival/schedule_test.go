package arrival

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Shapes of schedules, by name.
var shapes = map[string][]spec.Stage{
	"one rate":             {over(500, 500, 60)},
	"up":                   {over(100, 1_000, 30)},
	"up from nothing":      {over(0, 7, 11)},
	"down to nothing":      {over(7, 0, 11)},
	"down":                 {over(1_000_000, 1, 3_600)},
	"nearly flat":          {over(999_999, 1_000_000, 86_400)},
	"half an arrival":      {over(1, 2, 1), over(2, 3, 1), over(5, 5, 2)},
	"stages":               {over(10, 10, 1), over(0, 0, 3), over(1_000, 1_000, 2), over(3, 3, 7)},
	"a pause to begin":     {over(0, 0, 5), over(20, 20, 1)},
	"a pause at the end":   {over(20, 20, 1), over(0, 0, 5)},
	"ramp, hold, ramp":     {over(0, 300, 10), over(300, 300, 10), over(300, 0, 10)},
	"the greatest":         {over(10_000_000, 10_000_000, 604_800)},
	"the greatest ramp":    {over(0, 10_000_000, 604_800)},
	"the greatest descent": {over(10_000_000, 0, 604_800)},
}

// over returns a stage of so many seconds.
func over(from, to, seconds int64) spec.Stage {
	return spec.Stage{From: from, To: to, Seconds: seconds}
}

// exact is Schedule.At in arithmetic of unlimited precision: the greatest nanosecond at which the integral of the rate
// does not exceed n + part/2^32.
func exact(stages []spec.Stage, p position) time.Duration {
	rest := new(big.Rat).SetFrac(
		new(big.Int).Add(new(big.Int).Lsh(new(big.Int).SetUint64(p.whole), places), big.NewInt(int64(p.part))),
		new(big.Int).Lsh(big.NewInt(1), places))
	var start time.Duration
	for _, s := range stages {
		whole := big.NewRat((s.From+s.To)*s.Seconds, 2)
		if rest.Cmp(whole) < 0 {
			return start + exactIn(s, rest)
		}
		rest.Sub(rest, whole)
		start += time.Duration(s.Seconds) * time.Second
	}
	return math.MaxInt64
}

func exactIn(s spec.Stage, arrivals *big.Rat) time.Duration {
	second := big.NewRat(1e9, 1)
	beyond := func(ns int) bool {
		t := new(big.Rat).Quo(big.NewRat(int64(ns), 1), second)
		linear := new(big.Rat).Mul(big.NewRat(s.From, 1), t)
		square := new(big.Rat).Mul(big.NewRat(s.To-s.From, 2*s.Seconds), new(big.Rat).Mul(t, t))
		return new(big.Rat).Add(linear, square).Cmp(arrivals) > 0
	}
	return time.Duration(sort.Search(int(s.Seconds*1e9)+1, beyond) - 1)
}

func totalOf(stages []spec.Stage) (arrivals int64) {
	for _, s := range stages {
		arrivals += (s.From + s.To) * s.Seconds
	}
	return arrivals / 2
}

func TestAtIsExact(t *testing.T) {
	for name, stages := range shapes {
		t.Run(name, func(t *testing.T) {
			s, total := Stages(stages...), totalOf(stages)
			numbers := []int64{0, 1, 2, 3, total / 2, total - 2, total - 1, total, total + 1, math.MaxInt64}
			random := rand.New(rand.NewPCG(1, uint64(total)))
			for range 1_000 {
				numbers = append(numbers, random.Int64N(total+1))
			}
			for _, n := range numbers {
				if n < 0 {
					continue
				}
				if got, want := s.At(uint64(n)), exact(stages, position{whole: uint64(n)}); got != want {
					t.Fatalf("arrival %d of %d is due at %d ns, wanted %d", n, total, got, want)
				}
			}
		})
	}
}

func TestPartsOfAnArrivalAreExact(t *testing.T) {
	for name, stages := range shapes {
		t.Run(name, func(t *testing.T) {
			s, total := Stages(stages...), totalOf(stages)
			random := rand.New(rand.NewPCG(2, uint64(total)))
			for range 300 {
				p := position{uint64(random.Int64N(total + 1)), random.Uint32()}
				if got, _ := s.reach(p, 0); got != exact(stages, p) {
					t.Fatalf("position %+v is reached at %d ns, wanted %d", p, got, exact(stages, p))
				}
			}
		})
	}
}

// A rounded period, summed up, would drift by a millisecond in every 100 s at 300,000 arrivals per second.
func TestAConstantRateIsExactUpTo2To40Arrivals(t *testing.T) {
	for _, rate := range []int64{1, 7, 300_000, 1_500_000, 999_999_937} {
		s := PerSecond(rate)
		numbers := []uint64{0, 1, 2, 6, 7, 8, uint64(rate) - 1, uint64(rate), uint64(rate) + 1, 1<<32 - 1, 1<<40 - 1, 1 << 40}
		random := rand.New(rand.NewPCG(1, uint64(rate)))
		for range 10_000 {
			numbers = append(numbers, random.Uint64N(1<<40+1))
		}
		for _, n := range numbers {
			want := new(big.Int).Mul(new(big.Int).SetUint64(n), big.NewInt(1e9))
			if want.Div(want, big.NewInt(rate)); !want.IsInt64() {
				want.SetInt64(math.MaxInt64)
			}
			if got := s.At(n); int64(got) != want.Int64() {
				t.Fatalf("%d per second: arrival %d is due at %d ns, wanted %d", rate, n, got, want)
			}
		}
	}
}

func TestAtNeverWrapsAround(t *testing.T) {
	for _, n := range []uint64{1 << 62, math.MaxInt64, math.MaxUint64} {
		if got := PerSecond(1).At(n); got != math.MaxInt64 {
			t.Errorf("arrival %d at 1 per second is due at %d, wanted the end of time", n, got)
		}
	}
}

func TestNothingIsDueWithoutARate(t *testing.T) {
	for name, s := range map[string]Schedule{
		"no rate": PerSecond(0), "below zero": PerSecond(-1), "no stages": Stages(), "a pause": Stages(spec.Stage{Seconds: 9}), "zero": {},
	} {
		if got := s.At(0); got != math.MaxInt64 {
			t.Errorf("%s: the first arrival is due at %v, wanted never", name, got)
		}
	}
}

// The walks of all pods together are the whole schedule: each arrival once, at its own time.
func TestWalksOfAllPodsAreTheSchedule(t *testing.T) {
	const limit = 2_000
	for name, stages := range shapes {
		whole := Stages(stages...)
		for pods := 1; pods <= 7; pods++ {
			for index := range pods {
				w := whole.Even(Share{Pods: pods, Index: index})
				for n := index; n < limit; n += pods {
					if got, want := w.Due(), whole.At(uint64(n)); got != want {
						t.Fatalf("%s, pod %d of %d: arrival %d is due at %v, wanted %v", name, index, pods, n, got, want)
					}
					w.Next()
				}
			}
		}
	}
}

func TestAWalkAllocatesNothing(t *testing.T) {
	for name, w := range map[string]*Walk{
		"even":    Stages(shapes["ramp, hold, ramp"]...).Even(Share{Pods: 3}),
		"Poisson": Stages(shapes["ramp, hold, ramp"]...).Poisson(1, 1, Share{Pods: 3}),
	} {
		if n := testing.AllocsPerRun(1_000, w.Next); n != 0 {
			t.Errorf("%s: %v allocations for an arrival", name, n)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	ramp := Stages(shapes["the greatest ramp"]...)
	for name, w := range map[string]*Walk{
		"constant": PerSecond(1_000).Even(Share{Pods: 1}),
		"ramp":     ramp.Even(Share{Pods: 1}),
		"Poisson":  PerSecond(1_000).Poisson(1, 1, Share{Pods: 1}),
		"both":     ramp.Poisson(1, 1, Share{Pods: 1}),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				w.Next()
			}
		})
	}
}

func ExampleStages() {
	s := Stages(spec.Stage{From: 0, To: 4, Seconds: 2}, spec.Stage{From: 2, To: 2, Seconds: 1})
	for n := range uint64(6) {
		fmt.Println(s.At(n).Round(time.Millisecond))
	}
	// Output:
	// 0s
	// 1s
	// 1.414s
	// 1.732s
	// 2s
	// 2.5s
}

// At returns when arrival n is due if arrivals are spread evenly.
func (s Schedule) At(n uint64) time.Duration {
	due, _ := s.reach(position{whole: n}, 0)
	return due
}
