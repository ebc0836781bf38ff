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
