package compare

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Rounds without noise are judged exactly: a change of the tolerance is not more than the tolerance.
func TestChangesAtTheToleranceAreJudgedExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 20))
	equal := 0
	for range 20_000 {
		percent := 1 + r.Int64N(99)
		// Requests per second as status has them: whole ones from 100 on, else with up to six digits after the point.
		unit := []int64{1, 1000, 1_000_000}[r.IntN(3)]
		step := 1 + r.Int64N(5000)
		off := r.Int64N(3) - 1
		var rounds []Round
		for range 3 {
			times := 1 + r.Int64N(20)
			baseline, candidate := 100*step*times, (100-percent)*step*times+off*times
			rounds = append(rounds, Round{Value{Number: float64(baseline) / float64(unit)}, Value{Number: float64(candidate) / float64(unit)}})
		}
		change := big.NewRat((100-percent)*step+off, 100*step)
		if change.Sign() <= 0 {
			continue
		}
		want := v1alpha1.NotRegressed
		switch change.Cmp(big.NewRat(100-percent, 100)) {
		case -1:
			want = v1alpha1.Regressed
		case 0:
			equal++
		}
		q := Question{Metric: v1alpha1.Metric{Type: v1alpha1.MetricThroughput, TolerancePercent: int32(percent)}, Rounds: rounds}
		stored := StoredQuestion{Metric: q.Metric, Baseline: Stored{Value: rounds[0].Baseline, Rounds: 3, History: History{Sessions: MinSessions, Rounds: 3}}}
		for range 3 {
			stored.Candidate = append(stored.Candidate, rounds[0].Candidate)
		}
		for _, c := range append(Judge([]Question{q}), JudgeStored([]StoredQuestion{stored})...) {
			if c.Verdict != want {
				t.Fatalf("%v of the baseline, tolerance %d %%, rounds %+v: found %+v, wanted %s", change, percent, rounds, c, want)
			}
		}
	}
	if equal < 1000 {
		t.Errorf("only %d changes were at the tolerance: the test is too weak", equal)
	}
}

func TestAFallOfTheTolerance(t *testing.T) {
	var rounds []Round
	for range 3 {
		rounds = append(rounds, Round{Value{Number: 1000}, Value{Number: 950}})
	}
	c := Judge([]Question{{Metric: v1alpha1.Metric{Type: v1alpha1.MetricThroughput}, Rounds: rounds}})
	if c[0].Verdict != v1alpha1.NotRegressed {
		t.Errorf("1,000 to 950 in three rounds, tolerance 5 %%: found %+v", c[0])
	}
}

// Failed requests matter from a tenth of those above the percentile on.
func TestFailuresMatter(t *testing.T) {
	for _, tc := range []struct {
		failed, all int64
		statistic   spec.Statistic
		want        bool
	}{
		{0, 1000, "P90", false}, {10, 1000, "P90", false}, {11, 1000, "P90", true}, {1, 1000, "P99", false}, {2, 1000, "P99", true}, {1, 1_000_000, "Mean", true},
	} {
		if got := FailuresMatter(tc.failed, tc.all, tc.statistic); got != tc.want {
			t.Errorf("%d of %d, %s: %v, wanted %v", tc.failed, tc.all, tc.statistic, got, tc.want)
		}
	}
}
