package suite

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// NeedsBaseline returns the name of the suite that a suite is compared with; empty if there is none.
func NeedsBaseline(s *v1alpha1.EtcdBenchmarkSuite) string {
	if c := s.Spec.Compare; c != nil && c.Baseline.Suite != nil {
		return c.Baseline.Suite.Name
	}
	return ""
}

// Histories say how much equal sessions differ.
type Histories struct {
	// Schedule is the name of the one with the history; empty if there is none.
	Schedule string
	// Rounds is how many rounds each session has.
	Rounds int32
	// Of returns from how many other sessions of an environment the spread of a number is known.
	Of func(cell string, m v1alpha1.Metric, in v1alpha1.Environment) (sessions int, spread float64)
}

// Keep sets what the comparisons of a suite need from its baseline in status. It returns an error if the baseline cannot
// be compared with the suite.
func Keep(s, baseline *v1alpha1.EtcdBenchmarkSuite, h Histories) error {
	if err := whyNoBaseline(baseline); err != nil {
		return err
	}
	if n := Left(baseline); n > 0 {
		return fmt.Errorf("%s of its %d planned runs did not run: use a suite whose runs have all run", text.Grouped(n), baseline.Status.Runs.Planned)
	}
	kept := &v1alpha1.StoredBaseline{Suite: baseline.Name, CompletionTime: baseline.Status.CompletionTime, Schedule: h.Schedule, HistoryRounds: h.Rounds}
	others := Cells(baseline)
	for _, c := range Cells(s) {
		i := slices.IndexFunc(others, func(o Cell) bool { return o.Name == c.Name })
		if i < 0 {
			return fmt.Errorf("it has no cell %s: exclude that cell, or compare with a suite that has it. Its cells are %s", c.Name, namesOf(others))
		}
		if err := sameWork(baseline, s, others[i], c); err != nil {
			return err
		}
		cell := v1alpha1.StoredCell{Cell: c.Name, Environment: EnvironmentOf(valid(baseline, c.Name)), Invalid: invalidRuns(baseline, c.Name)}
		for _, m := range s.Spec.Compare.Metrics {
			v := storedNumber(baseline, others[i], m)
			if h.Of != nil {
				v.History.Sessions, v.History.Spread = h.Of(c.Name, m, cell.Environment)
			}
			cell.Values = append(cell.Values, keptStored(v, m))
		}
		kept.Cells = append(kept.Cells, cell)
	}
	s.Status.Baseline = kept
	return nil
}

// whyNoBaseline returns why a suite cannot be a baseline; nil if it can.
func whyNoBaseline(baseline *v1alpha1.EtcdBenchmarkSuite) error {
	switch {
	case baseline.Spec.Search != nil:
		return errors.New("it is a search, which has no rounds to compare: compare the rates in its result")
	case !meta.IsStatusConditionTrue(baseline.Status.Conditions, v1alpha1.ConditionFinished):
		return errors.New("it has not finished: wait for its condition Finished")
	case len(baseline.Status.Results) == 0:
		return errors.New("it has no results")
	}
	return nil
}

// sameWork returns an error that names the fields in which a cell of two suites differs.
func sameWork(baseline, candidate *v1alpha1.EtcdBenchmarkSuite, a, b Cell) error {
	const shown = 3
	differences, err := compare.Differences(Planned{Cell: a}.Run(baseline), Planned{Cell: b}.Run(candidate))
	if err != nil || len(differences) == 0 {
		return err
	}
	return fmt.Errorf("its cell %s did not do the same, so it cannot be compared. It differs in %s", b.Name, strings.Join(differences[:min(len(differences), shown)], ", "))
}

func namesOf(cells []Cell) string {
	const shown = 10
	var names []string
	for _, c := range cells[:min(len(cells), shown)] {
		names = append(names, c.Name)
	}
	if n := len(cells) - shown; n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(names, ", ")
}

