package report

import (
	"encoding/xml"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// The elements of JUnit that pipelines read.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr,omitempty"`
		// Properties have the numbers. Pipelines that show them need no other form.
		Properties *junitProperties `xml:"properties,omitempty"`
		Cases      []junitCase      `xml:"testcase"`
	}
	junitProperties struct {
		Property []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr,omitempty"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Error   *junitMessage `xml:"error,omitempty"`
		Skipped *junitMessage `xml:"skipped,omitempty"`
		// Output has warnings. Pipelines show it, and it decides nothing.
		Output string `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
	}
)

// JUnit writes test cases: for a run, how it ended and each objective; for a suite, how it ended and each run, comparison
// and search; for a schedule, its last session, its trend and each series. A case failed if something was missed or became worse, is an error if a load
// could not be sent, and is skipped if there is no verdict.
func JUnit(d *Document) ([]byte, error) {
	var all junitSuites
	switch {
	case d.Suite != nil:
		all.Suites = []junitSuite{counted(fullName(d.Suite.Namespace, d.Suite.Name), suiteCases(d.Suite))}
		all.Suites[0].Time = timeTaken(d.Suite.Status.StartTime, d.Suite.Status.Conditions)
	case d.Schedule != nil:
		all.Suites = []junitSuite{counted(fullName(d.Schedule.Namespace, d.Schedule.Name), seriesCases(d.Schedule))}
	default:
		for _, r := range d.Runs {
			s := counted(fullName(r.Object.Namespace, r.Object.Name), runCases(r.Object))
			s.Time, s.Properties = timeTaken(r.Object.Status.StartTime, r.Object.Status.Conditions), propertiesOf(r.Object)
			s.Cases[0].Time = s.Time
			all.Suites = append(all.Suites, s)
		}
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing JUnit: %w", err)
	}
	return append([]byte(xml.Header), append(data, '\n')...), nil
}

func counted(name string, cases []junitCase) junitSuite {
	s := junitSuite{Name: clean(name), Tests: len(cases), Cases: cases}
	for _, c := range cases {
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	return s
}

// outcome is how a test case ended.
type outcome int

// skipped is the default, so that something unknown never looks good.
const (
	skipped outcome = iota
	passed
	failed
	broken
)

func newCase(class, name string, o outcome, message string) junitCase {
	c, m := junitCase{Class: clean(class), Name: clean(name)}, &junitMessage{clean(message)}
	switch o {
	case failed:
		c.Failure = m
	case broken:
		c.Error = m
	case skipped:
		c.Skipped = m
	}
	return c
}

// outcomes has the outcome of the case "completed" for each ending. A missed objective has its own case.
var outcomes = map[verdict.Ending]outcome{verdict.Done: passed, verdict.Missed: passed, verdict.Failed: broken, verdict.KeysLeft: broken}

// ended is the case that says whether a run or a suite completed.
func ended(class string, o outcome, conditions []metav1.Condition) junitCase {
	message := "It has not finished."
	if c := meta.FindStatusCondition(conditions, v1alpha1.ConditionFinished); c != nil && c.Status == metav1.ConditionTrue {
		message = strings.TrimSuffix(c.Reason+": "+c.Message, ": ")
	}
	if left := verdict.LeftKeys(conditions); left != nil {
		message += " " + left.Message
	}
	return newCase(class, "completed", o, message)
}

// runCases are how the run ended, and its objectives. A completed run is skipped if its numbers are in doubt or its
// objectives could not be judged, with that reason.
func runCases(run *v1alpha1.EtcdBenchmark) []junitCase {
	ending, doubt := verdict.EndingOf(run), verdict.DoubtOf(run)
	end := ended(run.Name, outcomes[ending], run.Status.Conditions)
	switch {
	case ending == verdict.Failed && verdict.NothingSucceeded(run.Status.Summary):
		end.Error.Message = "No request succeeded. " + end.Error.Message
	case ending == verdict.Done && doubt != "":
		end = newCase(run.Name, "completed", skipped, doubt)
	case ending == verdict.Open && meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished).Reason == v1alpha1.ReasonCompleted:
		passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
		end = newCase(run.Name, "completed", skipped, passed.Reason+": "+passed.Message)
	}
	if s := run.Status.Summary; s != nil {
		end.Output = cleanLines(s.Warnings)
	}
	cases := []junitCase{end}
	for _, o := range run.Status.Objectives {
		result := map[v1alpha1.ObjectiveResult]outcome{v1alpha1.ObjectiveMet: passed, v1alpha1.ObjectiveMissed: failed}[o.Result]
		cases = append(cases, newCase(run.Name, o.Name, result, strings.TrimSpace(fmt.Sprintf("wanted %s, found %s. %s", o.Wanted, o.Got, o.Message))))
	}
	return cases
}

func suiteCases(s *v1alpha1.EtcdBenchmarkSuite) []junitCase {
	cases := []junitCase{ended(s.Name, outcomes[suite.EndingOf(s)], s.Status.Conditions)}
	cases[0].Output = cleanLines(explainedWarnings(s))
	for _, r := range s.Status.Results {
		if r.Probe == nil {
			cases = append(cases, resultCase(s, r))
		}
	}
	for _, c := range s.Status.Comparisons {
		o := map[v1alpha1.ComparisonVerdict]outcome{v1alpha1.Regressed: failed, v1alpha1.NotRegressed: passed}[c.Verdict]
		change := ""
		if c.ChangePerMillion != nil {
			change = text.SignedPercent(float64(*c.ChangePerMillion)/1e6) + " against " + baselineOf(s, c) + ". "
		}
		cases = append(cases, newCase(c.Cell, "compare "+c.Metric.String(), o, change+c.Message))
	}
	for _, c := range s.Status.Capacities {
		o := map[v1alpha1.CapacityState]outcome{v1alpha1.CapacityFound: passed, v1alpha1.CapacityAtLeast: passed, v1alpha1.CapacityBelowMinimum: failed}[c.State]
		cases = append(cases, newCase(c.Cell, "highest rate", o, fmt.Sprintf("%s: %d/s. %s", c.State, c.RatePerSecond, c.LimitedBy)))
	}
	return cases
}

// resultCase is one run of a suite. A run that could not send its load is an error only if it counts: its repetition may
// have replaced it. A run that missed an objective failed, also if it was repeated.
func resultCase(s *v1alpha1.EtcdBenchmarkSuite, r v1alpha1.SuiteResult) junitCase {
	counted, _ := suite.Counted(s.Status.Results, r.Cell, r.Round)
	o, message := skipped, ""
	switch {
	case r.Passed == metav1.ConditionFalse:
		o, message = failed, r.Missed
	case counted.Name != r.Name:
		message = r.Invalid + render.InPlaceOf(s, r)
	case suite.Failed(r):
		o, message = broken, r.Reason+": "+r.Invalid
	case r.Passed == metav1.ConditionTrue:
		o = passed
	case r.Passed != "":
		message = "no verdict: " + r.Invalid
	case r.Invalid != "" || r.Reason != v1alpha1.ReasonCompleted:
		message = r.Reason + ": " + r.Invalid
	default:
		o = passed
	}
	c := newCase(r.Cell, fmt.Sprintf("round %d (%s)", r.Round, r.Name), o, strings.TrimSuffix(message, ": "))
	c.Output = cleanLines(r.Warnings)
	return c
}

func cleanLines(lines []string) string {
	var out []string
	for _, l := range lines {
		out = append(out, clean(l))
	}
	return strings.Join(out, "\n")
}

// explainedWarnings explains the kinds of warnings of the runs.
func explainedWarnings(s *v1alpha1.EtcdBenchmarkSuite) (out []string) {
	for _, w := range s.Status.Warnings {
		out = append(out, w.Kind+": "+render.WarningText(s, w))
	}
	return out
}

func seriesCases(s *v1alpha1.EtcdBenchmarkSchedule) (cases []junitCase) {
	if n := len(s.Status.Sessions); n > 0 {
		ending, words := endOfSession(s)
		o := map[verdict.Ending]outcome{verdict.Done: passed, verdict.Missed: failed, verdict.Failed: broken}[ending]
		cases = append(cases, newCase(s.Name, "last session ("+s.Status.Sessions[n-1].Name+")", o, words))
	}
	if trend := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionTrendBroken); trend != nil {
		o := map[metav1.ConditionStatus]outcome{metav1.ConditionTrue: failed, metav1.ConditionFalse: passed}[trend.Status]
		cases = append(cases, newCase(s.Name, "trend", o, trend.Message))
	}
	for _, series := range s.Status.Series {
		o := map[v1alpha1.SeriesVerdict]outcome{
			v1alpha1.SeriesWorse: failed, v1alpha1.SeriesStillWorse: failed, v1alpha1.SeriesAsExpected: passed, v1alpha1.SeriesBetter: passed,
		}[series.Verdict]
		cases = append(cases, newCase(series.Cell, seriesName(series), o, string(series.Verdict)))
	}
	return cases
}

// baselineOf names what a cell is compared with.
func baselineOf(s *v1alpha1.EtcdBenchmarkSuite, c v1alpha1.SuiteComparison) string {
	if b := s.Status.Baseline; b != nil {
		return "the suite " + b.Suite
	}
	return c.BaselineCell
}
