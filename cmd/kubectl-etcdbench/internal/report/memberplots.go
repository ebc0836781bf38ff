package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// fewestPoints is how many points a line over time needs: fewer look like an empty plot.
const fewestPoints = 3

// memberPlots draw what the members reported over the window, one plot per figure with a line per member. A sentence names
// the figures that were read too few times.
func memberPlots(prefix string, run *v1alpha1.EtcdBenchmark, d benchmark.Detail) (out []Plot, lacks []render.Block) {
	if d.Course == nil {
		return nil, nil
	}
	var short []string
	meanOf := func(t results.Timer) func(*results.Samples) plots.TimeLine {
		return func(s *results.Samples) plots.TimeLine { return means(s, t) }
	}
	greatest := func(f results.Figure) func(*results.Samples) plots.TimeLine {
		return func(s *results.Samples) plots.TimeLine { return gauge(s, f) }
	}
	for _, f := range []struct {
		id, title string
		unit      plots.Unit
		read      func(*results.Samples) plots.TimeLine
	}{
		{"fsync", "Mean time of a WAL fsync", plots.Microseconds, meanOf(results.TimerWALFsync)},
		{"commit", "Mean time of a backend commit", plots.Microseconds, meanOf(results.TimerBackendCommit)},
		{"pending", "Pending proposals", plots.Count, greatest(results.FigurePendingNow)},
		{"memory", "Resident memory", plots.Bytes, greatest(results.FigureMemoryNowBytes)},
		{"database", "Database size", plots.Bytes, greatest(results.FigureDatabaseNowBytes)},
	} {
		about := plots.About{ID: prefix + "members-" + f.id, Title: f.title, Description: "As the members reported it."}
		switch p, points := memberPlot(about, run, d, f.unit, f.read); {
		case points >= fewestPoints:
			out = append(out, p)
		case points > 0:
			short = append(short, strings.ToLower(f.title[:1])+f.title[1:])
		}
	}
	return out, sentences(strings.TrimSpace(finding("Read too few times for a plot: ", short)))
}

// memberPlot also returns the most points that a line has.
func memberPlot(about plots.About, run *v1alpha1.EtcdBenchmark, d benchmark.Detail, unit plots.Unit, read func(*results.Samples) plots.TimeLine) (p Plot, points int) {
	var lines []plots.TimeLine
	for _, id := range slices.Sorted(maps.Keys(d.Course.Samples)) {
		s := d.Course.Samples[id]
		if s == nil {
			continue
		}
		line := read(s)
		line.Label = memberName(run, id)
		if n := len(slices.DeleteFunc(slices.Clone(line.Values), math.IsNaN)); n > 0 {
			lines, points = append(lines, line), max(points, n)
		}
	}
	if len(lines) == 0 {
		return Plot{}, 0
	}
	slices.SortStableFunc(lines, func(a, b plots.TimeLine) int { return cmp.Compare(a.Label, b.Label) })
	about.Description += rangesOf(lines, unit)
	return Plot{Picture: plots.OverTime{About: about, Lines: lines, Unit: unit, Marks: marksOf(run)}, Rows: memberRows(lines, unit)}, points
}

// memberRows have a column of times for each line, because members are not read at the same time; or one column, if they
// were.
func memberRows(lines []plots.TimeLine, unit plots.Unit) [][]string {
	together := !slices.ContainsFunc(lines, func(l plots.TimeLine) bool { return !slices.Equal(l.At, lines[0].At) })
	rows := [][]string{nil}
	for i, l := range lines {
		switch {
		case !together:
			rows[0] = append(rows[0], l.Label+" at", l.Label)
		case i == 0:
			rows[0] = append(rows[0], "at", l.Label)
		default:
			rows[0] = append(rows[0], l.Label)
		}
		for len(rows)-1 < len(l.At) {
			rows = append(rows, nil)
		}
	}
	for i := range rows[1:] {
		for k, l := range lines {
			if !together || k == 0 {
				at := ""
				if i < len(l.At) {
					at = secondsText(l.At[i])
				}
				rows[i+1] = append(rows[i+1], at)
			}
			cell := ""
			if i < len(l.At) {
				cell = valueText(l, i, unit)
			}
			rows[i+1] = append(rows[i+1], cell)
		}
	}
	return rows
}

