package reasons

import (
	"slices"
	"strings"
)

// Kind is where a reason stands.
type Kind string

// The kinds of reasons.
const (
	// Stage: reasons of Finished=False.
	Stage Kind = "stage of a run"
	// End: reasons of Finished=True.
	End Kind = "end of a run"
	// SuiteEnd: ends that only suites and their runs have.
	SuiteEnd Kind = "end of a suite, or of one of its runs"
	// Verdict: reasons of Passed.
	Verdict Kind = "verdict (condition Passed)"
	// Concern: reasons of Passed=Unknown about the whole run, and entries of summary.concerns.
	Concern Kind = "concern about the whole run"
	// Cause: why the load generator was a limit.
	Cause Kind = "cause in status.summary.validity"
	// Evidence: where the time went.
	Evidence Kind = "evidence (where the time went)"
	// Keys: reasons of Cleaned.
	Keys Kind = "keys in the target (condition Cleaned)"
	// Comparison: reasons of a comparison without a verdict.
	Comparison Kind = "comparison without a verdict"
	// Search: states of a search for the highest rate.
	Search Kind = "state of a search for the highest rate"
	// Schedule: reasons of the conditions of a schedule.
	Schedule Kind = "condition of a schedule"
	// Warning: sentences in summary.warnings. Their names are only for explain.
	Warning Kind = "warning in status.summary.warnings"
)

// Kinds returns all kinds in the order in which they are shown.
func Kinds() []Kind {
	return []Kind{Stage, End, SuiteEnd, Verdict, Concern, Cause, Evidence, Keys, Comparison, Search, Schedule, Warning}
}

// Entry explains one reason. Words in backticks are names of fields, values and commands.
type Entry struct {
	Kind Kind
	Name string
	// Meaning says what happened, Action what to do. An Action may be empty.
	Meaning, Action string
}

// Page is the page of the documentation about a kind, from the root of the repository.
func (k Kind) Page() string {
	switch k {
	case Stage, End, Keys, Warning:
		return "docs/results.md"
	case SuiteEnd:
		return "docs/suites.md"
	case Evidence:
		return "docs/members.md"
	case Comparison:
		return "docs/compare.md"
	case Search:
		return "docs/highest-rate.md"
	case Schedule:
		return "docs/schedules.md"
	}
	return "docs/verdict.md"
}

// All returns the entries of all kinds, in the order of Kinds.
func All() []Entry {
	var all []Entry
	for _, group := range [][]Entry{stages, ends, suiteEnds, verdicts, concerns, causes, evidence, keys, comparisons, searches, schedules, ofWarnings()} {
		all = append(all, group...)
	}
	return all
}

// Of returns the entries of a kind.
func Of(kind Kind) []Entry {
	return slices.DeleteFunc(All(), func(e Entry) bool { return e.Kind != kind })
}

// Find returns the entries with a name. The case of letters does not matter.
func Find(name string) []Entry {
	return slices.DeleteFunc(All(), func(e Entry) bool { return !strings.EqualFold(e.Name, name) })
}

// Names returns the names of all reasons in alphabetical order, each once.
func Names() []string {
	var names []string
	for _, e := range All() {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Plain returns a text without its backticks, which a terminal would show.
func Plain(text string) string { return strings.ReplaceAll(text, "`", "") }
