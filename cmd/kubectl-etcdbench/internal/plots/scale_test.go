package plots

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

func labelsOf(ticks []plot.Tick) (labels []string) {
	for _, t := range ticks {
		if !t.IsMinor() {
			labels = append(labels, t.Label)
		}
	}
	return labels
}

func TestTicks(t *testing.T) {
	for name, tc := range map[string]struct {
		got  []plot.Tick
		want string
	}{
		"rates from 0":       {across(600).ticks(scale{max: 10_000}, PerSecond.Text), "0/s 2,000/s 4,000/s 6,000/s 8,000/s 10,000/s"},
		"below and above 0":  {across(600).ticks(scale{min: -0.1, max: 0.3}, change), "-10 % -5 % 0 % +5 % +10 % +15 % +20 % +25 % +30 %"},
		"1-2-5":              {up(240).ticks(scale{min: 500, max: 20_000, log: true}, micros), "500µs 1ms 2ms 5ms 10ms 20ms"},
		"decades":            {up(160).ticks(scale{min: 1, max: 1e6, log: true}, micros), "1µs 10µs 100µs 1ms 10ms 100ms 1s"},
		"not all decades":    {up(60).ticks(scale{min: 1, max: 1e9, log: true}, micros), "1µs 10ms 100s"},
		"labels are precise": {up(240).ticks(scale{min: 100_000, max: 102_000}, micros), "100ms 101ms 102ms"},
		"percentiles":        {across(600).percentileTicks(scale{min: 1, max: 20_000, log: true}), "0 % 50 % 90 % 99 % 99.9 % 99.99 %"},
		"few rounds":         {across(300).nominal(scale{min: -0.5, max: 2.5}, []string{"1", "2", "3"}), "1 2 3"},
		"many rounds":        {across(130).nominal(scale{min: -0.5, max: 5.5}, []string{"one", "two", "three", "four", "five", "six"}), "one four"},
	} {
		if got := strings.Join(labelsOf(tc.got), " "); got != tc.want {
			t.Errorf("%s: wanted %s, found %s", name, tc.want, got)
		}
	}
}

func TestADecadeIsADecade(t *testing.T) {
	s := extent{min: 300, max: 40_000, least: 300, known: true}.logarithmic()
	if s != (scale{min: 200, max: 50_000, log: true}) {
		t.Fatalf("found %v", s)
	}
	at := func(v float64) float64 { return logScale{}.Normalize(s.min, s.max, v) }
	if a, b := at(10_000)-at(1_000), at(50_000)-at(5_000); math.Abs(a-b) > 1e-12 || math.Abs(a-1/math.Log10(s.max/s.min)) > 1e-12 {
		t.Errorf("a decade has the lengths %v and %v", a, b)
	}
}

// The ticks of a drawn plot are where the values are: from 1ms to 10ms is as far as from 10ms to 100ms.
func TestDrawnDecades(t *testing.T) {
	root := parsed(t, Knee{About: about("k"), Points: []KneePoint{{Offered: 10, P50: 1000, P99: 100_000}}}.SVG())
	at := map[string]float64{}
	for _, e := range root.all("text") {
		at[e.text] = e.number(t, "y")
	}
	if up, down := at["10ms"]-at["100ms"], at["1ms"]-at["10ms"]; math.Abs(up-down) > 0.02 || up < 50 {
		t.Errorf("the decades are %v and %v high", up, down)
	}
}

// Latency has a logarithmic axis only if it spans more than a decade.
func TestKindOfAxis(t *testing.T) {
	for high, want := range map[float64]bool{900: false, 1100: true} {
		svg := OverTime{About: about("o"), Interval: 1, Unit: Microseconds, Lines: []TimeLine{{Values: []float64{100, high}}}}.SVG()
		if got := strings.Contains(svg, "log scale"); got != want {
			t.Errorf("100µs to %vµs: logarithmic is %t", high, got)
		}
	}
	if svg := (OverTime{About: about("o"), Interval: 1, Unit: PerSecond, Lines: []TimeLine{{Values: []float64{1, 1e6}}}}).SVG(); strings.Contains(svg, "log scale") {
		t.Error("rates are on a logarithmic axis")
	}
}

func TestBandsHaveTheSameHeight(t *testing.T) {
	b := bandScale{{From: 0, To: 100}, {From: 100, To: 200}, {From: 200, To: 400}}
	for v, want := range map[float64]float64{0: 0, 50: 0, 100: 1.0 / 3, 100 * math.Sqrt2: 0.5, 200: 2.0 / 3, 400: 1, 1e9: 1} {
		if got := b.Normalize(0, 0, v); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v is at %v, wanted %v", v, got, want)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, tc := range []struct {
		unit Unit
		v    float64
		want string
	}{
		{PerSecond, 48_123.9, "48,123/s"}, {PerSecond, -5, "-5/s"}, {Microseconds, 4100, "4.1ms"}, {Microseconds, 0.25, "250ns"}, {Milliseconds, 2500, "2.5s"}, {Seconds, 12.5, "12.5s"},
		{Bytes, 812, "812 B"}, {Bytes, 8.4e9, "8.4 GB"}, {Percent, 12.5, "12.5 %"}, {Count, 12_345, "12,345"}, {Count, -1e-9, "0"}, {Bytes, 999_900, "1 MB"},
	} {
		if got := tc.unit.Text(tc.v); got != tc.want {
			t.Errorf("%v %s: wanted %s, found %s", tc.v, tc.unit, tc.want, got)
		}
	}
	for v, want := range map[float64]string{0.041: "+4.1 %", -0.05: "-5 %", 0: "0 %", 1e6: "+100,000,000 %", -1: "-100 %"} {
		if got := change(v); got != want {
			t.Errorf("%v: wanted %s, found %s", v, want, got)
		}
	}
}

