package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/report"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/screen"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// form is an output format of a result.
type form struct {
	name string
	// write writes the result of a finished run. report is its report, or nil. write is nil for the form that is written
	// during the run.
	write func(out io.Writer, run *v1alpha1.EtcdBenchmark, report []byte) error
	// writeSuite writes the result of a suite; nil if the form has none.
	writeSuite func(out io.Writer, s *v1alpha1.EtcdBenchmarkSuite) error
	// make makes a form that is a projection of a report's document. Such a form has neither write nor writeSuite.
	make func(*report.Document) ([]byte, error)
	// check refuses, before it runs, a suite that the form cannot show; s is nil for a run. nil refuses nothing.
	check func(s *v1alpha1.EtcdBenchmarkSuite) error
	// compared makes a form of what compare has found; nil if there is none.
	compared func(c *compared) ([]byte, error)
}

// writeDocument writes a form that has make.
func (f form) writeDocument(out io.Writer, d *report.Document) error {
	data, err := f.make(d)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

// hasSuites reports whether a form can show a suite.
func (f form) hasSuites() bool { return f.writeSuite != nil || f.make != nil }

// outputTable is the default. outputLines is JSON, one line per interval during the run.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputYAML  = "yaml"
	outputLines = "jsonl"
	outputHTML  = "html"
	outputMD    = "md"
)

// Forms of a report, which the commands that end with a result have, too.
var (
	formHTML     = form{name: outputHTML, make: report.HTML}
	formMarkdown = form{name: outputMD, make: func(d *report.Document) ([]byte, error) { return d.Page().Markdown(), nil }}
	formCSV      = form{name: "csv", make: report.CSV}
	formJUnit    = form{name: "junit", make: report.JUnit}
	formHeatmaps = form{name: "rw-heatmaps", make: report.RWHeatmaps, check: report.CheckRWHeatmaps}
)

// forms are all output formats, in the order of the help.
var forms = []form{
	{name: outputTable, write: writeTable, writeSuite: render.WriteSuite},
	{name: outputJSON, write: writeJSON, writeSuite: writeSuiteJSON},
	{name: outputYAML, write: whole(marshalYAML), writeSuite: writeSuiteYAML},
	{name: "archive", make: (*report.Document).Marshal},
	formHTML, formMarkdown, formCSV, formJUnit, formHeatmaps,
	{name: "perfdash", make: report.Perfdash},
	{name: outputLines},
}

// reportForms are the forms of a report. JSON is the document that all others are made of.
var reportForms = []form{formHTML, formMarkdown, formCSV, {name: outputJSON, make: (*report.Document).Marshal}, formJUnit, formHeatmaps}

// comparisonForms are the forms of a comparison.
var comparisonForms = []form{
	{name: outputTable, compared: func(c *compared) ([]byte, error) { return []byte(c.shown.String()), nil }},
	{name: outputJSON, compared: (*compared).marshal},
	{name: outputMD, compared: func(c *compared) ([]byte, error) {
		return report.ComparedPage(c.title, c.verdict, c.shown).Markdown(), nil
	}},
}

// whole returns the writer of a form that is encoded in one piece.
func whole(encode func(*v1alpha1.EtcdBenchmark) ([]byte, error)) func(io.Writer, *v1alpha1.EtcdBenchmark, []byte) error {
	return func(out io.Writer, run *v1alpha1.EtcdBenchmark, _ []byte) error {
		data, err := encode(run)
		if err != nil {
			return err
		}
		_, err = out.Write(data)
		return err
	}
}

// formOf returns the form with a name, and false for an unknown one.
func formOf(forms []form, name string) (form, bool) {
	i := slices.IndexFunc(forms, func(f form) bool { return f.name == name })
	if i < 0 {
		return form{}, false
	}
	return forms[i], true
}

func namesText(forms []form) string {
	var names []string
	for _, f := range forms {
		names = append(names, f.name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// usualWidth is used if the width of the terminal is unknown.
const usualWidth = 80

// screen shows progress on the error stream, redrawn if that is a terminal.
func (t *tool) screen() *screen.Screen {
	file, ok := t.Err.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return screen.New(t.Err, nil)
	}
	return screen.New(file, func() int {
		width, _, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return usualWidth
		}
		return width
	})
}

// seenBy returns a function that shows each new state of a run on the screen and in the forms that are written during
// the run.
func seenBy(s *screen.Screen, f following) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run = f.advice.Run(run)
		s.Show(run)
		f.destinations.show(run)
	}
}

