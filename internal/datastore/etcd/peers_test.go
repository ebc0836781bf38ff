package etcd

import (
	"fmt"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
)

// pageOfPeers has the round trips of a member to peers: for each, how many, and their seconds.
func pageOfPeers(all map[string][2]float64) []byte {
	page := "# TYPE etcd_network_peer_round_trip_time_seconds histogram\n"
	for id, of := range all {
		for suffix, v := range map[string]float64{"_bucket{le=\"+Inf\",": of[0], "_count{": of[0], "_sum{": of[1]} {
			page += fmt.Sprintf("etcd_network_peer_round_trip_time_seconds%sTo=%q} %v\n", suffix, id, v)
		}
	}
	return []byte(page)
}

// What was observed since the earlier look counts. A peer that had no round trip since then counts with those before.
func TestTheSlowestPeer(t *testing.T) {
	for name, tc := range map[string]struct {
		before, now map[string][2]float64
		want        doctor.Peer
	}{
		"since the earlier look": {map[string][2]float64{"a": {10, 9}, "b": {10, 1}}, map[string][2]float64{"a": {20, 10}, "b": {20, 6}}, doctor.Peer{Name: "b", RoundTrip: 500 * time.Millisecond}},
		"before it":              {map[string][2]float64{"a": {10, 9}, "b": {10, 1}}, map[string][2]float64{"a": {10, 9}, "b": {20, 6}}, doctor.Peer{Name: "a", RoundTrip: 900 * time.Millisecond}},
		"a new one":              {map[string][2]float64{"a": {10, 1}}, map[string][2]float64{"a": {20, 2}, "b": {2, 1}}, doctor.Peer{Name: "b", RoundTrip: 500 * time.Millisecond}},
		"none":                   {nil, nil, doctor.Peer{}},
	} {
		at := time.Now()
		if got := peersIn(pageOfPeers(tc.now), at.Add(time.Minute)).slowest(peersIn(pageOfPeers(tc.before), at)); got != tc.want {
			t.Errorf("%s: got %+v, wanted %+v", name, got, tc.want)
		}
	}
}
