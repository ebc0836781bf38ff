package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// unexplained compares a write with the sum of the leader's metrics: log flush, round trip, applying, and the wait for
// a commit. If they explain little, it lists what else was read and what cannot be seen.
func (c inputs) unexplained(m results.Member) (weight float64, message string) {
	flush, _, ok := observed(m, results.TimerWALFsync)
	commit, share, _ := observed(m, results.TimerBackendCommit)
	apply, _, _ := observed(m, results.TimerApply)
	applied := max(apply.Mean, commitWait(commit, share))
	explained := flush.Mean + roundTrip(m).Mean + applied
	rest := c.write - explained
	if !m.Leader || !ok || rest <= 0 || float64(rest) < unexplainedShare*float64(c.write) {
		return 0, ""
	}
	parts := []string{"flush " + text.Duration(flush.Mean)}
	if trip := roundTrip(m).Mean; trip > 0 {
		parts = append(parts, "round trip "+text.Duration(trip))
	}
	if applied > 0 {
		parts = append(parts, "applying or waiting for a commit "+text.Duration(applied))
	}
	message = c.closed + fmt.Sprintf("The mean service time of a write is %s. The leader's metrics explain %s of it: %s. ",
		text.Duration(c.write), text.Duration(explained), strings.Join(parts, ", "))
	if facts := c.otherFacts(m); len(facts) > 0 {
		message += "Also measured: " + strings.Join(facts, "; ") + ". "
	}
	message += fmt.Sprintf("The rest (about %s) was probably spent in the network, in the protocol, waiting for an earlier "+
		"log flush, or waiting for a processor (also under a CPU limit of the member). No metric shows how much "+
		"each took.", text.Duration(rest))
	if c.clientBound {
		message += " The load generator was itself a limit: see status.summary.validity."
	}
	return rest.Seconds(), message
}

// otherFacts are measurements that overlap with each other, so they cannot be added up.
func (c inputs) otherFacts(leader results.Member) (facts []string) {
	if took, known := c.proposalToApplied(); known {
		facts = append(facts, "about "+text.Duration(took)+" from proposing a write to applying it")
	}
	if handling, _, ok := observed(leader, results.TimerHandling); ok {
		facts = append(facts, fmt.Sprintf("%s handled a write in %s on average, from receiving to answering", leader.Label(), text.Duration(handling.Mean)))
	}
	if took, known := ping(leader); known {
		facts = append(facts, fmt.Sprintf("the median ping to %s took %s", leader.Label(), text.Duration(took)))
	}
	return append(facts, c.node.facts()...)
}

// proposalToApplied is how long a proposal was pending, by Little's law: the mean number of pending proposals of all
// members ÷ the rate at which proposals were applied. Flush, replication and applying lie within it, and what is left
// is waiting. It needs the samples of all members.
func (c inputs) proposalToApplied() (time.Duration, bool) {
	var pending, rate, samples, busy float64
	for _, m := range c.members {
		mean, known := m.Window.Value(results.FigurePendingMean)
		if !known {
			return 0, false
		}
		n, _ := m.Window.Value(results.FigurePendingSamples)
		above, _ := m.Window.Value(results.FigurePendingBusySamples)
		pending, samples, busy = pending+mean, samples+n, busy+above
		if elapsed, _ := m.Window.Value(results.FigureSampledSeconds); elapsed > 0 {
			applied, _ := m.Window.Value(results.FigureAppliedProposals)
			rate = max(rate, applied/elapsed)
		}
	}
	if len(c.members) < c.all || rate == 0 || samples < minPendingSamples || busy < minPendingBusySamples {
		return 0, false
	}
	return results.Seconds(pending / rate), true
}

// ping is the median of the pings of a member.
func ping(m results.Member) (time.Duration, bool) {
	count, _ := m.Window.Value(results.FigurePings)
	median, known := m.Window.Value(results.FigurePingMedianSeconds)
	return results.Seconds(median), known && count >= minPings
}

// pings judges the shortest ping: the network delays all of them, and a wait for a processor only some. The network
// also delays all requests, so a ping that takes longer than the fastest request was slow for another reason. It says
// nothing if the member had too few processors, or if the client was a limit, because then all requests and all pings may
// wait.
func (c inputs) pings(m results.Member) (weight float64, message string) {
	median, known := ping(m)
	seconds, _ := m.Window.Value(results.FigurePingShortestSeconds)
	shortest := results.Seconds(seconds)
	if _, busy := c.processors(m); !known || busy != "" || c.clientBound || shortest < minPing || c.request == 0 ||
		float64(shortest) > maxWaitShare*float64(c.fastest) {
		return 0, ""
	}
	if float64(shortest) < minPingShare*float64(c.request) {
		return 0, ""
	}
	return shortest.Seconds(), fmt.Sprintf("The shortest ping to %s took %s, the median ping %s. A ping goes from "+
		"client pod 0 to the member and back, and is no request to etcd. For comparison: the mean service time of "+
		"a request is %s.",
		m.Label(), text.Duration(shortest), text.Duration(median), text.Duration(c.request))
}

// sharedNode is the node of a client pod that is also a member's node. The zero value is unknown.
type sharedNode struct {
	pod     int
	process *results.ProcessWindow
}

// sharedNodeOf returns the busiest of these nodes.
func sharedNodeOf(b *v1alpha1.EtcdBenchmark, s results.Summary) (busiest sharedNode) {
	most := 0.0
	for _, p := range s.Processes {
		used, known := p.Window.Value(results.ProcessNodeBusyRatio)
		if known && used >= most && (s.SharesNode || runsOnMembersNode(b, p.Index)) {
			most, busiest = used, sharedNode{p.Index, p.Window}
		}
	}
	return busiest
}

func runsOnMembersNode(b *v1alpha1.EtcdBenchmark, pod int) bool {
	return slices.ContainsFunc(b.Status.Pods, func(p v1alpha1.PodStatus) bool { return int(p.Index) == pod && isMembersNode(b, p.Node) })
}

// busy says that the node's processors were nearly all in use.
func (n sharedNode) busy() string {
	used, known := n.process.Value(results.ProcessNodeBusyRatio)
	if !known || used < nodeBusyShare {
		return ""
	}
	return fmt.Sprintf("The node that client pod %d shares with a member used %.0f %% of its processors.", n.pod, 100*min(used, 1))
}

func (n sharedNode) facts() (facts []string) {
	if used, known := n.process.Value(results.ProcessNodeBusyRatio); known {
		facts = append(facts, fmt.Sprintf("the node shared with a member used %.0f %% of its processors", 100*min(used, 1)))
	}
	for _, pressure := range []struct {
		figure results.ProcessFigure
		what   string
	}{{results.ProcessNodeCPUPressureRatio, "a processor"}, {results.ProcessNodeIOPressureRatio, "a disk"}} {
		if share, known := n.process.Value(pressure.figure); known && share >= minWaitShare {
			facts = append(facts, fmt.Sprintf("during %.0f %% of the window, at least one task on that node waited for %s", 100*min(share, 1), pressure.what))
		}
	}
	return facts
}
