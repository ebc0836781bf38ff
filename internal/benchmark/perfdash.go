package benchmark

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// perfdashVersion is that of the format which Kubernetes's perfdash reads.
const perfdashVersion = "v1"

// perfdashResult is what perfdash reads: numbers, of which those with the same
// labels make one graph over the runs of a job.
type perfdashResult struct {
	Version   string         `json:"version"`
	DataItems []perfdashItem `json:"dataItems"`
}

type perfdashItem struct {
	Data   map[string]float64 `json:"data"`
	Labels map[string]string  `json:"labels"`
	Unit   string             `json:"unit"`
}

// perfdashPercentiles are those that perfdash knows.
var perfdashPercentiles = []struct {
	name      string
	statistic v1alpha1.LatencyStatistic
}{
	{"Perc50", v1alpha1.StatisticP50},
	{"Perc90", v1alpha1.StatisticP90},
	{"Perc99", v1alpha1.StatisticP99},
}

// Perfdash returns the latency, in milliseconds, and the throughput of each kind
// of request of b in the form that Kubernetes's perfdash reads, labelled as
// etcd's own benchmark does. Events have latencies alone: their rate is none of
// requests. A result that is not whole has a label of its own,
// so that no graph takes it for one that is; so has a latency of which some
// percentile is only a lower bound. A run without numbers has no items.
func Perfdash(b *v1alpha1.EtcdBenchmark) ([]byte, error) {
	r := perfdashResult{Version: perfdashVersion, DataItems: []perfdashItem{}}
	if s := b.Status.Summary; s != nil {
		for _, op := range s.Operations {
			if l := op.Latency; l != nil && l.ErrorBoundPartsPerMillion > 0 {
				r.DataItems = append(r.DataItems, perfdashLatency(l, perfdashLabels(op, s.Partial)))
			}
			if !results.Operation(op.Operation).IsEvent() {
				r.DataItems = append(r.DataItems, perfdashThroughput(op, perfdashLabels(op, s.Partial)))
			}
		}
	}
	data, err := json.MarshalIndent(r, "", "  ")
	return append(data, '\n'), err
}

// perfdashNames are the names of etcd's own benchmark for what it measures, too,
// where they are not those of the operations in capitals.
var perfdashNames = map[v1alpha1.Operation]string{
	v1alpha1.OperationTxn:            "TXN-PUT",
	v1alpha1.OperationLeaseKeepAlive: "LEASE-KEEPALIVE",
}

func perfdashLabels(op v1alpha1.OperationSummary, partial bool) map[string]string {
	name := strings.ToUpper(string(op.Operation))
	if etcds := perfdashNames[op.Operation]; etcds != "" {
		name = etcds
	}
	labels := map[string]string{"Operation": name}
	if partial {
		labels["Partial"] = "true"
	}
	return labels
}

func perfdashLatency(l *v1alpha1.LatencySummary, labels map[string]string) perfdashItem {
	item := perfdashItem{Data: map[string]float64{}, Labels: labels, Unit: "ms"}
	var atLeast []string
	for _, p := range perfdashPercentiles {
		item.Data[p.name] = float64(microseconds(l, p.statistic)) / 1000
		if slices.Contains(l.AtLeast, p.statistic) {
			atLeast = append(atLeast, p.name)
		}
	}
	if len(atLeast) > 0 {
		labels["AtLeast"] = strings.Join(atLeast, ",")
	}
	return item
}

func perfdashThroughput(op v1alpha1.OperationSummary, labels map[string]string) perfdashItem {
	labels["Metric"] = "Throughput"
	return perfdashItem{Data: map[string]float64{"Average": rateIn(op.ThroughputPerSecond, op.ThroughputPerMillionSeconds).perSecond()}, Labels: labels, Unit: "1/s"}
}
