package benchmark

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// judgeAchievedRate, as judgeThroughput, does not call a partial result missed.
func judgeAchievedRate(o v1alpha1.AchievedRateObjective, l v1alpha1.Load, known knownRate, s results.Summary) verdict {
	if l.Rate == nil {
		return notJudged("", "The load had no load.rate of which a share could be reached.")
	}
	limit := float64(o.MinPercent)
	text := func(perSecond float64) string { return shareText(achieved(l, perSecond, s)) + " of load.rate" }
	switch got := text(s.Throughput); {
	case s.Partial:
		return notJudged(got, partOfPodMissing)
	case achieved(l, known.highest, s) < limit:
		return missed(got, "")
	case achieved(l, known.lowest, s) < limit:
		return notJudged(got, known.doubt(text))
	default:
		return met(got)
	}
}

// achieved is the share of the schedule that succeeded in its time, in percent:
// of all requests that were due in a window of its own length; of the rate where
// the window lasts until as many as were wanted are done.
func achieved(l v1alpha1.Load, throughput float64, s results.Summary) float64 {
	if l.Requests != nil {
		return 100 * throughput / float64(l.Rate.PerSecond)
	}
	completed := math.Round(s.Throughput * s.Length.Seconds())
	return 100 * completed / float64(s.Succeeded+s.Failed+s.Censored)
}

// knownRate is what is known of a throughput. Where requests bound the run, its length
// is from the first start to the last response, each told by its own pod's clock, and as
// uncertain as these are apart; but no less than any pod's own window.
type knownRate struct {
	// lowest and highest are between which two the true rate lies, per second.
	lowest, highest float64
	// apart is how far the clocks are apart.
	apart time.Duration
}

func throughputOf(b *v1alpha1.EtcdBenchmark, s results.Summary) knownRate {
	apart := clocksApart(b.Status.Pods)
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

// doubt says why a limit between the two can not be judged; text writes a rate as the
// objective does.
func (k knownRate) doubt(text func(perSecond float64) string) string {
	return fmt.Sprintf("The pods' clocks are %s apart, and the length of the run is told by them: the truth lies between %s and %s. "+
		"Synchronise the nodes' clocks, or bound the load by durationSeconds, which each pod measures by its own clock.",
		exactMicros(k.apart), text(k.lowest), text(k.highest))
}

// shareText is rounded down to hundredths, so that a share just below a limit
// never looks like it.
func shareText(share float64) string {
	return strconv.FormatFloat(math.Floor(share*100)/100, 'f', -1, 64) + " %"
}

// judgeStartSkew: when a pod started is known by its own clock alone, so that the
// true distance of two starts is as uncertain as their clocks are apart.
func judgeStartSkew(o v1alpha1.StartSkewObjective, apart time.Duration, s results.Summary) verdict {
	limit := time.Duration(o.MaxMicroseconds) * time.Microsecond
	lowest, highest := max(s.StartSkew-apart, 0), s.StartSkew+apart
	switch got := exactMicros(s.StartSkew); {
	case lowest > limit:
		return missed(got, "")
	case highest > limit:
		return notJudged(got, fmt.Sprintf("The pods' clocks are %s apart, and starts are told by them: the limit lies between %s and %s, where the true value can be.",
			exactMicros(apart), exactMicros(lowest), exactMicros(highest)))
	default:
		return met(got)
	}
}

// clocksApart is how far the clocks of any two of the pods are apart at least. One
// of which that is not known is taken to be right.
func clocksApart(pods []v1alpha1.PodStatus) time.Duration {
	var offsets []int64
	for _, p := range pods {
		if p.ClockOffsetMicroseconds == nil {
			offsets = append(offsets, 0)
			continue
		}
		offsets = append(offsets, *p.ClockOffsetMicroseconds)
	}
	if len(offsets) == 0 {
		return 0
	}
	return time.Duration(slices.Max(offsets)-slices.Min(offsets)) * time.Microsecond
}

// judgeStddev: how far the latency of a failed or a cut-off request is from the
// mean is not known.
func judgeStddev(o v1alpha1.LatencyObjective, op results.OperationSummary) verdict {
	got := exactMicros(op.Latency.Stddev)
	switch {
	case op.Succeeded == 0:
		return notJudged("", fmt.Sprintf("No %s request succeeded.", o.Operation))
	case op.Failed+op.Censored > 0:
		return notJudged(got, fmt.Sprintf("%s failed or cut off, whose latency is not known.", plural(int64(op.Failed+op.Censored), "request")))
	case op.Unheard > 0:
		return notJudged(got, leftOut(op))
	case op.Latency.Stddev > time.Duration(o.MaxMicroseconds)*time.Microsecond:
		return missed(got, "")
	default:
		return met(got)
	}
}
