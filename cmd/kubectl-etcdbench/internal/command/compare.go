package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	compareExample = `  # Compare three runs of each side, which ran in turn
  kubectl etcdbench compare old-1,old-2,old-3 new-1,new-2,new-3

  # Compare two suites that ran at different times, cell by cell
  kubectl etcdbench compare suite/release-3.6 suite/release-3.7

  # Compare results that "run -o json=FILE" wrote, by the median only
  kubectl etcdbench compare old1.json,old2.json,old3.json new1.json,new2.json,new3.json \
    --metric Latency:Put:P50=5`

	compareHelp = `Says whether the runs of a candidate are worse than those of a baseline. All runs must
have the same workload and the same load. BASELINE and CANDIDATE are names of
EtcdBenchmarks, or files with results as JSON, separated by commas. A word with a dot or a
slash is a file, except suite/NAME.

The runs of each side are sorted by the time of their start. The first of each side are
round one, and so on. At least three rounds are needed for a verdict. Run the sides in turn, one run at a time, and
let neither side always be first. Otherwise whatever changed over time looks like a
difference.

suite/NAME, or a file that "run -o json" wrote for a suite, compares two suites: each cell
with that of the same name. They ran at different times, so the changes are shown, and the
verdict is Unknown. Only if a schedule created one of the suites, and its history has at
least five other sessions, there is a verdict: then it is known how much sessions differ.

Exit status:
  0  NotRegressed: no metric is worse by more than its tolerance.
  1  Regressed: a metric is worse by more than its tolerance.
  2  The runs could not be compared: not found, or different in workload or load.
  3  Unknown: the runs do not decide it. The output says why.`
)

// compareFlags are the flags of compare.
type compareFlags struct {
	metrics, outputs []string
	destinations     destinations
}

// compared is what compare has found.
type compared struct {
	title   string
	verdict v1alpha1.ComparisonVerdict
	shown   *render.Compared
	// result is written as JSON.
	result any
}

func (c *compared) marshal() ([]byte, error) {
	data, err := json.MarshalIndent(c.result, "", "  ")
	return append(data, '\n'), err
}

