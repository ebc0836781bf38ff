package render

import (
	"fmt"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// loopText names the kind of load and explains it.
func loopText(l spec.Load) string {
	if l.Rate != nil {
		return "open loop " + offeredText(*l.Rate) + " (requests follow a schedule)"
	}
	return "closed loop (a client waits for each answer)"
}

// offeredText is the scheduled rate.
func offeredText(r spec.Rate) string {
	out := "at " + text.PerSecond(r.PerSecond)
	switch {
	case r.Ramp != nil:
		out = "from " + text.PerSecond(r.Ramp.FromPerSecond) + " to " + text.PerSecond(r.Ramp.ToPerSecond)
	case len(r.Stages) > 0:
		out = "in " + text.Plural(len(r.Stages), "stage") + " of at most " + text.PerSecond(highest(r.Stages))
	}
	if r.Arrival == spec.ArrivalPoisson {
		out += ", Poisson arrivals"
	}
	return out
}

func highest(stages []spec.RateStage) (perSecond int64) {
	for _, s := range stages {
		perSecond = max(perSecond, s.PerSecond)
	}
	return perSecond
}

// loadedText says which members of the target got load. If the run meant all, and some got none, it says how many did.
func loadedText(b *v1alpha1.EtcdBenchmark) string {
	selected := b.Spec.Target.Members
	if i := b.Spec.Target.MemberIndex; i != nil {
		return fmt.Sprintf("member %d only", *i)
	}
	if t := b.Status.Target; t != nil && selected != spec.MembersLeader && selected != spec.MembersFollowers {
		loaded := 0
		for _, m := range t.Members {
			if m.Loaded != nil && *m.Loaded || m.Loaded == nil && m.Endpoint != "" {
				loaded++
			}
		}
		if loaded > 0 && loaded < len(t.Members) {
			return fmt.Sprintf("%d of %s", loaded, text.Plural(len(t.Members), "member"))
		}
	}
	return membersText(selected)
}

// sentLoad reports whether the members got load: keys of a preload or requests. It is true while the run goes on.
func sentLoad(b *v1alpha1.EtcdBenchmark) bool {
	if b.Status.Summary != nil || !b.HasFinished() {
		return true
	}
	return slices.ContainsFunc(b.Status.RequestCounts, func(c v1alpha1.RequestCount) bool { return c.Preload+c.Warmup+c.Measured > 0 })
}

// loadedPart continues a text about the target with the members that received load; empty if the run sent none.
func loadedPart(b *v1alpha1.EtcdBenchmark) string {
	if !sentLoad(b) {
		return ""
	}
	return ", load on " + loadedText(b)
}

// membersText names the members that received load, with the words of etcd's performance page.
func membersText(m spec.MemberSelection) string {
	switch m {
	case spec.MembersLeader:
		return "leader only"
	case spec.MembersFollowers:
		return "followers only"
	default:
		return "all members"
	}
}
