package verdict

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// verdict is the result of one objective, without its name.
type verdict struct {
	result  v1alpha1.ObjectiveResult
	got     string
	message string
	// reason is v1alpha1.ObjectiveStatus.Reason.
	reason string
}

func met(got string) verdict { return verdict{result: v1alpha1.ObjectiveMet, got: got} }

func missed(got, message string) verdict {
	return verdict{result: v1alpha1.ObjectiveMissed, got: got, message: message}
}

func notJudged(got, message string) verdict {
	return verdict{result: v1alpha1.ObjectiveUnknown, got: got, message: message}
}

// Judge compares a result with the objectives of b and returns the condition Passed without times and generation. s is
// nil if there are no numbers. Without objectives it returns nil and nil.
//
// An objective that the numbers do not decide is Unknown, for example a percentile that is only a lower bound, or a
// result without the part of a pod. A run that did not complete its load can miss, but cannot pass. reason is how the
// run ended. The checks of a run that only observes come before its objectives.
func Judge(b *v1alpha1.EtcdBenchmark, s *results.Summary, reason string) ([]v1alpha1.ObjectiveStatus, *metav1.Condition) {
	out := diagnosed(b, s, reason)
	if len(b.Resolved().Objectives) == 0 && out == nil {
		return nil, nil
	}
	var clients *v1alpha1.Validity
	if s != nil {
		clients = Clients(b, *s)
	}
	for _, o := range b.Resolved().Objectives {
		v := judge(o, b, s)
		if s != nil {
			v = bounded(v, o, b, *s, clients)
		}
		out = append(out, v1alpha1.ObjectiveStatus{
			Name:    o.Name,
			Result:  v.result,
			Wanted:  wanted(o),
			Got:     v.got,
			Message: text.Shorten(v.message, v1alpha1.MaxMessageLength),
			Reason:  v.reason,
		})
	}
	return out, capped(checkRun(passed(out), b, s), s, reason)
}

func capped(c *metav1.Condition, s *results.Summary, reason string) *metav1.Condition {
	whole := reason == v1alpha1.ReasonCompleted && s != nil && !s.Stopped
	if c.Status == metav1.ConditionTrue && !whole {
		c.Status, c.Reason = metav1.ConditionUnknown, v1alpha1.ReasonNotJudged
		c.Message = fmt.Sprintf("The run ended as %s; the numbers measured until then meet the objectives, but such a run cannot pass.", reason)
	}
	return c
}

// CouldNotRun reports whether a run with this reason was prevented from doing its load. A user requested a stop, or
// spec.onPodLost to continue without a pod, or spec.onObjectiveMissed to end a run that has missed, so these are no
// failures.
func CouldNotRun(reason string) bool {
	switch reason {
	case v1alpha1.ReasonCompleted, v1alpha1.ReasonStopped, v1alpha1.ReasonPartlyCompleted, v1alpha1.ReasonMissedEarly:
		return false
	}
	return true
}

// judge judges one objective of a run.
func judge(o v1alpha1.Objective, b *v1alpha1.EtcdBenchmark, s *results.Summary) verdict {
	if s == nil && b.Status.Summary != nil {
		return notJudged("", "The objective could not be judged: it needs the detailed numbers of all client pods, and those of a lost pod are gone.")
	}
	if s == nil || s.Succeeded+s.Failed+s.Censored == 0 {
		return notJudged("", "No request was measured.")
	}
	switch {
	case o.Latency != nil:
		return judgeLatency(*o.Latency, b, *s)
	case o.Throughput != nil:
		return judgeThroughput(*o.Throughput, throughputOf(b, *s), *s)
	case o.ErrorRatio != nil:
		return judgeErrorRatio(*o.ErrorRatio, b, *s)
	case o.AchievedRate != nil:
		return judgeAchievedRate(*o.AchievedRate, b.Resolved().Load, throughputOf(b, *s), *s)
	case o.StartSkew != nil:
		return completed(judgeStartSkew(*o.StartSkew, ClocksApart(b.Status.Pods), *s), *s)
	}
	if limit := memberLimitOf(o); limit != nil {
		return completed(judgeMembers(limit, *s), *s)
	}
	return notJudged("", fmt.Sprintf("The operator does not know objectives of type %s.", o.Type))
}

