package results

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// distributions are shapes of latency; each function returns one duration.
var distributions = map[string]func(*rand.Rand) float64{
	"constant":    func(*rand.Rand) float64 { return 1e6 },
	"uniform":     func(r *rand.Rand) float64 { return 1e4 + r.Float64()*1e8 },
	"fast":        func(r *rand.Rand) float64 { return 5e3 + r.Float64()*95e3 },
	"zero bucket": func(r *rand.Rand) float64 { return r.Float64() * 4e3 },
	"exponential": func(r *rand.Rand) float64 { return 5e5 * r.ExpFloat64() },
	"log-normal":  func(r *rand.Rand) float64 { return 2e7 * math.Exp(r.NormFloat64()) },
	"heavy tail":  func(r *rand.Rand) float64 { return 1e5 / math.Pow(1-r.Float64(), 1.5) },
	"two modes": func(r *rand.Rand) float64 {
		if r.IntN(100) < 98 {
			return 3e5 + 1e4*r.NormFloat64()
		}
		return 1e9 + 1e8*r.Float64()
	},
}

// allowed is the allowed error of a percentile in nanoseconds: 0.28 % plus rounding; in the zero bucket, half of its
// width.
func allowed(ns int64) float64 {
	if BucketIndex(ns) == 0 {
		return ZeroThreshold * nanosecondsPerSecond / 2
	}
	return 0.0028*float64(ns) + 0.5
}

// The percentiles of merged shards must equal those of all raw samples.
func TestPercentilesEqualThoseOfRawSamples(t *testing.T) {
	for name, draw := range distributions {
		for _, n := range []int{1, 2, 3, 10, 99, 1000, 100_000} {
			for _, pods := range []int{1, 2, 5} {
				r := rand.New(rand.NewPCG(5, uint64(n)))
				shards, raw := make([]Histogram, pods), make([]int64, n)
				for i := range raw {
					raw[i] = max(int64(draw(r)), 0)
					shards[r.IntN(pods)].Record(raw[i])
				}
				slices.Sort(raw)
				var merged Histogram
				for i := range shards {
					merged.Merge(&shards[i])
				}
				for _, p := range Percentiles {
					perMille := int(math.Round(QuantileOf(p) * 1000))
					want := raw[(perMille*n+999)/1000-1]
					got, known := merged.Quantile(QuantileOf(p))
					if off := math.Abs(float64(int64(got) - want)); !known || off > allowed(want) {
						t.Errorf("%s, %d samples, %d pods: %s is %d ns, wanted %d within %.1f", name, n, pods, p, got, want, allowed(want))
					}
				}
			}
		}
	}
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestRankIsNearestRank(t *testing.T) {
	tests := map[string]struct {
		q    float64
		n    uint64
		want uint64
	}{
		"in the middle":         {0.5, 3, 2},
		"exactly":               {0.5, 4, 2},
		"not above by rounding": {0.07, 100, 7},
		"the last":              {1, 9, 9},
		"at least the first":    {0, 9, 1},
		"many":                  {0.999, 1 << 62, 4607074332408960517},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := rank(tc.q, tc.n); got != tc.want {
				t.Errorf("got %d, wanted %d", got, tc.want)
			}
		})
	}
}

func TestQuantileIsClampedToMinimumAndMaximum(t *testing.T) {
	h := recorded(1_000_003)
	if got, _ := h.Quantile(0.5); got != 1_000_003 {
		t.Errorf("got %d, wanted the only duration", got)
	}
	if _, known := (&Histogram{}).Quantile(0.5); known {
		t.Error("an empty histogram has a median")
	}
}

// Over counts at the resolution of the buckets, for every schema.
func TestOverCountsWhatIsAboveALimit(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for schema := MinSchema; schema <= MaxSchema; schema++ {
		var h Histogram
		limit, over, surely := int64(math.Exp2(8+22*r.Float64())), uint64(0), uint64(0)
		for range 2_000 {
			ns := int64(math.Exp2(8 + 22*r.Float64()))
			h.Record(ns)
			over += uint64(boolToInt(ns > limit))
			surely += uint64(boolToInt(float64(ns) > max(float64(limit)*math.Exp2(math.Exp2(float64(-schema))), 1e3)))
		}
		h.Reduce(schema)
		if got, known := h.Over(time.Duration(limit)); !known || got > over || got < surely {
			t.Errorf("schema %d: %d are over %d ns, %v; wanted %d to %d", schema, got, limit, known, surely, over)
		}
	}
	lost := recorded(1e6)
	lost.DropBuckets()
	if n, known := lost.Over(1); known {
		t.Errorf("without buckets, Over returned %d", n)
	}
	if n, known := (&Histogram{}).Over(1); n != 0 || !known {
		t.Errorf("of nothing, %d are over, %v", n, known)
	}
}

