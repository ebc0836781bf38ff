package report

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// comparisonsID is the ID of the section of comparisons.
const comparisonsID = "comparisons"

// suitePage is the page of a suite, with its runs that are known.
func suitePage(d *Document) Page {
	s := d.Suite
	p := Page{
		Title:    "EtcdBenchmarkSuite " + fullName(s.Namespace, s.Name),
		Manifest: suiteManifest(s), Repeat: d.repeatSuite(),
	}
	p.State, p.Verdict, p.Why = verdictOfSuite(s)
	targets := comparedTargets(d)
	p.Facts, p.compared = append(targets, suiteFacts(d)...), len(targets)
	blocks := render.SuiteBlocks(s)
	p.Tiles, p.Client = tilesOfSuite(s), countedRuns(s, slices.DeleteFunc(of(blocks, render.PartWarnings), func(b render.Block) bool { return slices.Contains(p.Why, b.Text+".") }))
	cells, equal := cellPlots(s)
	overClients, flat := clientPlots(d)
	p.add(
		Section{ID: "problems", Title: "Runs with a problem", Blocks: of(blocks, render.PartProblems)},
		Section{ID: comparisonsID, Title: "Comparisons", Plots: comparisonPlots(d), Blocks: comparisonBlocks(s, blocks)},
		Section{ID: "results", Title: resultsTitle(s), Blocks: append(of(blocks, render.PartNumbers), equal...), Plots: append(kneePlots(s), cells...)},
		explained("clients", "Over clients", ofPoints, overClients, append(flat, errorBlocks(d)...)...),
		explained("best", "The best run of each", ofBest, bestPlots(d)),
		Section{ID: "distributions", Title: "The distributions of the worst comparison", Plots: worstSpectra(d)},
	)
	p.add(runDetails(d)...)
	return p
}

// explained is a section of plots below a sentence about all of them, and more blocks.
func explained(id, title, sentence string, plots []Plot, more ...render.Block) Section {
	s := Section{ID: id, Title: title, Plots: plots}
	if len(plots) > 0 {
		s.Blocks = append([]render.Block{{Text: sentence}}, more...)
	}
	return s
}

// suiteManifest is the manifest of a suite. One that was stopped would be refused with that field.
func suiteManifest(s *v1alpha1.EtcdBenchmarkSuite) string {
	spec := s.Spec
	spec.Stop = false
	return manifest("EtcdBenchmarkSuite", s.ObjectMeta, spec)
}

// comparisonBlocks are those of the terminal, with the worst comparison first and a column more.
func comparisonBlocks(s *v1alpha1.EtcdBenchmarkSuite, all []render.Block) []render.Block {
	blocks := of(all, render.PartComparison)
	if len(blocks) == 0 {
		return nil
	}
	rows := [][]string{append(append([]string{"CELL", "BASELINE CELL"}, render.ComparisonHeader...), "DETECTABLE CHANGE")}
	for _, c := range worstFirst(s.Status.Comparisons) {
		smallest := "–"
		if change, _, known := render.DetectableChange(c.Comparison); known {
			smallest = change
		}
		rows = append(rows, append(append([]string{c.Cell, c.BaselineCell}, render.ComparisonRow(c.Comparison)...), smallest))
	}
	const legend = "DETECTABLE CHANGE: the smallest change for the worse that rounds like these find in about four of five comparisons; with three rounds, in three of four."
	return append([]render.Block{{Rows: rows, Left: 3}, {Text: legend}}, blocks[1:]...)
}

func resultsTitle(s *v1alpha1.EtcdBenchmarkSuite) string {
	if s.Spec.Search != nil {
		return "The highest rate"
	}
	return "Results"
}

