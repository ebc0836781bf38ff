package benchmark

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// planGuard guards a run whose spec says nothing of it, too.
func planGuard(g *v1alpha1.Guard) plan.Guard {
	if g == nil {
		g = &v1alpha1.Guard{}
	}
	out := plan.Guard{
		AcknowledgeControlPlane: g.AcknowledgeControlPlane, AllowStoreWide: g.AllowStoreWide,
		StopOn: planStopRules(g.StopOn),
	}
	switch {
	case g.AcceptWrites:
	case g.MaxFreeQuotaPercent > 0:
		out.MaxFreeQuotaPercent = int(g.MaxFreeQuotaPercent)
	default:
		out.MaxFreeQuotaPercent = v1alpha1.DefaultMaxFreeQuotaPercent
	}
	return out
}

func planStopRules(r *v1alpha1.StopRules) plan.StopRules {
	if r == nil {
		return plan.StopRules{Alarm: true}
	}
	out := plan.StopRules{Alarm: r.Alarm, LeaderChange: r.LeaderChange}
	if r.DatabaseSize != nil {
		out.MaxDatabaseBytes = r.DatabaseSize.MaxBytes
	}
	if r.ErrorRatio != nil {
		out.ErrorRatio = plan.ErrorRatioRule{MaxPerMillion: int(r.ErrorRatio.MaxPerMillion), ForSeconds: int(r.ErrorRatio.ForSeconds)}
	}
	if r.WALFsync != nil {
		out.WALFsync = plan.WALFsyncRule{MaxMeanMicroseconds: r.WALFsync.MaxMeanMicroseconds, ForSeconds: int(r.WALFsync.ForSeconds)}
	}
	return out
}

// WatchesTarget says whether somebody asked for a rule about the run's target,
// and not about requests alone. Client pod 0 watches those.
func WatchesTarget(b *v1alpha1.EtcdBenchmark) bool {
	if b.Spec.Guard == nil || b.Spec.Guard.StopOn == nil {
		return false
	}
	return planStopRules(b.Spec.Guard.StopOn).OfTarget()
}

// Guard returns the rule that has ended the run, from the newest snapshot of
// each of its pods, or nil. Of several the first one counts.
func Guard(b *v1alpha1.EtcdBenchmark, snaps []*results.Snapshot) *v1alpha1.GuardStatus {
	fired, pod := firstFired(snaps)
	if fired == nil {
		return nil
	}
	out := &v1alpha1.GuardStatus{
		Rule: v1alpha1.GuardRule(fired.Rule), Subject: results.Shorten(fired.Subject, maxGuardText), FiredAt: metav1.NewMicroTime(fired.At.UTC()),
	}
	rules := planGuard(b.Spec.Guard).StopOn
	switch fired.Rule {
	case results.GuardErrorRatio:
		out.Subject = fmt.Sprintf("client pod %d", pod)
		out.Wanted = "≤" + perMillion(fired.Limit) + within(rules.ErrorRatio.For())
		out.Got = perMillion(fired.Got)
	case results.GuardDatabaseSize:
		out.Wanted, out.Got = "≤"+bytesText(fired.Limit), bytesText(fired.Got)
	case results.GuardWALFsync:
		out.Wanted = "≤" + exactMicros(inSeconds(fired.Limit)) + " on average" + within(rules.WALFsync.For())
		out.Got = exactMicros(inSeconds(fired.Got))
	default:
		out.Wanted, out.Got = unbroken[fired.Rule], fired.Detail
	}
	out.Wanted, out.Got = results.Shorten(out.Wanted, maxGuardText), results.Shorten(out.Got, maxGuardText)
	return out
}

// unbroken is what rules without a number want.
var unbroken = map[results.GuardRule]string{
	results.GuardAlarm:        "no alarm",
	results.GuardLeaderChange: "the same leader",
}

// GuardMessage says which rule fired in the words of a condition.
func GuardMessage(g *v1alpha1.GuardStatus) string {
	where := ""
	if g.Subject != "" {
		where = " of " + g.Subject
	}
	return fmt.Sprintf("The rule %s of spec.guard.stopOn ended the run: wanted %s%s, got %s at %s.",
		g.Rule, g.Wanted, where, g.Got, g.FiredAt.UTC().Format(time.RFC3339))
}

func within(d time.Duration) string { return fmt.Sprintf(" within %d s", int(d.Seconds())) }

// inSeconds are at most a day: what a pod says is not trusted.
func inSeconds(s float64) time.Duration {
	return time.Duration(min(s, 86400) * float64(time.Second))
}

func firstFired(snaps []*results.Snapshot) (first *results.Fired, pod int) {
	for _, s := range snaps {
		if s != nil && s.Fired != nil && (first == nil || s.Fired.At.Before(first.At)) {
			first, pod = s.Fired, s.Index
		}
	}
	return first, pod
}
