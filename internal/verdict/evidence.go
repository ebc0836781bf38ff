package verdict

import (
	"fmt"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// What makes a number worth telling. Below, evidence is silent.
const (
	// tellingShare is the part of a write's mean service time that something has
	// to take.
	tellingShare = 0.10
	// possibleShare is the most of it that anything can take that writes wait
	// for: two means over different things are compared. What takes longer, as
	// flushes of a slow follower do, is not what they waited for.
	possibleShare = 1.25
	// busyShare is the part of its processors that a member has to use, and of
	// the window in which it has to do what it does one at a time.
	busyShare = 0.70
	// unexplainedShare is the part of a write's mean service time that no
	// member's number accounts for.
	unexplainedShare = 0.50
)

// clues are the numbers of which evidence is made.
type clues struct {
	members []results.Member
	// write is the mean service time of a write, 0 if none was answered. Not its
	// latency: that has the time in which an open loop waited for a free client.
	write time.Duration
	// clientBound: the client was itself a limit.
	clientBound bool
}

// Evidence is what the numbers show of where the time went. It makes no shares
// up: most of a saturated client's latency is in no histogram of the server.
// clients is what Clients said.
func Evidence(s results.Summary, clients *v1alpha1.Validity) []v1alpha1.Evidence {
	c := newClues(s, clients)
	var out []v1alpha1.Evidence
	tell := func(resource v1alpha1.Resource, messages ...string) {
		if message := strings.TrimSpace(strings.Join(messages, " ")); message != "" {
			out = append(out, v1alpha1.Evidence{Resource: resource, Message: text.Shorten(message, v1alpha1.MaxMessageLength)})
		}
	}
	tell(v1alpha1.ResourceDisk, c.worst(c.flushes), c.worst(c.commits))
	tell(v1alpha1.ResourceNetwork, c.worst(c.roundTrips))
	tell(v1alpha1.ResourceCPU, c.worst(c.processors))
	tell(v1alpha1.ResourceApply, c.worst(c.applies))
	tell(v1alpha1.ResourceUnexplained, c.worst(c.unexplained))
	return out
}

func newClues(s results.Summary, clients *v1alpha1.Validity) clues {
	c := clues{write: meanWrite(s), clientBound: clients.Verdict == v1alpha1.ValidityClientBound}
	if s.Target == nil {
		return c
	}
	for _, m := range s.Target.Members {
		if unusable(m.Window) == "" {
			c.members = append(c.members, m)
		}
	}
	return c
}

// meanWrite is the mean service time of all requests that each are one which the
// members agree on; 0 if none was answered.
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

// worst asks each member for what it tells, and with what weight, and returns
// what has the most; empty if none has any.
func (c clues) worst(ask func(results.Member) (weight float64, message string)) (said string) {
	most := 0.0
	for _, m := range c.members {
		if weight, message := ask(m); weight > most {
			most, said = weight, message
		}
	}
	return said
}

// tells says whether writes, if there are any, can have waited for something
// that takes so long for much of their time. If there are none it tells by how
// much of the window it fills.
func (c clues) tells(took time.Duration, share float64) bool {
	if c.write == 0 {
		return share >= busyShare
	}
	part := float64(took) / float64(c.write)
	return tellingShare <= part && part <= possibleShare
}

// observed returns a timing and the part of the window that it fills, 0 if that is
// not known. ok says whether it was observed often enough to say something.
func observed(m results.Member, timer results.Timer) (t results.Timing, share float64, ok bool) {
	t, _ = m.Window.Timing(timer)
	if sampled, _ := m.Window.Value(results.FigureSampledSeconds); sampled > 0 {
		share = t.Mean.Seconds() * float64(t.Count) / sampled
	}
	return t, share, share > 0 && t.Count >= minObservations
}

// did says how often a member did something, and how long that took.
func (c clues) did(m results.Member, what string, t results.Timing, share float64) string {
	message := fmt.Sprintf("%s %s %s, %s each on average: %.0f %% of the window", m.Label(), what, text.Plural(t.Count, "time"), text.Duration(t.Mean), 100*share)
	if c.write > 0 {
		message += fmt.Sprintf("; the mean service time of a write is %s", text.Duration(c.write))
	}
	return message + "."
}

func (c clues) flushes(m results.Member) (weight float64, message string) {
	t, share, ok := observed(m, results.TimerWALFsync)
	if !ok || !c.tells(t.Mean, share) {
		return 0, ""
	}
	return t.Mean.Seconds(), c.did(m, "flushed its log to disk", t, share)
}

// commitWait is how long a request that comes at any moment waits for a commit
// of the database, on average: if there is one, for half of it.
func commitWait(t results.Timing, share float64) time.Duration {
	return time.Duration(share * float64(t.Mean) / 2)
}

func (c clues) commits(m results.Member) (weight float64, message string) {
	t, share, ok := observed(m, results.TimerBackendCommit)
	if !ok || !c.tells(commitWait(t, share), share) {
		return 0, ""
	}
	return share, c.did(m, "committed its database to disk, while nothing is applied,", t, share)
}

// roundTrip between a member and the others. One observation is enough, for it is
// an average itself.
func roundTrip(m results.Member) results.Timing {
	t, _ := m.Window.Timing(results.TimerPeerRoundTrip)
	return t
}

func (c clues) roundTrips(m results.Member) (weight float64, message string) {
	t := roundTrip(m)
	if c.write == 0 || !c.tells(t.Mean, 0) {
		return 0, ""
	}
	return t.Mean.Seconds(), fmt.Sprintf("Round trips of %s to the other members took %s on average; the mean service time of a write is %s.",
		m.Label(), text.Duration(t.Mean), text.Duration(c.write))
}

func (c clues) processors(m results.Member) (weight float64, message string) {
	used, known := m.Window.CPU()
	available, told := m.Window.Value(results.FigureProcessors)
	if !known || !told || available <= 0 || used/available < busyShare {
		return 0, ""
	}
	return used / available, fmt.Sprintf("%s used %.2f of the %.0f processors that it may use (GOMAXPROCS), on average.", m.Label(), used, available)
}

// applies leaves out as much as can have been spent on waiting for commits of the
// database. Requests are applied one at a time, so a member that does so most of
// the time has others waiting.
func (c clues) applies(m results.Member) (weight float64, message string) {
	t, share, ok := observed(m, results.TimerApply)
	_, waited, _ := observed(m, results.TimerBackendCommit)
	own := share - waited
	if !ok || own <= 0 || own < busyShare && !c.tells(time.Duration(float64(t.Mean)*own/share), own) {
		return 0, ""
	}
	return own, c.did(m, "applied requests to its store", t, share)
}

// unexplained compares a write with what the leader's numbers account for, one
// after the other: its log's flush, a round trip, applying, and what that can
// wait for.
func (c clues) unexplained(m results.Member) (weight float64, message string) {
	flush, _, ok := observed(m, results.TimerWALFsync)
	commit, share, _ := observed(m, results.TimerBackendCommit)
	apply, _, _ := observed(m, results.TimerApply)
	explained := flush.Mean + roundTrip(m).Mean + max(apply.Mean, commitWait(commit, share))
	rest := c.write - explained
	if !m.Leader || !ok || rest <= 0 || float64(rest) < unexplainedShare*float64(c.write) {
		return 0, ""
	}
	message = fmt.Sprintf("Of the mean service time of a write, %s, what the leader's numbers show accounts for %s: flush, round trip and applying. The other %s are in no number of the members: "+
		"the network between client and member, waiting for a batch, gRPC and the processors' queues, at both ends.", text.Duration(c.write), text.Duration(explained), text.Duration(rest))
	if c.clientBound {
		message += " The client was itself a limit: see status.summary.validity."
	}
	return rest.Seconds(), message
}
