package verdict

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// These tests decide objectives a second time, slowly and exactly: by sorting all requests, and with rational numbers.

// answers are puts with these latencies.
func answers(latencies []time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		for _, l := range latencies {
			s.Operations[spec.OperationPut].Latency.Record(l.Nanoseconds())
		}
	}
}

// nearestRank is the ⌈q·n⌉-th smallest of sorted latencies, with q in thousandths.
func nearestRank(sorted []time.Duration, perMille int) time.Duration {
	return sorted[(perMille*len(sorted)+999)/1000-1]
}

var perMille = map[spec.Statistic]int{spec.StatisticP50: 500, spec.StatisticP90: 900, spec.StatisticP95: 950, spec.StatisticP99: 990, spec.StatisticP999: 999}

// slowly is the verdict on an objective with all latencies known.
func slowly(latencies []time.Duration, o v1alpha1.LatencyObjective) v1alpha1.ObjectiveResult {
	sorted := slices.Sorted(slices.Values(latencies))
	limit := time.Duration(o.MaxMicroseconds) * time.Microsecond
	isMissed := false
	switch o.Statistic {
	case spec.StatisticMean:
		sum := time.Duration(0)
		for _, l := range sorted {
			sum += l
		}
		isMissed = sum > limit*time.Duration(len(sorted))
	case spec.StatisticMax:
		isMissed = sorted[len(sorted)-1] > limit
	default:
		isMissed = nearestRank(sorted, perMille[o.Statistic]) > limit
	}
	if isMissed {
		return v1alpha1.ObjectiveMissed
	}
	return v1alpha1.ObjectiveMet
}

var judgedStatistics = append([]spec.Statistic{spec.StatisticMean, spec.StatisticMax}, results.Percentiles...)

// drawnLatencies are near 10 ms, so that limits lie between them, and often on them.
func drawnLatencies(r *rand.Rand, n int) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = 10*time.Millisecond + time.Duration(r.IntN(400)-200)*time.Microsecond
		if r.IntN(20) == 0 {
			out[i] *= 2
		}
		if r.IntN(4) == 0 {
			out[i]++
		}
	}
	return out
}

// A verdict on a latency is never wrong.
func TestLatenciesAreJudgedExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 10))
	decided := map[v1alpha1.ObjectiveResult]int{}
	for range 1000 {
		latencies := drawnLatencies(r, 1+r.IntN(3000))
		o := runtest.MaxLatency(judgedStatistics[r.IntN(len(judgedStatistics))], []int64{9_900, 10_150, 20_500}[r.IntN(3)]+r.Int64N(200))
		if r.IntN(2) == 0 {
			o.Latency.MaxMicroseconds = latencies[r.IntN(len(latencies))].Microseconds()
		}
		s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 0, answers(latencies))})
		got, _ := Judge(runtest.Puts(runtest.Objectives(o)), &s, v1alpha1.ReasonCompleted)
		decided[got[0].Result]++
		if want := slowly(latencies, *o.Latency); got[0].Result != want && got[0].Result != v1alpha1.ObjectiveUnknown {
			t.Fatalf("%+v of %d latencies: found %+v, wanted %s", o.Latency, len(latencies), got[0], want)
		}
	}
	if decided[v1alpha1.ObjectiveMet] < 200 || decided[v1alpha1.ObjectiveMissed] < 200 {
		t.Errorf("the verdicts were %v: the test is too weak", decided)
	}
}

// The exact minimum and maximum decide where a bucket does not.
func TestPercentilesAreWithinMinimumAndMaximum(t *testing.T) {
	const bucket = 9_990
	same := make([]time.Duration, 2000)
	for i := range same {
		same[i] = bucket * time.Microsecond
	}
	for limit, want := range map[int64]v1alpha1.ObjectiveResult{
		bucket + 10: v1alpha1.ObjectiveMet, bucket: v1alpha1.ObjectiveMet, bucket - 1: v1alpha1.ObjectiveMissed,
	} {
		s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 0, answers(same))})
		got, _ := Judge(runtest.Puts(runtest.Objectives(runtest.MaxLatency(spec.StatisticP99, limit))), &s, v1alpha1.ReasonCompleted)
		if got[0].Result != want {
			t.Errorf("2,000 puts of 9.99 ms, at most %d µs: found %+v, wanted %s", limit, got[0], want)
		}
	}
}