const partOfPodMissing = "The result of a client pod is missing or incomplete."

// completed prevents a partial result from meeting an objective.
func completed(v verdict, s results.Summary) verdict {
	if s.Partial && v.result == v1alpha1.ObjectiveMet {
		return notJudged(v.got, partOfPodMissing)
	}
	return v
}

func judgeLatency(o v1alpha1.LatencyObjective, b *v1alpha1.EtcdBenchmark, s results.Summary) verdict {
	op := operationOf(s, o.Operation)
	switch {
	case op == nil:
		return notJudged("", fmt.Sprintf("The workload sent no %s requests.", o.Operation))
	case s.Partial:
		return judgePart(o, b, s, *op)
	case o.Statistic == spec.StatisticStddev:
		return judgeStddev(o, *op)
	}
	v := judgeTail(o, *op, op.Judged)
	if v.result == v1alpha1.ObjectiveMet && op.UncountedEvents > 0 && !metAtWorst(o, *op) {
		return notJudged(v.got, leftOut(*op))
	}
	return v
}

// metAtWorst reports whether the objective would be met if every event that was not counted ranked last. For a mean
// this is unknown.
func metAtWorst(o v1alpha1.LatencyObjective, op results.OperationSummary) bool {
	return o.Statistic != spec.StatisticMean && judgeRanked(o, op, op.JudgedAtWorst).result == v1alpha1.ObjectiveMet
}

func leftOut(op results.OperationSummary) string {
	return fmt.Sprintf("Failed or unanswered puts may have caused up to %s that the latency does not include. With these events, the limit might be missed.", text.Plural(op.UncountedEvents, "event"))
}

func judgeRanked(o v1alpha1.LatencyObjective, op results.OperationSummary, ranked results.Distribution) verdict {
	value, ok := ranked.Values[o.Statistic]
	limit := time.Duration(o.MaxMicroseconds) * time.Microsecond
	switch got := gotLatency(value, limit); {
	case !ok:
		return notJudged("", fmt.Sprintf("The %s of %s is not known.", o.Statistic, o.Operation))
	case value.Unbounded:
		return missed(failedRequest, fmt.Sprintf("The %s is a failed request, because failed requests count as slower "+
			"than every other: %s failed.", o.Statistic, text.Plural(op.Failed, string(o.Operation)+" request")))
	case value.Lowest > limit:
		return missed(got, "")
	case value.AtLeast && (value.AtMost == 0 || value.AtMost > limit):
		return notJudged(got, "Requests that were unanswered at the end could have taken longer.")
	case value.Highest > limit:
		return notJudged(got, fmt.Sprintf("The true value is between %s and %s, as is the limit.", text.Exact(value.Lowest), text.Exact(value.Highest)))
	default:
		return met(got)
	}
}

// failedRequest is the value of a statistic that falls on a failed request.
const failedRequest = "failed"

func gotLatency(v results.Value, limit time.Duration) string {
	if v.AtLeast {
		return "≥" + text.Beside(limit, v.Duration)
	}
	return text.Beside(limit, v.Duration)
}

// judgeErrorRatio counts unanswered requests as possible failures: the objective is met only if it would be met with
// all of them failed. It is missed only if it would be missed with the missing requests of a partial result, none of them
// failed.
func judgeErrorRatio(o v1alpha1.ErrorRatioObjective, b *v1alpha1.EtcdBenchmark, s results.Summary) verdict {
	total, limit := s.Succeeded+s.Failed+s.Censored, uint64(o.MaxPerMillion)
	more, known := missing(b, s)
	switch got := text.PerMillion(1e6 * float64(s.Failed) / float64(total)); {
	case results.IsMore(s.Failed, total, limit, 1e6) && !s.Partial,
		known && results.IsMore(s.Failed, total+more, limit, 1e6), limit == 0 && s.Failed > 0:
		return missed(got, "")
	case s.Partial:
		return notJudged(got, partOfPodMissing)
	case results.IsMore(s.Failed+s.Censored, total, limit, 1e6):
		return notJudged(got, fmt.Sprintf("%s unanswered at the end could have failed.", text.Plural(s.Censored, "request")))
	default:
		return met(got)
	}
}

