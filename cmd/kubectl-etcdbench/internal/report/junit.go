package report

import (
	"encoding/xml"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// The elements of JUnit that pipelines read.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Error   *junitMessage `xml:"error,omitempty"`
		Skipped *junitMessage `xml:"skipped,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
	}
)

// JUnit writes a test case for each objective, comparison, search and series: failed if it is missed or worse, an error if
// a run could not send its load, skipped if there is no verdict.
func JUnit(d *Document) ([]byte, error) {
	var all junitSuites
	switch {
	case d.Suite != nil:
		all.Suites = []junitSuite{counted(fullName(d.Suite.Namespace, d.Suite.Name), suiteCases(d.Suite))}
	case d.Schedule != nil:
		all.Suites = []junitSuite{counted(fullName(d.Schedule.Namespace, d.Schedule.Name), seriesCases(d.Schedule))}
	default:
		for _, r := range d.Runs {
			all.Suites = append(all.Suites, counted(fullName(r.Object.Namespace, r.Object.Name), runCases(r.Object)))
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

const (
	passed outcome = iota
	failed
	broken
	skipped
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

// runCases are how the run ended, and its objectives.
func runCases(run *v1alpha1.EtcdBenchmark) []junitCase {
	end := newCase(run.Name, "completed", skipped, "the run has not finished")
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished); c != nil && c.Status == metav1.ConditionTrue {
		o := passed
		switch {
		case verdict.CouldNotRun(c.Reason):
			o = broken
		case c.Reason != v1alpha1.ReasonCompleted:
			o = skipped
		}
		end = newCase(run.Name, "completed", o, strings.TrimSuffix(c.Reason+": "+c.Message, ": "))
	}
	cases := []junitCase{end}
	for _, o := range run.Status.Objectives {
		result := map[v1alpha1.ObjectiveResult]outcome{v1alpha1.ObjectiveMet: passed, v1alpha1.ObjectiveMissed: failed, v1alpha1.ObjectiveUnknown: skipped}[o.Result]
		cases = append(cases, newCase(run.Name, o.Name, result, strings.TrimSpace(fmt.Sprintf("wanted %s, found %s. %s", o.Wanted, o.Got, o.Message))))
	}
	return cases
}

func suiteCases(s *v1alpha1.EtcdBenchmarkSuite) (cases []junitCase) {
	for _, r := range s.Status.Results {
		if r.Probe != nil {
			continue
		}
		o, message := passed, r.Missed
		switch {
		case suite.Failed(r):
			o, message = broken, r.Invalid
		case r.Passed == metav1.ConditionFalse:
			o = failed
		case r.Passed == metav1.ConditionUnknown:
			o, message = skipped, "no verdict: "+r.Invalid
		}
		cases = append(cases, newCase(r.Cell, fmt.Sprintf("round %d (%s)", r.Round, r.Name), o, message))
	}
	for _, c := range s.Status.Comparisons {
		o := map[v1alpha1.ComparisonVerdict]outcome{v1alpha1.Regressed: failed, v1alpha1.NotCompared: skipped}[c.Verdict]
		change := ""
		if c.ChangePerMillion != nil {
			change = percent(float64(*c.ChangePerMillion)/1e6) + " against " + baselineOf(s, c) + ". "
		}
		cases = append(cases, newCase(c.Cell, "compare "+c.Metric.String(), o, change+c.Message))
	}
	for _, c := range s.Status.Capacities {
		o := passed
		switch c.State {
		case v1alpha1.CapacityFound, v1alpha1.CapacityAtLeast:
		case v1alpha1.CapacityBelowMinimum:
			o = failed
		default:
			o = skipped
		}
		cases = append(cases, newCase(c.Cell, "highest rate", o, fmt.Sprintf("%s: %d/s. %s", c.State, c.RatePerSecond, c.LimitedBy)))
	}
	return cases
}

func seriesCases(s *v1alpha1.EtcdBenchmarkSchedule) (cases []junitCase) {
	for _, series := range s.Status.Series {
		o := map[v1alpha1.SeriesVerdict]outcome{v1alpha1.SeriesWorse: failed, v1alpha1.SeriesStillWorse: failed, v1alpha1.SeriesUnknown: skipped, "": skipped}[series.Verdict]
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
