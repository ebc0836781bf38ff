package verdict

import (
	"math"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// added is the greatest share of the mean latency, of the operation with the greatest, that the client can have added: in
// parts per million, nil if it is not known. It is one of a mean. Waits can all have hit the slowest requests, so it says
// nothing about a percentile.
func added(b *v1alpha1.EtcdBenchmark, s results.Summary, v *v1alpha1.Validity) *int64 {
	if v.DelayPerRequestMicroseconds == nil || s.Pods == 0 || !onlyWaits(b, s, v) {
		return nil
	}
	waits := 0.0
	for _, p := range s.Processes {
		waits = max(waits, waited(b, s, p))
	}
	share, known := 0.0, false
	for _, o := range s.Operations {
		latency := meanSeconds(o.Latency)
		if o.Operation.IsEvent() || o.Operation.IsPart() || latency <= 0 {
			continue
		}
		own := waits + meanSeconds(o.Lateness)
		// A client that is slow to read responses makes requests wait for a free client.
		if isStarved(v) {
			own += meanSeconds(o.Backlog)
		}
		share, known = max(share, own/latency), true
	}
	if !known {
		return nil
	}
	return new(int64(math.Ceil(1e6 * min(share, 1))))
}

// waited is how long each request of a pod can have waited for the client at most, on average. While a thread waits for a
// processor, all requests in flight can wait with it, and no others: in a closed loop they are the clients, so this is the
// share of the time in which a thread waited. Without this time the same requests could not have ended sooner, so the bound
// holds for the throughput, too. A goroutine that waits for a thread delays at most the requests of its connection. A
// request of an open loop finds the mean number in flight, and is one more.
func waited(b *v1alpha1.EtcdBenchmark, s results.Summary, p results.PodProcess) float64 {
	load := b.Resolved().Load
	ofPod := math.Ceil(float64(load.Clients) / float64(s.Pods) * p.Window.Sessions())
	all := min(inFlight(s, p)+1, ofPod)
	ofConnection := math.Ceil(float64(load.Clients) / float64(max(load.Connections, 1)))
	each, _ := delayOf(s.Transport, all, min(all, ofConnection))(p)
	return each
}

// onlyWaits reports whether waiting, and being late for that, is all that the client can have added. A client that is
// throttled or busy, or whose loop is full, also lets requests queue up for its own work, which no figure counts. One that
// sends in bursts, or leaves requests out, does not put the requested load on the target.
func onlyWaits(b *v1alpha1.EtcdBenchmark, s results.Summary, v *v1alpha1.Validity) bool {
	isOther := func(r v1alpha1.ValidityReason) bool {
		return r.Cause != v1alpha1.CauseDelayed && r.Cause != v1alpha1.CauseLate && r.Cause != v1alpha1.CauseUnread
	}
	if slices.ContainsFunc(v.Reasons, isOther) || loopBusy(s, figure(results.ProcessLoopBusyRatio)) != nil {
		return false
	}
	return b.Resolved().Load.Rate == nil || wasDelivered(s) && !leavesInBursts(s)
}

// inFlight is the mean number of requests in flight of the process of a pod. In a run without a cluster, it has several
// parts of the load.
func inFlight(s results.Summary, p results.PodProcess) float64 {
	return s.Throughput * meanSeconds(s.Service) / float64(s.Pods) * p.Window.Sessions()
}

// meanSeconds is 0 if the mean is not known.
func meanSeconds(d results.Distribution) float64 {
	return d.Values[spec.StatisticMean].Duration.Seconds()
}
