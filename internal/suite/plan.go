package suite

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/search"
)

// Cell is one target with one workload and one load.
type Cell struct {
	// Name has the names of the entries, without axes that have only one.
	Name     string
	Target   v1alpha1.SuiteTarget
	Workload v1alpha1.SuiteWorkload
	Load     v1alpha1.SuiteLoad
	// number is the cell's place among all cells of the suite, excluded ones included, from 1.
	number int
}

// Cells returns the cells of a suite in the order of its axes.
func Cells(s *v1alpha1.EtcdBenchmarkSuite) (cells []Cell) {
	number := 0
	for _, w := range s.Spec.Workloads {
		for _, l := range loads(s) {
			for _, t := range s.Spec.Targets {
				number++
				if !isExcluded(s.Spec.Exclude, t.Name, w.Name, l.Name) {
					cells = append(cells, Cell{Name: nameOf(s, t.Name, w.Name, l.Name), Target: t, Workload: w, Load: l, number: number})
				}
			}
		}
	}
	return cells
}

// loads are those of the suite; a search has one, without a name.
func loads(s *v1alpha1.EtcdBenchmarkSuite) []v1alpha1.SuiteLoad {
	if s.Spec.Search != nil {
		return []v1alpha1.SuiteLoad{{Load: s.Spec.Search.Load}}
	}
	return s.Spec.Loads
}

func isExcluded(exclude []v1alpha1.SuiteExclusion, target, workload, load v1alpha1.EntryName) bool {
	for _, e := range exclude {
		if (e.Target == "" || e.Target == target) && (e.Workload == "" || e.Workload == workload) && (e.Load == "" || e.Load == load) {
			return true
		}
	}
	return false
}

// nameOf leaves out the axes that have only one entry; with one entry on each axis, it is the name of the workload.
func nameOf(s *v1alpha1.EtcdBenchmarkSuite, target, workload, load v1alpha1.EntryName) string {
	var parts []string
	for _, part := range []struct {
		name    v1alpha1.EntryName
		entries int
	}{{target, len(s.Spec.Targets)}, {workload, len(s.Spec.Workloads)}, {load, len(s.Spec.Loads)}} {
		if part.entries > 1 {
			parts = append(parts, string(part.name))
		}
	}
	if len(parts) == 0 {
		return string(workload)
	}
	return strings.Join(parts, "/")
}

// NameWith is the name of a cell with another name on one axis.
func NameWith(s *v1alpha1.EtcdBenchmarkSuite, axis v1alpha1.Axis, name v1alpha1.EntryName, c Cell) string {
	target, workload, load := c.Target.Name, c.Workload.Name, c.Load.Name
	switch axis {
	case v1alpha1.AxisTargets:
		target = name
	case v1alpha1.AxisWorkloads:
		workload = name
	case v1alpha1.AxisLoads:
		load = name
	}
	return nameOf(s, target, workload, load)
}

// Planned is one run of a suite.
type Planned struct {
	Cell  Cell
	Round int32
	// Name of the EtcdBenchmark.
	Name string
	// Repeats: it repeats an invalid run.
	Repeats bool
	// Step is what a probe of a search is for; without a role, the run is none. The round of a probe is its number in its
	// cell.
	Step search.Step
}

// Plan returns all runs in their order: in each round every cell once, then the rounds that confirm what looks worse. The
// order of a round depends on the seed in status, so that no cell always follows the same other one. The first round has
// the order of the axes. A search depends on its results, so only its next probes are known.
func Plan(s *v1alpha1.EtcdBenchmarkSuite) []Planned {
	if s.Spec.Search != nil {
		return probes(s)
	}
	return append(everyCell(s), confirming(s)...)
}

// Examples returns runs that show whether each cell can run: its first run and, of a search, a probe with a rate, too.
func Examples(s *v1alpha1.EtcdBenchmarkSuite) (runs []Planned) {
	for _, p := range Plan(s) {
		if p.Round == 1 {
			runs = append(runs, p)
		}
	}
	if f := s.Spec.Search; f != nil {
		for _, c := range Cells(s) {
			runs = append(runs, probe(s, c, 2, search.Step{Role: search.Sweep, PerSecond: f.MinPerSecond}))
		}
	}
	return runs
}

func everyCell(s *v1alpha1.EtcdBenchmarkSuite) (plan []Planned) {
	cells := Cells(s)
	for round := int32(1); round <= max(s.Spec.Rounds, 1); round++ {
		for _, c := range order(s, round, cells) {
			plan = append(plan, Planned{Cell: c, Round: round, Name: fmt.Sprintf("%s-%d-%d", s.Name, c.number, round)})
		}
	}
	return plan
}

// order sorts the cells of a round by a hash, which depends on the seed and on the round.
func order(s *v1alpha1.EtcdBenchmarkSuite, round int32, cells []Cell) []Cell {
	if round == 1 || s.Status.Seed == nil {
		return cells
	}
	hash := func(c Cell) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%d", *s.Status.Seed, round, c.number))
		return string(sum[:])
	}
	return slices.SortedFunc(slices.Values(cells), func(a, b Cell) int { return strings.Compare(hash(a), hash(b)) })
}

// again ends the name of the repetition of an invalid run.
const again = "-r"

// IsRepetition reports whether a result is that of the repetition of an invalid run.
func IsRepetition(r v1alpha1.SuiteResult) bool { return strings.HasSuffix(r.Name, again) }

