package zookeeper

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The answer is of a follower of ZooKeeper 3.8.0, after 500 creates over the leader.
func TestSampleOfMntr(t *testing.T) {
	text, err := os.ReadFile("testdata/mntr.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := members.Sample{
		At:       time.Unix(100, 0),
		Counters: map[results.Figure]float64{results.FigureClientReceivedBytes: 116, results.FigureClientSentBytes: 0},
		Gauges:   map[members.Gauge]float64{members.GaugeStart: 95.045, members.GaugeDatabaseBytes: 514_575, members.GaugePendingProposals: 0},
		Timers: map[results.Timer]members.Histogram{
			results.TimerWALFsync: {Count: 502, Seconds: 0.688, Cut: true}, results.TimerHandling: {Count: 1, Seconds: 0.012, Cut: true},
		},
	}
	if diff := cmp.Diff(want, sampleOf(readMetrics(string(text)), want.At)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
