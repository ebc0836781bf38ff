package benchmark

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// verdict is an objective's result before it has a name.
type verdict struct {
	result  v1alpha1.ObjectiveResult
	got     string
	message string
}

func met(got string) verdict { return verdict{result: v1alpha1.ObjectiveMet, got: got} }

func missed(got, message string) verdict {
	return verdict{result: v1alpha1.ObjectiveMissed, got: got, message: message}
}

func notJudged(got, message string) verdict {
	return verdict{result: v1alpha1.ObjectiveUnknown, got: got, message: message}
}

// Judge compares a result with the objectives of b and returns the condition
// Passed, without its times and generation. s is nil where no numbers could be
// had. Without objectives it returns nil and nil.
//
// An objective whose truth the numbers do not decide is Unknown, never Met: a
// percentile that is only a lower bound, or numbers that miss the part of a
// pod. A run that did not do all that was asked can miss, but not pass,
// whatever the numbers that it got are; reason is how it ended.
func Judge(b *v1alpha1.EtcdBenchmark, s *results.Summary, reason string) ([]v1alpha1.ObjectiveStatus, *metav1.Condition) {
	if len(b.Resolved().Objectives) == 0 {
		return nil, nil
	}
	out := make([]v1alpha1.ObjectiveStatus, 0, len(b.Resolved().Objectives))
	for _, o := range b.Resolved().Objectives {
		v := judge(o, b, s)
		out = append(out, v1alpha1.ObjectiveStatus{
			Name:    o.Name,
			Result:  v.result,
			Wanted:  wanted(o),
			Got:     v.got,
			Message: results.Shorten(v.message, maxMessage),
		})
	}
	return out, capped(doubtRun(doubtClients(passed(out), s), b, s), s, reason)
}

func capped(c *metav1.Condition, s *results.Summary, reason string) *metav1.Condition {
	whole := reason == v1alpha1.ReasonCompleted && s != nil && !s.Stopped
	if c.Status == metav1.ConditionTrue && !whole {
		c.Status, c.Reason = metav1.ConditionUnknown, v1alpha1.ReasonNotJudged
		c.Message = fmt.Sprintf("The run ended as %s; what it measured until then meets the objectives.", reason)
	}
	return c
}

// CouldNotRun says whether a run that ended for this reason was kept from what
// it was asked to do. Being stopped, or going on without a pod, is what somebody
// asked for.
func CouldNotRun(reason string) bool {
	switch reason {
	case v1alpha1.ReasonCompleted, v1alpha1.ReasonStopped, v1alpha1.ReasonPartlyCompleted:
		return false
	}
	return true
}

// judge judges one objective of a run.
func judge(o v1alpha1.Objective, b *v1alpha1.EtcdBenchmark, s *results.Summary) verdict {
	if s == nil && b.Status.Summary != nil {
		return notJudged("", "Of the numbers of a client pod that was lost only the summary is left: the operator that had them all is gone.")
	}
	if s == nil || s.Succeeded+s.Failed+s.Censored == 0 {
		return notJudged("", "No request was measured.")
	}
	switch {
	case o.Latency != nil:
		return completed(judgeLatency(*o.Latency, *s), *s)
	case o.Throughput != nil:
		return judgeThroughput(*o.Throughput, throughputOf(b, *s), *s)
	case o.ErrorRatio != nil:
		return completed(judgeErrorRatio(*o.ErrorRatio, *s), *s)
	case o.AchievedRate != nil:
		return judgeAchievedRate(*o.AchievedRate, b.Resolved().Load, throughputOf(b, *s), *s)
	case o.StartSkew != nil:
		return completed(judgeStartSkew(*o.StartSkew, clocksApart(b.Status.Pods), *s), *s)
	}
	if limit := memberLimitOf(o); limit != nil {
		return completed(judgeMembers(limit, *s), *s)
	}
	return notJudged("", fmt.Sprintf("Objectives of type %s are not known here.", o.Type))
}

const partOfPodMissing = "The part of a pod is missing or incomplete."

