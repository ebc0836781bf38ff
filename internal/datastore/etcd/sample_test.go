package etcd

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/exposition"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const sampledPuts = 100

// window is a member's report of its work during a function.
func window(t *testing.T, d *Driver, id string, work func()) *results.MemberWindow {
	t.Helper()
	var track members.Track
	first := d.Sample(withTimeout(t))[id]
	track.Add(first)
	work()
	last := d.Sample(withTimeout(t))[id]
	track.Add(last)
	return track.Window(first.At, last.At)
}

func TestSampleCountsWhatAMemberDid(t *testing.T) {
	tests := map[string]*etcdtest.Authority{"plain text": nil, "client certificates": etcdtest.NewAuthority(t)}
	for name, authority := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := etcdtest.Start(t, 1, authority, etcdtest.Fsync)
			p := planFor(cluster.Endpoints)
			if authority != nil {
				withTLS(authority.SecretDir(t), "")(&p)
			}
			d := connected(t, p)
			client := cluster.Client(t, "", "")
			id := cluster.Members[0].Server.MemberID().String()
			w := window(t, d, id, func() {
				for i := range sampledPuts {
					put(t, client, fmt.Sprint("sampled/", i), strings.Repeat("x", 1000))
				}
			})
			if w.Unknown != "" {
				t.Fatalf("wanted figures, found that %s", w.Unknown)
			}
			requireBusyWindow(t, w)
			cluster.Stop(0)
			if got := d.Sample(withTimeout(t))[id]; !strings.Contains(got.Problem, cluster.Endpoints[0]) || len(got.Gauges) > 0 {
				t.Errorf("got %+v of a stopped member, wanted the reason why it is unknown", got)
			}
		})
	}
}

// requireBusyWindow checks that the window shows sampledPuts writes of 1,000 bytes.
func requireBusyWindow(t *testing.T, w *results.MemberWindow) {
	t.Helper()
	atLeast := map[results.Figure]float64{
		results.TimerWALFsync.Count(): sampledPuts / 2, results.TimerWALFsync.Seconds(): 1e-6, results.TimerWALFsync.P99AtMost(): 0.001,
		results.TimerApply.Count(): sampledPuts, results.FigureClientReceivedBytes: sampledPuts * 1000, results.FigureClientSentBytes: sampledPuts,
		results.FigureLeaderChanges: 0, results.FigureSlowApplies: 0, results.FigureFailedProposals: 0, results.FigurePendingProposals: 0,
		// A kernel that counts ticks can miss all of a member's work on a busy machine.
		results.FigureCPUSeconds: 0, results.FigureProcessors: 1, results.FigureMemoryBytes: 1 << 20,
		results.FigureDatabaseStartBytes: 4096, results.FigureDatabaseEndBytes: 4096, results.FigureSampledSeconds: 1e-6,
	}
	for figure, least := range atLeast {
		if got, known := w.Value(figure); !known || got < least {
			t.Errorf("%s is %v (known: %v), wanted at least %v", figure, got, known, least)
		}
	}
	// Beside the writes, only the cluster's own housekeeping is applied.
	if got, _ := w.Value(results.TimerApply.Count()); got > sampledPuts+10 {
		t.Errorf("%v requests were applied, wanted the %d that were sent between the samples", got, sampledPuts)
	}
}

// Three members in one process share one set of metrics: the sum shows nothing about one of them.
func samplesOfASharedProcessAreUnknown(t *testing.T, cluster *etcdtest.Cluster) {
	d := connected(t, planFor(cluster.Endpoints))
	samples := d.Sample(withTimeout(t))
	if len(samples) != 3 {
		t.Fatalf("got samples of %d members, wanted 3", len(samples))
	}
	for id, s := range samples {
		if !strings.Contains(s.Problem, "told apart") || s.Gauges[members.GaugeMemoryBytes] == 0 {
			t.Errorf("member %s: problem %q and %v, wanted a problem about the other members, and the memory of all", id, s.Problem, s.Gauges)
		}
	}
}