func (t *tool) compareCommand() *cobra.Command {
	f := &compareFlags{}
	cmd := &cobra.Command{
		Use:     "compare BASELINE[,...] CANDIDATE[,...]",
		Short:   "Say whether runs are worse than others",
		Long:    compareHelp,
		Example: compareExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("wanted the runs of a baseline and of a candidate, found %s: kubectl etcdbench compare old-1,old-2,old-3 new-1,new-2,new-3", text.Plural(len(args), "word"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return t.compare(f, args[0], args[1]) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.metrics, "metric", nil, "compare `METRIC[=PERCENT]`: Throughput, or "+
		"Latency:OPERATION:STATISTIC, for example Latency:Put:P99. STATISTIC is Mean, P50, P90, P95, P99, P999 "+
		"(99.9 %) or Max. PERCENT is the accepted change for the worse, a whole number from 1 to 99: by default 5 "+
		"for throughput, 10 for latency. Repeat the flag for more metrics; without it, the throughput of a closed "+
		"loop is compared, and of each operation the latency P99, else P90, else P50: the first that all runs have")
	flags.StringArrayVarP(&f.outputs, "output", "o", nil, "write the comparison as `FORM[=FILE]`. FORM is "+namesText(comparisonForms)+
		"; md is Markdown for a pull request. Without FILE, it goes to standard output. Repeat the flag for more "+
		"forms; the table is printed unless another form goes to standard output")
	t.kube.addTo(flags)
	return cmd
}

func (t *tool) compare(f *compareFlags, baseline, candidate string) error {
	var err error
	if f.destinations, err = parseDestinations(f.outputs, comparisonForms); err != nil {
		return err
	}
	var metrics []v1alpha1.Metric
	for _, word := range f.metrics {
		m, err := parseMetric(word)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(metrics, func(other v1alpha1.Metric) bool { return other.String() == m.String() }) {
			return fmt.Errorf("--metric: found %s twice: wanted each metric once", m)
		}
		metrics = append(metrics, m)
	}
	ctx, cancel := t.interrupts.untilEnd()
	defer cancel()
	find := &finder{tool: t}
	older, err := find.suiteOf(ctx, baseline)
	if err != nil {
		return err
	}
	newer, err := find.suiteOf(ctx, candidate)
	switch {
	case err != nil:
		return err
	case older != nil && newer != nil:
		return find.compareSuites(ctx, f, metrics, older, newer)
	case older != nil || newer != nil:
		return fmt.Errorf("found a suite and something else: wanted two suites, or runs on both sides: %s, %s", baseline, candidate)
	}
	return find.compareRuns(ctx, f, metrics, baseline, candidate)
}

// compareRuns compares runs that took turns.
func (find *finder) compareRuns(ctx context.Context, f *compareFlags, metrics []v1alpha1.Metric, baseline, candidate string) error {
	one, err := find.runs(ctx, baseline)
	if err != nil {
		return err
	}
	other, err := find.runs(ctx, candidate)
	if err != nil {
		return err
	}
	if len(metrics) == 0 {
		metrics = compare.UsualMetrics(slices.Concat(one, other))
	}
	result, err := compare.Runs(one, other, metrics)
	if err != nil {
		return err
	}
	title := "Comparison of " + text.Plural(result.Rounds, "round")
	return find.writeComparison(f, &compared{title, result.Verdict, render.Comparison(result), result})
}

// exitOf is the exit status of a verdict.
func exitOf(v v1alpha1.ComparisonVerdict) error {
	switch v {
	case v1alpha1.Regressed:
		return &exitError{status: exitMissed}
	case v1alpha1.NotRegressed:
		return nil
	}
	return &exitError{status: exitUnknown}
}

// writeComparison writes a comparison in all forms and returns its exit status.
func (f *finder) writeComparison(flags *compareFlags, c *compared) error {
	err := flags.destinations.open(f.Out, following{})
	if err == nil {
		err = flags.destinations.write(f.Out, func(form form, out io.Writer) error {
			data, err := form.compared(c)
			if err == nil {
				_, err = out.Write(data)
			}
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return exitOf(c.verdict)
}

const metricForm = "Throughput or Latency:OPERATION:STATISTIC, then optionally =PERCENT, for example Latency:Put:P99=10"

// parseMetric reads TYPE[:OPERATION:STATISTIC][=PERCENT].
func parseMetric(word string) (v1alpha1.Metric, error) {
	refused := func(what string) (v1alpha1.Metric, error) {
		return v1alpha1.Metric{}, fmt.Errorf("--metric: wanted %s, found %q: %s", metricForm, word, what)
	}
	name, percent, given := strings.Cut(word, "=")
	m := v1alpha1.Metric{}
	if given {
		n, err := strconv.ParseInt(percent, 10, 32)
		if err != nil || n < 1 || n > v1alpha1.MaxTolerance {
			return refused(fmt.Sprintf("the percentage must be a whole number from 1 to %d", v1alpha1.MaxTolerance))
		}
		m.TolerancePercent = int32(n)
	}
	parts := strings.Split(name, ":")
	switch {
	case len(parts) == 1 && parts[0] == string(v1alpha1.MetricThroughput):
		m.Type = v1alpha1.MetricThroughput
	case len(parts) == 3 && parts[0] == string(v1alpha1.MetricLatency):
		m.Type, m.Operation, m.Statistic = v1alpha1.MetricLatency, spec.Operation(parts[1]), spec.Statistic(parts[2])
		if m.Operation.Index() < 0 {
			return refused(fmt.Sprintf("there is no operation %q; operations are written as in a result, for example Put", parts[1]))
		}
		if !slices.Contains(v1alpha1.ComparedStatistics, m.Statistic) {
			return refused(fmt.Sprintf("the statistics are %v", v1alpha1.ComparedStatistics))
		}
	default:
		return refused("it is neither")
	}
	return m, nil
}

// finder reads runs from files and from a cluster, which it connects to once.
type finder struct {
	*tool
	cluster   *follow.Cluster
	namespace string
}

// runs reads the runs of one side: names and files, separated by commas.
func (f *finder) runs(ctx context.Context, side string) (out []*v1alpha1.EtcdBenchmark, err error) {
	for _, word := range strings.Split(side, ",") {
		switch {
		case word == "":
			return nil, fmt.Errorf("wanted names or files separated by commas, found %q", side)
		case strings.ContainsAny(word, `./\`):
			runs, err := readRuns(word)
			if err != nil {
				return nil, err
			}
			out = append(out, runs...)
		default:
			run, err := f.run(ctx, word)
			if err != nil {
				return nil, err
			}
			out = append(out, run)
		}
	}
	return out, nil
}

// connect connects to the cluster, once.
func (f *finder) connect() (err error) {
	if f.cluster == nil {
		f.cluster, f.namespace, _, err = f.tool.cluster()
	}
	return err
}

func (f *finder) run(ctx context.Context, name string) (*v1alpha1.EtcdBenchmark, error) {
	if err := f.connect(); err != nil {
		return nil, err
	}
	return follow.Runs.Get(ctx, f.cluster, client.ObjectKey{Namespace: f.namespace, Name: name})
}

// readRuns reads a file with one EtcdBenchmark, or with a list of them as kubectl get -o json writes it.
func readRuns(path string) ([]*v1alpha1.EtcdBenchmark, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a result: %w", err)
	}
	kind := metav1.TypeMeta{}
	if err := json.Unmarshal(data, &kind); err != nil {
		return nil, fmt.Errorf("reading %s: wanted JSON, as -o json writes it: %w", path, err)
	}
	if kind.Kind == "List" || kind.Kind == manifest.Kind+"List" {
		list := v1alpha1.EtcdBenchmarkList{}
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		var out []*v1alpha1.EtcdBenchmark
		for i := range list.Items {
			if kind := list.Items[i].Kind; kind != "" && kind != manifest.Kind {
				return nil, fmt.Errorf("reading %s: wanted a list of %s, found a %s in it", path, manifest.Kind, kind)
			}
			out = append(out, &list.Items[i])
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("reading %s: the list is empty", path)
		}
		return out, nil
	}
	if kind.Kind != manifest.Kind {
		return nil, fmt.Errorf("reading %s: wanted the kind %s, found %q", path, manifest.Kind, kind.Kind)
	}
	run := &v1alpha1.EtcdBenchmark{}
	if err := json.Unmarshal(data, run); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(run.Status.Conditions) == 0 {
		return nil, fmt.Errorf("reading %s: it has no result: wanted a run as -o json writes it, not a manifest", path)
	}
	// Results of one manifest have the same name.
	run.Name = path
	return []*v1alpha1.EtcdBenchmark{run}, nil
}