// completed keeps a partial result from meeting an objective.
func completed(v verdict, s results.Summary) verdict {
	if s.Partial && v.result == v1alpha1.ObjectiveMet {
		return notJudged(v.got, partOfPodMissing)
	}
	return v
}

func judgeLatency(o v1alpha1.LatencyObjective, s results.Summary) verdict {
	op := operationOf(s, o.Operation)
	if op == nil {
		return notJudged("", fmt.Sprintf("The workload sent no %s requests.", o.Operation))
	}
	if o.Statistic == v1alpha1.StatisticStddev {
		return judgeStddev(o, *op)
	}
	v := judgeRanked(o, *op, op.Judged)
	if v.result == v1alpha1.ObjectiveMet && op.Unheard > 0 && !metAtWorst(o, *op) {
		return notJudged(v.got, leftOut(*op))
	}
	return v
}

// metAtWorst says whether it would be met had all events of which nobody has
// heard come later than any other. A mean is not known then.
func metAtWorst(o v1alpha1.LatencyObjective, op results.OperationSummary) bool {
	return o.Statistic != v1alpha1.StatisticMean && judgeRanked(o, op, op.Feared).result == v1alpha1.ObjectiveMet
}

func leftOut(op results.OperationSummary) string {
	return fmt.Sprintf("It leaves out up to %s of requests that got no answer.", plural(int64(op.Unheard), "event"))
}

func judgeRanked(o v1alpha1.LatencyObjective, op results.OperationSummary, ranked results.Distribution) verdict {
	value, ok := ranked.Values[results.Statistic(o.Statistic)]
	limit := time.Duration(o.MaxMicroseconds) * time.Microsecond
	lowest, highest := bounds(value.Duration, o.Statistic, ranked.ErrorBoundPPM)
	switch got := gotLatency(value); {
	case !ok:
		return notJudged("", fmt.Sprintf("No %s of %s could be had.", o.Statistic, o.Operation))
	case value.Unbounded:
		return missed("failed", fmt.Sprintf("It falls on a failed request; %s of %s failed.", plural(int64(op.Failed), "request"), o.Operation))
	case lowest > limit:
		return missed(got, "")
	case value.AtLeast && (value.AtMost == 0 || upperBound(value.AtMost, o.Statistic, ranked.ErrorBoundPPM) > limit):
		return notJudged(got, "Requests that were cut off at the end could have taken longer.")
	case highest > limit:
		return notJudged(got, fmt.Sprintf("The limit lies between %s and %s, where the true value can be.", exactMicros(lowest), exactMicros(highest)))
	default:
		return met(got)
	}
}

// bounds are the least and the greatest true value of a statistic. Mean and
// maximum are exact; a percentile is off by the resolution of its histogram.
func bounds(d time.Duration, s v1alpha1.LatencyStatistic, errorPPM int) (lowest, highest time.Duration) {
	if s == v1alpha1.StatisticMean || s == v1alpha1.StatisticMax {
		return d, d
	}
	e := float64(errorPPM) / 1e6
	return time.Duration(float64(d) / (1 + e)), time.Duration(min(float64(d)*(1+e), longestTime))
}

// longestTime is below what a Duration holds, as a float64 can tell it.
const longestTime = float64(1<<63 - 1<<10)

func upperBound(d time.Duration, s v1alpha1.LatencyStatistic, errorPPM int) time.Duration {
	_, highest := bounds(d, s, errorPPM)
	return highest
}

func gotLatency(v results.Value) string {
	text := exactMicros(v.Duration)
	if v.AtLeast {
		return "≥" + text
	}
	return text
}

// judgeThroughput does not call a partial result missed: the part that is
// missing could only have added to it.
func judgeThroughput(o v1alpha1.ThroughputObjective, known knownRate, s results.Summary) verdict {
	limit := rateIn(o.MinPerSecond, 0)
	switch got := rateOf(s.Throughput).String(); {
	case s.Partial:
		return notJudged(got, partOfPodMissing)
	case rateOf(known.highest) < limit:
		return missed(got, "")
	case rateOf(known.lowest) < limit:
		return notJudged(got, known.doubt(func(perSecond float64) string { return rateOf(perSecond).String() }))
	default:
		return met(got)
	}
}