// A response that is not the member's metrics makes them unknown; it does not fail a run.
func TestSampleSaysWhyItIsUnknown(t *testing.T) {
	const own = `etcd_server_id{server_id="a1"} 1` + "\n"
	tests := map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"served elsewhere":    {http.NotFound, "--listen-metrics-urls"},
		"forbidden":           {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "403"},
		"not etcd":            {serves("up 1\n"), "not the metrics of an etcd member"},
		"nothing":             {serves(""), "not the metrics of an etcd member"},
		"another member":      {serves(`etcd_server_id{server_id="b2"} 1` + "\n"), "another member"},
		"not understandable":  {serves(own + "process_cpu_seconds_total what\n"), "could not be understood"},
		"without end":         {serves(strings.Repeat("x", exposition.MaxBytes+1)), "at most"},
		"its own and nothing": {serves(own), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tc.answer)
			defer server.Close()
			endpoint := strings.TrimPrefix(server.URL, "http://")
			d := newDriver(t, planFor([]string{endpoint}), 0)
			d.topology = topology{members: []member{{id: 0xa1, endpoint: endpoint}, {id: 0xa1, endpoint: "unused:1"}}}
			samples := d.Sample(withTimeout(t))
			if got := samples["a1"]; len(samples) != 1 || !strings.Contains(got.Problem, tc.want) || (tc.want == "") != (got.Problem == "") {
				t.Errorf("got %+v, wanted a problem with %q", samples, tc.want)
			}
		})
	}
}

func TestSampleRecognizesAnAddressThatServesOnlyGRPC(t *testing.T) {
	// The response can arrive before the request is sent.
	for _, responseFirst := range []bool{false, true} {
		answered := make(chan struct{}, 10)
		endpoint := servertest.Accept(t, func(c net.Conn) {
			_, _ = io.WriteString(c, "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00@\x00")
			_ = c.Close()
			answered <- struct{}{}
		})
		d := newDriver(t, planFor([]string{endpoint}), 0)
		d.topology = topology{members: []member{{id: 0xa1, endpoint: endpoint}}}
		ctx := httptrace.WithClientTrace(withTimeout(t), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
			if responseFirst {
				<-answered
			}
		}})
		if got := d.Sample(ctx)["a1"].Problem; !strings.Contains(got, "--listen-client-http-urls") {
			t.Errorf("response first: %v: got the problem %q, wanted where else to look", responseFirst, got)
		}
	}
}

func serves(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) }
}

func TestExpositionAddsUpLabels(t *testing.T) {
	e, err := metrics.Parse([]byte(`# HELP etcd_network_peer_sent_bytes_total of a kind
# TYPE etcd_network_peer_sent_bytes_total counter
etcd_network_peer_sent_bytes_total{To="a"} 3
etcd_network_peer_sent_bytes_total{To="b"} 4
# TYPE etcd_network_peer_round_trip_time_seconds histogram
etcd_network_peer_round_trip_time_seconds_bucket{To="a",le="0.1"} 1
etcd_network_peer_round_trip_time_seconds_bucket{To="a",le="+Inf"} 2
etcd_network_peer_round_trip_time_seconds_sum{To="a"} 0.5
etcd_network_peer_round_trip_time_seconds_count{To="a"} 2
etcd_network_peer_round_trip_time_seconds_bucket{To="b",le="0.1"} 5
etcd_network_peer_round_trip_time_seconds_bucket{To="b",le="+Inf"} 5
etcd_network_peer_round_trip_time_seconds_sum{To="b"} 0.25
etcd_network_peer_round_trip_time_seconds_count{To="b"} 5
# TYPE etcd_network_peer_round_trip_time_seconds_of_another_kind gauge
etcd_network_peer_round_trip_time_seconds_of_another_kind 9`))
	if err != nil {
		t.Fatal(err)
	}
	s := metrics.Sample(e, time.Time{})
	h := s.Timers[results.TimerPeerRoundTrip]
	if s.Counters[results.FigurePeerSentBytes] != 7 || h.Count != 7 || h.Seconds != 0.75 || len(h.Buckets) != 2 || h.Buckets[0].Count != 6 || h.Buckets[1].Count != 7 {
		t.Errorf("got %+v, wanted the sums over both peers", s)
	}
}
