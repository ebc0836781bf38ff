package benchmark

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// WatchesTarget reports whether the spec has a stop rule about the target. Client pod 0 checks such rules.
func WatchesTarget(b *v1alpha1.EtcdBenchmark) bool {
	if b.Spec.Guard == nil || b.Spec.Guard.StopOn == nil {
		return false
	}
	return b.Spec.Guard.StopOn.OfTarget()
}

// Guard returns the rule that ended the run, or nil, from the newest snapshot of each pod. If several rules fired, it
// is the first one.
func Guard(b *v1alpha1.EtcdBenchmark, snaps []*results.Snapshot) *v1alpha1.GuardStatus {
	fired, pod := firstFired(snaps)
	if fired == nil {
		return nil
	}
	out := &v1alpha1.GuardStatus{
		Rule: fired.Rule, Subject: text.Shorten(fired.Subject, v1alpha1.MaxGuardTextLength), FiredAt: metav1.NewMicroTime(fired.At.UTC()),
	}
	rules := guardOf(b).Rules()
	switch fired.Rule {
	case spec.GuardErrorRatio:
		out.Subject = fmt.Sprintf("client pod %d", pod)
		out.Wanted = "≤" + text.PerMillion(fired.Limit) + within(orZero(rules.ErrorRatio).For())
		out.Got = text.PerMillion(fired.Got)
	case spec.GuardDatabaseSize, spec.GuardQuota:
		out.Wanted, out.Got = "≤"+text.Bytes(fired.Limit), text.Bytes(fired.Got)
	case spec.GuardWALFsync:
		out.Wanted = "≤" + text.Exact(inSeconds(fired.Limit)) + " on average" + within(orZero(rules.WALFsync).For())
		out.Got = text.Exact(inSeconds(fired.Got))
	default:
		out.Wanted, out.Got = unbroken[fired.Rule], fired.Detail
	}
	out.Wanted, out.Got = text.Shorten(out.Wanted, v1alpha1.MaxGuardTextLength), text.Shorten(out.Got, v1alpha1.MaxGuardTextLength)
	return out
}

// unbroken is the expectation of rules without a number.
var unbroken = map[spec.GuardRule]string{
	spec.GuardAlarm:        "no alarm",
	spec.GuardLeaderChange: "no election",
}

// GuardMessage is the condition message for a rule that fired.
func GuardMessage(g *v1alpha1.GuardStatus) string {
	where := ""
	// The value of LeaderChange names the members.
	if g.Subject != "" && g.Rule != spec.GuardLeaderChange {
		where = " at " + g.Subject
	}
	return fmt.Sprintf("The rule %s of spec.guard.stopOn ended the run at %s: got %s%s, wanted %s.",
		g.Rule, g.FiredAt.UTC().Format(time.RFC3339), g.Got, where, g.Wanted)
}

// orZero is the rule, or its zero value: a pod can report a rule that the run does not have.
func orZero[T any](rule *T) (r T) {
	if rule != nil {
		r = *rule
	}
	return r
}

func within(d time.Duration) string { return fmt.Sprintf(" within %d s", int(d.Seconds())) }

// inSeconds returns at most a day, because a pod's report is not trusted.
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
