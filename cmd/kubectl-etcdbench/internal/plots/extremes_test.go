package plots

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

func sorted(all map[string]plotted) []string { return slices.Sorted(maps.Keys(all)) }

// hostile are labels that must do no harm.
func hostile() []string {
	return []string{
		`<script>alert("1")</script>`, strings.Repeat("long-name-", 26)[:253], "עברית עם טקסט ארוך מאוד בעברית", "\u202eright to left\u202c",
		"nul\x00 bell\a line\nfeed \ufffe\uffff", "bad \xff\xfe UTF-8", "", "  ", "]]>&amp;'\"--><title>", "日本語のラベルはここにあります", "👩‍👩‍👧‍👦 family e\u0301\u0302\u0303",
		strings.Repeat("W", 253), "style=\"fill:red\" onload='x'",
	}
}

// odd are numbers that plots must survive.
func odd() []float64 {
	return []float64{0, math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e6, -1e6, 1e300, -1e300, 5e-324, 1, 1e-9, math.MaxUint32}
}

// extremes are plots of unusual input.
func extremes() map[string]plotted {
	all := map[string]plotted{}
	for name, values := range map[string][]float64{
		"no": {}, "one": {4100}, "zero": {0, 0, 0}, "unknown": {math.NaN(), math.NaN()}, "odd": odd(), "huge": {1e15, 1e14}, "equal": {1234.5678, 1234.5678},
		"near": {100_000, 100_001, 100_002}, "tiny": {1e-7, 3e-7}, "negative": {-5, -1000}, "wide": {0.5, 1e12}, "ordinary": {812, 4100, 2900, 100_300},
	} {
		for _, unit := range []Unit{PerSecond, Microseconds, Bytes, Percent, Count, ""} {
			addExtremes(all, name+" "+string(unit), unit, values)
		}
	}
	many := sampleOverTime(PerSecond)
	many.ID, many.Lines, many.Marks = "many", nil, nil
	for i := range 40 {
		many.Lines = append(many.Lines, TimeLine{Label: hostile()[i%len(hostile())], Values: []float64{float64(i), float64(i) + 1}})
		many.Marks = append(many.Marks, Mark{At: float64(i), Until: float64(i) + 2, Label: hostile()[i%len(hostile())]})
	}
	all["many lines and marks"] = many
	all["forest, 30 rows"] = hostileForest(30)
	all["heatmap, all cells differ"] = noisyHeatmap(120, 48)
	rounds := Dots{About: about("rounds"), Baseline: hostile()[1], Candidate: hostile()[11], Unit: PerSecond}
	for i := range 30 {
		rounds.Rounds = append(rounds.Rounds, DotRound{fmt.Sprintf("round %d", i+1), 1000 + float64(i), 1100 - float64(i)})
	}
	all["30 rounds"] = rounds
	long := sampleKnee()
	for i := range long.Points {
		long.Points[i].Offered *= math.Pow(0.1, float64(5-i/2))
	}
	all["knee over decades"] = long
	crowded := sampleOverTime(Bytes)
	crowded.Marks = nil
	for i := range 9 {
		crowded.Marks = append(crowded.Marks, Mark{At: 50 + float64(9-i), Label: "event of some length"}, Mark{At: 20 + float64(i)/4, Label: "an event"})
	}
	all["crowded marks"] = crowded
	outlier := sampleForest()
	outlier.Rows[0].Change, outlier.Rows[0].High = 40, 90
	all["forest with an outlier"] = outlier
	return all
}

func hostileForest(n int) Forest {
	f := Forest{About: About{ID: "Hostile ID\"<", Title: hostile()[0], Description: hostile()[4]}}
	for i := range n {
		v := odd()[i%len(odd())]
		f.Rows = append(f.Rows, ForestRow{Label: hostile()[i%len(hostile())], Change: v, Low: -v, High: v * 2, HasInterval: i%2 == 0, Limit: 0.1, Verdict: Verdict(fmt.Sprint(i % 4))})
	}
	f.Rows[0].Change, f.Rows[1].Change = -1, 1e6
	return f
}