// valid are the results of a cell that count and are valid, by round.
func valid(s *v1alpha1.EtcdBenchmarkSuite, cell string) (out []v1alpha1.SuiteResult) {
	for round := int32(1); round <= max(s.Spec.Rounds, 1); round++ {
		if r, ran := Counted(s.Status.Results, cell, round); ran && r.Invalid == "" {
			out = append(out, r)
		}
	}
	return out
}

// EnvironmentOf is the environment of the valid results together. What the client pods ran on is known only if it is known
// of each. Of results that differ, it is a hash of all that they have, so that a part of them is no whole.
func EnvironmentOf(all []v1alpha1.SuiteResult) (out v1alpha1.Environment) {
	var clients []string
	kinds := map[string]bool{}
	for _, r := range all {
		if r.Invalid == "" {
			clients = append(clients, r.Client)
			out.DataInMemory = out.DataInMemory || r.DataInMemory
			out.ClientBound, out.AddedPerMillion = out.ClientBound || r.ClientBound, max(out.AddedPerMillion, r.AddedPerMillion)
			kinds[fmt.Sprint(r.Client, r.DataInMemory)] = true
		}
	}
	switch {
	case len(clients) == 0 || slices.Contains(clients, ""):
	case len(kinds) == 1:
		out.Client = clients[0]
	default:
		out.Client = benchmark.HashOf(slices.Sorted(maps.Keys(kinds)))
	}
	return out
}

// invalidRuns is how many runs of a cell count as failures of its target.
func invalidRuns(s *v1alpha1.EtcdBenchmarkSuite, cell string) (n int32) {
	for round := int32(1); round <= max(s.Spec.Rounds, 1); round++ {
		n += int32(failures(s.Status.Results, cell, round))
	}
	return n
}

// storedNumber is the geometric mean of a metric over the valid rounds of a cell.
func storedNumber(s *v1alpha1.EtcdBenchmarkSuite, c Cell, m v1alpha1.Metric) (out compare.Stored) {
	var logs []float64
	all := valid(s, c.Name)
	if len(all) == 0 {
		out.Value.Reason = v1alpha1.ReasonNotMeasured
		return out
	}
	uninformative := 0
	for _, r := range all {
		v := valueIn(s, c, r, m)
		out.Value.AtLeast, out.Value.Error = out.Value.AtLeast || v.AtLeast, max(out.Value.Error, v.Error)
		if v.Reason == v1alpha1.ReasonNotInformative {
			uninformative++
		} else {
			out.Value.Reason = cmp.Or(out.Value.Reason, v.Reason)
		}
		if v.Number > 0 {
			logs = append(logs, math.Log(v.Number))
		}
	}
	// If the rate was missed in one round, the throughput says so.
	if uninformative == len(all) {
		out.Value.Reason = v1alpha1.ReasonNotInformative
	}
	switch out.Rounds = len(logs); len(logs) {
	case 0:
	case 1:
		out.Value.Number = math.Exp(logs[0])
	default:
		mean, deviation := stat.MeanStdDev(logs, nil)
		out.Value.Number, out.Deviation = math.Exp(mean), deviation
	}
	return out
}

// valueIn is the number of a metric in a result: the one that was kept for a comparison, else that of the table.
func valueIn(s *v1alpha1.EtcdBenchmarkSuite, c Cell, r v1alpha1.SuiteResult, m v1alpha1.Metric) compare.Value {
	if s.Spec.Compare != nil {
		i := slices.IndexFunc(s.Spec.Compare.Metrics, func(o v1alpha1.Metric) bool { return o.String() == m.String() })
		if i >= 0 && i < len(r.Values) {
			return read(r.Values[i], m)
		}
	}
	number, known := NumberOf(r, m)
	v := compare.Value{Number: number / unitOf(m)}
	switch i := slices.IndexFunc(r.Operations, func(o v1alpha1.SuiteOperation) bool { return o.Operation == m.Operation }); {
	case m.Type == v1alpha1.MetricThroughput && known && c.Load.Load.Rate != nil:
		// The result does not say whether the rate was reached.
		v.Reason = v1alpha1.ReasonNotInformative
	case m.Type == v1alpha1.MetricThroughput && known:
	case i >= 0 && known:
		v.AtLeast, v.Error = maybeGreater(r.Operations[i], m.Statistic), errorOf(number, m.Statistic)
	case i >= 0 && r.Operations[i].MeanMicroseconds > 0 && Keeps(m):
		v.Reason = v1alpha1.ReasonComparedTailTooThin
	default:
		v.Reason = v1alpha1.ReasonNotMeasured
	}
	return v
}

