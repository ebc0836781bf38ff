package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

const listExample = `  # Runs, suites and schedules of the namespace, the newest first
  kubectl etcdbench list

  # Runs of all namespaces
  kubectl etcdbench list runs -A

  # Stop all runs of a namespace
  kubectl etcdbench list runs -n etcd -o name | xargs -n 1 kubectl etcdbench stop -n etcd`

// The forms of list.
const (
	listTable = "table"
	listNames = "name"
)

var listForms = []string{listTable, outputJSON, outputYAML, listNames}

// The kinds that list shows, in this order.
const (
	listSchedules = "schedules"
	listSuites    = "suites"
	listRuns      = "runs"
)

var listKinds = []string{listSchedules, listSuites, listRuns}

// listFlags are the flags of list.
type listFlags struct {
	all    bool
	output string
}

func (t *tool) listCommand() *cobra.Command {
	f := &listFlags{}
	cmd := &cobra.Command{
		Use:     "list [runs|suites|schedules...]",
		Aliases: []string{"ls"},
		Short:   "List runs, suites and schedules with their results",
		Long: `Lists schedules, suites and runs of a namespace, each kind with the newest first. STATE is
the stage, or how it ended; "explain" says what it means. PASSED is the verdict. The
throughput and the p99 of a run that goes on are those until now. A suite shows how many
of its runs have ended, a schedule when its next session starts.`,
		Example: listExample,
		RunE:    func(_ *cobra.Command, args []string) error { return t.list(f, args) },
	}
	cmd.Flags().BoolVarP(&f.all, "all-namespaces", "A", false, "list the objects of all namespaces")
	cmd.Flags().StringVarP(&f.output, "output", "o", listTable, "`FORM` of the list: table, json, yaml or name")
	t.kube.addTo(cmd.Flags())
	return cmd
}

func (t *tool) list(f *listFlags, kinds []string) error {
	if !slices.Contains(listForms, f.output) {
		return fmt.Errorf("--output: wanted table, json, yaml or name, found %q", f.output)
	}
	for i, kind := range kinds {
		if kinds[i] = strings.TrimSuffix(strings.ToLower(kind), "s") + "s"; !slices.Contains(listKinds, kinds[i]) {
			return unknownWord("runs, suites or schedules", kind, listKinds, "kubectl etcdbench list --help shows the usage")
		}
	}
	cluster, namespace, _, err := t.cluster()
	if err != nil {
		return err
	}
	if f.all {
		namespace = ""
	}
	ctx, cancel := t.interrupts.untilEnd()
	defer cancel()
	rows, err := listed(ctx, cluster, namespace, kinds)
	if err != nil {
		return err
	}
	if len(rows) == 0 && f.output == listTable {
		where := "in namespace " + namespace
		if f.all {
			where = "in any namespace"
		}
		fmt.Fprintf(t.Err, "Found no runs, suites or schedules %s.\n", where)
		return nil
	}
	return writeList(t.Out, rows, f)
}

// row is one object of a list.
type row struct {
	object client.Object
	kind   string
	// word is before the name, as other commands take it.
	word                                             string
	state, passed, workload, target, throughput, p99 string
}

// listed reads the objects of these kinds, or of all.
func listed(ctx context.Context, cluster *follow.Cluster, namespace string, kinds []string) (rows []row, err error) {
	wanted := func(kind string) bool { return err == nil && (len(kinds) == 0 || slices.Contains(kinds, kind)) }
	if wanted(listSchedules) {
		var all []v1alpha1.EtcdBenchmarkSchedule
		all, err = cluster.Schedules(ctx, namespace)
		rows = append(rows, rowsOf(all, rowOfSchedule)...)
	}
	if wanted(listSuites) {
		var all []v1alpha1.EtcdBenchmarkSuite
		all, err = cluster.Suites(ctx, namespace)
		rows = append(rows, rowsOf(all, rowOfSuite)...)
	}
	if wanted(listRuns) {
		var all []v1alpha1.EtcdBenchmark
		all, err = cluster.Runs(ctx, namespace)
		rows = append(rows, rowsOf(all, rowOfRun)...)
	}
	return rows, err
}

// rowsOf returns a row for each object, the newest first.
func rowsOf[T any](all []T, of func(*T) row) []row {
	rows := make([]row, len(all))
	for i := range all {
		rows[i] = of(&all[i])
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(b.object.GetCreationTimestamp().Compare(a.object.GetCreationTimestamp().Time), cmp.Compare(a.object.GetName(), b.object.GetName()))
	})
	return rows
}

