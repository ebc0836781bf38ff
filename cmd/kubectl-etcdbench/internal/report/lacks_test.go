package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
)

// The plots of a schedule have all of its sessions.
func TestHistoriesAreWhole(t *testing.T) {
	p := seriesPlots(nightly(200))[0]
	if line := p.Picture.(plots.OverTime).Lines[0]; len(line.Values) != 200 || line.At[199] != 200 {
		t.Errorf("found %d values", len(line.Values))
	}
}

// What the last session did comes before what its numbers look like.
func TestVerdictOfTheLastSession(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.ScheduleSession)
		state  State
		o      outcome
	}{
		"as expected":     {func(*v1alpha1.ScheduleSession) {}, Good, passed},
		"missed":          {func(s *v1alpha1.ScheduleSession) { s.Passed = metav1.ConditionFalse }, Bad, failed},
		"failed runs":     {func(s *v1alpha1.ScheduleSession) { s.FailedRuns = 1 }, Bad, broken},
		"refused":         {func(s *v1alpha1.ScheduleSession) { s.Reason = v1alpha1.ReasonRefused }, Bad, broken},
		"stopped":         {func(s *v1alpha1.ScheduleSession) { s.Reason = v1alpha1.ReasonStopped }, Open, skipped},
		"without verdict": {func(s *v1alpha1.ScheduleSession) { s.Passed = metav1.ConditionUnknown }, Open, skipped},
	} {
		s := nightly(3)
		s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSuspect, Status: metav1.ConditionFalse}}
		tc.change(&s.Status.Sessions[2])
		if state, words, _ := verdictOfSchedule(s); state != tc.state {
			t.Errorf("%s: found %s (%s), wanted %s", name, state, words, tc.state)
		}
		if got := outcomeOf(seriesCases(s)[0]); got != tc.o {
			t.Errorf("%s: JUnit: found %v, wanted %v", name, got, tc.o)
		}
	}
}

// A break without an acknowledgement fails a pipeline, also when the last session is as expected after it.
func TestJUnitOfABrokenTrend(t *testing.T) {
	for status, want := range map[metav1.ConditionStatus]outcome{metav1.ConditionTrue: failed, metav1.ConditionFalse: passed, metav1.ConditionUnknown: skipped} {
		s := nightly(3)
		s.Status.Series[0].Verdict = v1alpha1.SeriesAsExpected
		s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionTrendBroken, Status: status}}
		got := map[string]outcome{}
		for _, c := range seriesCases(s) {
			got[c.Name] = outcomeOf(c)
		}
		if got["trend"] != want {
			t.Errorf("%s: found %v, wanted %v", status, got, want)
		}
	}
}

func TestDocumentsAreCompact(t *testing.T) {
	run := measured(t, "writes", time.Millisecond)
	data, err := OfRun(run.Object, run.Report).Marshal()
	if err != nil || strings.Count(string(data), "\n") != 1 {
		t.Errorf("found %d lines, %v", strings.Count(string(data), "\n"), err)
	}
}

// A page says what it could not show.
func TestPagesSayWhatTheyLack(t *testing.T) {
	run := measured(t, "writes", time.Millisecond)
	newer := OfRun(run.Object, []byte(`{"version": 99}`))
	newer.Notes = []string{"This report has the details of 200 runs of 350."}
	page := pageOf(t, newer)
	wantTexts(t, page, "What this report lacks", "details of 200 runs of 350", "The stored report of writes cannot be read")
	if strings.Contains(pageOf(t, OfRun(run.Object, run.Report)), "What this report lacks") {
		t.Error("a whole report lacks something")
	}
	many := compared(t, 3, 1)
	for i := range 40 {
		c := many.Suite.Status.Comparisons[0]
		c.Cell = fmt.Sprintf("cell-%d", i)
		many.Suite.Status.Comparisons = append(many.Suite.Status.Comparisons, c)
	}
	many.Suite.Status.Comparisons[0].ChangePerMillion = nil
	forest := comparisonPlots(many)[0]
	if about := forest.Picture.Info().Description; len(forest.Rows) != 1+41 || !strings.Contains(about, "other 11.") || !strings.Contains(about, "not drawn: 1 comparison.") {
		t.Errorf("found %d rows: %s", len(forest.Rows), about)
	}
}

