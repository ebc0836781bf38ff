//go:build trials

package trials

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

const (
	// longer is how much longer a put of the candidate takes that is worse.
	longer = 300 * time.Microsecond

	sameTrials, worseTrials         = 20, 10
	minSameDecided, minWorseDecided = 17, 9
)

const comparison = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmarkSuite
metadata: {name: trial}
spec:
  targets: [{name: baseline, target: {endpoints: ["%s"]}}, {name: candidate, target: {endpoints: ["%s"]}}]
  workloads: [{name: put, workload: {type: Put, put: {keys: {count: 1000}, values: {sizeBytes: 256}}}}]
  loads: [{name: one, load: {transport: Fast, connections: 1, clients: 1, warmupSeconds: 1, durationSeconds: 2}}]
  rounds: %d
  seed: %d
  compare: {axis: Targets, baseline: {entry: baseline}, metrics: [{type: Latency, operation: Put, statistic: Mean, tolerancePercent: %d}]}
`

// TestComparisonsOnARealEtcd compares an etcd with itself, both sides behind the same kind of proxy, and with one whose
// puts take 0.3 ms longer. The tolerance is three times the spread between rounds, which is measured first.
func TestComparisonsOnARealEtcd(t *testing.T) {
	etcd := startEtcd(t)
	baseline, candidate := newTarget(t, etcd, 0, 0), newTarget(t, etcd, 0, 0)
	compare := func(rounds, seed, tolerance int) (v1alpha1.SuiteComparison, []float64) {
		s := runSuite(t, fmt.Sprintf(comparison, baseline.address, candidate.address, rounds, seed, tolerance), nil)
		if len(s.Status.Comparisons) != 1 {
			t.Fatalf("found %+v", s.Status)
		}
		for _, r := range s.Status.Results {
			if r.Invalid != "" {
				t.Logf("round %d of %s does not count: %s", r.Round, r.Cell, r.Invalid)
			}
		}
		return s.Status.Comparisons[0], logRatios(s)
	}
	_, ratios := compare(15, 1, 50)
	spread := stat.StdDev(ratios, nil)
	tolerance := min(max(int(math.Ceil(100*3*spread)), 1), 99)
	t.Logf("spread between rounds %.1f %%, so the tolerance is %d %%", 100*spread, tolerance)

	verdicts := map[v1alpha1.ComparisonVerdict]int{}
	for i := range sameTrials {
		c, _ := compare(5, 100+i, tolerance)
		verdicts[c.Verdict]++
		t.Logf("same %2d: %s %s", i+1, show(c), c.Verdict)
	}
	t.Logf("the same etcd: %v", verdicts)
	if verdicts[v1alpha1.Regressed] > 0 || verdicts[v1alpha1.NotRegressed] < minSameDecided {
		t.Errorf("found %v in %d comparisons of an etcd with itself, wanted none Regressed and at least %d NotRegressed", verdicts, sameTrials, minSameDecided)
	}

	candidate.setHold(longer)
	regressed, covered := 0, 0
	for i := range worseTrials {
		baseline.mean()
		candidate.mean()
		c, _ := compare(5, 200+i, tolerance)
		added := candidate.mean() - baseline.mean()
		truth := float64(added.Microseconds()) / float64(c.Baseline)
		if c.Verdict == v1alpha1.Regressed {
			regressed++
		}
		within := float64(*c.LowPerMillion)/1e6 <= truth && truth <= float64(*c.HighPerMillion)/1e6
		if within {
			covered++
		}
		t.Logf("worse %2d: %s %s; the proxy added %s: %+.1f %%, within the interval: %v", i+1, show(c), c.Verdict, added, 100*truth, within)
	}
	t.Logf("%d of %d Regressed, the true change is within %d of the intervals", regressed, worseTrials, covered)
	if regressed < minWorseDecided {
		t.Errorf("%d of %d comparisons found that puts take %s longer, wanted at least %d", regressed, worseTrials, longer, minWorseDecided)
	}
	if covered < minWorseDecided {
		t.Errorf("the true change is within %d of %d intervals, wanted at least %d", covered, worseTrials, minWorseDecided)
	}
}

// logRatios are those of candidate to baseline of each round with two valid runs.
func logRatios(s *v1alpha1.EtcdBenchmarkSuite) (out []float64) {
	values := map[int32]map[string]float64{}
	for _, r := range s.Status.Results {
		if r.Invalid == "" && len(r.Values) == 1 {
			if values[r.Round] == nil {
				values[r.Round] = map[string]float64{}
			}
			values[r.Round][r.Cell] = float64(r.Values[0].Value)
		}
	}
	for _, v := range values {
		if v["baseline"] > 0 && v["candidate"] > 0 {
			out = append(out, math.Log(v["candidate"]/v["baseline"]))
		}
	}
	return out
}

func show(c v1alpha1.SuiteComparison) string {
	percent := func(v *int64) float64 {
		if v == nil {
			return math.NaN()
		}
		return float64(*v) / 1e4
	}
	return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f), %d rounds", percent(c.ChangePerMillion), percent(c.LowPerMillion), percent(c.HighPerMillion), c.Rounds)
}
