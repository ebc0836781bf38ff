package suite

import (
	"cmp"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/reasons"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// otherWarning is the kind of a warning that has no name, moreWarnings of those for which a result has no room.
	otherWarning = "Other"
	moreWarnings = "More"
	// allWarnings bounds how many kinds all results of a suite have together. Each has room for a few.
	allWarnings   = 2000
	leastWarnings = 4
)

// OfEnvironment are the kinds of warnings that say for which targets a verdict holds at all. They stand first.
var OfEnvironment = []string{"OneMachine", "DataInMemory"}

// WarningsOf are the kinds of the warnings of a run that has a summary, each once.
func WarningsOf(run *v1alpha1.EtcdBenchmark) (kinds []string) {
	for _, w := range run.Status.Summary.Warnings {
		if kind := kindOf(w); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	slices.SortStableFunc(kinds, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	return kinds
}

func place(kind string) int {
	if i := slices.Index(OfEnvironment, kind); i >= 0 {
		return i
	}
	return len(OfEnvironment)
}

// keptWarnings are the kinds of a run's warnings that have room in its result.
func keptWarnings(s *v1alpha1.EtcdBenchmarkSuite, run *v1alpha1.EtcdBenchmark) []string {
	kinds := WarningsOf(run)
	if most := max(allWarnings/plannedRuns(s), leastWarnings); len(kinds) > most {
		kinds = append(kinds[:most-1], moreWarnings)
	}
	return kinds
}

func kindOf(warning string) string {
	entry, _ := reasons.OfWarning(warning)
	return cmp.Or(entry.Name, otherWarning)
}

// keepWarnings keeps the text of the first warning of each kind. A result has only the kinds of its warnings: the texts of
// all runs would not have room in one object.
func keepWarnings(s *v1alpha1.EtcdBenchmarkSuite, run *v1alpha1.EtcdBenchmark) {
	if run.Status.Summary == nil {
		return
	}
	for _, w := range run.Status.Summary.Warnings {
		kind := kindOf(w)
		if !slices.ContainsFunc(s.Status.Warnings, func(known v1alpha1.SuiteWarning) bool { return known.Kind == kind }) {
			s.Status.Warnings = append(s.Status.Warnings, v1alpha1.SuiteWarning{Kind: kind, Message: text.Shorten(w, maxText), Run: run.Name})
		}
	}
}

// countWarnings counts the results that have each kind of warning.
func countWarnings(s *v1alpha1.EtcdBenchmarkSuite) {
	for i, w := range s.Status.Warnings {
		s.Status.Warnings[i].Runs = 0
		for _, r := range s.Status.Results {
			if slices.Contains(r.Warnings, w.Kind) {
				s.Status.Warnings[i].Runs++
			}
		}
	}
}
