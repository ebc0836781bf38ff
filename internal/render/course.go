package render

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// course draws what happened over the window.
func (t *table) course(c *results.Course) {
	if c == nil {
		return
	}
	window := time.Duration(t.b.Status.Summary.DurationMicroseconds) * time.Microsecond
	d := IntervalsOf(c, window)
	if len(d.Points) == 0 {
		return
	}
	g := grid{left: 2}
	g.add("OVER TIME", "one bar = "+strconv.FormatFloat(d.Length.Seconds(), 'g', 3, 64)+"s, from 0", "LOWEST", "HIGHEST")
	d.addRows(&g)
	for _, disturbance := range t.b.Status.Summary.Disturbances {
		if row := markRow(disturbance, d.Length, len(d.Points)); row != "" {
			g.add(strings.ToLower(string(disturbance.Type)), row)
		}
	}
	hasBands := d.addBands(&g)
	t.section(g)
	if legend := d.legend(g.String(), hasBands); legend != "" {
		t.sentence("  ", legend)
	}
	t.byKeys(c)
}

// addRows draws rates and latencies over time.
func (d Intervals) addRows(g *grid) {
	perSecond := func(n uint64) float64 { return float64(n) / d.Length.Seconds() }
	d.addRow(g, "throughput", rateText, func(i int) float64 { return perSecond(d.Points[i].Succeeded) })
	if slices.ContainsFunc(d.Points, func(p results.Point) bool { return p.Failed > 0 }) {
		d.addRow(g, "failures", rateText, func(i int) float64 { return perSecond(d.Points[i].Failed) })
	}
	for _, p := range []spec.Statistic{spec.StatisticP50, d.Tail} {
		d.addRow(g, strings.ToLower(string(p))+" latency", microsText, func(i int) float64 { return d.Percentile(i, p) })
	}
	d.addRow(g, "longest latency", microsText, func(i int) float64 {
		if d.Points[i].Succeeded == 0 {
			return math.NaN()
		}
		return float64(d.Points[i].Longest.Microseconds())
	})
}

// addRow draws one value per interval. It adds no row if all are unknown.
func (d Intervals) addRow(g *grid, name string, write func(float64) string, value func(i int) float64) {
	values := make([]float64, len(d.Points))
	for i := range values {
		values[i] = value(i)
	}
	known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(known) == 0 {
		return
	}
	lowest, highest := slices.Min(known), slices.Max(known)
	g.add(name, d.bars(values, highest), write(lowest), write(highest))
}

const (
	// unknownMark stands for an interval without a value, stallMark for one in which requests waited and none ended.
	unknownMark = '·'
	stallMark   = '×'
)

// bars draws numbers on a scale from 0 to the greatest.
func (d Intervals) bars(values []float64, greatest float64) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	var out strings.Builder
	for i, v := range values {
		level := 0
		switch {
		case d.Stalled[i]:
			out.WriteRune(stallMark)
			continue
		case math.IsNaN(v):
			out.WriteRune(unknownMark)
			continue
		case greatest > 0:
			level = min(int(v/greatest*float64(len(levels))), len(levels)-1)
		}
		out.WriteRune(levels[level])
	}
	return out.String()
}

// maxBands is the most latency bands that are drawn.
const maxBands = 10

// band is the band of a bucket at schema 0 if each band covers that many of them: bucket i ends at 2^i seconds.
func band(bucket, wide int) int { return int(math.Floor(float64(bucket-1) / float64(wide))) }

// addBands draws how the latencies of each interval were distributed: a line per band, the longest first. It reports
// whether there was something to draw.
func (d Intervals) addBands(g *grid) bool {
	counts, wide := d.bandsOf(1), 1
	for len(counts) > 0 && slices.Max(keys(counts))-slices.Min(keys(counts)) >= maxBands {
		wide *= 2
		counts = d.bandsOf(wide)
	}
	if len(counts) == 0 {
		return false
	}
	g.add("")
	g.add("LATENCY", "", "", "REQUESTS")
	lowest, highest := slices.Min(keys(counts)), slices.Max(keys(counts))
	for b := highest; b >= lowest; b-- {
		var total uint64
		var row strings.Builder
		for i := range d.Points {
			n := uint64(0)
			if counts[b] != nil {
				n = counts[b][i]
			}
			total += n
			row.WriteRune(d.shade(i, n))
		}
		from, to := edge(b*wide), edge((b+1)*wide)
		if b*wide < results.ZeroBucket {
			// The bucket below has all shorter latencies, too.
			from = 0
		}
		g.add("  "+text.Duration(from)+"–"+text.Duration(to), row.String(), "", text.Grouped(total))
	}
	return true
}

func keys(counts map[int][]uint64) []int {
	var out []int
	for b := range counts {
		out = append(out, b)
	}
	return out
}

// edge is 2^power seconds.
func edge(power int) time.Duration {
	return results.Seconds(math.Exp2(float64(power)))
}