// noisyHeatmap has no equal neighbours.
func noisyHeatmap(intervals, bands int) Heatmap {
	h := Heatmap{About: about("noise"), Interval: 0.5}
	for i := range bands {
		b := Band{From: 100 * math.Pow(1.19, float64(i-1)), To: 100 * math.Pow(1.19, float64(i))}
		for k := range intervals {
			b.Counts = append(b.Counts, uint64(math.Pow(4, float64(1+(i*5+k*7)%9))))
		}
		h.Bands = append(h.Bands, b)
	}
	h.Lines = []TimeLine{{Label: "p50"}, {Label: "p99"}}
	for k := range intervals {
		h.Lines[0].Values = append(h.Lines[0].Values, 900+300*float64(k*37%11))
		h.Lines[1].Values = append(h.Lines[1].Values, 40_000+3000*float64(k*53%13))
	}
	return h
}

func addExtremes(all map[string]plotted, name string, unit Unit, values []float64) {
	id := about("x-" + strings.ReplaceAll(strings.ToLower(name), " ", "-"))
	label := func(i int) string { return hostile()[i%len(hostile())] }
	k := Knee{About: id, Found: 100, FirstMissed: 101, Ceiling: 102}
	d := Dots{About: id, Unit: unit, Baseline: label(0), Candidate: label(1), Axis: label(1)}
	b := Bars{About: id, Unit: unit, Axis: label(11)}
	f := Forest{About: id}
	h := Heatmap{About: id, Interval: 1, Lines: []TimeLine{{Label: "p50", Values: values}, {Label: "p99", Values: values}}, Bands: []Band{{0, 10, []uint64{1}}, {10, 1e12, []uint64{0, math.MaxUint64}}}}
	o := OverTime{About: id, Interval: 1, Unit: unit, Lines: []TimeLine{{Label: label(1), Values: values}, {Label: label(0), Values: values, At: values}}}
	s := Spectrum{About: id, Ratio: unit == Percent, Lines: []SpectrumLine{{Label: label(0)}, {Label: label(1), Group: -7}}}
	c := Curves{About: id, Unit: unit, Axis: label(3), Over: label(4), Lines: []CurveLine{{Label: label(0)}, {Label: label(1)}}}
	g := Grid{About: id, Unit: unit, Changes: unit == Percent, X: label(1), Y: label(2)}
	for i, v := range values {
		g.Columns, g.Rows = append(g.Columns, label(i)), append(g.Rows, label(i+1))
		g.Cells = append(g.Cells, []GridCell{{Value: v, More: label(i)}, {Value: -v, Open: true}, {Missing: label(i)}})
		c.Lines[i%2].Points = append(c.Lines[i%2].Points, CurvePoint{At: v, Value: v, Low: v / 2, High: v * 2, Open: i%3 == 0})
		k.Points = append(k.Points, KneePoint{Offered: v, Achieved: v, P50: v, P99: 2 * v, Verdict: Open, Label: label(i), AtLeast: true})
		d.Rounds = append(d.Rounds, DotRound{Label: label(i), Baseline: v, Candidate: 1.1 * v})
		b.Rows = append(b.Rows, BarRow{Label: label(i), Value: v, Low: v / 2, High: v * 2, Class: -i})
		f.Rows = append(f.Rows, ForestRow{Label: label(i), Change: v, Low: v - 1, High: v + 1, HasInterval: true, Limit: v})
		o.Marks = append(o.Marks, Mark{At: v, Until: v * 2, Label: label(i)})
		s.Lines[0].Points = append(s.Lines[0].Points, SpectrumPoint{v, v}, SpectrumPoint{1 - math.Pow(10, -float64(i)), v})
	}
	for kind, p := range map[string]plotted{"knee": k, "dots": d, "bars": b, "forest": f, "heatmap": h, "over time": o, "spectrum": s, "curves": c, "grid": g} {
		all[kind+", "+name] = p
	}
}