func operationOf(s results.Summary, operation spec.Operation) *results.OperationSummary {
	for i, op := range s.Operations {
		if op.Operation == operation {
			return &s.Operations[i]
		}
	}
	return nil
}

func wanted(o v1alpha1.Objective) string {
	switch {
	case o.Latency != nil:
		return "≤" + text.Exact(time.Duration(o.Latency.MaxMicroseconds)*time.Microsecond)
	case o.Throughput != nil:
		return "≥" + text.PerSecond(o.Throughput.MinPerSecond)
	case o.ErrorRatio != nil:
		return "≤" + text.PerMillion(float64(o.ErrorRatio.MaxPerMillion))
	case o.AchievedRate != nil:
		return fmt.Sprintf("≥%d %% of the rate", o.AchievedRate.MinPercent)
	case o.StartSkew != nil:
		return "≤" + text.Exact(time.Duration(o.StartSkew.MaxMicroseconds)*time.Microsecond)
	}
	if limit := memberLimitOf(o); limit != nil {
		return "≤" + limit.unit(limit.highest)
	}
	return ""
}

// passed combines the objectives: a missed objective outweighs Unknown ones.
func passed(objectives []v1alpha1.ObjectiveStatus) *metav1.Condition {
	missed := withResult(objectives, v1alpha1.ObjectiveMissed)
	unknown := withResult(objectives, v1alpha1.ObjectiveUnknown)
	c := &metav1.Condition{Type: v1alpha1.ConditionPassed}
	switch {
	case len(missed) > 0:
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed
		c.Message = fmt.Sprintf("%d of %s missed: %s.", len(missed), text.Plural(len(objectives), "objective"), strings.Join(missed, ", "))
	case len(unknown) > 0:
		c.Status, c.Reason = metav1.ConditionUnknown, sharedReason(objectives)
		c.Message = fmt.Sprintf("%d of %s could not be judged: %s.", len(unknown), text.Plural(len(objectives), "objective"), strings.Join(unknown, ", "))
	default:
		c.Status, c.Reason = metav1.ConditionTrue, v1alpha1.ReasonObjectivesMet
		c.Message = fmt.Sprintf("%s met.", text.Plural(len(objectives), "objective"))
	}
	return c
}

// sharedReason is the reason that all Unknown objectives have, or NotJudged.
func sharedReason(objectives []v1alpha1.ObjectiveStatus) string {
	shared := ""
	for _, o := range objectives {
		switch {
		case o.Result != v1alpha1.ObjectiveUnknown:
		case o.Reason == "" || shared != "" && o.Reason != shared:
			return v1alpha1.ReasonNotJudged
		default:
			shared = o.Reason
		}
	}
	return cmp.Or(shared, v1alpha1.ReasonNotJudged)
}

// withResult lists the objectives with this result, with their wanted and actual values.
func withResult(objectives []v1alpha1.ObjectiveStatus, result v1alpha1.ObjectiveResult) []string {
	var out []string
	for _, o := range objectives {
		if o.Result != result {
			continue
		}
		got := o.Got
		if got == "" {
			got = "no value"
		}
		out = append(out, fmt.Sprintf("%s (wanted %s, got %s)", o.Name, o.Wanted, got))
	}
	return out
}

// judgeStartSkew: each start is measured with the pod's own clock, so the true skew is uncertain by the difference of
// the clocks.
func judgeStartSkew(o v1alpha1.StartSkewObjective, apart time.Duration, s results.Summary) verdict {
	limit := time.Duration(o.MaxMicroseconds) * time.Microsecond
	lowest, highest := max(s.StartSkew-apart, 0), s.StartSkew+apart
	switch got := text.Beside(limit, s.StartSkew); {
	case lowest > limit:
		return missed(got, "")
	case highest > limit:
		return notJudged(got, fmt.Sprintf("The pods' clocks are %s apart, and each start is measured with them: the true value is between %s and %s, as is the limit.",
			text.Exact(apart), text.Exact(lowest), text.Exact(highest)))
	default:
		return met(got)
	}
}
