package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// maxFindings bounds the lines or runs that a sentence names.
const maxFindings = 4

// finding is what a reader sees in a plot, in words: the end of its description. It joins what was found on each of some
// lines, and is empty if nothing was.
func finding(start string, found []string) string {
	if len(found) == 0 {
		return ""
	}
	return " " + start + few(found) + "."
}

// few joins at most maxFindings, and says how many more there are.
func few(all []string) string {
	if n := len(all) - maxFindings; n > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(all[:maxFindings], ", "), n)
	}
	return strings.Join(all, ", ")
}

// rangesOf has the lowest and the highest value of each line.
func rangesOf(lines []plots.TimeLine, unit plots.Unit) string {
	var found []string
	for _, l := range lines {
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range l.Values {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
		if low <= high {
			found = append(found, fmt.Sprintf("%s %s to %s", l.Label, unit.Text(low), unit.Text(high)))
		}
	}
	return finding("Lowest to highest: ", found)
}

// tailsOf has the highest common percentile of the lines of a spectrum, and the number of requests of each line.
func tailsOf(lines []spectrum) string {
	at, known := commonPercentile(lines)
	var values, counts []string
	for _, l := range lines {
		if v, ok := valueAt(l, results.QuantileOf(at)); known && ok {
			values = append(values, l.label+" "+plots.Microseconds.Text(v))
		}
		if l.count > 0 {
			counts = append(counts, l.label+" "+text.Grouped(l.count))
		}
	}
	return finding(percentileName(at)+": ", values) + finding("Requests: ", counts)
}

// percentileName is a percentile as people write it: p99.9.
func percentileName(s spec.Statistic) string {
	if s == spec.StatisticP999 {
		return "p99.9"
	}
	return strings.ToLower(string(s))
}

// commonPercentile is the highest usual percentile that all lines have.
func commonPercentile(lines []spectrum) (spec.Statistic, bool) {
	for _, p := range []spec.Statistic{spec.StatisticP999, spec.StatisticP99, spec.StatisticP90, spec.StatisticP50} {
		all := len(lines) > 0
		for _, l := range lines {
			_, ok := valueAt(l, results.QuantileOf(p))
			all = all && ok
		}
		if all {
			return p, true
		}
	}
	return "", false
}

// valueAt is the value at a quantile, if a point is drawn there.
func valueAt(l spectrum, quantile float64) (float64, bool) {
	const tolerance = 1e-9
	for _, p := range solid(l.points) {
		if math.Abs(p.Percentile-quantile) < tolerance {
			return p.Value, true
		}
	}
	return 0, false
}

// ratioAt is the ratio at the highest usual percentile.
func ratioAt(ratio []plots.SpectrumPoint) string {
	line := spectrum{}
	for _, p := range ratio {
		line.points = append(line.points, point{SpectrumPoint: p})
	}
	at, known := commonPercentile([]spectrum{line})
	v, _ := valueAt(line, results.QuantileOf(at))
	if !known {
		return ""
	}
	return fmt.Sprintf(" %s: %.2f.", percentileName(at), v)
}

// worstOf counts the verdicts of comparisons and names the worst; all are sorted, the worst first.
func worstOf(all []v1alpha1.SuiteComparison) string {
	counts := map[v1alpha1.ComparisonVerdict]int{}
	for _, c := range all {
		counts[c.Verdict]++
	}
	worst := forestRow(all[0])
	return fmt.Sprintf(" %d regressed, %d did not, %d not decided. The worst: %s, %s.",
		counts[v1alpha1.Regressed], counts[v1alpha1.NotRegressed], counts[v1alpha1.NotCompared], worst.Label, text.SignedPercent(worst.Change))
}

// greaterIn counts the rounds with a greater value of the candidate.
func greaterIn(rounds []plots.DotRound) string {
	greater, both := 0, 0
	for _, r := range rounds {
		if r.Baseline > 0 && r.Candidate > 0 {
			both++
			if r.Candidate > r.Baseline {
				greater++
			}
		}
	}
	if both == 0 {
		return ""
	}
	return fmt.Sprintf(" The candidate's value is the greater one in %d of %s.", greater, text.Plural(both, "round"))
}

// kneeFound tells between which rates the knee lies.
func kneeFound(k plots.Knee) string {
	var found []string
	if k.Found > 0 {
		found = append(found, "the highest rate that met the objectives is "+plots.PerSecond.Text(k.Found))
	}
	if k.FirstMissed > 0 {
		found = append(found, "the lowest that missed one is "+plots.PerSecond.Text(k.FirstMissed))
	}
	if len(found) == 0 {
		return ""
	}
	sentence := strings.Join(found, "; ")
	return " " + strings.ToUpper(sentence[:1]) + sentence[1:] + "."
}

// alike is the ratio of two numbers that look equal as bars.
const alike = 1.01

// equalText says that all of several bars look equal; it is empty if they do not.
func equalText(rows []plots.BarRow, unit plots.Unit) string {
	if len(rows) < 2 {
		return ""
	}
	low, high := lowestOf(rows), highestOf(rows)
	least, most := unit.Text(low.Value), unit.Text(high.Value)
	switch {
	case least == most:
		return "All are equal: " + most + "."
	case high.Value <= alike*low.Value:
		return fmt.Sprintf("All are nearly equal: %s to %s.", least, most)
	}
	return ""
}

func lowestOf(rows []plots.BarRow) plots.BarRow  { return slices.MinFunc(rows, byValue) }
func highestOf(rows []plots.BarRow) plots.BarRow { return slices.MaxFunc(rows, byValue) }

func byValue(a, b plots.BarRow) int { return cmp.Compare(a.Value, b.Value) }

// extremesOf names the longest and the shortest of several bars.
func extremesOf(rows []plots.BarRow, unit plots.Unit) string {
	if len(rows) < 2 {
		return ""
	}
	low, high := lowestOf(rows), highestOf(rows)
	out := fmt.Sprintf(" Highest: %s, %s. Lowest: %s, %s.", high.Label, unit.Text(high.Value), low.Label, unit.Text(low.Value))
	if overlap(rows) {
		out += " But the lines of all bars overlap: the rounds of one cell differ as much as the cells do."
	}
	return out
}

// overlap reports whether one value is between the lowest and the highest round of every bar.
func overlap(rows []plots.BarRow) bool {
	from, to := rows[0].Low, rows[0].High
	for _, r := range rows {
		from, to = max(from, r.Low), min(to, r.High)
	}
	return from < to
}