// verdictOfSuite says in words how a suite ended and what that means.
func verdictOfSuite(s *v1alpha1.EtcdBenchmarkSuite) (state State, words string, why []string) {
	finished := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionFinished)
	passed := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPassed)
	if finished != nil && finished.Message != "" {
		why = append(why, strings.TrimSpace(finished.Message))
	}
	if passed != nil && passed.Message != "" {
		why = append(why, passed.Message)
	}
	for _, w := range s.Status.Warnings {
		if slices.Contains(suite.OfEnvironment, w.Kind) {
			why = append(why, render.WarningText(s, w)+".")
		}
	}
	switch ending := suite.EndingOf(s); {
	case ending == verdict.Unfinished:
		if len(s.Status.Results) > 0 {
			why = append(why, "The numbers are those so far.")
		}
		return Open, "Not finished", why
	case finished.Reason == v1alpha1.ReasonInvalidCell || finished.Reason == v1alpha1.ReasonRunFailed && len(s.Status.Results) == 0:
		return Bad, "The suite could not start", why
	case ending == verdict.Failed:
		return Bad, "Some runs could not send the load", why
	case ending == verdict.Missed && passed.Reason == v1alpha1.ReasonRegressed:
		return Bad, "Regressed", why
	case ending == verdict.Missed:
		return Bad, "An objective was missed", why
	case finished.Reason == v1alpha1.ReasonStopped:
		return Open, "Stopped", why
	case ending == verdict.Open:
		return Open, "No verdict", why
	case ending == verdict.KeysLeft:
		return Bad, keysLeft, append(why, verdict.LeftKeys(s.Status.Conditions).Message)
	case passed != nil:
		return Good, "Passed", why
	}
	return None, "Completed", append(why, "The suite has no objectives and no comparison, so nothing was judged.")
}

