package etcd

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/exposition"
	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// metricsOfPeers are those by the ID of another member.
var metricsOfPeers = exposition.New(exposition.Table{
	Counters: map[string]results.Figure{}, Gauges: map[string]members.Gauge{},
	Timers: map[string]exposition.Timer{metricRoundTrip: {Is: results.TimerPeerRoundTrip}},
})

// peers are a member's round trips to each other member since its start, by the ID of that member.
type peers map[string]members.Sample

// peersIn reads the metrics of a member.
func peersIn(text []byte, at time.Time) peers {
	page, err := metricsOfPeers.Parse(text)
	if err != nil {
		return nil
	}
	all := peers{}
	for id, of := range page.By("To") {
		if id != "" {
			all[id] = metricsOfPeers.Sample(of, at)
		}
	}
	return all
}

// slowest is the peer with the longest mean round trip since an earlier look. A peer without one since then counts with its mean
// since the start. Its name is its ID.
func (all peers) slowest(before peers) (found doctor.Peer) {
	for id, now := range all {
		timing, known := windowOf(before[id], now).Timing(results.TimerPeerRoundTrip)
		if !known || timing.Count == 0 {
			timing, _ = windowOf(unborn(now, before[id].At), now).Timing(results.TimerPeerRoundTrip)
		}
		if timing.Mean > found.RoundTrip {
			found = doctor.Peer{Name: id, RoundTrip: timing.Mean}
		}
	}
	return found
}