// judgeErrorRatio leaves open what would have become of requests that were cut
// off: the objective is met only if it would be with all of them failed.
func judgeErrorRatio(o v1alpha1.ErrorRatioObjective, s results.Summary) verdict {
	total := float64(s.Succeeded + s.Failed + s.Censored)
	ratio := float64(s.Failed) / total * 1e6
	worst := float64(s.Failed+s.Censored) / total * 1e6
	limit := float64(o.MaxPerMillion)
	switch got := perMillion(ratio); {
	case ratio > limit:
		return missed(got, "")
	case worst > limit:
		return notJudged(got, fmt.Sprintf("%s cut off at the end could have failed.", plural(int64(s.Censored), "request")))
	default:
		return met(got)
	}
}

func operationOf(s results.Summary, operation v1alpha1.Operation) *results.OperationSummary {
	for i, op := range s.Operations {
		if string(op.Operation) == string(operation) {
			return &s.Operations[i]
		}
	}
	return nil
}

func wanted(o v1alpha1.Objective) string {
	switch {
	case o.Latency != nil:
		return "≤" + exactMicros(time.Duration(o.Latency.MaxMicroseconds)*time.Microsecond)
	case o.Throughput != nil:
		return "≥" + Rate(o.Throughput.MinPerSecond)
	case o.ErrorRatio != nil:
		return "≤" + perMillion(float64(o.ErrorRatio.MaxPerMillion))
	case o.AchievedRate != nil:
		return fmt.Sprintf("≥%d %% of load.rate", o.AchievedRate.MinPercent)
	case o.StartSkew != nil:
		return "≤" + exactMicros(time.Duration(o.StartSkew.MaxMicroseconds)*time.Microsecond)
	}
	if limit := memberLimitOf(o); limit != nil {
		return "≤" + limit.unit(limit.highest)
	}
	return ""
}

func perMillion(ratio float64) string {
	return strconv.FormatFloat(math.Ceil(ratio*10)/10, 'f', -1, 64) + " per million"
}

// exactMicros writes every microsecond, rounded up, so that a value beside the
// limit that it misses never looks the same.
func exactMicros(d time.Duration) string {
	us := int64(math.Ceil(float64(d) / float64(time.Microsecond)))
	if us < 1_000 {
		return strconv.FormatInt(us, 10) + "µs"
	}
	return strconv.FormatFloat(float64(us)/1e3, 'f', -1, 64) + "ms"
}

// passed sums objectives up: one missed outweighs any that are Unknown.
func passed(objectives []v1alpha1.ObjectiveStatus) *metav1.Condition {
	missed := withResult(objectives, v1alpha1.ObjectiveMissed)
	unknown := withResult(objectives, v1alpha1.ObjectiveUnknown)
	c := &metav1.Condition{Type: v1alpha1.ConditionPassed}
	switch {
	case len(missed) > 0:
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed
		c.Message = fmt.Sprintf("%d of %s missed: %s.", len(missed), plural(int64(len(objectives)), "objective"), strings.Join(missed, ", "))
	case len(unknown) > 0:
		c.Status, c.Reason = metav1.ConditionUnknown, v1alpha1.ReasonNotJudged
		c.Message = fmt.Sprintf("%d of %s could not be judged: %s.", len(unknown), plural(int64(len(objectives)), "objective"), strings.Join(unknown, ", "))
	default:
		c.Status, c.Reason = metav1.ConditionTrue, v1alpha1.ReasonObjectivesMet
		c.Message = fmt.Sprintf("%s met.", plural(int64(len(objectives)), "objective"))
	}
	return c
}

// withResult names the objectives that ended so, with what they wanted and got.
func withResult(objectives []v1alpha1.ObjectiveStatus, result v1alpha1.ObjectiveResult) []string {
	var out []string
	for _, o := range objectives {
		if o.Result != result {
			continue
		}
		got := o.Got
		if got == "" {
			got = "nothing"
		}
		out = append(out, fmt.Sprintf("%s (wanted %s, got %s)", o.Name, o.Wanted, got))
	}
	return out
}