// bandsOf counts the requests of each band in each interval.
func (d Intervals) bandsOf(wide int) map[int][]uint64 {
	counts := map[int][]uint64{}
	for i, column := range d.Columns {
		coarse := column.Clone()
		coarse.Reduce(results.MinSchema)
		add := func(bucket int, n uint64) {
			b := band(bucket, wide)
			if counts[b] == nil {
				counts[b] = make([]uint64, len(d.Points))
			}
			counts[b][i] += n
		}
		if n := coarse.ZeroCount(); n > 0 {
			add(results.ZeroBucket, n)
		}
		for bucket, n := range coarse.NativeBuckets() {
			add(bucket, n)
		}
	}
	return counts
}

// shades are the limits of a cell's share of the requests in its interval.
var shades = []struct {
	upTo float64
	mark rune
}{{0.01, '░'}, {0.1, '▒'}, {0.5, '▓'}, {1, '█'}}

// shade is how many of the requests of interval i lie in a band.
func (d Intervals) shade(i int, n uint64) rune {
	switch {
	case d.Stalled[i]:
		return stallMark
	case n == 0:
		return ' '
	}
	share := float64(n) / float64(d.Columns[i].Count())
	for _, s := range shades {
		if share <= s.upTo {
			return s.mark
		}
	}
	return shades[len(shades)-1].mark
}

// legend explains the marks in the rows.
func (d Intervals) legend(rows string, hasBands bool) string {
	var parts []string
	if hasBands {
		parts = append(parts, "LATENCY: each column is one interval. ░ up to 1 % of its requests have this latency, ▒ up to 10 %, ▓ up to 50 %, █ more.")
	}
	if strings.ContainsRune(rows, stallMark) {
		parts = append(parts, "×: requests were waiting, but none ended in this interval.")
	}
	if strings.ContainsRune(rows, unknownMark) {
		parts = append(parts, "·: too few requests in this interval to show this value.")
	}
	return strings.Join(parts, " ")
}

const (
	// keyRows is the most rows of the latency by keys written, minPerRow the fewest keys per row.
	keyRows   = 8
	minPerRow = 1000
)

// byKeys prints how the latency changed with the number of keys, for runs that only add keys.
func (t *table) byKeys(c *results.Course) {
	s := t.b.Status.Summary
	if t.run.Words().Written == "" || len(s.Operations) != 1 || s.MeasuredRequests > t.run.Keys().Count {
		return
	}
	var total uint64
	for i := range c.Heatmap.Columns {
		total += c.Heatmap.Columns[i].Count()
	}
	rows := min(keyRows, total/minPerRow)
	if rows < 2 || total != results.Sum(c.Timeline.Points).Succeeded {
		// The heatmap of a pod is missing: the numbers of keys would be wrong.
		return
	}
	g := grid{left: 0}
	g.add("KEYS WRITTEN", "P50", "P99", "LONGEST")
	var row results.Histogram
	var from, written, next uint64 = 0, 0, 1
	for i := range c.Heatmap.Columns {
		row.Merge(&c.Heatmap.Columns[i])
		written += c.Heatmap.Columns[i].Count()
		if written*rows >= next*total && row.Count() > 0 {
			g.add(text.Grouped(from+1)+"–"+text.Grouped(written), quantileText(row, spec.StatisticP50), quantileText(row, spec.StatisticP99), text.Micros(row.Max().Microseconds()))
			row, from, next = results.Histogram{}, written, written*rows/total+1
		}
	}
	t.section(g)
}

func quantileText(h results.Histogram, s spec.Statistic) string {
	value, known := h.Quantile(results.QuantileOf(s))
	switch {
	case !known:
		return unknown
	case h.IsThin(s):
		return thin
	}
	return text.Micros(value.Microseconds())
}

func rateText(perSecond float64) string { return text.RateOf(perSecond).String() }

func microsText(us float64) string { return text.Micros(int64(us)) }

const (
	noMark    = ' '
	lastsMark = '─'
)

// markRow draws the disturbances of one type over time, in intervals of this length: the first letter of the type where
// one began, and a line while it continued. It is empty without disturbances.
func markRow(d v1alpha1.DisturbanceSummary, interval time.Duration, intervals int) string {
	row := slices.Repeat([]rune{noMark}, intervals)
	any := false
	draw := func(at int, r rune) {
		if at < intervals {
			row[at], any = r, true
		}
	}
	for _, m := range d.Marks {
		began := time.Duration(m.AfterMicroseconds) * time.Microsecond
		ended := began + time.Duration(m.TookMicroseconds)*time.Microsecond
		for at := int(began/interval) + 1; at <= min(int(ended/interval), intervals-1); at++ {
			draw(at, lastsMark)
		}
		draw(int(began/interval), []rune(d.Type)[0])
	}
	if !any {
		return ""
	}
	return string(row)
}