// A search of many cells has more plots than a page has room for.
func TestPlotsAreBounded(t *testing.T) {
	d := searched(t)
	s := d.Suite
	for i := range 400 {
		c := s.Status.Capacities[0]
		c.Cell = fmt.Sprintf("cell-%d", i)
		s.Status.Capacities = append(s.Status.Capacities, c)
		for _, r := range s.Status.Results[:8] {
			r.Cell = c.Cell
			s.Status.Results = append(s.Status.Results, r)
		}
	}
	page := pageOf(t, OfSuite(s, nil))
	if len(page) > maxHTML+maxHTML/2 {
		t.Errorf("the page has %d bytes", len(page))
	}
	wantTexts(t, page, "The page has no room for")
}

// A command that would not work is worse than none.
func TestCommandsOfOmittedRuns(t *testing.T) {
	run := measured(t, "writes", time.Millisecond)
	d := OfRun(run.Object, nil)
	if got := d.reportOf(run); got != "kubectl etcdbench report run/writes -n etcd" {
		t.Errorf("found %q", got)
	}
	run.Label = "old.json"
	if got := d.reportOf(run); got != "kubectl etcdbench report old.json" {
		t.Errorf("a file: found %q", got)
	}
	for _, hidden := range []*Document{{Local: true}, {Redacted: true}} {
		if got := hidden.reportOf(run); got != "" {
			t.Errorf("found %q", got)
		}
	}
}

// Two files can have the same name of a run.
func TestRunsOfFilesCanBeToldApart(t *testing.T) {
	first, second := measured(t, "writes", time.Millisecond), measured(t, "writes", 2*time.Millisecond)
	first.Label, second.Label = "old.json", "new.json"
	d := &Document{Kind: Kind, Version: Version, Runs: []Run{first, second}}
	lines := overlaid(d.Runs)[0].Picture.(plots.Spectrum).Lines
	if lines[0].Label != "old.json" || lines[1].Label != "new.json" {
		t.Errorf("found %q and %q", lines[0].Label, lines[1].Label)
	}
	wantTexts(t, pageOf(t, again(t, d)), "differs from old.json in", "<summary>new.json")
	data, _ := json.Marshal(redacted(t, d, "old.json", "new.json").Runs[1].Label)
	if string(data) != `"file-2"` {
		t.Errorf("redacted: found %s", data)
	}
}

func TestMarkdownLinksNothing(t *testing.T) {
	for text, want := range map[string]string{
		"@user":               "@\u200buser",
		"see #123":            `see \#` + "\u200b123",
		"http://a.example":    "http:\u200b//a.example",
		"www.a.example":       "www\u200b.a.example",
		"- one":               `\- one`,
		"+ one":               `\+ one`,
		"1. one":              `1\. one`,
		"2) one":              `2\) one`,
		"p99 is 3.5 ms - two": "p99 is 3.5 ms - two",
	} {
		if got := paragraph(text); got != want {
			t.Errorf("%q: found %q, wanted %q", text, got, want)
		}
	}
}

// The notes of comparisons are items of a list, and not paragraphs with a bold hyphen.
func TestNotesAreLists(t *testing.T) {
	d := compared(t, 3, 1.5)
	d.Suite.Status.Comparisons[0].Message = "More rounds would decide."
	page := pageOf(t, d)
	if strings.Contains(page, "<strong>-</strong>") {
		t.Error("found a label that is a hyphen")
	}
	wantTexts(t, page, "<ul><li>")
	wantTexts(t, string(d.Page().Markdown()), "\n- ")
}

// A change that rounds of another verdict could detect is not known.
func TestDetectableChangeIsThatOfJudgedRounds(t *testing.T) {
	d := compared(t, 3, 1)
	for i, c := range []v1alpha1.Comparison{
		{Verdict: v1alpha1.NotRegressed}, {Verdict: v1alpha1.Regressed}, {Verdict: v1alpha1.NotCompared, Reason: v1alpha1.ReasonNotInformative},
	} {
		c.SmallestRegressionPerMillion = new(int64(123_000))
		d.Suite.Status.Comparisons = append(d.Suite.Status.Comparisons[:i], v1alpha1.SuiteComparison{Cell: fmt.Sprint("c", i), Comparison: c})
	}
	page := string(d.Page().Markdown())
	if n := strings.Count(page, "+12.3 %"); n != 1 {
		t.Errorf("found the change %d times, wanted it once:\n%s", n, page)
	}
}
