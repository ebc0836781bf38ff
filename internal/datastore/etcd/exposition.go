package etcd

import (
	"bytes"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	metricServerID = "etcd_server_id"
	// These replace a part of a member's status that the user may not read.
	metricDatabase  = "etcd_mvcc_db_total_size_in_bytes"
	metricQuota     = "etcd_server_quota_backend_bytes"
	metricIsLeader  = "etcd_server_is_leader"
	metricHasLeader = "etcd_server_has_leader"
)

// counters are etcd's own, from 3.4 on. etcd declares some of them as gauges.
var counters = map[string]results.Figure{
	"etcd_server_leader_changes_seen_total":         results.FigureLeaderChanges,
	"etcd_server_slow_apply_total":                  results.FigureSlowApplies,
	"etcd_server_slow_read_indexes_total":           results.FigureSlowReadIndexes,
	"etcd_server_proposals_failed_total":            results.FigureFailedProposals,
	"etcd_server_proposals_applied_total":           results.FigureAppliedProposals,
	"process_cpu_seconds_total":                     results.FigureCPUSeconds,
	"etcd_network_client_grpc_received_bytes_total": results.FigureClientReceivedBytes,
	"etcd_network_client_grpc_sent_bytes_total":     results.FigureClientSentBytes,
	"etcd_network_peer_received_bytes_total":        results.FigurePeerReceivedBytes,
	"etcd_network_peer_sent_bytes_total":            results.FigurePeerSentBytes,
}

var gauges = map[string]members.Gauge{
	"process_start_time_seconds":    members.GaugeStart,
	"process_resident_memory_bytes": members.GaugeMemoryBytes,
	metricDatabase:                  members.GaugeDatabaseBytes,
	"go_sched_gomaxprocs_threads":   members.GaugeProcessors,
	"etcd_server_proposals_pending": members.GaugePendingProposals,
}

var histograms = map[string]results.Timer{
	"etcd_disk_wal_fsync_duration_seconds":      results.TimerWALFsync,
	"etcd_disk_backend_commit_duration_seconds": results.TimerBackendCommit,
	"etcd_network_peer_round_trip_time_seconds": results.TimerPeerRoundTrip,
	"etcd_server_apply_duration_seconds":        results.TimerApply,
	"grpc_server_handling_seconds":              results.TimerHandling,
	"etcd_disk_backend_defrag_duration_seconds": results.TimerDefragment,
	metricCompaction:                            results.TimerCompact,
}

// metricCompaction is the only wanted metric in milliseconds.
const metricCompaction = "etcd_debugging_mvcc_db_compaction_total_duration_milliseconds"

// writeMethods are the RPCs that TimerHandling includes.
var writeMethods = map[string]bool{"Put": true, "DeleteRange": true, "Txn": true, "LeaseGrant": true, "LeaseRevoke": true}

// isCounted reports whether a metric of a family belongs to its figure. Only gRPC's metrics have methods.
func isCounted(m *dto.Metric) bool {
	for _, l := range m.GetLabel() {
		if l.GetName() == "grpc_method" {
			return writeMethods[l.GetValue()]
		}
	}
	return true
}

// wantedMetrics are the metrics that are read of each member.
var wantedMetrics = func() map[string]bool {
	wanted := map[string]bool{metricServerID: true, metricQuota: true, metricIsLeader: true, metricHasLeader: true}
	for _, names := range []iter.Seq[string]{maps.Keys(counters), maps.Keys(gauges), maps.Keys(histograms)} {
		for name := range names {
			wanted[name] = true
		}
	}
	return wanted
}()

// exposition has the wanted metrics of one member by name.
type exposition map[string]*dto.MetricFamily

// parseExposition reads Prometheus's text format. It parses only a tenth of a member's 1,800 lines, because the client
// pod is busy measuring.
func parseExposition(text []byte) (exposition, error) {
	var kept bytes.Buffer
	for line := range bytes.Lines(text) {
		if wantedMetrics[metricOf(line)] {
			kept.Write(line)
		}
	}
	if last := kept.Bytes(); len(last) > 0 && last[len(last)-1] != '\n' {
		kept.WriteByte('\n')
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(&kept)
}

// metricOf returns the name of the metric family of a line.
func metricOf(line []byte) string {
	text, isType := bytes.CutPrefix(line, []byte("# TYPE "))
	if !isType && line[0] == '#' {
		return ""
	}
	name := string(text)
	if end := strings.IndexAny(name, "{ \n"); end >= 0 {
		name = name[:end]
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if family, cut := strings.CutSuffix(name, suffix); cut && wantedMetrics[family] {
			return family
		}
	}
	return name
}

func (e exposition) sample(at time.Time) members.Sample {
	s := members.Sample{
		At: at, Counters: map[results.Figure]float64{}, Gauges: map[members.Gauge]float64{}, Timers: map[results.Timer]members.Histogram{},
	}
	for name, figure := range counters {
		if v, ok := e.sum(name); ok {
			s.Counters[figure] = v
		}
	}
	for name, gauge := range gauges {
		if v, ok := e.sum(name); ok {
			s.Gauges[gauge] = v
		}
	}
	for name, timer := range histograms {
		if h, ok := e.histogram(name); ok {
			s.Timers[timer] = h
		}
	}
	return s
}

// sum adds up a family over its labels, for example the bytes over all peers.
func (e exposition) sum(name string) (sum float64, ok bool) {
	for _, m := range e[name].GetMetric() {
		sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
	}
	return sum, len(e[name].GetMetric()) > 0
}

// histogram adds up a family over its labels, in seconds.
func (e exposition) histogram(name string) (members.Histogram, bool) {
	out := members.Histogram{}
	buckets, unit := map[float64]float64{}, 1.0
	if name == metricCompaction {
		unit = 1e-3
	}
	for _, m := range e[name].GetMetric() {
		if !isCounted(m) {
			continue
		}
		h := m.GetHistogram()
		out.Count += float64(h.GetSampleCount())
		out.Seconds += h.GetSampleSum() * unit
		for _, b := range h.GetBucket() {
			if !math.IsNaN(b.GetUpperBound()) {
				buckets[b.GetUpperBound()*unit] += float64(b.GetCumulativeCount())
			}
		}
	}
	for _, bound := range slices.Sorted(maps.Keys(buckets)) {
		out.Buckets = append(out.Buckets, members.Bucket{AtMostSeconds: bound, Count: buckets[bound]})
	}
	return out, len(e[name].GetMetric()) > 0
}
