package workload

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// zipfOf and hotSpotOf read keys with a skewed distribution.
func zipfOf(count int64, thousandths int) Run {
	return readsOf(spec.Keys{
		Count: count, SizeBytes: 10, Distribution: spec.ZipfLaw, Zipf: &spec.Zipf{Exponent: spec.DecimalOf(float64(thousandths) / 1000)},
	})
}

func hotSpotOf(count int64, keysPerThousand, requestsPerThousand int32) Run {
	return readsOf(spec.Keys{
		Count: count, SizeBytes: 4, Distribution: spec.HotSpots,
		HotSpot: &spec.HotSpot{KeysPerMillion: 1000 * keysPerThousand, RequestsPerMillion: 1000 * requestsPerThousand},
	})
}

func readsOf(k spec.Keys) Run {
	return runOf(spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, Keys: k}})
}

// excess is by how many standard deviations the χ² of drawn counts exceeds its mean, given the probability of each
// rank. Rare ranks are combined.
func excess(counts []int, probability func(rank int) float64, draws int) float64 {
	var chi, got, want float64
	bins := -1
	for i, n := range counts {
		got, want = got+float64(n), want+probability(i+1)*float64(draws)
		if want >= 10 || i == len(counts)-1 {
			chi += (got - want) * (got - want) / want
			bins++
			got, want = 0, 0
		}
	}
	return (chi - float64(bins)) / math.Sqrt(2*float64(bins))
}

// Ranks follow Zipf's law for exponents on both sides of 1.
func TestRanksFollowZipfsLaw(t *testing.T) {
	const draws = 200_000
	for _, count := range []int{2, 10, 1_000} {
		for _, exponent := range []float64{0.001, 0.2, 0.5, 0.99, 1, 1.001, 1.5, 3, 10} {
			t.Run(fmt.Sprint(count, " keys, exponent ", exponent), func(t *testing.T) {
				z := newZipf(int64(count), exponent)
				counts := make([]int, count)
				for n := range uint64(draws) {
					counts[z.rank(hash(1, 3, n))-1]++
				}
				var sum float64
				for rank := range count {
					sum += math.Pow(float64(rank+1), -exponent)
				}
				probability := func(rank int) float64 { return math.Pow(float64(rank), -exponent) / sum }
				if e := excess(counts, probability, draws); e > 5 {
					t.Errorf("χ² is %.1f standard deviations above its mean", e)
				}
			})
		}
	}
}

// With a thousand million keys, the first ranks have the right share too.
func TestZipfOfALargeKeySpace(t *testing.T) {
	const count, draws = 1_000_000_000, 200_000
	for _, exponent := range []float64{0.5, 0.99, 1, 1.2} {
		z := newZipf(count, exponent)
		var first [3]int
		for n := range uint64(draws) {
			if rank := z.rank(hash(2, 3, n)); rank <= 3 {
				first[rank-1]++
			}
		}
		for i, n := range first {
			p := math.Pow(float64(i+1), -exponent) / harmonic(count, exponent)
			if off := math.Abs(float64(n) - p*draws); off > 5*math.Sqrt(p*draws)+1 {
				t.Errorf("exponent %v: rank %d was drawn %d times, wanted some %.0f", exponent, i+1, n, p*draws)
			}
		}
	}
}

// harmonic is the sum of r^-s for r to n: the first thousand terms, and for the
// rest the formula of Euler and Maclaurin.
func harmonic(n, s float64) (sum float64) {
	const head = 1_000
	for r := 1.; r < head; r++ {
		sum += math.Pow(r, -s)
	}
	z := newZipf(1, s)
	return sum + z.area(n) - z.area(head) + (z.height(head)+z.height(n))/2 + s/12*(z.height(head)/head-z.height(n)/n)
}

func TestAScatterIsABijection(t *testing.T) {
	counts := []uint64{4_095, 4_096, 4_097, 99_991}
	for count := range uint64(300) {
		counts = append(counts, count+1)
	}
	for _, count := range counts {
		for seed := range uint64(3) {
			s := newScatter(count, seed)
			seen := make([]bool, count)
			for n := range count {
				if to := s.of(n); to < 0 || to >= int64(count) || seen[to] {
					t.Fatalf("%d numbers, seed %d: %d goes to %d, where another one is", count, seed, n, to)
				} else {
					seen[to] = true
				}
			}
		}
	}
}

