package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Limits for the distance of starts and for clock offsets; beyond them a run cannot pass.
const (
	// maxApartPart is a part of the run's length, one of so many; for that time not all pods sent requests.
	maxApartPart = 20
	// maxApart is the time that a busy node may need to wake a pod, for runs of any length.
	maxApart = 500 * time.Millisecond
	// maxClockOff applies to runs of any length. A clock that is off by more than this is not synchronized and may
	// drift further during the run.
	maxClockOff = 5 * time.Second
)

// concern is a reason why a run's numbers do not describe the requested workload.
type concern struct{ reason, message string }

// checkRun makes a run Unknown if there is a concern, so that it cannot pass. A missed objective stays missed. Clocks
// are checked before starts, because each start is measured with the pod's own clock.
func checkRun(c *metav1.Condition, b *v1alpha1.EtcdBenchmark, s *results.Summary) *metav1.Condition {
	if s == nil {
		return c
	}
	for _, d := range concernsOf(b, s) {
		switch {
		case c.Status == metav1.ConditionTrue:
			c.Status, c.Reason = metav1.ConditionUnknown, d.reason
			c.Message = d.message + " The measured numbers meet the objectives, but the run cannot pass because of this."
		default:
			c.Message += " " + d.message
		}
	}
	return c
}

// concernsOf returns all concerns, the most important first.
func concernsOf(b *v1alpha1.EtcdBenchmark, s *results.Summary) (all []concern) {
	for _, check := range []func(*v1alpha1.EtcdBenchmark, *results.Summary) *concern{ownMembersLost, ownMembersDiffer, targetChanged, targetUnobserved, membersMissing, historyCompacted, clocksOff, startsApart} {
		if d := check(b, s); d != nil {
			all = append(all, *d)
		}
	}
	return all
}

// Concerns returns the reasons why a run's numbers may not describe the requested load, as reasons of Passed.
func Concerns(b *v1alpha1.EtcdBenchmark, s results.Summary) (reasons []string) {
	for _, d := range concernsOf(b, &s) {
		reasons = append(reasons, d.reason)
	}
	return reasons
}

func targetChanged(_ *v1alpha1.EtcdBenchmark, s *results.Summary) *concern {
	if s.Target == nil || len(s.Target.Changes) == 0 {
		return nil
	}
	first := s.Target.Changes[0]
	message := fmt.Sprintf("The target changed during the run, at %s (%s: %s).", first.At.UTC().Format(time.RFC3339), first.Aspect, text.Shorten(first.Detail, v1alpha1.MaxMessageLength))
	if more := len(s.Target.Changes) - 1; more > 0 {
		message = fmt.Sprintf("The target changed %d times during the run, first at %s (%s: %s).", more+1,
			first.At.UTC().Format(time.RFC3339), first.Aspect, text.Shorten(first.Detail, v1alpha1.MaxMessageLength))
	}
	return &concern{v1alpha1.ReasonTargetChanged, message}
}

// targetUnobserved: if the target was not observed, a change cannot be ruled out.
func targetUnobserved(_ *v1alpha1.EtcdBenchmark, s *results.Summary) *concern {
	if s.Target == nil || len(s.Target.Unobserved) == 0 {
		return nil
	}
	aspect := slices.Min(slices.Collect(maps.Keys(s.Target.Unobserved)))
	return &concern{v1alpha1.ReasonTargetNotObserved, fmt.Sprintf("The target was not observed often enough, so a change during the run cannot be ruled out (%s: %s).",
		aspect, text.Shorten(s.Target.Unobserved[aspect], v1alpha1.MaxMessageLength))}
}

// membersMissing: the run should have loaded members that were not ready when it started.
func membersMissing(b *v1alpha1.EtcdBenchmark, _ *results.Summary) *concern {
	t := b.Status.Target
	if t == nil || t.NotReady == 0 || b.Spec.Target.Members == spec.MembersLeader || b.Spec.Target.UnreachableMembers == spec.UnreachableSkip {
		return nil
	}
	return &concern{v1alpha1.ReasonMembersMissing, fmt.Sprintf("The run found %s, and %d more were not ready when it started.", text.Plural(len(t.Endpoints), "member"), t.NotReady)}
}