// maybeGreater reports whether a statistic would be greater if requests that failed or were unanswered counted as slower
// than all others.
func maybeGreater(o v1alpha1.SuiteOperation, s spec.Statistic) bool {
	return o.AtLeast || compare.FailuresMatter(o.Failed, o.Succeeded+o.Failed, s)
}

// errorOf is the greatest relative error of a latency in a table. It has whole microseconds, and a percentile comes from
// a bucket.
func errorOf(microseconds float64, s spec.Statistic) float64 {
	const rounding = 0.5
	out := rounding / microseconds
	if slices.Contains(results.Percentiles, s) {
		out += float64(results.BestErrorBound) / 1e6
	}
	return out
}

// keptStored is a number of a baseline in the units of status.
func keptStored(v compare.Stored, m v1alpha1.Metric) v1alpha1.StoredValue {
	return v1alpha1.StoredValue{
		SuiteValue: kept(v.Value, m), Rounds: int32(v.Rounds), DeviationPerMillion: int64(math.Round(1e6 * v.Deviation)),
		Sessions: int32(v.History.Sessions), SpreadPerMillion: int64(math.Round(1e6 * v.History.Spread)),
	}
}

func readStored(b *v1alpha1.StoredBaseline, v v1alpha1.StoredValue, m v1alpha1.Metric) compare.Stored {
	return compare.Stored{
		Value: read(v.SuiteValue, m), Rounds: int(v.Rounds), Deviation: float64(v.DeviationPerMillion) / 1e6,
		History: compare.History{Sessions: int(v.Sessions), Spread: float64(v.SpreadPerMillion) / 1e6, Rounds: int(b.HistoryRounds)},
	}
}

// storedComparisons compares each cell with that of the baseline in status.
func storedComparisons(s *v1alpha1.EtcdBenchmarkSuite, cells []Cell) (out []v1alpha1.SuiteComparison) {
	var questions []compare.StoredQuestion
	for _, c := range cells {
		i := slices.IndexFunc(s.Status.Baseline.Cells, func(o v1alpha1.StoredCell) bool { return o.Cell == c.Name })
		if i < 0 {
			continue
		}
		baseline := s.Status.Baseline.Cells[i]
		for metric, m := range s.Spec.Compare.Metrics {
			if Measures(s, c, m) && metric < len(baseline.Values) {
				out = append(out, v1alpha1.SuiteComparison{Cell: c.Name, BaselineCell: c.Name})
				questions = append(questions, storedQuestion(s, c, m, readStored(s.Status.Baseline, baseline.Values[metric], m), baseline.Environment, baseline.Invalid))
			}
		}
	}
	for i, result := range compare.JudgeStored(questions) {
		out[i].Comparison = result
	}
	return out
}

// storedQuestion has the values of the candidate. in and invalid are those of the baseline.
func storedQuestion(s *v1alpha1.EtcdBenchmarkSuite, c Cell, m v1alpha1.Metric, baseline compare.Stored, in v1alpha1.Environment, invalid int32) compare.StoredQuestion {
	q := compare.StoredQuestion{Metric: m, Baseline: baseline}
	results := valid(s, c.Name)
	for _, r := range results {
		q.Candidate = append(q.Candidate, valueIn(s, c, r, m))
	}
	if len(results) > 0 {
		before, after := []v1alpha1.Environment{in}, []v1alpha1.Environment{EnvironmentOf(results)}
		q.Doubt, q.Note = compare.Unlike(before, after, compare.Sides{})
		q.Added = compare.AddedOf(before, after)
	}
	if invalidRuns(s, c.Name) != invalid {
		q.Doubt = v1alpha1.ReasonExclusionsDiffer
	}
	return q
}