// A partial result is missed exactly if it would be missed with all missing requests fast, and it is never met.
func TestPartialResultsAreJudgedExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 11))
	decided := map[v1alpha1.ObjectiveResult]int{}
	for range 1000 {
		latencies := drawnLatencies(r, 1+r.IntN(2000))
		gone := 1 + r.IntN(500)
		o := runtest.MaxLatency(judgedStatistics[r.IntN(len(judgedStatistics))], []int64{9_000, 9_950, 10_150, 1}[r.IntN(4)])
		planned := func(b *v1alpha1.EtcdBenchmark) { b.Spec.Load.Requests = new(int64(len(latencies) + gone)) }
		s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 0, answers(latencies)), nil})
		got, _ := Judge(runtest.Puts(planned, runtest.Objectives(o)), &s, v1alpha1.ReasonPartlyCompleted)
		decided[got[0].Result]++
		couldMeet := slowly(append(make([]time.Duration, gone), latencies...), *o.Latency) == v1alpha1.ObjectiveMet
		if got[0].Result == v1alpha1.ObjectiveMet || got[0].Result == v1alpha1.ObjectiveMissed && couldMeet {
			t.Fatalf("%+v of %d latencies, %d more missing, could be met: %v; found %+v", o.Latency, len(latencies), gone, couldMeet, got[0])
		}
	}
	if decided[v1alpha1.ObjectiveMissed] < 100 || decided[v1alpha1.ObjectiveUnknown] < 100 {
		t.Errorf("the verdicts were %v: the test is too weak", decided)
	}
}

// Counts decide objectives on rates and on errors, also next to the limit.
func TestCountsAreJudgedExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 12))
	equal := 0
	for range 20_000 {
		// Often exactly the limit.
		percent, rate := 1+r.Int64N(100), 100*(1+r.Int64N(100))
		length := time.Duration(1+r.IntN(90)) * time.Second
		done := uint64(percent * rate * int64(length/time.Second) / 100)
		done = max(done+r.Uint64N(3), 1) - 1
		load := spec.Load{Rate: &spec.Rate{PerSecond: rate}}
		due := uint64(rate * int64(length/time.Second))
		if r.IntN(2) == 0 {
			load.Requests = new(int64(due))
		}
		failed := due - min(done, due)
		b := runtest.Puts(func(b *v1alpha1.EtcdBenchmark) { b.Spec.Load = load })
		s := results.Summary{Completed: done, Succeeded: done, Failed: failed, Length: length, Throughput: float64(done) / length.Seconds()}

		perSecond := new(big.Rat).SetFrac64(int64(done)*int64(time.Second), int64(length))
		share := new(big.Rat).Quo(perSecond, big.NewRat(rate, 100))
		if load.Requests == nil {
			share = big.NewRat(100*int64(done), int64(done+failed))
		}
		if share.Cmp(big.NewRat(percent, 1)) == 0 {
			equal++
		}
		perMillion := big.NewRat(1_000_000*int64(failed), int64(done+failed))
		most := 10_000 * (100 - percent)
		for what, tc := range map[string]struct {
			got      v1alpha1.ObjectiveResult
			isMissed bool
		}{
			"achieved rate": {judgeAchievedRate(v1alpha1.AchievedRateObjective{MinPercent: int32(percent)}, load, throughputOf(b, s), s).result, share.Cmp(big.NewRat(percent, 1)) < 0},
			"throughput":    {judgeThroughput(v1alpha1.ThroughputObjective{MinPerSecond: percent * rate / 100}, throughputOf(b, s), s).result, perSecond.Cmp(big.NewRat(percent*rate/100, 1)) < 0},
			"errors":        {judgeErrorRatio(v1alpha1.ErrorRatioObjective{MaxPerMillion: most}, b, s).result, perMillion.Cmp(big.NewRat(most, 1)) > 0},
		} {
			if (tc.got == v1alpha1.ObjectiveMissed) != tc.isMissed || tc.got == v1alpha1.ObjectiveUnknown {
				t.Fatalf("%s: %d of %d in %v, %d %% of %d/s: found %s, wanted missed: %v", what, done, done+failed, length, percent, rate, tc.got, tc.isMissed)
			}
		}
	}
	if equal < 1000 {
		t.Errorf("only %d shares were equal to the limit: the test is too weak", equal)
	}
}

// 79 of 10,000 is 0.0079, and in floating point a million times that is more than 7,900.
func TestAsManyErrorsAsAllowed(t *testing.T) {
	const total = 10_000
	for failed := range uint64(total) {
		s := results.Summary{Succeeded: total - failed, Failed: failed}
		limit := int64(failed) * 1_000_000 / total
		if v := judgeErrorRatio(v1alpha1.ErrorRatioObjective{MaxPerMillion: limit}, runtest.Puts(), s); v.result != v1alpha1.ObjectiveMet {
			t.Fatalf("%d of %d failed, at most %d per million: found %+v", failed, total, limit, v)
		}
		if v := judgeErrorRatio(v1alpha1.ErrorRatioObjective{MaxPerMillion: limit - 1}, runtest.Puts(), s); failed > 0 && v.result != v1alpha1.ObjectiveMissed {
			t.Fatalf("%d of %d failed, at most %d per million: found %+v", failed, total, limit-1, v)
		}
	}
}