// titles are all titles of a plot that contain a text.
func titles(t *testing.T, p plotted, with string) (out []string) {
	t.Helper()
	for _, e := range parsed(t, p.SVG()).all("title") {
		if strings.Contains(e.text, with) {
			out = append(out, e.text)
		}
	}
	return out
}

func TestReadouts(t *testing.T) {
	knee := Knee{About: about("k"), Points: []KneePoint{{Offered: 2000, Achieved: 1990, P50: 900, P99: 4100, Verdict: Good, Label: "probe 3"}, {Offered: 4000, P99: 41_000, AtLeast: true, Verdict: Bad}}}
	over := OverTime{About: about("o"), Interval: 2, Unit: PerSecond, Lines: []TimeLine{{Label: "a", Values: []float64{10, math.NaN(), 30}}, {Label: "b", Values: []float64{5}, At: []float64{3.5}}},
		Marks: []Mark{{At: 3, Label: "new leader"}}, Stalls: []bool{true}}
	for want, p := range map[string]plotted{
		"p99 at 2,000/s: 4.1ms, met, probe 3":                 knee,
		"p99 at 4,000/s: at least 41ms, missed":               knee,
		"achieved at 2,000/s: 1,990/s, met, probe 3":          knee,
		"0s: a 10/s; no answers":                              over,
		"2s: b 5/s; new leader":                               over,
		"4s: a 30/s":                                          over,
		"1: etcd 3.6.5 4.1ms, etcd 3.7.0-rc.1 4.6ms, +12.2 %": sampleDots(),
		"4: etcd 3.6.5 unknown, etcd 3.7.0-rc.1 4.4ms":        sampleDots(),
		"put256-c100, p99 of Put: +38 % (+21 % to +57 %), beyond the tolerance of +10 %": sampleForest(),
		"v36-put256-c100: 6,462/s (6,138/s to 6,720/s)":                                  sampleBars(),
		"100: etcd 21,000/s, zookeeper 10,500/s, consul 7,000/s":                         sampleCurves(),
		"50 %: x 2ms":                      Spectrum{About: about("s"), Lines: []SpectrumLine{{Label: "x", Points: []SpectrumPoint{{0, 1000}, {0.5, 2000}, {0.99, 5000}}}}},
		"0s: p50 1ms, p99 5ms, 3 requests": Heatmap{About: about("h"), Lines: []TimeLine{{Label: "p50", Values: []float64{1000}}, {Label: "p99", Values: []float64{5000}}}, Bands: []Band{{0, 1000, []uint64{1}}, {1000, 9000, []uint64{2}}}},
	} {
		if got := titles(t, p, ""); !slices.Contains(got, want) {
			t.Errorf("wanted %q, found %q", want, got)
		}
	}
}

// A line is cut where its values are unknown; a value between two unknown ones is a dot.
func TestGaps(t *testing.T) {
	nan := math.NaN()
	x, y := scale{max: 10}, scale{max: 10}
	got := stretches([]spot{{0, nan}, {1, 1}, {2, 2}, {3, nan}, {4, 4}, {5, nan}}, x, y)
	if len(got) != 2 || len(got[0]) != 2 || len(got[1]) != 1 {
		t.Errorf("found %v", got)
	}
	if got := stretches([]spot{{1, 0}, {2, 1}}, x, scale{max: 10, log: true}); len(got) != 1 || len(got[0]) != 1 {
		t.Errorf("0 on a logarithmic axis: found %v", got)
	}
}

// One value that is far from the others does not hide them.
func TestForestOutliers(t *testing.T) {
	f := sampleForest()
	f.Rows[0].Change, f.Rows[0].Low, f.Rows[0].High = 40, 20, 90
	if got := f.view(); got.max > 1 || got.min > -0.05 {
		t.Errorf("the axis is from %v to %v", got.min, got.max)
	}
	if got := titles(t, f, "+4,000 %"); len(got) != 1 {
		t.Errorf("found %q", got)
	}
}

// Shapes and dashes tell apart what colours tell apart.
func TestNotOnlyColours(t *testing.T) {
	seen := map[shape]bool{}
	for _, v := range []Verdict{Good, Bad, Open} {
		seen[v.shape()] = true
	}
	if len(seen) != 3 {
		t.Error("verdicts share shapes")
	}
	for i := range 36 {
		l := lineOf(i)
		for k := range i {
			if k/6 == i/6 && slices.Equal(lineOf(k).Dashes, l.Dashes) || lineOf(k).Color == l.Color && slices.Equal(lineOf(k).Dashes, l.Dashes) {
				t.Errorf("lines %d and %d have the same dashes", k, i)
			}
		}
	}
}

// An axis without seconds has whole numbers and its own name.
func TestAcross(t *testing.T) {
	o := OverTime{About: about("s"), Lines: []TimeLine{{Label: "put", Values: []float64{1, 2, 3}, At: []float64{1, 2, 3}}}, Unit: PerSecond, Across: "session"}
	var texts []string
	for _, e := range parsed(t, o.SVG()).all("text") {
		texts = append(texts, e.text)
	}
	if !slices.Contains(texts, "session") || !slices.Contains(texts, "2") || slices.Contains(texts, "2s") {
		t.Errorf("found %q", texts)
	}
}
