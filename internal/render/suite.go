package render

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// WriteSuite prints the result of a suite: its end, its tables, its comparisons, and the runs whose numbers cannot be
// trusted.
func WriteSuite(out io.Writer, s *v1alpha1.EtcdBenchmarkSuite) error {
	_, err := io.WriteString(out, suitePage(s).text.String())
	return err
}

// SuiteBlocks returns what WriteSuite prints.
func SuiteBlocks(s *v1alpha1.EtcdBenchmarkSuite) []Block { return suitePage(s).blocks }

func suitePage(s *v1alpha1.EtcdBenchmarkSuite) *page {
	p := &page{}
	p.begin(PartHeader)
	suiteHeader(p, s)
	p.begin(PartNumbers)
	switch {
	case couldNotStart(s):
		return p
	case s.Spec.Search != nil:
		searchResult(p, s)
		p.begin(PartWarnings)
		suiteWarnings(p, s)
		return p
	}
	suiteTables(p, s)
	p.begin(PartComparison)
	suiteComparisons(p, s)
	p.begin(PartProblems)
	suiteProblems(p, s)
	p.begin(PartWarnings)
	suiteWarnings(p, s)
	return p
}

// suiteWarnings lists the kinds of warnings of the runs, each with the text of the first run that has it.
func suiteWarnings(p *page, s *v1alpha1.EtcdBenchmarkSuite) {
	if len(s.Status.Warnings) > 0 {
		p.gap()
	}
	for _, w := range s.Status.Warnings {
		p.sentence("warning: ", WarningText(s, w))
	}
}

// WarningText is a warning with the runs that have it.
func WarningText(s *v1alpha1.EtcdBenchmarkSuite, w v1alpha1.SuiteWarning) string {
	where := fmt.Sprintf("%s of %s, the first is %s", text.Grouped(w.Runs), text.Plural(len(s.Status.Results), "run"), w.Run)
	switch int(w.Runs) {
	case len(s.Status.Results):
		where = "all runs"
	case 1:
		where = w.Run
	}
	return fmt.Sprintf("%s (%s)", strings.TrimSuffix(w.Message, "."), where)
}

func suiteTables(p *page, s *v1alpha1.EtcdBenchmarkSuite) {
	if f := s.Spec.Table; f != nil && f.Form == v1alpha1.TableMatrix {
		p.section(matrix(s))
	} else {
		for _, g := range performanceTables(s) {
			p.section(g)
		}
	}
	if f := published(s); f != nil {
		p.sentence("  ", fmt.Sprintf("In brackets: the change against %s. Other machines have measured these figures, so nothing is judged by them.", f.Source))
	}
	if strings.Contains(p.text.String(), "±") {
		p.line("  Each number is the mean of the rounds; ± is their standard deviation in percent of it.")
	}
}

func suiteComparisons(p *page, s *v1alpha1.EtcdBenchmarkSuite) {
	if len(s.Status.Comparisons) == 0 {
		return
	}
	p.section(comparisonGrid(s))
	p.line("  BASELINE and CANDIDATE are geometric means of the rounds that are compared.")
	if b := s.Status.Baseline; b != nil {
		p.sentence("  ", baselineText(b))
	}
	if n := confirmed(s); n > 0 {
		p.sentence("  ", fmt.Sprintf("%s looked worse in the first %s: fresh rounds decide.", text.Plural(n, "comparison"), text.Plural(s.Spec.Rounds, "round")))
	}
	suiteNotes(p, s)
	comparedMemory(p, s)
}

// couldNotStart reports whether a suite ended before its first result, so that there is nothing to show.
func couldNotStart(s *v1alpha1.EtcdBenchmarkSuite) bool {
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionFinished)
	return c != nil && (c.Reason == v1alpha1.ReasonInvalidCell || c.Status == metav1.ConditionTrue && len(s.Status.Results) == 0)
}

func suiteHeader(p *page, s *v1alpha1.EtcdBenchmarkSuite) {
	finished := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionFinished)
	state := "Running"
	if finished != nil {
		state = finished.Reason
	}
	p.line("EtcdBenchmarkSuite %s/%s: %s", s.Namespace, s.Name, state)
	repeated := ""
	if n := s.Status.Runs.Repeated; n > 0 {
		repeated = ", and " + text.Plural(n, "repetition")
	}
	switch {
	case couldNotStart(s):
		// No run has started.
	case s.Spec.Search != nil:
		p.line("  runs    %s in %s", text.Plural(s.Status.Runs.Finished, "probe"), text.Plural(s.Status.Runs.Cells, "cell"))
	default:
		p.line("  runs    %s of %s planned, in %s and %s%s", text.Grouped(s.Status.Runs.Finished), text.Grouped(s.Status.Runs.Planned),
			text.Plural(s.Status.Runs.Cells, "cell"), text.Plural(max(s.Spec.Rounds, 1), "round"), repeated)
	}
	if finished != nil && finished.Message != "" {
		p.sentence("  end     ", finished.Message)
	}
	if passed := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPassed); passed != nil {
		p.sentence("  passed  ", fmt.Sprintf("%s: %s", passed.Status, passed.Message))
	}
}

