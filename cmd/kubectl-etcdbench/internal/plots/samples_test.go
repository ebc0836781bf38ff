package plots

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// plot is what all plots have in common.
type plotted interface{ SVG() string }

func about(id string) About {
	return About{ID: id, Title: "Plot of " + id, Description: "What it shows."}
}

func sampleForest() Forest {
	return Forest{About: about("forest"), Rows: []ForestRow{
		{"put256-c100, p99 of Put", 0.38, 0.21, 0.57, true, 0.10, Bad},
		{"put256-c100, throughput", -0.012, -0.041, 0.018, true, -0.05, Good},
		{"range-c100, p99 of Range", 0.06, -0.04, 0.19, true, 0.10, Open},
		{"range-c100, throughput", 0.021, 0.008, 0.035, true, -0.05, Good},
		{"txn-c10, p99.9 of Txn", 0.01, 0, 0, false, 0.10, Open},
	}}
}

func sampleKnee() Knee {
	k := Knee{About: about("knee"), Found: 9400, FirstMissed: 9900, Ceiling: 12100}
	for i, share := range []float64{0.1, 0.2, 0.4, 0.6, 0.775, 0.775, 0.775, 0.8, 0.82, 0.95} {
		offered := math.Round(12100 * share)
		wait := 1 / (1 - min(share, 0.97)) * (1 + 0.05*float64(i%3))
		p := KneePoint{Offered: offered, Achieved: min(offered, 11200), P50: 900 * math.Sqrt(wait), P99: 2000 * wait, P999: 4500 * wait, Verdict: Good, Label: fmt.Sprintf("probe %d", i+1)}
		if p.P99 > 10_000 {
			p.Verdict = Bad
		}
		if share > 0.9 {
			p.AtLeast = true
		}
		if i == 3 {
			p.Verdict = Open
		}
		k.Points = append(k.Points, p)
	}
	return k
}

// latencyAt is a latency distribution with a long tail, in microseconds.
func latencyAt(p, scale float64) float64 {
	return scale * (700 + 300*-math.Log(1-p) + 2*math.Pow(1/(1-p), 0.75))
}

func sampleSpectrum(ratio bool) Spectrum {
	s := Spectrum{About: about("spectrum"), Ratio: ratio}
	if ratio {
		s.ID = "ratio"
	}
	random := rand.New(rand.NewPCG(1, 2))
	for line := range 10 {
		group, noise := line%2, 1+0.05*random.NormFloat64()
		l := SpectrumLine{Label: []string{"etcd 3.6.5", "etcd 3.7.0-rc.1"}[group], Group: group}
		for i := range 60 {
			p := 1 - math.Pow(10, -float64(i)/12)
			v := latencyAt(p, noise*(1+0.04*float64(group)*float64(i)/12))
			if ratio {
				v /= latencyAt(p, 1)
			}
			l.Points = append(l.Points, SpectrumPoint{p, v})
		}
		s.Lines = append(s.Lines, l)
	}
	return s
}

func sampleOverTime(unit Unit) OverTime {
	random := rand.New(rand.NewPCG(3, 4))
	o := OverTime{About: about("over-time-" + strings.ToLower(string(unit))), Interval: 0.5, Unit: unit, Stalls: make([]bool, 120), Marks: []Mark{
		{At: 20, Until: 31, Label: "kill leader etcd-1"}, {At: 22.4, Label: "new leader etcd-0"}, {At: 48, Until: 50, Label: "defragment etcd-2"},
	}}
	for i, label := range []string{"etcd-0", "etcd-1", "etcd-2"} {
		l := TimeLine{Label: label}
		for k := range 120 {
			v := 3000 + 400*float64(i) + 150*random.NormFloat64()
			if k >= 40 && k < 45 {
				v, o.Stalls[k] = 0, true
			}
			if unit == Microseconds {
				v = 900 * math.Exp(0.3*random.NormFloat64()+float64(i))
				if k >= 40 && k < 45 {
					v = math.NaN()
				}
			}
			l.Values = append(l.Values, v)
		}
		o.Lines = append(o.Lines, l)
	}
	return o
}

func sampleHeatmap(bands int) Heatmap {
	random := rand.New(rand.NewPCG(5, 6))
	h := Heatmap{About: about("heat"), Interval: 0.5, Stalls: make([]bool, 120), Marks: []Mark{{At: 20, Until: 31, Label: "kill leader etcd-1"}, {At: 22.4, Label: "new leader etcd-0"}}}
	from := 0.0
	for i := range bands {
		to := 100 * math.Pow(1.19, float64(i))
		b := Band{From: from, To: to}
		for k := range 120 {
			centre := math.Log(1000 + 20*float64(k))
			if k >= 40 && k < 62 {
				centre += 1
			}
			d := (math.Log(to) - centre) / 0.35
			n := 3000 * (math.Exp(-d*d/2) + 0.01*math.Exp(-math.Abs(d)))
			if k >= 40 && k < 45 {
				n, h.Stalls[k] = 0, true
			}
			b.Counts = append(b.Counts, uint64(n*math.Exp(0.4*random.NormFloat64())))
		}
		h.Bands = append(h.Bands, b)
		from = to
	}
	h.Lines = []TimeLine{{Label: "p50"}, {Label: "p99"}}
	for k := range 120 {
		p50 := 1000 + 20*float64(k)
		if k >= 40 && k < 45 {
			p50 = math.NaN()
		} else if k < 62 && k >= 40 {
			p50 *= math.E
		}
		h.Lines[0].Values = append(h.Lines[0].Values, p50)
		h.Lines[1].Values = append(h.Lines[1].Values, p50*2.3*math.Exp(0.1*random.NormFloat64()))
	}
	return h
}

