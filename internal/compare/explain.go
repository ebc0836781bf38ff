package compare

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// explain says in a sentence what a verdict means; it repeats no number of the comparison.
func explain(c v1alpha1.Comparison) string {
	switch c.Reason {
	case v1alpha1.ReasonTooFewRounds:
		if c.Rounds < minRounds {
			return fmt.Sprintf("A verdict needs at least %d valid rounds.", minRounds)
		}
		return fmt.Sprintf("The rounds do not decide it yet: about %d like these would.", c.RoundsNeeded)
	case v1alpha1.ReasonNoisy:
		return fmt.Sprintf("The rounds differ too much from each other, or the change is too close to the tolerance: %d rounds like these would not decide it. Use a wider tolerance, longer runs, or a quieter machine.", max(maxNeeded, c.Rounds))
	case v1alpha1.ReasonNotConcurrent:
		return "The runs of the two sides overlapped, or did not take turns, so anything that changed over time looks like a difference between them. Run them in turn, one at a time, and let neither side always be first."
	case v1alpha1.ReasonExclusionsDiffer:
		return "More runs of one side are invalid than of the other, so the rest may not be typical of that side."
	case v1alpha1.ReasonComparedTailTooThin:
		return "Fewer than ten requests lie above this percentile. Measure for longer, or compare a lower percentile."
	case v1alpha1.ReasonNotInformative:
		return "The load has a fixed rate, and both sides reached it: the throughput is what was asked for. Compare a latency."
	case v1alpha1.ReasonNotMeasured:
		return "At least one of the runs did not measure this metric."
	case v1alpha1.ReasonUnanswered:
		return "Requests failed, or were unanswered when a run ended, so its true value can be greater."
	}
	return ""
}
