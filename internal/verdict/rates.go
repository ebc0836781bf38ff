package verdict

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// knownRate is a throughput with its uncertainty. The length of a run bound by requests is from the first start to the
// last response. Different pods measure these with their own clocks, so the length is uncertain by the difference of
// the clocks. It is at least as long as the longest window of a pod.
type knownRate struct {
	// done are the successes.
	done uint64
	// shortest and longest bound the true length.
	shortest, longest time.Duration
	// apart is the difference between the clocks.
	apart time.Duration
}

func throughputOf(b *v1alpha1.EtcdBenchmark, s results.Summary) knownRate {
	apart := ClocksApart(b.Status.Pods)
	if b.Resolved().Load.Requests == nil || apart == 0 || s.LongestWindow == 0 {
		return knownRate{done: s.Completed, shortest: s.Length, longest: s.Length}
	}
	return knownRate{done: s.Completed, shortest: max(s.Length-apart, s.LongestWindow), longest: s.Length + apart, apart: apart}
}

// isBelow reports whether the rate over a length is below requests per unit of time.
func (k knownRate) isBelow(length time.Duration, requests uint64, unit time.Duration) bool {
	return length <= 0 || results.IsMore(requests, uint64(unit), k.done, uint64(length))
}

func (k knownRate) perSecond(length time.Duration) float64 { return float64(k.done) / length.Seconds() }

// concern explains why a limit between the bounds of the rate cannot be judged. write formats a rate like the objective.
func (k knownRate) concern(write func(perSecond float64) string) string {
	return fmt.Sprintf("The pods' clocks are %s apart. The length of the run is the difference between times of different pods, so the true value lies between %s and %s. "+
		"Synchronize the nodes' clocks, or use spec.load.durationSeconds instead of spec.load.requests: each pod then measures the duration with its own clock only.",
		text.Exact(k.apart), write(k.perSecond(k.longest)), write(k.perSecond(k.shortest)))
}

// judgeThroughput does not call a partial result missed: the missing part could only increase the throughput.
func judgeThroughput(o v1alpha1.ThroughputObjective, known knownRate, s results.Summary) verdict {
	limit := uint64(o.MinPerSecond)
	switch got := text.RateOf(s.Throughput).String(); {
	case s.Partial:
		return notJudged(got, partOfPodMissing)
	case known.isBelow(known.shortest, limit, time.Second):
		return missed(got, "")
	case known.isBelow(known.longest, limit, time.Second):
		return notJudged(got, known.concern(func(perSecond float64) string { return text.RateOf(perSecond).String() }))
	default:
		return met(got)
	}
}

// judgeAchievedRate does not call a partial result missed, like judgeThroughput.
func judgeAchievedRate(o v1alpha1.AchievedRateObjective, l spec.Load, known knownRate, s results.Summary) verdict {
	if l.Rate == nil {
		return notJudged("", "The run has no rate to compare with. Set spec.load.rate, or remove this objective.")
	}
	write := func(perSecond float64) string { return shareText(achieved(l, perSecond, s)) + " of the rate" }
	switch got := write(s.Throughput); {
	case s.Partial:
		return notJudged(got, partOfPodMissing)
	case isBehind(o, l, known, known.shortest, s):
		return missed(got, "")
	case isBehind(o, l, known, known.longest, s):
		return notJudged(got, known.concern(write))
	default:
		return met(got)
	}
}

// isBehind reports whether less than the wanted percentage of the schedule succeeded in time. For a run bound by a
// duration it relates to all requests that were due in the window; for a run bound by requests it relates to the rate.
func isBehind(o v1alpha1.AchievedRateObjective, l spec.Load, known knownRate, length time.Duration, s results.Summary) bool {
	const percent = 100
	if l.Requests != nil {
		return known.isBelow(length, uint64(o.MinPercent)*uint64(l.Rate.PerSecond), percent*time.Second)
	}
	return results.IsMore(uint64(o.MinPercent), percent, known.done, s.Succeeded+s.Failed+s.Censored)
}

// achieved is that percentage, for people.
func achieved(l spec.Load, throughput float64, s results.Summary) float64 {
	if l.Requests != nil {
		return 100 * throughput / float64(l.Rate.PerSecond)
	}
	return 100 * float64(s.Completed) / float64(s.Succeeded+s.Failed+s.Censored)
}

// shareText rounds down to hundredths, so that a share just below a limit is not shown as the limit. A share that is
// less than a hundredth by a float64's error only is not rounded down.
func shareText(share float64) string {
	const rounding = 1e-9
	return strconv.FormatFloat(math.Floor(share*100+rounding)/100, 'f', -1, 64) + " %"
}