// cellResults are the results of a cell that count, one per round; without invalid ones if there are others.
func cellResults(s *v1alpha1.EtcdBenchmarkSuite, cell string) (out []v1alpha1.SuiteResult) {
	var valid []v1alpha1.SuiteResult
	for round := int32(1); round <= max(s.Spec.Rounds, 1); round++ {
		r, ran := suite.Counted(s.Status.Results, cell, round)
		if !ran || suite.Failed(r) || len(r.Operations) == 0 {
			continue
		}
		out = append(out, r)
		if r.Invalid == "" {
			valid = append(valid, r)
		}
	}
	if len(valid) > 0 {
		return valid
	}
	return out
}

// caveat says that the numbers of a cell are not those of all its rounds, or that they cannot be compared.
func caveat(s *v1alpha1.EtcdBenchmarkSuite, cell string) string {
	results := cellResults(s, cell)
	isInvalid := func(r v1alpha1.SuiteResult) bool { return r.Invalid != "" }
	ended := int32(0)
	for round := int32(1); round <= max(s.Spec.Rounds, 1); round++ {
		if _, ran := suite.Counted(s.Status.Results, cell, round); ran {
			ended = round
		}
	}
	switch n := int32(len(results)); {
	case n > 0 && slices.ContainsFunc(results, isInvalid):
		return " (invalid)"
	case n > 0 && n < ended:
		return fmt.Sprintf(" (%d of %s)", n, text.Plural(ended, "round"))
	}
	return ""
}

// performanceTables have a row per cell and operation, with the columns of etcd's performance page. Cells with different
// headings are in different tables.
func performanceTables(s *v1alpha1.EtcdBenchmarkSuite) []grid {
	var headings []string
	tables := map[string]*grid{}
	for _, c := range suite.Cells(s) {
		run := suite.Planned{Cell: c}.Run(s)
		run.Status.Summary = meanSummary(cellResults(s, c.Name))
		t := table{b: run, run: benchmark.Run(run)}
		header := append([]string{"CELL"}, t.performanceHeader()...)
		header = append(header[:len(header)-1], "P99", header[len(header)-1])
		key := strings.Join(header, "|")
		if tables[key] == nil {
			headings = append(headings, key)
			tables[key] = &grid{left: 2}
			tables[key].add(header...)
		}
		cellRows(tables[key], t, s, c.Name)
		if cells := summed(s, c); cells != nil {
			sumRows(tables[key], s, cells, header)
		}
	}
	var out []grid
	for _, key := range headings {
		out = append(out, *tables[key])
	}
	return out
}

func cellRows(g *grid, t table, s *v1alpha1.EtcdBenchmarkSuite, cell string) {
	results, label := cellResults(s, cell), cell+caveat(s, cell)
	if len(results) == 0 {
		g.add(label, "no result")
		return
	}
	for _, op := range t.b.Status.Summary.Operations {
		if op.Operation.IsEvent() {
			continue
		}
		row := append([]string{label}, t.performanceRow(op)...)
		rate := counts(results, op.Operation, func(o v1alpha1.SuiteOperation) int64 { return o.ThroughputMilliPerSecond })
		mean := latencies(results, op.Operation, func(o v1alpha1.SuiteOperation) int64 { return o.MeanMicroseconds })
		p99 := latencies(results, op.Operation, func(o v1alpha1.SuiteOperation) int64 { return o.P99Microseconds })
		least := atLeast(results, op.Operation)
		if least {
			row[len(row)-2] = "≥" + row[len(row)-2]
		}
		last := len(row) - 1
		row[last-2] += spreadText(rate) + throughputChange(s, cell, t.b.Status.Summary)
		row[last-1] += spreadText(mean) + latencyChange(s, cell, op.Operation, spec.StatisticMean, mean)
		tail := meanLatencyText(p99) + spreadText(p99) + latencyChange(s, cell, op.Operation, spec.StatisticP99, p99)
		if least && len(p99) > 0 {
			tail = "≥" + tail
		}
		row = append(row[:last], tail, meanMemory(results))
		g.add(row...)
		label = ""
	}
}

// counts are the values of an operation in all results that have it.
func counts(results []v1alpha1.SuiteResult, operation spec.Operation, read func(v1alpha1.SuiteOperation) int64) (out []float64) {
	for _, r := range results {
		for _, o := range r.Operations {
			if o.Operation == operation {
				out = append(out, float64(read(o)))
			}
		}
	}
	return out
}

// latencies are the values of an operation in all results that have it; none if one of them is not known.
func latencies(results []v1alpha1.SuiteResult, operation spec.Operation, read func(v1alpha1.SuiteOperation) int64) []float64 {
	out := counts(results, operation, read)
	if slices.Contains(out, 0) {
		return nil
	}
	return out
}

