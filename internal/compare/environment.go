package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// aspect is something that makes the numbers of two sides incomparable if it differs between them.
type aspect struct {
	// ofTarget: it belongs to the target.
	ofTarget bool
	// differs is a sentence that says what differs; empty if nothing does. Both sides have the same number of rounds.
	differs func(baseline, candidate []v1alpha1.Environment) string
}

// aspects is the whole list. Comparisons of runs and of suites, stored baselines and the histories of schedules use it, and
// nothing else about an environment decides.
var aspects = []aspect{
	{true, only(isInMemory, "the data of the %s lay in memory")},
	{false, clients},
}

// unflushed is the same if the data of both sides lie on equal storage: then only the program can be the reason.
var unflushed = only(isInMemory, "the %s does not flush its log to disk (fdatasync): what it gains by that is no improvement")

func isInMemory(e v1alpha1.Environment) bool { return e.DataInMemory }

// only says that in some round something held for one side and not for the other.
func only(has func(v1alpha1.Environment) bool, says string) func(baseline, candidate []v1alpha1.Environment) string {
	return func(baseline, candidate []v1alpha1.Environment) (said string) {
		differing := 0
		for i := range baseline {
			with := "baseline"
			if has(candidate[i]) {
				with = "candidate"
			}
			if has(baseline[i]) != has(candidate[i]) {
				said, differing = fmt.Sprintf(says, with), differing+1
			}
		}
		if differing > 0 && differing < len(baseline) {
			said = "in some of the rounds, " + said
		}
		return said
	}
}

// clients says that in some round the client pods had other processors, or that these are not known.
func clients(baseline, candidate []v1alpha1.Environment) string {
	for i := range baseline {
		switch one, other := baseline[i].Client, candidate[i].Client; {
		case one == "" && other == "":
			return "it is not known on which processors the client pods of the two sides ran"
		case one == "":
			return "it is not known on which processors the client pods of the baseline ran"
		case other == "":
			return "it is not known on which processors the client pods of the candidate ran"
		case one != other:
			return "the client pods of the two sides did not have the same processors"
		}
	}
	return ""
}

// Sides is what the two sides of a comparison are.
type Sides struct {
	// Axis is what a suite compares; empty for the same target at two times. If it compares targets, what belongs to them is
	// noted, and is no reason. If it compares workloads or loads, both sides have one target, so nothing about it differs.
	Axis v1alpha1.Axis
	// OneStorage: two targets have members with equal storage and settings.
	OneStorage bool
}

// haveOneStorage reports whether only the program can be the reason of what differs between two targets.
func (s Sides) haveOneStorage() bool { return s.Axis == v1alpha1.AxisTargets && s.OneStorage }

// UnlikeExcluded is Unlike for sides without a valid round. It knows only what a program is the reason of: nothing else about
// runs without valid numbers makes these incomparable.
func UnlikeExcluded(baseline, candidate []v1alpha1.Environment, sides Sides) (doubt v1alpha1.ComparisonReason, note string) {
	if said := unflushed(baseline, candidate); said != "" && sides.haveOneStorage() {
		return v1alpha1.ReasonEnvironmentDiffers, sentence(said)
	}
	return "", ""
}

func sentence(said string) string { return strings.ToUpper(said[:1]) + said[1:] + "." }

// inOneEnvironment follows what differs. What only a program can be the reason of needs no other environment.
const inOneEnvironment = "That may have caused the difference. Run both sides in one environment, for example on one machine, or all client pods on nodes of one type (spec.pod.nodeSelector)."

// Unlike says what makes two sides incomparable: the reason, empty if there is none, and a note about what differs.
func Unlike(baseline, candidate []v1alpha1.Environment, sides Sides) (doubt v1alpha1.ComparisonReason, note string) {
	var notes []string
	advice := ""
	for _, a := range aspects {
		isProgram := a.ofTarget && sides.haveOneStorage()
		if isProgram {
			a.differs = unflushed
		}
		said := a.differs(baseline, candidate)
		if said == "" || a.ofTarget && sides.Axis != "" && sides.Axis != v1alpha1.AxisTargets {
			continue
		}
		notes = append(notes, sentence(said))
		if a.ofTarget && sides.Axis != "" && !isProgram {
			continue
		}
		if doubt = v1alpha1.ReasonEnvironmentDiffers; !isProgram {
			advice = " " + inOneEnvironment
		}
	}
	return doubt, strings.Join(notes, " ") + advice
}

// UnlikeRuns is what differs between two runs that can make them incomparable, as sentences.
func UnlikeRuns(baseline, candidate *v1alpha1.EtcdBenchmark) string {
	_, note := Unlike([]v1alpha1.Environment{EnvironmentOf(baseline)}, []v1alpha1.Environment{EnvironmentOf(candidate)}, Sides{})
	return strings.TrimSuffix(note, " "+inOneEnvironment)
}

// SameEnvironment reports whether nothing makes two results incomparable with this tolerance.
func SameEnvironment(a, b v1alpha1.Environment, tolerancePercent int32) bool {
	one, other := []v1alpha1.Environment{a}, []v1alpha1.Environment{b}
	doubt, _ := Unlike(one, other, Sides{})
	return doubt == "" && !AddedOf(one, other).differ(tolerancePercent)
}

// EnvironmentOf is the environment of a run.
func EnvironmentOf(run *v1alpha1.EtcdBenchmark) (e v1alpha1.Environment) {
	s := run.Status.Summary
	if s == nil {
		return e
	}
	e.DataInMemory = slices.ContainsFunc(s.Members, verdict.InMemory)
	if s.Fingerprint != nil {
		e.Client = s.Fingerprint.Client
	}
	if v := s.Validity; v != nil {
		e.ClientBound = v.Verdict == v1alpha1.ValidityClientBound
		if v.AddedPerMillion != nil {
			e.AddedPerMillion = *v.AddedPerMillion
		}
	}
	return e
}

// clientText names the processors of the client pods of a run; empty if they are not known.
func clientText(run *v1alpha1.EtcdBenchmark) string {
	if run.Status.Summary == nil || run.Status.Summary.Fingerprint == nil {
		return ""
	}
	return ClientText(*run.Status.Summary.Fingerprint)
}

// ClientText names the processors of client pods, and how much of them a pod may use; empty if they are not known.
func ClientText(f v1alpha1.Fingerprint) string {
	out := strings.Join(f.Processors, " and ")
	if out != "" && f.PodMillicores > 0 {
		out += fmt.Sprintf(", %g processors for each client pod", float64(f.PodMillicores)/1000)
	}
	return out
}
