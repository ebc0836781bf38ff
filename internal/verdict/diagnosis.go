package verdict

import (
	"cmp"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// diagnosed has the result of each check of a run that only observes: Missed if it found something, Unknown if it is not
// decided for a member. What was found is first.
func diagnosed(b *v1alpha1.EtcdBenchmark, s *results.Summary, reason string) (out []v1alpha1.ObjectiveStatus) {
	switch {
	case !b.OnlyObserves():
		return nil
	case s == nil || s.Target == nil || s.Target.Diagnosis == nil:
		why := "The detailed result was lost, or did not fit into the termination message."
		if reason != v1alpha1.ReasonCompleted {
			why = "The run ended as " + reason + " before its second look at the members."
		}
		return []v1alpha1.ObjectiveStatus{{Name: "Diagnosis", Result: v1alpha1.ObjectiveUnknown, Wanted: "two looks at each member", Message: why}}
	}
	for _, kind := range s.Target.Diagnosis.Looked {
		out = append(out, checked(kind, *s.Target.Diagnosis))
	}
	slices.SortStableFunc(out, func(a, b v1alpha1.ObjectiveStatus) int {
		return cmp.Compare(slices.Index(worstFirst, a.Result), slices.Index(worstFirst, b.Result))
	})
	return out
}

var worstFirst = []v1alpha1.ObjectiveResult{v1alpha1.ObjectiveMissed, v1alpha1.ObjectiveUnknown, v1alpha1.ObjectiveMet}

// checked is the result of the check for one kind.
func checked(kind string, d results.Diagnosis) v1alpha1.ObjectiveStatus {
	check := checkOf(kind)
	o := v1alpha1.ObjectiveStatus{Name: kind, Result: v1alpha1.ObjectiveMet, Wanted: check.Limit}
	var at, messages, advice []string
	for _, f := range d.Findings {
		if f.Kind == kind {
			o.Result = v1alpha1.ObjectiveMissed
			at, messages = append(at, f.Members...), append(messages, f.Message)
			if !slices.Contains(advice, f.Do) {
				advice = append(advice, f.Do)
			}
		}
	}
	if o.Result == v1alpha1.ObjectiveMissed {
		o.Got = "not met"
		if len(at) > 0 {
			o.Got = text.Shorten("not met at "+strings.Join(at, ", "), v1alpha1.MaxMessageLength/4)
		}
		do := text.Shorten(strings.Join(advice, " "), v1alpha1.MaxMessageLength/2)
		o.Message = text.Shorten(strings.Join(messages, " "), v1alpha1.MaxMessageLength-len(do)-1) + " " + do
		return o
	}
	if len(d.Unseen) > 0 && !check.OfCluster() {
		o.Result = v1alpha1.ObjectiveUnknown
		messages = append(messages, "Not looked at: "+strings.Join(d.Unseen, ", ")+".")
	}
	for _, u := range d.Undecided {
		if u.Kind == kind {
			o.Result = v1alpha1.ObjectiveUnknown
			messages = append(messages, u.Member+": "+u.Why+"; it needs "+u.Needs+".")
		}
	}
	o.Message = text.Shorten(strings.Join(messages, " "), v1alpha1.MaxMessageLength)
	return o
}

// checkOf is the check of a kind; empty if an older client pod knows another one.
func checkOf(kind string) doctor.Check {
	for _, c := range doctor.Checks() {
		if c.Kind == kind {
			return c
		}
	}
	return doctor.Check{Kind: kind}
}
