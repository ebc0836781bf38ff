package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/report"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const reportExample = `  # Write the page write-all-members.html about a run
  kubectl etcdbench report write-all-members -n etcd

  # A suite as Markdown for a pull request, without addresses and names
  kubectl etcdbench report suite/etcd-page -o md --redact

  # From a saved result, without a cluster
  kubectl etcdbench report result.json -o html=result.html`

// reportFlags are the flags of report.
type reportFlags struct {
	outputs []string
	redact  bool
}

func (t *tool) reportCommand() *cobra.Command {
	f := &reportFlags{}
	cmd := &cobra.Command{
		Use:   "report NAME|FILE...",
		Short: "Write a report of a run, a suite or a schedule",
		Long: `Writes what a run, a suite or a schedule has found, for people to read and to send around:
as an HTML page (one file that loads nothing), Markdown for a pull
request, CSV, JSON, or JUnit for a pipeline.

NAME is that of a run, or suite/NAME or schedule/NAME. Any other word with a dot or a slash
is a file that run -o json, kubectl get -o json or report -o json wrote.
Several runs are shown in one table, and not judged: compare does that. A run that goes on is shown as it is now.`,
		Example: reportExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("wanted a run, suite/NAME, schedule/NAME or a file, found nothing: kubectl etcdbench report NAME")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return t.report(f, args) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.outputs, "output", "o", nil, "write the report as `FORM[=FILE]`. FORM is "+namesText(reportForms)+
		". Without FILE, it goes to standard output. Repeat the flag for more forms. Without the flag, the page "+
		"NAME.html is written; with several names or --redact, report.html")
	flags.BoolVar(&f.redact, "redact", false, "replace addresses and the names of objects, nodes, members and Secrets by words like address-1")
	t.kube.addTo(flags)
	return cmd
}

func (t *tool) report(f *reportFlags, args []string) error {
	outputs := f.outputs
	if len(outputs) == 0 {
		outputs = []string{outputHTML + "=" + pageName(args, f.redact)}
	}
	all, err := parseOutputs(outputs, reportForms)
	if err != nil {
		return err
	}
	ctx, cancel := t.interrupts.untilEnd()
	defer cancel()
	d, err := (&finder{tool: t}).document(ctx, args)
	if err != nil {
		return err
	}
	if f.redact {
		if d, err = report.Redact(d); err != nil {
			return err
		}
	}
	for _, destination := range all {
		if err := t.writeReport(destination, t.document(d)); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return nil
}

// pageName is the file of the page if no form is requested. The page of several results, and one without names, is
// report.html.
func pageName(args []string, redact bool) string {
	if len(args) > 1 || redact {
		return "report.html"
	}
	kind, name := kindWord(args[0])
	if kind != "" {
		return name + ".html"
	}
	name = filepath.Base(name)
	for _, ending := range []string{".json", ".yaml", ".yml"} {
		if short, found := strings.CutSuffix(name, ending); found {
			return short + ".html"
		}
	}
	return name + ".html"
}

func (t *tool) writeReport(to *destination, d *report.Document) error {
	if to.path == "" {
		return to.form.writeDocument(t.Out, d)
	}
	data, err := to.form.make(d)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to.path, data, 0o644); err != nil {
		return err
	}
	fmt.Fprintln(t.Err, "Wrote "+to.path)
	return nil
}

// document reads everything that a report is about.
func (f *finder) document(ctx context.Context, args []string) (*report.Document, error) {
	var all *report.Document
	for _, argument := range args {
		d, err := f.one(ctx, argument)
		if err == nil && len(args) > 1 && isFile(argument) {
			for i := range d.Runs {
				d.Runs[i].Label = argument
			}
		}
		switch {
		case err != nil:
			return nil, err
		case all == nil:
			all = d
		case d.Suite != nil || d.Schedule != nil || all.Suite != nil || all.Schedule != nil:
			return nil, fmt.Errorf("found %s beside others: wanted several runs, or one suite, or one schedule", argument)
		default:
			all.Runs, all.Notes = append(all.Runs, d.Runs...), append(all.Notes, d.Notes...)
		}
	}
	return all, nil
}

// scheduleWords are the names of the kind before the slash.
var scheduleWords = []string{"schedule", "ebsch", "etcdbenchmarkschedule", "etcdbenchmarkschedules"}

// one reads what one argument names.
func (f *finder) one(ctx context.Context, argument string) (*report.Document, error) {
	kind, name := kindWord(argument)
	if isFile(argument) {
		data, err := os.ReadFile(argument)
		if err != nil {
			return nil, fmt.Errorf("reading a result: %w", err)
		}
		d, err := report.Read(data)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", argument, err)
		}
		return d, nil
	}
	if err := f.connect(); err != nil {
		return nil, err
	}
	key := client.ObjectKey{Namespace: f.namespace, Name: name}
	switch kind {
	case "suite":
		return f.suite(ctx, key)
	case "schedule":
		s, err := f.cluster.Schedule(ctx, key)
		return report.OfSchedule(s), err
	}
	run, err := follow.Runs.Get(ctx, f.cluster, key)
	if kind == "" && apierrors.IsNotFound(err) {
		if d, other := f.suite(ctx, key); other == nil {
			return d, nil
		}
	}
	if err != nil {
		return nil, err
	}
	stored := f.cluster.Report(ctx, run)
	d := report.OfRun(run, stored)
	if stored == nil && run.Status.ReportName != "" {
		d.Notes = []string{fmt.Sprintf("The stored report %s could not be read, so plots are missing. Reading it needs the right to get ConfigMaps.", run.Status.ReportName)}
	}
	return d, nil
}

// isFile reports whether an argument names a file, and not an object.
func isFile(argument string) bool {
	kind, _ := kindWord(argument)
	return kind == "" && strings.ContainsAny(argument, `./\`)
}

// kindWord splits KIND/NAME; kind is empty for a name alone, or for a file.
func kindWord(argument string) (kind, name string) {
	before, name, found := strings.Cut(argument, "/")
	word := strings.TrimSuffix(strings.ToLower(before), "."+v1alpha1.GroupVersion.Group)
	switch {
	case !found:
		return "", argument
	case slices.Contains(runWords, word):
		return "run", name
	case slices.Contains(suiteWords, word):
		return "suite", name
	case slices.Contains(scheduleWords, word):
		return "schedule", name
	}
	return "", argument
}

func (f *finder) suite(ctx context.Context, key client.ObjectKey) (*report.Document, error) {
	s, err := follow.Suites.Get(ctx, f.cluster, key)
	if err != nil {
		return nil, err
	}
	return f.suiteDocument(f.cluster, s), nil
}

// suiteDocument has a suite with those of its finished runs that exist, and their reports. Its notes say what it lacks.
func (t *tool) suiteDocument(cluster *follow.Cluster, s *v1alpha1.EtcdBenchmarkSuite) *report.Document {
	ctx, cancel := withTimeout(t.interrupts.leave, runsLimit)
	defer cancel()
	d := report.OfSuite(s, nil)
	runs, err := cluster.RunsOf(ctx, s)
	if err != nil {
		d.Notes = []string{fmt.Sprintf("The details of single runs are missing: %v.", err)}
		fmt.Fprintln(t.Err, d.Notes[0])
		return d
	}
	runs = slices.DeleteFunc(runs, func(run v1alpha1.EtcdBenchmark) bool { return !follow.Runs.IsFinished(&run) })
	report.MostUrgent(s, runs)
	unread := 0
	for i := range runs[:min(len(runs), maxKeptRuns)] {
		stored := cluster.Report(ctx, &runs[i])
		if stored == nil && runs[i].Status.ReportName != "" {
			unread++
		}
		d.Runs = append(d.Runs, report.NewRun(&runs[i], stored))
	}
	d.Notes = append(keptNotes(len(runs)), unreadNotes(unread)...)
	return d
}

// keptNotes says that a document has not all of so many runs.
func keptNotes(runs int) []string {
	if runs <= maxKeptRuns {
		return nil
	}
	return []string{fmt.Sprintf("This report has the details of %d runs of %d.", maxKeptRuns, runs)}
}

func unreadNotes(unread int) []string {
	if unread == 0 {
		return nil
	}
	return []string{fmt.Sprintf("The stored reports of %s could not be read within %s, so their plots are missing. "+
		"Reading them needs the right to get ConfigMaps.", text.Plural(unread, "run"), runsLimit)}
}
