package verdict

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
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
// run ended.
func Judge(b *v1alpha1.EtcdBenchmark, s *results.Summary, reason string) ([]v1alpha1.ObjectiveStatus, *metav1.Condition) {
	if len(b.Resolved().Objectives) == 0 {
		return nil, nil
	}
	out := make([]v1alpha1.ObjectiveStatus, 0, len(b.Resolved().Objectives))
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
		return completed(judgeLatency(*o.Latency, *s), *s)
	case o.Throughput != nil:
		return judgeThroughput(*o.Throughput, throughputOf(b, *s), *s)
	case o.ErrorRatio != nil:
		return completed(judgeErrorRatio(*o.ErrorRatio, *s), *s)
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

func judgeLatency(o v1alpha1.LatencyObjective, s results.Summary) verdict {
	op := operationOf(s, o.Operation)
	if op == nil {
		return notJudged("", fmt.Sprintf("The workload sent no %s requests.", o.Operation))
	}
	if o.Statistic == spec.StatisticStddev {
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
	lowest, highest := limitsOf(value.Duration, o.Statistic, ranked.ErrorBoundPPM)
	switch got := gotLatency(value, limit); {
	case !ok:
		return notJudged("", fmt.Sprintf("The %s of %s is not known.", o.Statistic, o.Operation))
	case value.Unbounded:
		return missed("failed", fmt.Sprintf("The %s is a failed request, because failed requests count as slower than every other: %s failed.", o.Statistic, text.Plural(op.Failed, string(o.Operation)+" request")))
	case lowest > limit:
		return missed(got, "")
	case value.AtLeast && (value.AtMost == 0 || upperBound(value.AtMost, o.Statistic, ranked.ErrorBoundPPM) > limit):
		return notJudged(got, "Requests that were unanswered at the end could have taken longer.")
	case highest > limit:
		return notJudged(got, fmt.Sprintf("The true value is between %s and %s, as is the limit.", text.Exact(lowest), text.Exact(highest)))
	default:
		return met(got)
	}
}

// limitsOf returns the least and the greatest possible value of a statistic. Mean and maximum are exact; a percentile has
// the error of its histogram.
func limitsOf(d time.Duration, s spec.Statistic, errorPPM int) (lowest, highest time.Duration) {
	if s == spec.StatisticMean || s == spec.StatisticMax {
		return d, d
	}
	e := float64(errorPPM) / 1e6
	return time.Duration(float64(d) / (1 + e)), time.Duration(min(float64(d)*(1+e), longestTime))
}

// longestTime is the longest Duration as a float64, rounded down.
const longestTime = float64(1<<63 - 1<<10)

func upperBound(d time.Duration, s spec.Statistic, errorPPM int) time.Duration {
	_, highest := limitsOf(d, s, errorPPM)
	return highest
}

func gotLatency(v results.Value, limit time.Duration) string {
	if v.AtLeast {
		return "≥" + text.Beside(limit, v.Duration)
	}
	return text.Beside(limit, v.Duration)
}

// judgeThroughput does not call a partial result missed: the missing part could only increase the throughput.
func judgeThroughput(o v1alpha1.ThroughputObjective, known knownRate, s results.Summary) verdict {
	limit := text.RateOf(float64(o.MinPerSecond))
	switch got := text.RateOf(s.Throughput).String(); {
	case s.Partial:
		return notJudged(got, partOfPodMissing)
	case text.RateOf(known.highest) < limit:
		return missed(got, "")
	case text.RateOf(known.lowest) < limit:
		return notJudged(got, known.concern(func(perSecond float64) string { return text.RateOf(perSecond).String() }))
	default:
		return met(got)
	}
}

// judgeErrorRatio counts unanswered requests as possible failures: the objective is met only if it would be met with
// all of them failed.
func judgeErrorRatio(o v1alpha1.ErrorRatioObjective, s results.Summary) verdict {
	total := float64(s.Succeeded + s.Failed + s.Censored)
	ratio := float64(s.Failed) / total * 1e6
	worst := float64(s.Failed+s.Censored) / total * 1e6
	limit := float64(o.MaxPerMillion)
	switch got := text.PerMillion(ratio); {
	case ratio > limit:
		return missed(got, "")
	case worst > limit:
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

// judgeAchievedRate does not call a partial result missed, like judgeThroughput.
func judgeAchievedRate(o v1alpha1.AchievedRateObjective, l spec.Load, known knownRate, s results.Summary) verdict {
	if l.Rate == nil {
		return notJudged("", "The run has no rate to compare with. Set spec.load.rate, or remove this objective.")
	}
	limit := float64(o.MinPercent)
	write := func(perSecond float64) string { return shareText(achieved(l, perSecond, s)) + " of the rate" }
	switch got := write(s.Throughput); {
	case s.Partial:
		return notJudged(got, partOfPodMissing)
	case achieved(l, known.highest, s) < limit:
		return missed(got, "")
	case achieved(l, known.lowest, s) < limit:
		return notJudged(got, known.concern(write))
	default:
		return met(got)
	}
}

// achieved is the percentage of the schedule that succeeded in time. For a run bound by a duration it relates to all
// requests that were due in the window; for a run bound by requests it relates to the rate.
func achieved(l spec.Load, throughput float64, s results.Summary) float64 {
	if l.Requests != nil {
		return 100 * throughput / float64(l.Rate.PerSecond)
	}
	completed := math.Round(s.Throughput * s.Length.Seconds())
	return 100 * completed / float64(s.Succeeded+s.Failed+s.Censored)
}

// knownRate is a throughput with its uncertainty. The length of a run bound by requests is from the first start to the
// last response. Different pods measure these with their own clocks, so the length is uncertain by the difference of
// the clocks. It is at least as long as the longest window of a pod.
type knownRate struct {
	// lowest and highest bound the true rate, per second.
	lowest, highest float64
	// apart is the difference between the clocks.
	apart time.Duration
}

func throughputOf(b *v1alpha1.EtcdBenchmark, s results.Summary) knownRate {
	apart := ClocksApart(b.Status.Pods)
	if b.Resolved().Load.Requests == nil || apart == 0 || s.LongestWindow == 0 {
		return knownRate{lowest: s.Throughput, highest: s.Throughput}
	}
	done := s.Throughput * s.Length.Seconds()
	return knownRate{
		lowest:  done / (s.Length + apart).Seconds(),
		highest: done / max(s.Length-apart, s.LongestWindow).Seconds(),
		apart:   apart,
	}
}

// concern explains why a limit between lowest and highest cannot be judged. write formats a rate like the objective.
func (k knownRate) concern(write func(perSecond float64) string) string {
	return fmt.Sprintf("The pods' clocks are %s apart. The length of the run is the difference between times of different pods, so the true value lies between %s and %s. "+
		"Synchronize the nodes' clocks, or use spec.load.durationSeconds instead of spec.load.requests: each pod then measures the duration with its own clock only.",
		text.Exact(k.apart), write(k.lowest), write(k.highest))
}

// shareText rounds down to hundredths, so that a share just below a limit is not shown as the limit.
func shareText(share float64) string {
	return strconv.FormatFloat(math.Floor(share*100)/100, 'f', -1, 64) + " %"
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
