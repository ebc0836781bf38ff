package verdict

import (
	"math"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// added is the greatest share of the mean latency, of the operation with the greatest, that the client can have added: in
// parts per million, nil if it is not known.
//
// While a thread waits for a processor, each request in flight can wait with it, and no other one can. So the waits have
// added to the latencies at most their sum × the requests in flight. In a closed loop these are at most the clients, so
// the share is that of the time in which a thread waited: without this time, the same requests could not have ended sooner.
// So the bound holds for the throughput, too. It is one of a mean. Waits can all have hit the slowest requests, so it says
// nothing about a percentile.
func added(b *v1alpha1.EtcdBenchmark, s results.Summary, v *v1alpha1.Validity) *int64 {
	pod, each := worstPod(s, delayPerRequest(s.Transport))
	if pod == nil || v.DelayPerRequestMicroseconds == nil || s.Pods == 0 || !onlyWaits(b, s, v) {
		return nil
	}
	// A request that wakes a thread is one more than those that it finds in flight.
	ofProcess := pod.Window.Sessions() / float64(s.Pods)
	waited := each * min(inFlight(s, pod)+1, float64(b.Resolved().Load.Clients)*ofProcess)
	share, known := 0.0, false
	for _, o := range s.Operations {
		latency := secondsOf(o.Latency)
		if o.Operation.IsEvent() || o.Operation.IsPart() || latency <= 0 {
			continue
		}
		own := waited + secondsOf(o.Lateness)
		// A client that is slow to read responses makes requests wait for a free client.
		if isStarved(v) {
			own += secondsOf(o.Backlog)
		}
		share, known = max(share, own/latency), true
	}
	if !known {
		return nil
	}
	return new(int64(math.Ceil(1e6 * min(share, 1))))
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
	_, occupied := worstPod(s, ofWindow((*results.ProcessWindow).OccupiedShare))
	return occupied <= maxCPUShare && (b.Resolved().Load.Rate == nil || wasDelivered(s) && !leavesInBursts(s))
}

// inFlight is the mean number of requests in flight of the process of a pod. In a run without a cluster, it has several
// parts of the load.
func inFlight(s results.Summary, pod *results.PodProcess) float64 {
	return s.Throughput * secondsOf(s.Service) / float64(s.Pods) * pod.Window.Sessions()
}

// secondsOf is the mean of a distribution, 0 if it is not known.
func secondsOf(d results.Distribution) float64 {
	return d.Values[spec.StatisticMean].Duration.Seconds()
}
