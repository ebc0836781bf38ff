package verdict

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// maxLackingShare is the share of the due requests that may wait for a free client at the end of the window.
	maxLackingShare = 0.01
	// spareClients is how many times the busy clients to try next: arrivals and service times vary.
	spareClients = 1.5
)

// Saturation reports whether the target did not keep up with an open loop; nil means that it did, or that the client was
// a limit. A starved client reads responses late and so makes requests wait for a free client itself. Lateness alone
// does not do that. clients is the result of Clients.
func Saturation(b *v1alpha1.EtcdBenchmark, s results.Summary, clients *v1alpha1.Validity) *v1alpha1.Saturation {
	load := b.Resolved().Load
	if load.Rate == nil || isStarved(clients) {
		return nil
	}
	due := s.Succeeded + s.Failed + s.Censored
	wait, service := s.Backlog.Values[spec.StatisticP50].Duration, s.Service.Values[spec.StatisticP50].Duration
	lacks := float64(s.Arrivals.Lacking) > max(float64(load.Clients), maxLackingShare*float64(due))
	if !lacks && wait <= service {
		return nil
	}
	rate, mean := offered(due, s), s.Service.Values[spec.StatisticMean].Duration
	busy := int64(math.Ceil(rate * mean.Seconds()))
	out := &v1alpha1.Saturation{
		LackingRequests: int64(s.Arrivals.Lacking), BacklogWaitP50Microseconds: wait.Microseconds(), BusyClients: busy,
		Message: text.Shorten(fmt.Sprintf("The target did not keep up with the rate. Requests waited %s (p50) for a free client, and %s of %s still waited when the window ended.",
			text.Exact(wait.Round(time.Microsecond)), text.Grouped(s.Arrivals.Lacking), text.Plural(due, "request")), v1alpha1.MaxMessageLength),
	}
	out.Change = text.Shorten(advice(b, s, rate, mean, busy), v1alpha1.MaxMessageLength)
	return out
}

// isStarved reports whether the client was a limit by something other than lateness.
func isStarved(clients *v1alpha1.Validity) bool {
	return clients.Verdict == v1alpha1.ValidityClientBound && slices.ContainsFunc(clients.Reasons, func(r v1alpha1.ValidityReason) bool {
		return r.Cause != v1alpha1.CauseLate && r.Cause != v1alpha1.CauseUnread
	})
}

// offered is the rate at which requests were due, per second.
func offered(due uint64, s results.Summary) float64 {
	if s.Length <= 0 {
		return 0
	}
	return float64(due) / s.Length.Seconds()
}

func advice(b *v1alpha1.EtcdBenchmark, s results.Summary, rate float64, mean time.Duration, busy int64) string {
	if s.Service.Count == 0 {
		return "No request was answered: check the target."
	}
	try := int64(math.Ceil(spareClients * float64(busy)))
	sum := fmt.Sprintf("%.4g requests/s × %s mean service time keep %s busy", rate, text.Duration(mean), text.Plural(busy, "client"))
	switch {
	case b.Spec.Profile != "":
		return sum + ", if the service time stays the same. The profile fixes the number of clients: choose a smaller spec.profile."
	case busy < int64(b.Resolved().Load.Clients):
		return sum + ", fewer than the run has. The wait came from a part of the window: look at its course."
	}
	return sum + fmt.Sprintf(", if the service time stays the same. Set spec.load.clients to %d and run again. If requests still wait, the target's limit is near the throughput of this run.", try)
}