// axes are the names of what a suite combines.
func axes(s v1alpha1.EtcdBenchmarkSuiteSpec) (out []Fact) {
	for _, f := range []Fact{
		{"targets", entryNames(s.Targets, func(t v1alpha1.SuiteTarget) v1alpha1.EntryName { return t.Name })},
		{"workloads", entryNames(s.Workloads, func(w v1alpha1.SuiteWorkload) v1alpha1.EntryName { return w.Name })},
		{"loads", entryNames(s.Loads, func(l v1alpha1.SuiteLoad) v1alpha1.EntryName { return l.Name })},
	} {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	return out
}

// suiteFacts say what was run, where and when.
func suiteFacts(d *Document) (out []Fact) {
	s := d.Suite
	out = axes(s.Spec)
	add := func(name, value string) {
		if value != "" {
			out = append(out, Fact{name, value})
		}
	}
	runs := text.Plural(s.Status.Runs.Finished, "run") + " in " + text.Plural(s.Status.Runs.Cells, "cell")
	if s.Spec.Search == nil {
		runs += " and " + text.Plural(max(s.Spec.Rounds, 1), "round")
	}
	add("runs", runs)
	if s.Status.Seed != nil {
		add("seed", fmt.Sprintf("%d, which decides the order of the cells in each round", *s.Status.Seed))
	}
	if s.Status.StartTime != nil {
		began := utc(s.Status.StartTime.Time)
		if s.Status.CompletionTime != nil {
			began += " to " + utc(s.Status.CompletionTime.Time)
		}
		add("ran", began)
	}
	return append(out, environments(d.Runs)...)
}

// comparedTargets say what each target of a suite that compares them is: its program, or its image and its version.
func comparedTargets(d *Document) (out []Fact) {
	s := d.Suite
	if len(s.Status.Comparisons) == 0 || s.Spec.Compare == nil || s.Spec.Compare.Axis != v1alpha1.AxisTargets {
		return nil
	}
	for _, t := range s.Spec.Targets {
		what := s.Annotations[v1alpha1.AnnotationProgram+string(t.Name)]
		if what == "" {
			if e := t.Target.Ephemeral; e != nil {
				what = e.Image
			}
			for _, f := range environments(runsOf(d, t.Name)) {
				if f.Name == "stores" {
					what = strings.TrimPrefix(what+": "+f.Value, ": ")
				}
			}
		}
		if what != "" {
			out = append(out, Fact{string(t.Name), what})
		}
	}
	return out
}

// runsOf are the known runs of a target.
func runsOf(d *Document, target v1alpha1.EntryName) []Run {
	targets := map[string]v1alpha1.EntryName{}
	for _, c := range suite.Cells(d.Suite) {
		targets[c.Name] = c.Target.Name
	}
	return slices.DeleteFunc(slices.Clone(d.Runs), func(r Run) bool {
		result, _ := resultOf(d.Suite, r.Object.Name)
		return targets[result.Cell] != target
	})
}

func entryNames[T any](all []T, name func(T) v1alpha1.EntryName) string {
	var names []string
	for _, e := range all {
		names = append(names, string(name(e)))
	}
	return strings.Join(names, ", ")
}

// environments are the different stores and client processors of the runs.
func environments(runs []Run) (out []Fact) {
	var stores, clients []string
	for _, r := range runs {
		s := r.Object.Status.Summary
		if s == nil || s.Fingerprint == nil {
			continue
		}
		f := s.Fingerprint
		store := strings.TrimSpace(string(f.Store) + " " + strings.Join(f.Versions, " and "))
		if f.Members > 0 {
			store += ", " + text.Plural(f.Members, "member")
		}
		stores = append(stores, store)
		if c := compare.ClientText(*f); c != "" {
			clients = append(clients, c)
		}
	}
	for name, all := range map[string][]string{"stores": stores, "clients": clients} {
		slices.Sort(all)
		if all = slices.Compact(all); len(all) > 0 {
			out = append(out, Fact{name, strings.Join(all, "; ")})
		}
	}
	slices.SortFunc(out, func(a, b Fact) int { return strings.Compare(b.Name, a.Name) })
	return out
}

// MostUrgent puts the runs whose details are wanted most first: failed ones, then those that missed an objective, then
// invalid ones, then the others.
func MostUrgent(s *v1alpha1.EtcdBenchmarkSuite, runs []v1alpha1.EtcdBenchmark) {
	slices.SortStableFunc(runs, func(a, b v1alpha1.EtcdBenchmark) int { return urgency(s, a.Name) - urgency(s, b.Name) })
}

// runDetails are the details of the known runs, the most urgent first.
func runDetails(d *Document) (out []Section) {
	runs := slices.Clone(d.Runs)
	slices.SortStableFunc(runs, func(a, b Run) int { return urgency(d.Suite, a.Object.Name) - urgency(d.Suite, b.Object.Name) })
	for i, r := range runs {
		run := r.Object
		title := run.Name
		if cell := run.Labels[v1alpha1.LabelCell]; cell != "" {
			title += " (" + cell + ")"
		}
		if result, known := resultOf(d.Suite, run.Name); known {
			title = fmt.Sprintf("%s: %s, round %d", run.Name, result.Cell, result.Round)
		}
		_, words, why := verdictOfRun(run)
		section := Section{
			ID: fmt.Sprintf("run-%d", i+1), Title: title, Folded: true, Blocks: sentences(append([]string{words + "."}, why...)...),
			Command: d.reportOf(r),
		}
		section.Parts = runParts(section.ID, r, render.RunBlocks(run))
		out = append(out, section)
	}
	return out
}

func resultOf(s *v1alpha1.EtcdBenchmarkSuite, name string) (v1alpha1.SuiteResult, bool) {
	if i := slices.IndexFunc(s.Status.Results, func(r v1alpha1.SuiteResult) bool { return r.Name == name }); i >= 0 {
		return s.Status.Results[i], true
	}
	return v1alpha1.SuiteResult{}, false
}

// urgency orders runs by how much their details are wanted, the least number first.
func urgency(s *v1alpha1.EtcdBenchmarkSuite, name string) int {
	result, known := resultOf(s, name)
	switch {
	case !known:
		return 4
	case suite.Failed(result):
		return 0
	case result.Passed == metav1.ConditionFalse:
		return 1
	case result.Invalid != "":
		return 2
	}
	return 3
}