func sampleDots() Dots {
	return Dots{About: about("dots"), Unit: Microseconds, Axis: "p99 of Put", Baseline: "etcd 3.6.5", Candidate: "etcd 3.7.0-rc.1", Rounds: []DotRound{
		{"1", 4100, 4600}, {"2", 4300, 4750}, {"3", 3900, 4500}, {"4", 0, 4400}, {"5", 5200, 5100},
	}}
}

func sampleBars() Bars {
	b := Bars{About: about("bars"), Unit: PerSecond, Axis: "throughput"}
	for i, label := range []string{"v36-put256-c100", "v37-put256-c100", "v36-range-c100", "v37-range-c100"} {
		v := []float64{6462, 6390, 21_400, 22_100}[i]
		b.Rows = append(b.Rows, BarRow{Label: label, Value: v, Low: v * 0.95, High: v * 1.04, Class: i % 2})
	}
	return b
}

func sampleCurves() Curves {
	c := Curves{About: about("curves"), Unit: PerSecond, Axis: "throughput", Over: "clients"}
	for i, label := range []string{"etcd", "zookeeper", "consul"} {
		line := CurveLine{Label: label}
		for k, clients := range []float64{1, 10, 100, 1000} {
			v := []float64{600, 5400, 21_000, 24_500}[k] / float64(i+1)
			line.Points = append(line.Points, CurvePoint{At: clients, Value: v, Low: v * 0.9, High: v * 1.1, Open: k == 3})
		}
		c.Lines = append(c.Lines, line)
	}
	return c
}

// sampleGrid is a grid of rw-heatmaps, or the changes of one.
func sampleGrid(changes bool) Grid {
	g := Grid{About: about("grid"), Unit: PerSecond, Changes: changes, X: "connections and clients", Y: "bytes of a value"}
	if changes {
		g.ID = "changes"
	}
	for row := range 7 {
		g.Columns, g.Rows = append(g.Columns, fmt.Sprint(32<<row)), append(g.Rows, fmt.Sprint(256<<row))
		var cells []GridCell
		for column := range 7 {
			c := GridCell{Value: 30_000 / (1 + float64(row*row)/4) * (1 + float64(column)/9), More: "(5 rounds)"}
			if changes {
				c.Value = float64(row-column) / 40
				c.Worse, c.Open = c.Value < 0, math.Abs(c.Value) < 0.03
			}
			if row == 6 && column == 6 {
				c = GridCell{Missing: "no valid run"}
			}
			cells = append(cells, c)
		}
		g.Cells = append(g.Cells, cells)
	}
	return g
}

func samples() map[string]plotted {
	return map[string]plotted{
		"forest": sampleForest(), "knee": sampleKnee(), "spectrum": sampleSpectrum(false), "ratio": sampleSpectrum(true),
		"throughput over time": sampleOverTime(PerSecond), "latency over time": sampleOverTime(Microseconds),
		"heatmap": sampleHeatmap(36), "dots": sampleDots(), "bars": sampleBars(),
		"curves": sampleCurves(), "grid": sampleGrid(false), "changes": sampleGrid(true),
	}
}

// TestPage writes a page with all samples and their extremes to the file that PLOTS_PAGE names, to be looked at.
func TestPage(t *testing.T) {
	file := os.Getenv("PLOTS_PAGE")
	if file == "" {
		t.Skip("PLOTS_PAGE names no file")
	}
	styles := Styles()
	if os.Getenv("PLOTS_DARK") != "" {
		styles = strings.Replace(styles, "@media (prefers-color-scheme: dark)", "@media screen", 1) + "body{background:#15181d;color:#eee}"
	}
	all := samples()
	if os.Getenv("PLOTS_EXTREMES") != "" {
		all = extremes()
	}
	var page strings.Builder
	fmt.Fprintf(&page, `<!DOCTYPE html><meta charset="utf-8"><title>plots</title><style>%s</style>`, styles)
	for _, name := range sorted(all) {
		fmt.Fprintf(&page, "<h3>%s</h3><div style='max-width:900px'>%s</div>\n", name, all[name].SVG())
	}
	if err := os.WriteFile(file, []byte(page.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
