package plots

import (
	"slices"
	"strings"
	"testing"
)

// Each value can be read, also that of the last session, and of members that are read at different times.
func TestReadoutsAroundTheTimesOfValues(t *testing.T) {
	var sessions TimeLine
	for i := range 200 {
		sessions.At, sessions.Values = append(sessions.At, float64(i+1)), append(sessions.Values, 1000+float64(i))
	}
	history := titles(t, OverTime{About: about("h"), Unit: Count, Across: "session", Lines: []TimeLine{sessions}}, "")
	if !slices.ContainsFunc(history, func(s string) bool { return strings.HasPrefix(s, "200: ") && !strings.Contains(s, "unknown") }) {
		t.Errorf("wanted the value of session 200, found %q", history)
	}
	members := titles(t, OverTime{About: about("m"), Unit: Count, Lines: []TimeLine{
		{Label: "a", At: []float64{0, 5, 10}, Values: []float64{1, 2, 3}}, {Label: "b", At: []float64{0.5, 5.5, 10.5}, Values: []float64{4, 5, 6}},
	}}, "")
	for _, want := range []string{"0s: a 1, b 4", "5s: a 2, b 5", "10s: a 3, b 6"} {
		if !slices.Contains(members, want) {
			t.Errorf("wanted %q, found %q", want, members)
		}
	}
	for _, got := range append(history, members...) {
		if strings.HasSuffix(got, "unknown") {
			t.Errorf("found %q", got)
		}
	}
}

// An interval on the worse side of zero can be within the tolerance.
func TestForestSaysOnWhichSideOfTheTolerance(t *testing.T) {
	row := ForestRow{Label: "p99", Change: 0.06, Low: 0.05, High: 0.07, HasInterval: true, Limit: 0.1, Verdict: Good}
	if got, want := row.title(), "p99: +6 % (+5 % to +7 %), within the tolerance of +10 %"; got != want {
		t.Errorf("found %q, wanted %q", got, want)
	}
}

// A line with a trend shows both: its values as points, which nothing smooths, and the trend.
func TestTrendsDoNotReplaceValues(t *testing.T) {
	o := OverTime{About: about("t"), Interval: 1, Unit: PerSecond, Lines: []TimeLine{{Label: "a", Values: []float64{1, 9, 1, 9}, Trend: []float64{5, 5, 5, 5}}}}
	c := Curves{About: about("c"), Unit: PerSecond, Lines: []CurveLine{{Label: "a", Points: []CurvePoint{{At: 1, Value: 1}, {At: 2, Value: 9}}, Trend: []float64{5, 5}}}}
	for p, points := range map[plotted]int{&o: 4, &c: 2} {
		for _, e := range parsed(t, p.SVG()).all("path") {
			if e.attrs["stroke-linecap"] != "" {
				points -= strings.Count(e.attrs["d"], "M")
			}
		}
		if points != 0 {
			t.Errorf("%d points are missing", points)
		}
	}
	if got := titles(t, o, ""); !slices.Contains(got, "1s: a 9/s") {
		t.Errorf("found %q", got)
	}
}

// A script learns from a plot what its x axis has.
func TestDataSayTheirAxis(t *testing.T) {
	for want, p := range map[string]plotted{
		"seconds 0 3.5 linear": OverTime{About: about("o"), Interval: 1, Last: 0.5, Lines: []TimeLine{{Values: []float64{1, 2, 3, 4}}}},
		"percentile 1 100 log": Spectrum{About: about("s"), Lines: []SpectrumLine{{Points: []SpectrumPoint{{0.5, 1}, {0.99, 2}}}}},
		"number 1 100 log":     Curves{About: about("c"), Lines: []CurveLine{{Points: []CurvePoint{{At: 1, Value: 1}, {At: 100, Value: 2}}}}},
	} {
		if data := parsed(t, p.SVG()).all("svg"); len(data) != 1 || data[0].attrs["data-x"] != want {
			t.Errorf("wanted %q, found %v", want, data[0].attrs)
		}
	}
}