// meanSummary has the mean of each number over several results. It has the form of one run's summary, so that the columns
// of a run can show it.
func meanSummary(results []v1alpha1.SuiteResult) *v1alpha1.Summary {
	s := &v1alpha1.Summary{}
	if len(results) == 0 {
		return s
	}
	for _, first := range results[0].Operations {
		of := func(read func(v1alpha1.SuiteOperation) int64) int64 {
			all := counts(results, first.Operation, read)
			if len(all) == 0 {
				return 0
			}
			return int64(math.Round(stat.Mean(all, nil)))
		}
		succeeded, failed := of(func(o v1alpha1.SuiteOperation) int64 { return o.Succeeded }), of(func(o v1alpha1.SuiteOperation) int64 { return o.Failed })
		s.MeasuredRequests += succeeded + failed
		op := v1alpha1.OperationSummary{
			Operation: first.Operation, Succeeded: succeeded, Failed: failed,
			ThroughputPerSecond: text.RateOf(float64(of(func(o v1alpha1.SuiteOperation) int64 { return o.ThroughputMilliPerSecond })) / 1000).Decimal(),
		}
		if mean := of(func(o v1alpha1.SuiteOperation) int64 { return o.MeanMicroseconds }); mean > 0 {
			op.Latency = &v1alpha1.LatencySummary{Count: succeeded, MeanMicroseconds: mean}
		}
		s.Operations = append(s.Operations, op)
	}
	return s
}

// atLeast reports whether requests were unanswered at the end of a run, so that its latencies are lower bounds.
func atLeast(results []v1alpha1.SuiteResult, operation spec.Operation) bool {
	return slices.ContainsFunc(results, func(r v1alpha1.SuiteResult) bool {
		return slices.ContainsFunc(r.Operations, func(o v1alpha1.SuiteOperation) bool { return o.Operation == operation && o.AtLeast })
	})
}

// spreadText is the standard deviation of several rounds in percent of their mean; empty for one round.
func spreadText(values []float64) string {
	if len(values) < 2 {
		return ""
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	if mean == 0 {
		return ""
	}
	return fmt.Sprintf(" ±%.0f %%", 100*deviation/mean)
}

func meanLatencyText(micros []float64) string {
	if len(micros) == 0 {
		return thin
	}
	return text.Duration(time.Duration(stat.Mean(micros, nil)) * time.Microsecond)
}

func comparisonGrid(s *v1alpha1.EtcdBenchmarkSuite) grid {
	g := grid{left: 3}
	g.add(append([]string{"CELL", "BASELINE CELL"}, ComparisonHeader...)...)
	for _, c := range s.Status.Comparisons {
		g.add(append([]string{c.Cell, c.BaselineCell}, ComparisonRow(c.Comparison)...)...)
	}
	return g
}

func suiteNotes(p *page, s *v1alpha1.EtcdBenchmarkSuite) {
	for _, note := range messagesOf(s.Status.Comparisons) {
		p.sentence(bullet+" ", note)
	}
}

// messagesOf explains the verdicts. What holds for several comparisons is said once.
func messagesOf(all []v1alpha1.SuiteComparison) (out []string) {
	const most = 3
	var messages []string
	about := map[string][]string{}
	for _, c := range all {
		if c.Message == "" {
			continue
		}
		if about[c.Message] == nil {
			messages = append(messages, c.Message)
		}
		about[c.Message] = append(about[c.Message], c.Cell+" "+c.Metric.String())
	}
	for _, m := range messages {
		names := about[m]
		if n := len(names); n > most {
			names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", n-most))
		}
		out = append(out, strings.Join(names, ", ")+": "+m)
	}
	return out
}

// InPlaceOf says that another run of the same cell and round counts; empty if this one does.
func InPlaceOf(s *v1alpha1.EtcdBenchmarkSuite, r v1alpha1.SuiteResult) string {
	counted, _ := suite.Counted(s.Status.Results, r.Cell, r.Round)
	switch {
	case counted.Name == r.Name:
		return ""
	case suite.IsRepetition(r):
		return "; the run that it repeats counts"
	}
	return "; its repetition counts"
}

// suiteProblems lists runs that failed, missed an objective, or have numbers that cannot be compared.
func suiteProblems(p *page, s *v1alpha1.EtcdBenchmarkSuite) {
	g := grid{left: 5}
	g.add("RUN", "CELL", "ROUND", "END", "PROBLEM")
	for _, r := range s.Status.Results {
		problem := r.Invalid
		if r.Passed == metav1.ConditionFalse {
			problem = strings.TrimPrefix(problem+"; "+cmp.Or(r.Missed, "it missed an objective"), "; ")
		}
		if problem != "" {
			problem += InPlaceOf(s, r)
			g.add(r.Name, r.Cell, text.Grouped(r.Round), r.Reason, problem)
		}
	}
	if len(g.rows) > 1 {
		p.section(g)
	}
}