// request is a raw sample. The test sorts samples to verify Ranked.
type request struct {
	ns               int64
	censored, failed bool
}

func TestRankedEqualsSortingAllRequests(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	bounded := 0
	for range 300 {
		var result OperationResult
		all := randomRequests(r, &result)
		sortRequests(all, func(q request) bool { return q.failed })
		worst := slices.Clone(all)
		sortRequests(worst, func(q request) bool { return q.failed || q.censored })
		judged := result.Judged()
		for _, p := range Percentiles {
			at := int(rank(QuantileOf(p), uint64(len(all)))) - 1
			got, known := judged.Quantile(QuantileOf(p))
			if !known || got.Unbounded != all[at].failed {
				t.Fatalf("%s is %+v, %v, wanted %+v", p, got, known, all[at])
			}
			if got.Unbounded {
				continue
			}
			if !isClose(got.Duration, all[at]) {
				t.Fatalf("%s is %d, wanted %d", p, got.Duration, all[at].ns)
			}
			noBound := worst[at].failed || worst[at].censored
			wantAtLeast := noBound || BucketIndex(worst[at].ns) > BucketIndex(all[at].ns)
			if got.AtLeast != wantAtLeast || (got.AtMost > 0) != (wantAtLeast && !noBound) || got.AtMost > 0 && !isJustAbove(got.AtMost, worst[at]) {
				t.Fatalf("%s is %+v; with the censored requests ranked last it would be %+v", p, got, worst[at])
			}
			if got.AtMost > 0 {
				bounded++
			}
		}
	}
	if bounded < 20 {
		t.Errorf("only %d percentiles were bounded on both sides: the test is too weak", bounded)
	}
}

// sortRequests ranks the requests for which above is true above the others.
func sortRequests(all []request, above func(request) bool) {
	slices.SortFunc(all, func(a, b request) int {
		return cmp.Or(cmp.Compare(boolToInt(above(a)), boolToInt(above(b))), cmp.Compare(a.ns, b.ns))
	})
}

func isClose(d time.Duration, q request) bool {
	return math.Abs(float64(int64(d)-q.ns)) <= allowed(q.ns)
}

// isJustAbove reports whether a bound is in the bucket of a request, and not below it.
func isJustAbove(bound time.Duration, q request) bool {
	return int64(bound) >= q.ns && BucketIndex(int64(bound)) == BucketIndex(q.ns)
}

func randomRequests(r *rand.Rand, result *OperationResult) []request {
	all := make([]request, 1+r.IntN(400))
	kinds := 1 + r.IntN(20)
	for i := range all {
		all[i].ns = int64(math.Exp2(9 + 21*r.Float64()))
		switch r.IntN(kinds) {
		case 1:
			all[i].censored = true
			result.Censored.Record(all[i].ns)
		case 2:
			all[i].failed = true
			result.Failed.Record(all[i].ns)
		default:
			result.Latency.Record(all[i].ns)
		}
	}
	return all
}

func exactly(d time.Duration, atLeast bool) Value {
	return Value{Duration: d, Lowest: d, Highest: d, AtLeast: atLeast}
}

func TestRankedExtremes(t *testing.T) {
	answered, waited, failed := recorded(1e6, 3e6), recorded(5e6), recorded(9e6)
	tests := map[string]struct {
		result    OperationResult
		max, mean Value
		known     bool
	}{
		"nothing":  {},
		"answered": {OperationResult{Latency: answered}, exactly(3e6, false), exactly(2e6, false), true},
		"censored": {
			OperationResult{Latency: answered, Censored: waited},
			exactly(5e6, true), exactly(3e6, true), true,
		},
		"failed": {
			OperationResult{Latency: answered, Failed: failed}, Value{Unbounded: true}, exactly(2e6, false), true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			judged := tc.result.Judged()
			if got, known := judged.Max(); got != tc.max || known != tc.known {
				t.Errorf("max is %+v, %v, wanted %+v, %v", got, known, tc.max, tc.known)
			}
			if got, known := judged.Mean(); got != tc.mean || known != tc.known {
				t.Errorf("mean is %+v, %v, wanted %+v, %v", got, known, tc.mean, tc.known)
			}
			ranked := tc.result.Ranked()
			if got, _ := ranked.Quantile(1); got.Unbounded || got.Duration > 5*time.Millisecond {
				t.Errorf("the shown value includes a failed request: %+v", got)
			}
		})
	}
}