// The hottest ranks are spread over the key space.
func TestTheHottestKeysAreSpread(t *testing.T) {
	const count, hottest, parts = 1_000_000, 20_000, 100
	for seed := range uint64(5) {
		s := newScatter(count, seed)
		var counts [parts]int
		neighbours := 0
		for n := range uint64(hottest) {
			to := s.of(n)
			counts[to*parts/count]++
			if next := s.of(n + 1); next-to > -1_000 && next-to < 1_000 {
				neighbours++
			}
		}
		uniformly := func(int) float64 { return 1. / parts }
		if e := excess(counts[:], uniformly, hottest); e > 5 {
			t.Errorf("seed %d: χ² of the parts of the key space is %.1f standard deviations above its mean", seed, e)
		}
		// 0.2 % of all pairs are this near.
		if neighbours > 2*hottest/500 {
			t.Errorf("seed %d: %d of %d neighbours stay near each other", seed, neighbours, hottest)
		}
	}
}

// Under Zipf's law, keys have the frequencies of their ranks. The seed decides which key has which rank.
func TestZipfKeys(t *testing.T) {
	const keys, draws = 1_000, 100_000
	a, b := zipfOf(keys, 990), zipfOf(keys, 990)
	b.Load.Seed++
	counted := func(w *Workload) []int {
		counts := make([]int, keys)
		for n := range int64(draws) {
			counts[w.At(Measured, n).Key]++
		}
		return counts
	}
	one, other := counted(New(a)), counted(New(b))
	if hottest := slices.Max(one); slices.Index(one, hottest) == slices.Index(other, slices.Max(other)) || float64(hottest) < 0.12*draws {
		t.Errorf("the hottest key is the same under two seeds, or has only %d of %d requests", hottest, draws)
	}
	slices.Sort(one)
	slices.Reverse(one)
	// The ranking by frequency is the ranking by Zipf's law, except for random variation.
	for _, rank := range []int{1, 2, 5, 10} {
		want := draws * math.Pow(float64(rank), -0.99) / harmonic(keys, 0.99)
		if got := float64(one[rank-1]); math.Abs(got-want) > 6*math.Sqrt(want) {
			t.Errorf("the key of rank %d has %.0f requests, wanted some %.0f", rank, got, want)
		}
	}
}

func TestHotSpots(t *testing.T) {
	const draws = 100_000
	tests := map[string]struct {
		keys                   int64
		hotKeys, hotRequests   int32
		wantHot                int
		wantShare, hottestKeys float64
	}{
		"a fifth of the keys":  {1_000, 200, 800, 200, 0.8, 0.004},
		"one key":              {500, 1, 900, 1, 0.9, 0.9},
		"two keys":             {2, 999, 300, 1, 0.3, 0.3},
		"nothing is hot":       {1_000, 500, 0, 500, 0, 0},
		"everything is so hot": {1_000, 100, 1000, 100, 1, 0.01},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := New(hotSpotOf(tc.keys, tc.hotKeys, tc.hotRequests))
			spot := w.choice.(*hotSpot)
			hot := map[int64]bool{}
			for n := range tc.wantHot {
				hot[spot.of(uint64(n))] = true
			}
			counts := map[int64]int{}
			share := 0
			for n := range int64(draws) {
				key := w.At(Measured, n).Key
				counts[key]++
				if hot[key] {
					share++
				}
			}
			if got := float64(share) / draws; math.Abs(got-tc.wantShare) > 0.01 {
				t.Errorf("%.3f of the requests take one of %d hot keys, wanted %.3f", got, tc.wantHot, tc.wantShare)
			}
			for key := range hot {
				if got := float64(counts[key]) / draws; math.Abs(got-tc.hottestKeys) > 0.1*tc.hottestKeys+0.002 {
					t.Fatalf("the hot key %d has %.4f of the requests, wanted %.4f", key, got, tc.hottestKeys)
				}
			}
		})
	}
}

func TestNothingIsAllocatedPerChoice(t *testing.T) {
	for name, w := range map[string]*Workload{
		"zipf":     New(zipfOf(1_000_000, 990)),
		"hot spot": New(hotSpotOf(1_000, 10, 500)),
	} {
		var n, sum int64
		if allocations := testing.AllocsPerRun(1_000, func() { sum += w.At(Measured, n).Key; n++ }); allocations != 0 {
			t.Errorf("%s: %v allocations for a choice", name, allocations)
		}
	}
}

func BenchmarkZipf(b *testing.B) {
	for _, thousandths := range []int{500, 990, 1500} {
		w := New(zipfOf(1_000_000, thousandths))
		b.Run(fmt.Sprint(thousandths), func(b *testing.B) {
			for n := int64(0); b.Loop(); n++ {
				_ = w.At(Measured, n)
			}
		})
	}
}
