package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Thresholds for evidence; smaller values are not reported.
const (
	// minWaitShare is the minimum part of a write's mean service time.
	minWaitShare = 0.10
	// maxWaitShare is the maximum part of a write's mean service time that writes can have waited for. It is above 1
	// because two means over different sets are compared. Something that takes longer, for example a flush of a slow
	// follower, is not what writes waited for.
	maxWaitShare = 1.25
	// busyShare is the minimum part of a member's processors in use, and of the window for work that a member does one
	// at a time.
	busyShare = 0.70
	// nodeBusyShare is the minimum part of a node's processors in use.
	nodeBusyShare = 0.90
	// The shortest ping is reported if it takes this part of a mean service time, and this long: shorter ones are mostly waits for
	// a processor. Fewer pings than minPings prove nothing.
	minPingShare = 0.25
	minPing      = time.Millisecond
	minPings     = 3
	// Of the samples of pending proposals, this many are needed, and this many of them above 0.
	minPendingSamples     = 30
	minPendingBusySamples = 10
	// compactShare is the minimum part of the window for deleting old revisions.
	compactShare = 0.10
	// unexplainedShare is the minimum part of a write's mean service time that no metric of a member explains.
	unexplainedShare = 0.50
)

// inputs are the inputs of the evidence.
type inputs struct {
	members []results.Member
	// all is the number of members, with and without figures.
	all int
	// write is the mean service time of a write, 0 if none was answered. Latency is not used: it includes the time in
	// which an open loop waited for a free client.
	write time.Duration
	// request is the mean service time of all requests, 0 if none was answered; fastest is the shortest one.
	request, fastest time.Duration
	// clientBound means that the client was itself a limit.
	clientBound bool
	// node is the busiest client pod's node that is also a member's node.
	node sharedNode
	// closed is the sentence about a closed loop; empty for an open loop.
	closed string
}

// Evidence reports what the numbers show about where the time went. It does not invent shares: most of the latency of a
// saturated client is in no histogram of the server. clients is the result of Clients.
func Evidence(b *v1alpha1.EtcdBenchmark, s results.Summary, clients *v1alpha1.Validity) []v1alpha1.Evidence {
	c := newInputs(s, clients)
	c.closed = closedLoop(b, s)
	c.node = sharedNodeOf(b, s)
	var out []v1alpha1.Evidence
	add := func(resource v1alpha1.Resource, messages ...string) {
		if message := strings.TrimSpace(strings.Join(messages, " ")); message != "" {
			out = append(out, v1alpha1.Evidence{Resource: resource, Message: text.Shorten(message, v1alpha1.MaxEvidenceLength)})
		}
	}
	add(v1alpha1.ResourceDisk, c.worst(c.flushes), c.worst(c.commits))
	add(v1alpha1.ResourceNetwork, c.worst(c.roundTrips), c.worst(c.pings))
	add(v1alpha1.ResourceCPU, c.worst(c.processors), c.node.busy())
	add(v1alpha1.ResourceApply, c.worst(c.applies))
	add(v1alpha1.ResourceMaintenance, c.worst(c.defragmentations), c.worst(c.compactions))
	add(v1alpha1.ResourceUnexplained, c.worst(c.unexplained))
	return out
}

// closedLoop explains the latency of a closed loop of many clients: each client waits for its response before it sends
// again, so the clients together determine the latency.
func closedLoop(b *v1alpha1.EtcdBenchmark, s results.Summary) string {
	load := b.Resolved().Load
	if load.Rate != nil || slices.ContainsFunc(s.Operations, func(o results.OperationSummary) bool { return o.Operation.IsTask() }) || load.Clients < 2 || s.Throughput == 0 || s.Failed+s.Censored+s.Pauses.Count > 0 {
		return ""
	}
	return fmt.Sprintf("In a closed loop, the mean latency is about clients ÷ throughput (%s ÷ %s = %s). To see the target's own time, run with fewer clients. ",
		text.Grouped(load.Clients), text.RateOf(s.Throughput), text.Duration(time.Duration(float64(load.Clients)/s.Throughput*float64(time.Second))))
}

func newInputs(s results.Summary, clients *v1alpha1.Validity) inputs {
	c := inputs{write: meanWrite(s), request: s.Service.Values[spec.StatisticMean].Duration, fastest: s.Service.Min, clientBound: clients.Verdict == v1alpha1.ValidityClientBound}
	if s.Target == nil {
		return c
	}
	c.all = len(s.Target.Members)
	for _, m := range s.Target.Members {
		if unusable(m.Window) == "" {
			c.members = append(c.members, m)
		}
	}
	return c
}

// meanWrite is the mean service time of all requests that are a single agreed write; 0 if none was answered.
func meanWrite(s results.Summary) time.Duration {
	sum, count := 0.0, 0.0
	for _, op := range s.Operations {
		if op.Operation.IsAgreed() {
			n := float64(op.Service.Count)
			sum, count = sum+n*float64(op.Service.Values[spec.StatisticMean].Duration), count+n
		}
	}
	if count == 0 {
		return 0
	}
	return time.Duration(sum / count)
}

