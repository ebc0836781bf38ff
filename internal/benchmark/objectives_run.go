package benchmark

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// judgeAchievedRate, as judgeThroughput, does not call a partial result missed.
func judgeAchievedRate(o v1alpha1.AchievedRateObjective, l v1alpha1.Load, s results.Summary) verdict {
	if l.Rate == nil {
		return notJudged("", "The load had no load.rate of which a share could be reached.")
	}
	share := achieved(l, s)
	switch got := shareText(share) + " of load.rate"; {
	case s.Partial:
		return notJudged(got, partOfPodMissing)
	case share < float64(o.MinPercent):
		return missed(got, "")
	default:
		return met(got)
	}
}

// achieved is the share of the schedule that succeeded in its time, in percent:
// of all requests that were due in a window of its own length; of the rate where
// the window lasts until as many as were wanted are done.
func achieved(l v1alpha1.Load, s results.Summary) float64 {
	if l.Requests != nil {
		return 100 * s.Throughput / float64(l.Rate.PerSecond)
	}
	completed := math.Round(s.Throughput * s.Length.Seconds())
	return 100 * completed / float64(s.Succeeded+s.Failed+s.Censored)
}

// shareText is rounded down to hundredths, so that a share just below a limit
// never looks like it.
func shareText(share float64) string {
	return strconv.FormatFloat(math.Floor(share*100)/100, 'f', -1, 64) + " %"
}

func judgeStartSkew(o v1alpha1.StartSkewObjective, s results.Summary) verdict {
	got := exactMicros(s.StartSkew)
	if s.StartSkew > time.Duration(o.MaxMicroseconds)*time.Microsecond {
		return missed(got, "")
	}
	return met(got)
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
	case op.Latency.Stddev > time.Duration(o.MaxMicroseconds)*time.Microsecond:
		return missed(got, "")
	default:
		return met(got)
	}
}
