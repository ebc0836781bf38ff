package verdict

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// minObservations is the minimum number of observations for judging a mean or a percentile.
	minObservations = 30
	// maxLagShare limits the distance of a member's two samples from the ends of the window, as a share of the time
	// between them.
	maxLagShare = 0.10
)

// memberLimit is a limit for each member.
type memberLimit struct {
	highest float64
	// read returns the member's value.
	read func(*results.MemberWindow) reading
	// unit formats a value with its unit.
	unit func(float64) string
}

// reading is a value between lowest and highest, or the reason why it is unknown.
type reading struct {
	lowest, highest float64
	unknown         string
}

func exactly(v float64) reading { return reading{lowest: v, highest: v} }

// memberLimitOf returns nil for an objective that does not concern members.
func memberLimitOf(o v1alpha1.Objective) *memberLimit {
	switch {
	case o.WALFsync != nil:
		return durationLimit(*o.WALFsync, results.TimerWALFsync)
	case o.BackendCommit != nil:
		return durationLimit(*o.BackendCommit, results.TimerBackendCommit)
	case o.PeerRoundTrip != nil:
		return durationLimit(*o.PeerRoundTrip, results.TimerPeerRoundTrip)
	case o.LeaderChanges != nil:
		return figureLimit(o.LeaderChanges.Max, results.FigureLeaderChanges, count)
	case o.SlowApplies != nil:
		return figureLimit(o.SlowApplies.Max, results.FigureSlowApplies, count)
	case o.FailedProposals != nil:
		return figureLimit(o.FailedProposals.Max, results.FigureFailedProposals, count)
	case o.MemberMemory != nil:
		return figureLimit(o.MemberMemory.MaxBytes, results.FigureMemoryBytes, text.Bytes)
	case o.MemberCPU != nil:
		return valueLimit(float64(o.MemberCPU.MaxMillicores), (*results.MemberWindow).Millicores, millicoresText)
	case o.DatabaseGrowth != nil:
		return valueLimit(float64(o.DatabaseGrowth.MaxBytes), (*results.MemberWindow).DatabaseGrowth, text.Bytes)
	}
	return nil
}

func figureLimit(highest int64, f results.Figure, unit func(float64) string) *memberLimit {
	read := func(w *results.MemberWindow) (float64, bool) { return w.Value(f) }
	return valueLimit(float64(highest), read, unit)
}

func valueLimit(highest float64, value func(*results.MemberWindow) (float64, bool), unit func(float64) string) *memberLimit {
	return &memberLimit{highest: highest, unit: unit, read: func(w *results.MemberWindow) reading {
		v, known := value(w)
		if !known {
			return reading{unknown: "does not serve this metric"}
		}
		return exactly(v)
	}}
}

func durationLimit(o v1alpha1.MemberDurationObjective, timer results.Timer) *memberLimit {
	return &memberLimit{
		highest: float64(time.Duration(o.MaxMicroseconds) * time.Microsecond),
		unit:    func(v float64) string { return text.Exact(time.Duration(v)) },
		read:    func(w *results.MemberWindow) reading { return readTimer(w, timer, o.Statistic) },
	}
}

func readTimer(w *results.MemberWindow, timer results.Timer, statistic v1alpha1.MemberStatistic) reading {
	t, known := w.Timing(timer)
	switch {
	case !known:
		return reading{unknown: "does not serve this metric"}
	case t.Count < minObservations:
		return reading{unknown: fmt.Sprintf("has %s observations of this metric in the window, wanted at least %d", text.Grouped(t.Count), minObservations)}
	case statistic != v1alpha1.MemberStatisticP99:
		return exactly(float64(t.Mean))
	case t.P99AtMost == 0 && t.P99Above == 0:
		return reading{unknown: "reports no histogram buckets for this metric, so its 99th percentile is not known"}
	case t.P99AtMost == 0:
		return reading{lowest: float64(t.P99Above), highest: math.Inf(1)}
	}
	return reading{lowest: float64(t.P99Above), highest: float64(t.P99AtMost)}
}

// judgeMembers returns the verdict on the worst member: first a missed limit, then an unknown value, then the highest
// value.
func judgeMembers(limit *memberLimit, s results.Summary) verdict {
	if s.Target == nil || len(s.Target.Members) == 0 {
		return notJudged("", "The members' figures for the measured window are missing: client pod 0 did not report them.")
	}
	var worst verdict
	highest := math.Inf(-1)
	for _, m := range s.Target.Members {
		v, value := limit.judge(m)
		if by := cmp.Compare(severity(v), severity(worst)); by > 0 || by == 0 && value > highest {
			worst, highest = v, value
		}
	}
	if worst.result == v1alpha1.ObjectiveMet && s.Target.Unlisted != "" {
		return notJudged(worst.got, "The target's members could not be listed, so a member may be missing: "+s.Target.Unlisted)
	}
	return worst
}

func severity(v verdict) int {
	return map[v1alpha1.ObjectiveResult]int{v1alpha1.ObjectiveMet: 1, v1alpha1.ObjectiveUnknown: 2, v1alpha1.ObjectiveMissed: 3}[v.result]
}

// judge returns the verdict on one member, and the value for comparing it with other members.
func (l *memberLimit) judge(m results.Member) (verdict, float64) {
	name := m.Label()
	if why := unusable(m.Window); why != "" {
		return notJudged("", fmt.Sprintf("The figures of the member %s are not used: %s.", name, why)), 0
	}
	r := l.read(m.Window)
	got := l.text(r) + " at " + name
	switch {
	case r.unknown != "":
		return notJudged("", fmt.Sprintf("The member %s %s.", name, r.unknown)), 0
	case r.lowest > l.highest || r.lowest == l.highest && r.highest > r.lowest:
		return missed(got, ""), r.lowest
	case r.highest > l.highest:
		return notJudged(got, "The member reports the value only as a range (a bucket of its histogram), and the limit lies in this range. The range "+l.end(r.highest)+"."), r.highest
	}
	return met(got), r.highest
}

// unusable returns why a member's figures cannot be judged; empty if they can.
func unusable(w *results.MemberWindow) string {
	if w == nil {
		return "they did not arrive"
	}
	if w.Unknown != "" {
		return w.Unknown
	}
	lag, _ := w.Value(results.FigureSampleLagSeconds)
	if sampled, _ := w.Value(results.FigureSampledSeconds); lag > maxLagShare*sampled {
		return fmt.Sprintf("the client pod read them too far from the start and the end of the window, %.3g s in total; at most a tenth of the %.3g s between the two readings is accepted", lag, sampled)
	}
	return ""
}

func (l *memberLimit) text(r reading) string {
	switch {
	case r.lowest == r.highest:
		return l.unit(r.lowest)
	case math.IsInf(r.highest, 1):
		return l.unit(r.lowest) + " or more"
	}
	return fmt.Sprintf("%s to %s", l.unit(r.lowest), l.unit(r.highest))
}

func (l *memberLimit) end(bucket float64) string {
	if math.IsInf(bucket, 1) {
		return "has no upper limit"
	}
	return "ends at " + l.unit(bucket)
}

func millicoresText(v float64) string {
	return text.Grouped(text.Integer(math.Ceil(v))) + " millicores"
}

func count(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
