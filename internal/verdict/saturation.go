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
	// maxLacking is how many of 100 due requests may wait for a free client at the end of the window.
	maxLacking = 1
	// spareClients is how many times the busy clients to try next: arrivals and service times vary.
	spareClients = 1.5
)

// Saturation reports whether the target did not keep up with an open loop; nil means that it did, that this is not
// known, or that the client was a limit. A starved client reads responses late and so makes requests wait for a free
// client itself. Lateness alone does not do that. clients is the result of Clients.
func Saturation(b *v1alpha1.EtcdBenchmark, s results.Summary, clients *v1alpha1.Validity) *v1alpha1.Saturation {
	load := b.Resolved().Load
	if load.Rate == nil || isStarved(clients) {
		return nil
	}
	due := s.Succeeded + s.Failed + s.Censored
	wait, longer := waitsLong(s)
	if lacks := s.Arrivals.Lacking > uint64(load.Clients) && results.IsMore(s.Arrivals.Lacking, due, maxLacking, 100); !lacks && !longer {
		return nil
	}
	rate, each := offered(due, s), occupied(s)
	busy := int64(math.Ceil(rate * each.Seconds()))
	return &v1alpha1.Saturation{
		LackingRequests: int64(s.Arrivals.Lacking), BacklogWaitP50Microseconds: wait.Microseconds(), BusyClients: busy,
		Message: text.Shorten(fmt.Sprintf("The target did not keep up with the rate. Requests waited %s (p50) for a free client, and %s of %s still waited when the window ended.",
			text.Duration(wait), text.Grouped(s.Arrivals.Lacking), text.Plural(due, "request")), v1alpha1.MaxMessageLength),
		Change: text.Shorten(advice(b, s, rate, each, busy), v1alpha1.MaxMessageLength),
	}
}

// waitsLong returns how long the median request waited for a free client, and whether that is longer than the median
// request keeps a client busy. A client that holds a lock is busy for longer than the service time.
func waitsLong(s results.Summary) (wait time.Duration, longer bool) {
	waited, known := s.Backlog.Values[spec.StatisticP50]
	service, served := s.Service.Values[spec.StatisticP50]
	mean := s.Service.Values[spec.StatisticMean].Duration
	return waited.Duration, known && served && waited.Duration > service.Duration+max(occupied(s)-mean, 0)
}

// occupied is how long a request keeps its client busy, on average.
func occupied(s results.Summary) time.Duration {
	if s.Started == 0 || s.Arrivals.Busy == 0 {
		return s.Service.Values[spec.StatisticMean].Duration
	}
	return time.Duration(float64(s.Arrivals.Busy) / float64(s.Started))
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

func advice(b *v1alpha1.EtcdBenchmark, s results.Summary, rate float64, each time.Duration, busy int64) string {
	if s.Service.Count == 0 {
		return "No request was answered: check the target."
	}
	try := int64(math.Ceil(spareClients * float64(busy)))
	sum := fmt.Sprintf("%s requests/s × %s for each request keep %s busy", text.RateOf(rate).Digits(), text.Duration(each), text.Plural(busy, "client"))
	switch {
	case b.Spec.Profile != "":
		return sum + ", if that time stays the same. The profile fixes the number of clients: choose a smaller spec.profile."
	case b.Spec.Kubernetes != nil:
		return sum + ", if that time stays the same. The number of nodes fixes the number of clients: lower spec.kubernetes.nodes."
	case busy < int64(b.Resolved().Load.Clients):
		return sum + ", fewer than the run has. The wait came from a part of the window: look at the numbers over time."
	}
	return sum + fmt.Sprintf(", if that time stays the same. Set spec.load.clients: %d and run again. If requests still wait, the target's limit is near the throughput of this run.", try)
}