// Next returns the run that comes next, given the results in status; false if none is left. If the suite compares, a run
// with invalid numbers is repeated once, at the end of its round.
func Next(s *v1alpha1.EtcdBenchmarkSuite) (Planned, bool) { return next(s, Plan(s)) }

func next(s *v1alpha1.EtcdBenchmarkSuite, plan []Planned) (Planned, bool) {
	results := byName(s)
	for len(plan) > 0 {
		size := roundSize(plan)
		for _, p := range plan[:size] {
			if _, done := results[p.Name]; !done {
				return p, true
			}
		}
		for _, p := range plan[:size] {
			first, repeated := results[p.Name], p
			repeated.Name, repeated.Repeats = repeated.Name+again, true
			if _, done := results[repeated.Name]; judges(s) && first.Invalid != "" && !done {
				return repeated, true
			}
		}
		plan = plan[size:]
	}
	return Planned{}, false
}

func roundSize(plan []Planned) int {
	for i, p := range plan {
		if p.Round != plan[0].Round {
			return i
		}
	}
	return len(plan)
}

func byName(s *v1alpha1.EtcdBenchmarkSuite) map[string]v1alpha1.SuiteResult {
	out := map[string]v1alpha1.SuiteResult{}
	for _, r := range s.Status.Results {
		out[r.Name] = r
	}
	return out
}

// Run returns the manifest of a run. Nothing is merged: each field comes from one place. Only load.seed grows by one with
// each round.
func (p Planned) Run(s *v1alpha1.EtcdBenchmarkSuite) *v1alpha1.EtcdBenchmark {
	t := s.Spec.Template.DeepCopy()
	w, load := p.Cell.Workload.DeepCopy(), p.Cell.Load.Load.DeepCopy()
	// Both sides of a round send the same requests, and another round or probe sends others.
	load.Seed += int64(max(p.Round, 1) - 1)
	objectives, onMissed := w.Objectives, v1alpha1.ObjectiveMissedPolicy("")
	if len(w.Disturbances) > 0 {
		t.Disturbances = w.Disturbances
	}
	switch {
	case p.Step.Role == search.Ceiling:
		// A closed loop misses objectives that a rate would meet.
		objectives = nil
	case p.Step.Role != "":
		*load = loadOf(*load, s.Spec.Search, p.Step, objectives)
		// A probe above the highest rate would only make the target's backlog longer.
		onMissed = v1alpha1.ObjectiveMissedStop
	}
	return &v1alpha1.EtcdBenchmark{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "EtcdBenchmark"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Namespace, Name: p.Name,
			Labels: map[string]string{
				v1alpha1.LabelSuite: s.Name, v1alpha1.LabelCell: strings.ReplaceAll(p.Cell.Name, "/", "."), v1alpha1.LabelRound: fmt.Sprint(p.Round),
			},
			Annotations: map[string]string{v1alpha1.AnnotationKeepReport: string(cmp.Or(s.Spec.KeepReports, v1alpha1.KeepRunsFailed))},
		},
		Spec: v1alpha1.EtcdBenchmarkSpec{
			Target: *p.Cell.Target.Target.DeepCopy(), Workload: w.Workload, Objectives: objectives, Load: *load,
			Disturbances: t.Disturbances, Guard: t.Guard, Pod: t.Pod, OnPodLost: t.OnPodLost, OnObjectiveMissed: onMissed,
			SchedulingTimeoutSeconds: t.SchedulingTimeoutSeconds, TimeoutSeconds: t.TimeoutSeconds,
		},
	}
}

// Check returns why a suite can have no result, beyond what its schema refuses; nil if it can.
func Check(s *v1alpha1.EtcdBenchmarkSuite) error {
	cells := Cells(s)
	if len(cells) == 0 {
		return errors.New("spec.exclude leaves no cell: remove an entry")
	}
	c := s.Spec.Compare
	if c == nil {
		return nil
	}
	if c.Baseline.Values != nil {
		for i, v := range c.Baseline.Values.Figures {
			if !slices.ContainsFunc(cells, func(c Cell) bool { return c.Name == v.Cell }) {
				return fmt.Errorf("spec.compare.baseline.values.figures[%d].cell: the suite has no cell %s: kubectl etcdbench plan lists the cells", i, v.Cell)
			}
		}
	}
	for i, m := range c.Metrics {
		if !slices.ContainsFunc(cells, func(cell Cell) bool { return Measures(s, cell, m) }) {
			return fmt.Errorf("spec.compare.metrics[%d]: no workload of the suite has the operation %s: see docs/workloads.md for the operations of a workload", i, m.Operation)
		}
	}
	if c.Baseline.Entry != "" && len(comparisons(s, cells)) == 0 {
		return fmt.Errorf("spec.compare: there is nothing to compare with the baseline %s, because spec.exclude leaves out too much: remove an entry of it", c.Baseline.Entry)
	}
	return nil
}

// Measures reports whether the runs of a cell have a metric.
func Measures(s *v1alpha1.EtcdBenchmarkSuite, c Cell, m v1alpha1.Metric) bool {
	run := benchmark.Run(Planned{Cell: c}.Run(s))
	return m.Type == v1alpha1.MetricThroughput || slices.Contains(run.Operations(), m.Operation)
}

// Left is how many planned runs have no result; of a search, how many it can still need.
func Left(s *v1alpha1.EtcdBenchmarkSuite) (left int) {
	if s.Spec.Search != nil {
		return probesLeft(s)
	}
	results := byName(s)
	for _, p := range Plan(s) {
		if _, done := results[p.Name]; !done {
			left++
		}
	}
	return left
}
