package compare

import (
	"fmt"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// explain says what a verdict means, and what else is worth knowing about it.
func explain(c v1alpha1.Comparison) string {
	return strings.TrimSpace(meaning(c) + " " + secondOpinion(c) + drift(c) + whatWasAdded(c))
}

// explainStored says what a verdict on another session means.
func explainStored(c v1alpha1.Comparison) string {
	switch c.Reason {
	case v1alpha1.ReasonNotConcurrent:
		return fmt.Sprintf("The baseline was measured in another session. How much equal sessions differ is not known, so whatever changed in the meantime looks like a difference. "+
			"For a verdict, run both sides in one suite, or let a schedule run the suite: the history needs at least %d more sessions.", MinSessions)
	case v1alpha1.ReasonNoisy:
		return "Equal sessions of the history differ so much that this change does not decide it. Use a wider tolerance, or run both sides in one suite, which finds smaller changes."
	}
	return strings.TrimSpace(meaning(c) + " " + whatWasAdded(c))
}

// secondOpinion is a sentence if the interval and the signed-rank test disagree on whether anything has changed.
func secondOpinion(c v1alpha1.Comparison) string {
	if c.SignedRankPerMillion == nil || c.LowPerMillion == nil || c.HighPerMillion == nil {
		return ""
	}
	p := float64(*c.SignedRankPerMillion) / 1e6
	switch changed := *c.LowPerMillion > 0 || *c.HighPerMillion < 0; {
	case changed && p > 2*errorRate:
		return fmt.Sprintf("The interval says that the value has changed, but the signed-rank test does not (p = %.2g): a few rounds may decide the mean. ", p)
	case !changed && p <= 2*errorRate:
		return fmt.Sprintf("The interval does not say that the value has changed, but the signed-rank test does (p = %.2g): nearly all rounds changed in the same direction. ", p)
	}
	return ""
}

func drift(c v1alpha1.Comparison) string {
	if !c.BaselineDrifts {
		return ""
	}
	return "The baseline itself rose or fell over the rounds, for example because the database grew. The pairs cancel that. "
}

// meaning says in a sentence what a verdict means; it repeats no number of the comparison.
func meaning(c v1alpha1.Comparison) string {
	switch c.Reason {
	case v1alpha1.ReasonTooFewRounds:
		if c.Rounds < minRounds {
			return fmt.Sprintf("A verdict needs at least %d valid rounds.", minRounds)
		}
		return fmt.Sprintf("The rounds do not decide it yet: about %d like these would.", c.RoundsNeeded)
	case v1alpha1.ReasonNoisy:
		return fmt.Sprintf("The rounds differ too much from each other, or the change is too close to the "+
			"tolerance: %d rounds like these would not decide it. Use a wider tolerance, longer runs, or a quieter "+
			"machine.", max(maxNeeded, c.Rounds))
	case v1alpha1.ReasonNotConcurrent:
		return "The runs of the two sides overlapped, or did not take turns, so anything that changed over time " +
			"looks like a difference between them. Run them in turn, one at a time, and let neither side always be " +
			"first."
	case v1alpha1.ReasonExclusionsDiffer:
		return "More runs of one side are invalid than of the other, so the rest may not be typical of that side."
	case v1alpha1.ReasonComparedTailTooThin:
		return "Fewer than ten requests lie above this percentile. Measure for longer, or compare a lower percentile."
	case v1alpha1.ReasonNotInformative:
		return "The load has a fixed rate, and both sides reached it: the throughput is what was asked for. Compare a latency."
	case v1alpha1.ReasonNotMeasured:
		return "A run did not measure this metric, or a side has no run whose numbers can be compared."
	case v1alpha1.ReasonUnanswered:
		return "Requests failed, or were unanswered when a run ended, so its true value can be greater."
	}
	return ""
}