// document adds the version of this command to a document.
func (t *tool) document(d *report.Document) *report.Document {
	d.Tool = t.version
	return d
}

// showEnded writes the result of a finished run and returns its exit status. stored is its report, or nil.
func (t *tool) showEnded(run *v1alpha1.EtcdBenchmark, stored []byte, following following) error {
	outputs, run := following.destinations, following.advice.Run(run)
	write := func(f form, out io.Writer) error {
		if f.make != nil {
			return f.writeDocument(out, t.document(report.OfRun(run, stored)))
		}
		if f.name == outputTable {
			return writeResult(out, run, stored, following)
		}
		return f.write(out, run, stored)
	}
	if err := outputs.write(t.Out, write); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	if following.answer != nil && outputs.printed() != outputTable {
		fmt.Fprintln(t.Err, following.answer(run))
	}
	status := statusOfRun(run)
	if doubt := verdict.DoubtOf(run); following.strict && status == exitDone && doubt != "" {
		return &exitError{exitUnknown, errors.New("--strict: " + doubt)}
	}
	if status == exitDone {
		return nil
	}
	if outputs.printed() == outputTable && !verdict.NothingSucceeded(run.Status.Summary) {
		return &exitError{status: status}
	}
	return &exitError{status, why(run, status)}
}

// writeResult writes what a result says, after the answer of the command, if it has one; and all of it if the user wants the
// details.
func writeResult(out io.Writer, run *v1alpha1.EtcdBenchmark, report []byte, f following) error {
	more := "More: add --details, or -o html=FILE for a page with plots."
	if f.details {
		more = ""
	}
	if f.answer != nil && !f.numbers {
		if err := render.WriteBrief(out, run, f.answer(run), more); err != nil || !f.details {
			return err
		}
	}
	if f.details {
		return writeTable(out, run, report)
	}
	answer := ""
	if f.answer != nil {
		answer = f.answer(run)
	}
	return render.WriteShort(out, run, answer, courseOf(report), more)
}

// why returns the reason for the exit status, for output that has no table.
func why(run *v1alpha1.EtcdBenchmark, status int) error {
	if s := run.Status.Summary; verdict.NothingSucceeded(s) {
		return fmt.Errorf("none of %s measured requests succeeded", text.Grouped(s.MeasuredRequests))
	}
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	switch {
	case verdict.EndingOf(run) == verdict.KeysLeft:
		c = verdict.LeftKeys(run.Status.Conditions)
	case status != exitFailed && (c == nil || c.Reason == v1alpha1.ReasonCompleted):
		c = meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	}
	if c == nil {
		return nil
	}
	return fmt.Errorf("%s: %s", c.Reason, c.Message)
}

func writeTable(out io.Writer, run *v1alpha1.EtcdBenchmark, report []byte) error {
	return render.WriteTable(out, run, courseOf(report))
}

// courseOf is nil for a report that cannot be read, for example that of a newer operator.
func courseOf(report []byte) *results.Course {
	if len(report) == 0 {
		return nil
	}
	detail, _ := benchmark.ReadReport(report)
	return detail.Course
}

// writeJSON writes the run and, as one more field of the same object, its report: in one line, because it is long.
func writeJSON(out io.Writer, run *v1alpha1.EtcdBenchmark, report []byte) error {
	data, err := json.MarshalIndent(shownRun(run), "", "  ")
	if err != nil {
		return err
	}
	if json.Valid(report) {
		data = append(bytes.TrimSuffix(data, []byte("\n}")), ",\n  \"report\": "...)
		data = append(append(data, report...), "\n}"...)
	}
	_, err = out.Write(append(data, '\n'))
	return err
}

// shownRun returns the run in the form that a cluster shows.
func shownRun(run *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	run = run.DeepCopy()
	run.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(manifest.Kind))
	run.ManagedFields = nil
	return run
}

func marshalYAML(run *v1alpha1.EtcdBenchmark) ([]byte, error) {
	return yaml.Marshal(shownRun(run))
}
