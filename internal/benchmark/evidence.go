package benchmark

import (
	"fmt"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// What makes a number worth telling. Below, evidence is silent.
const (
	// tellingShare is the part of the window, or of a request's mean latency,
	// that a resource has to fill.
	tellingShare = 0.10
	// busyProcessors is the part of its processors that a member has to use.
	busyProcessors = 0.70
	// unexplainedShare is the part of a write's mean latency that no member's
	// number accounts for.
	unexplainedShare = 0.50
)

// evidence is what the numbers show of where the time went. It makes no shares
// up: most of a saturated client's latency is in no histogram of the server.
func evidence(s results.Summary) []v1alpha1.Evidence {
	if s.Target == nil {
		return nil
	}
	latency := meanWrite(s)
	var out []v1alpha1.Evidence
	tell := func(resource v1alpha1.Resource, message string) {
		if message != "" {
			out = append(out, v1alpha1.Evidence{Resource: resource, Message: bounded(message, maxMessage)})
		}
	}
	tell(v1alpha1.ResourceDisk, worked(s.Target, results.TimerWALFsync, "flushed its log to disk", latency))
	tell(v1alpha1.ResourceNetwork, roundTrips(s.Target, latency))
	tell(v1alpha1.ResourceCPU, processors(s.Target))
	tell(v1alpha1.ResourceApply, worked(s.Target, results.TimerApply, "applied requests to its store", latency))
	tell(v1alpha1.ResourceUnexplained, unexplained(s.Target, latency))
	return out
}

// meanWrite is the mean latency of a put; 0 if none was answered.
func meanWrite(s results.Summary) time.Duration {
	op := operationOf(s, v1alpha1.OperationPut)
	if op == nil {
		return 0
	}
	return op.Latency.Values[results.StatisticMean].Duration
}

// observed returns a timing that was observed often enough to say something.
func observed(m results.Member, timer results.Timer) (results.Timing, bool) {
	if unusable(m.Window) != "" {
		return results.Timing{}, false
	}
	t, known := m.Window.Timing(timer)
	return t, known && t.Count >= minObservations
}

// worked names the member that spent most of the window on something.
func worked(t *results.Target, timer results.Timer, did string, latency time.Duration) (message string) {
	most := 0.0
	for _, m := range t.Members {
		timing, ok := observed(m, timer)
		sampled, _ := m.Window.Value(results.FigureSampledSeconds)
		share := timing.Mean.Seconds() * float64(timing.Count) / sampled
		telling := share >= tellingShare || float64(timing.Mean) >= tellingShare*float64(latency) && latency > 0
		if ok && telling && sampled > 0 && share > most {
			most = share
			message = fmt.Sprintf("%s %s %s, %s each on average: %.0f %% of the window.",
				memberName(m), did, plural(int64(timing.Count), "time"), Nanos(timing.Mean), 100*share)
		}
	}
	return message
}

func roundTrips(t *results.Target, latency time.Duration) (message string) {
	longest := time.Duration(tellingShare * float64(latency))
	for _, m := range t.Members {
		timing, ok := observed(m, results.TimerPeerRoundTrip)
		if ok && latency > 0 && timing.Mean > longest {
			longest = timing.Mean
			message = fmt.Sprintf("Round trips of %s to the other members took %s on average; the mean latency of a put is %s.",
				memberName(m), Nanos(timing.Mean), Nanos(latency))
		}
	}
	return message
}

func processors(t *results.Target) (message string) {
	most := busyProcessors
	for _, m := range t.Members {
		used, known := m.Window.CPU()
		available, told := m.Window.Value(results.FigureProcessors)
		if known && told && available > 0 && unusable(m.Window) == "" && used/available >= most {
			most = used / available
			message = fmt.Sprintf("%s used %.2f of the %.0f processors that it may use (GOMAXPROCS), on average.", memberName(m), used, available)
		}
	}
	return message
}

// unexplained compares a put with the floor that its log's flush at the leader
// sets.
func unexplained(t *results.Target, latency time.Duration) string {
	for _, m := range t.Members {
		flush, ok := observed(m, results.TimerWALFsync)
		rest := latency - flush.Mean
		if !m.Leader || !ok || float64(rest) < unexplainedShare*float64(latency) || rest <= 0 {
			continue
		}
		return fmt.Sprintf("Of the mean latency of a put, %s, the leader's flush takes %s. The other %s are in no number of the members that can be told apart: "+
			"waiting for a batch, round trips, gRPC and the processors' queues, at both ends.", Nanos(latency), Nanos(flush.Mean), Nanos(rest))
	}
	return ""
}