func rowOfRun(run *v1alpha1.EtcdBenchmark) row {
	r := row{object: run, kind: manifest.Kind, word: "run/", state: follow.Runs.State(run), workload: workloadOf(run)}
	r.passed = passedOf(run.Status.Conditions)
	if d := run.Status.Display; d != nil {
		r.target, r.throughput, r.p99 = d.Target, d.Throughput, d.P99
	}
	return r
}

// workloadOf is the type of the workload, with the profile that it follows from.
func workloadOf(run *v1alpha1.EtcdBenchmark) string {
	workload := string(run.Resolved().Workload.Type)
	if p := run.Spec.Profile; p != "" {
		workload += " (" + string(p) + ")"
	}
	return workload
}

func passedOf(conditions []metav1.Condition) string {
	status, _ := conditionOf(conditions, v1alpha1.ConditionPassed)
	return string(status)
}

func rowOfSuite(s *v1alpha1.EtcdBenchmarkSuite) row {
	r := row{object: s, kind: manifest.SuiteKind, word: "suite/", state: follow.Suites.State(s), passed: passedOf(s.Status.Conditions)}
	if d := s.Status.Display; d != nil && d.Runs != "" {
		r.workload = d.Runs + " runs"
	}
	if len(s.Spec.Targets) > 0 {
		r.target = namesOf(s.Spec.Targets, func(t v1alpha1.SuiteTarget) string { return string(t.Name) })
	}
	return r
}

func rowOfSchedule(s *v1alpha1.EtcdBenchmarkSchedule) row {
	r := row{object: s, kind: "EtcdBenchmarkSchedule", word: "schedule/", state: "Waiting", passed: string(s.Status.LastPassed), workload: s.Spec.Schedule}
	stalled, reason := conditionOf(s.Status.Conditions, v1alpha1.ConditionStalled)
	switch {
	case s.Spec.Suspend:
		r.state = "Suspended"
	case s.Status.Active != "":
		r.state = v1alpha1.StageRunning
	case stalled == metav1.ConditionTrue:
		r.state = reason
	}
	if next := s.Status.NextScheduleTime; next != nil && !s.Spec.Suspend {
		r.target = "next " + next.UTC().Format("2006-01-02 15:04Z")
	}
	return r
}

// namesOf returns the first two names, and how many more there are.
func namesOf[T any](all []T, name func(T) string) string {
	var names []string
	for _, one := range all[:min(len(all), 2)] {
		names = append(names, name(one))
	}
	text := strings.Join(names, ", ")
	if more := len(all) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func writeList(out io.Writer, rows []row, f *listFlags) error {
	switch f.output {
	case listNames:
		for _, r := range rows {
			if _, err := fmt.Fprintln(out, r.word+r.object.GetName()); err != nil {
				return err
			}
		}
		return nil
	case listTable:
		return writeListTable(out, rows, f.all)
	}
	data, err := json.MarshalIndent(listObject(rows), "", "  ")
	if err == nil && f.output == outputYAML {
		data, err = yaml.JSONToYAML(data)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, strings.TrimRight(string(data), "\n"))
	return err
}

// listObject is a list as kubectl get writes it.
func listObject(rows []row) any {
	items := []any{}
	for _, r := range rows {
		r.object.GetObjectKind().SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(r.kind))
		r.object.SetManagedFields(nil)
		items = append(items, r.object)
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
}

func writeListTable(out io.Writer, rows []row, namespaces bool) error {
	w := printers.GetNewTabWriter(out)
	heading := []string{"NAME", "STATE", "PASSED", "WORKLOAD", "TARGET", "THROUGHPUT", "P99", "AGE"}
	if namespaces {
		heading = append([]string{"NAMESPACE"}, heading...)
	}
	fmt.Fprintln(w, strings.Join(heading, "\t"))
	for _, r := range rows {
		cells := []string{r.word + r.object.GetName(), r.state, r.passed, r.workload, r.target, r.throughput, r.p99,
			duration.HumanDuration(time.Since(r.object.GetCreationTimestamp().Time))}
		if namespaces {
			cells = append([]string{r.object.GetNamespace()}, cells...)
		}
		for i, cell := range cells {
			cells[i] = cmp.Or(cell, "–")
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}