// ownMembersLost: members that exist for the run did not live as long. Their metrics may tell it before their nodes do.
func ownMembersLost(b *v1alpha1.EtcdBenchmark, s *results.Summary) *concern {
	if b.Status.Ephemeral == nil {
		return nil
	}
	if lost := LostMembers(b); len(lost) > 0 {
		return &concern{v1alpha1.ReasonMembersLost, lost[0]}
	}
	if s.Target == nil {
		return nil
	}
	for _, m := range s.Target.Members {
		if m.Window != nil && strings.HasPrefix(m.Window.Unknown, results.UnknownRestarted) {
			return &concern{v1alpha1.ReasonMembersLost, fmt.Sprintf("Member %s restarted during the run.", m.Label())}
		}
	}
	return nil
}

// LostMembers has a sentence for each of the run's own members that was lost.
func LostMembers(b *v1alpha1.EtcdBenchmark) (all []string) {
	if b.Status.Ephemeral == nil {
		return nil
	}
	for i, p := range b.Status.Ephemeral.Pods {
		if p.Lost != "" {
			all = append(all, fmt.Sprintf("Member %d (%s) %s.", i, p.Name, p.Lost))
		}
	}
	return all
}

// ownMembersDiffer: a tag of an image can lead to another content while members start.
func ownMembersDiffer(b *v1alpha1.EtcdBenchmark, _ *results.Summary) *concern {
	images := b.ImageIDs()
	if len(images) < 2 {
		return nil
	}
	return &concern{v1alpha1.ReasonMembersDiffer, fmt.Sprintf("The members ran different images under one name: %s. Set spec.target.ephemeral.image with a digest.", strings.Join(images, " and "))}
}

// historyCompacted: no watcher was open during the reads after the compaction, so they are not the requested workload.
func historyCompacted(_ *v1alpha1.EtcdBenchmark, s *results.Summary) *concern {
	if s.Watch.CompactedAfter == 0 {
		return nil
	}
	return &concern{v1alpha1.ReasonHistoryCompacted, fmt.Sprintf("The history that watchers read was compacted %s "+
		"after the start of the window, and the load continued without watchers. Set the target's auto-compaction "+
		"so that it keeps history for longer than the run takes.",
		text.Duration(s.Watch.CompactedAfter))}
}

func startsApart(_ *v1alpha1.EtcdBenchmark, s *results.Summary) *concern {
	if s.StartSkew <= tolerance(s) {
		return nil
	}
	return &concern{v1alpha1.ReasonStartsApart, fmt.Sprintf("The last client pod started %s after the first, wanted at most %s. During that time not all client pods sent requests.",
		text.Exact(s.StartSkew), text.Exact(tolerance(s)))}
}

func clocksOff(b *v1alpha1.EtcdBenchmark, s *results.Summary) *concern {
	for _, p := range b.Status.Pods {
		if p.ClockOffsetMicroseconds == nil {
			continue
		}
		offset := time.Duration(*p.ClockOffsetMicroseconds) * time.Microsecond
		if offset.Abs() > clockTolerance(s) {
			return &concern{v1alpha1.ReasonClockOffset, fmt.Sprintf("The clock of client pod %d is off the "+
				"operator's clock by %s, wanted at most %s. The pod started early or late by that much. Check the "+
				"time service of node %s.",
				p.Index, text.Exact(offset.Abs()), text.Exact(clockTolerance(s)), p.Node)}
		}
	}
	return nil
}

func clockTolerance(s *results.Summary) time.Duration { return min(tolerance(s), maxClockOff) }

func tolerance(s *results.Summary) time.Duration {
	return max(maxApart, s.Length/maxApartPart)
}

// ClocksApart is a lower bound of the greatest difference between the clocks of two pods. A clock with an unknown
// offset counts as right.
func ClocksApart(pods []v1alpha1.PodStatus) time.Duration {
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
