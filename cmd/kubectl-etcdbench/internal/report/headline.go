package report

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Tile is a number to read first, and what it is of.
type Tile struct{ Name, Value, Note string }

// Judgement says whether numbers describe the target, and why.
type Judgement struct {
	Title string
	State State
	Words string
	Why   []render.Block
}

// tilesOfRun are empty if nothing was measured.
func tilesOfRun(run *v1alpha1.EtcdBenchmark) []Tile {
	s := run.Status.Summary
	if s == nil {
		return nil
	}
	d, of := render.Display(run), "of all requests"
	if len(s.Operations) > 1 {
		of = "of the slowest operation"
	}
	asked := "successful requests"
	if run.Resolved().Load.Rate != nil {
		asked = d.Rate + " wanted"
	}
	failed := Tile{"Failed", text.Grouped(s.FailedRequests), "of " + text.Plural(s.MeasuredRequests, "request")}
	if s.CensoredRequests > 0 {
		failed.Note += ", " + text.Grouped(s.CensoredRequests) + " unanswered"
	}
	return []Tile{{"Throughput", cmp.Or(d.Throughput, "–"), asked}, {"p50", cmp.Or(d.P50, "–"), of}, {"p99", cmp.Or(d.P99, "–"), of}, failed}
}

// generatorOf judges the load generator of a run; nil if nothing was measured.
func generatorOf(run *v1alpha1.EtcdBenchmark, blocks []render.Block) *Judgement {
	s := run.Status.Summary
	if s == nil || s.Validity == nil {
		return nil
	}
	words, used := render.Generator(s)
	j := &Judgement{Title: "Load generator", Words: words, Why: append(sentences(used), validity(blocks)...)}
	j.State = map[v1alpha1.ValidityVerdict]State{v1alpha1.ValidityValid: Good, v1alpha1.ValidityClientBound: Bad, v1alpha1.ValidityUnknown: Open}[s.Validity.Verdict]
	return j
}

// validity is what decides whether the numbers of a run can be used.
func validity(blocks []render.Block) []render.Block {
	return append(of(blocks, render.PartLimits), of(blocks, render.PartWarnings)...)
}

// tilesOfSuite are of the best run that counts, or of the highest rate that a search has found.
func tilesOfSuite(s *v1alpha1.EtcdBenchmarkSuite) []Tile {
	best, rate, name, none := v1alpha1.SuiteResult{}, 0.0, "Highest throughput", "no run that counts"
	var failed, all int64
	for _, r := range s.Status.Results {
		for _, o := range r.Operations {
			failed, all = failed+o.Failed, all+o.Failed+o.Succeeded
		}
		v, known := suite.NumberOf(r, v1alpha1.Metric{Type: v1alpha1.MetricThroughput})
		if known && r.Invalid == "" && v/1000 > rate {
			best, rate = r, v/1000
		}
	}
	value, note := text.RateOf(rate).String(), fmt.Sprintf("%s, round %d", best.Cell, best.Round)
	if s.Spec.Search != nil {
		best, value, note = highestRate(s)
		name, none = "Highest rate", "not found"
	}
	if len(s.Status.Results) == 0 {
		return nil
	}
	if best.Name == "" {
		value, note = "–", none
	}
	slowest := slowestOf(best)
	latency := func(micros int64) string {
		switch {
		case micros == 0:
			return "–"
		case slowest.AtLeast:
			return "≥" + text.Micros(micros)
		}
		return text.Micros(micros)
	}
	return []Tile{
		{name, value, note}, {"p50 there", latency(slowest.P50Microseconds), string(slowest.Operation)}, {"p99 there", latency(slowest.P99Microseconds), string(slowest.Operation)},
		{"Failed", text.Grouped(failed), "of " + text.Plural(all, "request") + " of all runs"},
	}
}

// highestRate is the best capacity that a search has found, and the last probe at that rate.
func highestRate(s *v1alpha1.EtcdBenchmarkSuite) (probe v1alpha1.SuiteResult, value, note string) {
	var best v1alpha1.SuiteCapacity
	for _, c := range s.Status.Capacities {
		if (c.State == v1alpha1.CapacityFound || c.State == v1alpha1.CapacityAtLeast) && c.RatePerSecond > best.RatePerSecond {
			best = c
		}
	}
	for _, r := range s.Status.Results {
		if r.Cell == best.Cell && r.Probe != nil && int64(r.Probe.AskedPerSecond) == int64(best.RatePerSecond) {
			probe = r
		}
	}
	value = text.RateOf(float64(best.RatePerSecond)).String()
	if best.State == v1alpha1.CapacityAtLeast {
		value = "≥" + value
	}
	return probe, value, best.Cell
}

// slowestOf is the operation of a run with the longest p99.
func slowestOf(r v1alpha1.SuiteResult) (slowest v1alpha1.SuiteOperation) {
	for _, o := range r.Operations {
		if !o.Operation.IsEvent() && o.P99Microseconds >= slowest.P99Microseconds {
			slowest = o
		}
	}
	return slowest
}

// countedRuns says how many runs of a suite count, or how many probes of a search could be judged; nil if none has ended.
func countedRuns(s *v1alpha1.EtcdBenchmarkSuite, why []render.Block) *Judgement {
	title, counted, all := "Runs that count", 0, 0
	for _, r := range s.Status.Results {
		isJudged := r.Invalid == ""
		if s.Spec.Search != nil {
			title, isJudged = "Probes that could be judged", r.Passed != metav1.ConditionUnknown
		}
		all++
		if isJudged {
			counted++
		}
	}
	if all == 0 {
		return nil
	}
	return counting(title, counted, all, why)
}

// counting judges by how many of all runs count.
func counting(title string, counted, all int, why []render.Block) *Judgement {
	j := &Judgement{Title: title, State: Open, Words: fmt.Sprintf("%s of %s", text.Grouped(counted), text.Grouped(all)), Why: why}
	switch counted {
	case all:
		j.State = Good
	case 0:
		j.State = Bad
	}
	return j
}

// tilesOfSchedule are the last values of its first series.
func tilesOfSchedule(s *v1alpha1.EtcdBenchmarkSchedule) (out []Tile) {
	const most = 4
	for _, series := range s.Status.Series[:min(len(s.Status.Series), most)] {
		t := Tile{Name: series.Cell + " " + seriesName(series), Value: "–"}
		if n := len(series.Values); n > 0 {
			t.Value = seriesText(series, series.Values[n-1])
		}
		if e := series.Expected; e != nil {
			t.Note = seriesText(series, e.Low) + " to " + seriesText(series, e.High) + " expected"
		}
		out = append(out, t)
	}
	return out
}