// memberName is the name of a member, or its ID.
func memberName(run *v1alpha1.EtcdBenchmark, id string) string {
	if t := run.Status.Target; t != nil {
		for _, m := range t.Members {
			if m.ID == id && m.Name != "" {
				return m.Name
			}
		}
	}
	return id
}

// maxPoints bounds the points of a line.
const maxPoints = 120

// groups cuts so many samples into at most maxPoints groups of equal size, and calls visit with the ends of each.
func groups(samples int, visit func(from, to int)) {
	size := max(1, (samples+maxPoints-1)/maxPoints)
	for from := 0; from < samples; from += size {
		visit(from, min(from+size, samples))
	}
}

// figureAt is a value of a figure; NaN if the sample lacks it.
func figureAt(s *results.Samples, f results.Figure, i int) float64 {
	if i >= len(s.Values[f]) || s.Values[f][i] == results.NoValue {
		return math.NaN()
	}
	return s.Values[f][i]
}

// gauge has the greatest value of a figure in each group of samples: a peak must not be lost.
func gauge(s *results.Samples, f results.Figure) (line plots.TimeLine) {
	groups(len(s.At), func(from, to int) {
		at, greatest := from, math.NaN()
		for i := from; i < to; i++ {
			if v := figureAt(s, f, i); math.IsNaN(greatest) || v > greatest {
				at, greatest = i, v
			}
		}
		line.At, line.Values = append(line.At, s.At[at].Seconds()), append(line.Values, greatest)
	})
	return line
}

// means has, for each group of samples, the mean duration of a timer since the group before, in microseconds. Both
// counters of a timer count from the first sample on, so no call of it is lost.
func means(s *results.Samples, timer results.Timer) (line plots.TimeLine) {
	count, seconds := math.NaN(), math.NaN()
	groups(len(s.At), func(from, to int) {
		mean, last := math.NaN(), to-1
		c, d := figureAt(s, timer.Count(), last), figureAt(s, timer.Seconds(), last)
		if c > count {
			mean = 1e6 * (d - seconds) / (c - count)
		}
		if !math.IsNaN(c) && !math.IsNaN(d) {
			count, seconds = c, d
		}
		line.At, line.Values = append(line.At, s.At[last].Seconds()), append(line.Values, mean)
	})
	return line
}

// sideBySide makes one table with a column for each member of tables with a row for each, if there are few.
func sideBySide(blocks []render.Block) (out []render.Block) {
	const most = 6
	var joined *render.Block
	for _, b := range blocks {
		if len(b.Rows) < 2 || b.Rows[0][0] != "MEMBER" || len(b.Rows)-1 > most {
			out = append(out, b)
			continue
		}
		if joined == nil {
			out = append(out, render.Block{Part: b.Part, Rows: [][]string{{""}}, Left: 1})
			joined = &out[len(out)-1]
		}
		joined.Rows = besides(joined.Rows, b.Rows)
	}
	return out
}

// besides adds the columns of a table with a row for each member as rows to one with a column for each.
func besides(rows, table [][]string) [][]string {
	column := func(name string) int {
		at := slices.Index(rows[0], name)
		if at < 0 {
			at, rows[0] = len(rows[0]), append(rows[0], name)
		}
		return at
	}
	for i := 1; i < len(table[0]); i++ {
		name := table[0][i]
		if name == "P99" {
			// That of the figure before it.
			name = table[0][i-1] + " P99"
		}
		row := []string{name}
		for _, of := range table[1:] {
			at := column(of[0])
			for len(row) <= at {
				row = append(row, "")
			}
			if i < len(of) {
				row[at] = of[i]
			}
		}
		rows = append(rows, row)
	}
	return rows
}