// worst returns the message of the member with the greatest weight; empty if every weight is 0.
func (c inputs) worst(ask func(results.Member) (weight float64, message string)) (worstMessage string) {
	most := 0.0
	for _, m := range c.members {
		if weight, message := ask(m); weight > most {
			most, worstMessage = weight, message
		}
	}
	return worstMessage
}

// isRelevant reports whether writes can have spent much of their time waiting for something that takes this long.
// Without writes it uses the share of the window instead.
func (c inputs) isRelevant(took time.Duration, share float64) bool {
	if c.write == 0 {
		return share >= busyShare
	}
	part := float64(took) / float64(c.write)
	return minWaitShare <= part && part <= maxWaitShare
}

// observed returns a timing and its share of the window, 0 if unknown. ok reports whether there are enough
// observations.
func observed(m results.Member, timer results.Timer) (t results.Timing, share float64, ok bool) {
	t, _ = m.Window.Timing(timer)
	if sampled, _ := m.Window.Value(results.FigureSampledSeconds); sampled > 0 {
		share = t.Mean.Seconds() * float64(t.Count) / sampled
	}
	return t, share, share > 0 && t.Count >= minObservations
}

// describe describes how often a member did something and how long it took.
func (c inputs) describe(m results.Member, what string, t results.Timing, share float64) string {
	message := fmt.Sprintf("%s %s %s. Each took %s on average; in total they took %.0f %% of the window.", m.Label(), what, text.Plural(t.Count, "time"), text.Duration(t.Mean), 100*share)
	if c.write > 0 {
		message += fmt.Sprintf(" For comparison: the mean service time of a write is %s.", text.Duration(c.write))
	}
	return message
}

func (c inputs) flushes(m results.Member) (weight float64, message string) {
	t, share, ok := observed(m, results.TimerWALFsync)
	if !ok || !c.isRelevant(t.Mean, share) {
		return 0, ""
	}
	return t.Mean.Seconds(), c.describe(m, "flushed its log to disk", t, share)
}

// commitWait is the mean wait of a request that arrives at a random time: half of a commit if one is running.
func commitWait(t results.Timing, share float64) time.Duration {
	return time.Duration(share * float64(t.Mean) / 2)
}

func (c inputs) commits(m results.Member) (weight float64, message string) {
	t, share, ok := observed(m, results.TimerBackendCommit)
	if !ok || !c.isRelevant(commitWait(t, share), share) {
		return 0, ""
	}
	return share, c.describe(m, "committed its database to disk, and applied nothing meanwhile,", t, share)
}

// roundTrip is a member's round trip to the others. One observation is enough, because it is an average itself.
func roundTrip(m results.Member) results.Timing {
	t, _ := m.Window.Timing(results.TimerPeerRoundTrip)
	return t
}

func (c inputs) roundTrips(m results.Member) (weight float64, message string) {
	t := roundTrip(m)
	if c.write == 0 || !c.isRelevant(t.Mean, 0) {
		return 0, ""
	}
	return t.Mean.Seconds(), fmt.Sprintf("Round trips of %s to the other members took %s on average; the mean service time of a write is %s.",
		m.Label(), text.Duration(t.Mean), text.Duration(c.write))
}

func (c inputs) processors(m results.Member) (weight float64, message string) {
	used, known := m.Window.CPU()
	available, reported := m.Window.Value(results.FigureProcessors)
	if !known || !reported || available <= 0 || used/available < busyShare {
		return 0, ""
	}
	return used / available, fmt.Sprintf("%s used %.2f of the %.0f processors that it may use (GOMAXPROCS), on average.", m.Label(), used, available)
}

// applies subtracts the time that can have been spent waiting for commits of the database. A member applies one request
// at a time, so other requests wait if it does so most of the time.
func (c inputs) applies(m results.Member) (weight float64, message string) {
	t, share, ok := observed(m, results.TimerApply)
	_, waited, _ := observed(m, results.TimerBackendCommit)
	own := share - waited
	if !ok || own <= 0 || own < busyShare && !c.isRelevant(time.Duration(float64(t.Mean)*own/share), own) {
		return 0, ""
	}
	return own, c.describe(m, "applied requests to its store", t, share)
}

// defragmentations says how long a member was defragmented, however short, because it answers nothing meanwhile.
func (c inputs) defragmentations(m results.Member) (weight float64, message string) {
	t, _ := m.Window.Timing(results.TimerDefragment)
	if t.Count == 0 {
		return 0, ""
	}
	took := time.Duration(t.Count) * t.Mean
	return took.Seconds(), fmt.Sprintf("%s was defragmented %s, for %s in all. A member that is defragmented answers no requests.",
		m.Label(), text.Plural(t.Count, "time"), text.Duration(took))
}

func (c inputs) compactions(m results.Member) (weight float64, message string) {
	t, _ := m.Window.Timing(results.TimerCompact)
	took := time.Duration(t.Count) * t.Mean
	sampled, _ := m.Window.Value(results.FigureSampledSeconds)
	if sampled <= 0 || took.Seconds() < compactShare*sampled {
		return 0, ""
	}
	return took.Seconds(), fmt.Sprintf("A compaction (deletion of old revisions) was running on %s for %s, which "+
		"is %.0f %% of the window. It works in batches with pauses between them; requests wait for each batch.",
		m.Label(), text.Duration(took), 100*took.Seconds()/sampled)
}
