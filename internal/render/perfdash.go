package render

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// perfdashVersion is the version of the format that Kubernetes's perfdash reads.
const perfdashVersion = "v1"

// perfdashResult is the input of perfdash. Items with the same labels form one graph over the runs of a job.
type perfdashResult struct {
	Version   string         `json:"version"`
	DataItems []perfdashItem `json:"dataItems"`
}

type perfdashItem struct {
	Data   map[string]float64 `json:"data"`
	Labels map[string]string  `json:"labels"`
	Unit   string             `json:"unit"`
}

// perfdashPercentiles are the percentiles that perfdash supports.
var perfdashPercentiles = []struct {
	name      string
	statistic spec.Statistic
}{
	{"Perc50", spec.StatisticP50},
	{"Perc90", spec.StatisticP90},
	{"Perc99", spec.StatisticP99},
}

// Perfdash returns the latency, in milliseconds, and the throughput of each kind of request of b, in the format of
// Kubernetes's perfdash and with the labels of etcd's own benchmark, and then the figures of each member under the names that
// clusterloader2's test of etcd gives them. Events have only latencies. Results that cannot be compared with others have
// extra labels, which put them into their own graph: see perfdashLabels. A run without a summary has no items.
func Perfdash(b *v1alpha1.EtcdBenchmark) ([]byte, error) {
	r := perfdashResult{Version: perfdashVersion, DataItems: []perfdashItem{}}
	if s := b.Status.Summary; s != nil {
		for _, op := range s.Operations {
			if l := op.Latency; l != nil && l.ErrorBoundPerMillion > 0 {
				r.DataItems = append(r.DataItems, perfdashLatency(l, perfdashLabels(b, op)))
			}
			if !op.Operation.IsEvent() {
				r.DataItems = append(r.DataItems, perfdashThroughput(op, perfdashLabels(b, op)))
			}
		}
		for i, m := range s.Members {
			r.DataItems = append(r.DataItems, perfdashMember(b, i, m)...)
		}
	}
	data, err := json.MarshalIndent(r, "", "  ")
	return append(data, '\n'), err
}

// PerfdashSuite returns the means of each cell's rounds, with the cell as a label: latency, throughput, and the resident memory
// of a member. A cell whose numbers cannot be compared has the label Invalid. If the run of its last round is among runs, the
// figures of that run's members follow.
func PerfdashSuite(s *v1alpha1.EtcdBenchmarkSuite, runs []*v1alpha1.EtcdBenchmark) ([]byte, error) {
	r := perfdashResult{Version: perfdashVersion, DataItems: []perfdashItem{}}
	for _, c := range suite.Cells(s) {
		results := cellResults(s, c.Name)
		add := func(operation, metric, unit string, data map[string]float64) {
			labels := map[string]string{"Cell": c.Name}
			for name, value := range map[string]string{"Operation": operation, "Metric": metric, "Invalid": strings.TrimSpace(caveat(s, c.Name))} {
				if value != "" {
					labels[name] = value
				}
			}
			r.DataItems = append(r.DataItems, perfdashItem{Data: data, Labels: labels, Unit: unit})
		}
		run := suite.Planned{Cell: c}.Run(s)
		for _, op := range meanSummary(results).Operations {
			name := perfdashName(run, op.Operation)
			latency := map[string]float64{}
			for _, p := range perfdashPercentiles {
				if all := latencies(results, op.Operation, func(o v1alpha1.SuiteOperation) int64 { return suite.Micros(o, p.statistic) }); len(all) > 0 {
					latency[p.name] = stat.Mean(all, nil) / 1000
				}
			}
			if len(latency) > 0 {
				add(name, "", "ms", latency)
			}
			if !op.Operation.IsEvent() {
				add(name, "Throughput", "1/s", map[string]float64{"Average": op.ThroughputPerSecond.Float64()})
			}
		}
		if memory, known := meanMemoryBytes(results); known {
			add("", "Memory", "MB", map[string]float64{"Average": memory / 1e6})
		}
		r.DataItems = append(r.DataItems, perfdashMembersOf(c.Name, results, runs)...)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	return append(data, '\n'), err
}

// perfdashMembersOf are the figures of the members in the last of some results whose run is known.
func perfdashMembersOf(cell string, results []v1alpha1.SuiteResult, runs []*v1alpha1.EtcdBenchmark) (items []perfdashItem) {
	for _, r := range slices.Backward(results) {
		i := slices.IndexFunc(runs, func(b *v1alpha1.EtcdBenchmark) bool { return b != nil && b.Name == r.Name && b.Status.Summary != nil })
		if i < 0 {
			continue
		}
		for number, m := range runs[i].Status.Summary.Members {
			items = append(items, perfdashMember(runs[i], number, m)...)
		}
		for _, item := range items {
			item.Labels["Cell"] = cell
		}
		return items
	}
	return nil
}

// perfdashLabels name the operation and all reasons why the result cannot be compared with other runs: a partial
// result, a client that was the limit, failed requests (which no latency includes), another transport or another
// datastore.
func perfdashLabels(b *v1alpha1.EtcdBenchmark, op v1alpha1.OperationSummary) map[string]string {
	labels := perfdashRunLabels(b)
	labels["Operation"] = perfdashName(b, op.Operation)
	if failuresReachP99(op) {
		labels["Failed"] = "true"
	}
	return labels
}

// perfdashRunLabels are the reasons that hold for the whole run.
func perfdashRunLabels(b *v1alpha1.EtcdBenchmark) map[string]string {
	s, labels := b.Status.Summary, map[string]string{}
	mark := func(name string, isSo bool) {
		if isSo {
			labels[name] = "true"
		}
	}
	mark("Partial", s.Partial)
	mark("ClientBound", s.Validity != nil && s.Validity.Verdict == v1alpha1.ValidityClientBound)
	if s.Transport != spec.TransportClient {
		labels["Transport"] = string(s.Transport)
	}
	if store := b.Spec.Target.Datastore; store != spec.DefaultDatastore {
		labels["Datastore"] = string(store)
	}
	return labels
}

// perfdashMember are the figures of a member that are known. Members are numbered, because their names can change from run to
// run.
func perfdashMember(b *v1alpha1.EtcdBenchmark, number int, m v1alpha1.MemberSummary) (items []perfdashItem) {
	add := func(metric, unit string, data map[string]float64) {
		labels := perfdashRunLabels(b)
		labels["Metric"], labels["Member"] = metric, strconv.Itoa(number)
		items = append(items, perfdashItem{Data: data, Labels: labels, Unit: unit})
	}
	for _, timer := range []struct {
		metric string
		of     *v1alpha1.MemberDuration
	}{{"EtcdWalFsyncDuration", m.WALFsync}, {"EtcdBackendCommitDuration", m.BackendCommit}} {
		if timer.of == nil || len(timer.of.EstimatesMicroseconds) < len(perfdashPercentiles) {
			continue
		}
		data := map[string]float64{}
		for i, p := range perfdashPercentiles {
			data[p.name] = float64(timer.of.EstimatesMicroseconds[i]) / 1e6
		}
		add(timer.metric, "s", data)
	}
	if m.BackendCommit != nil && m.SampledMicroseconds > 0 {
		add("EtcdWriteThroughput", "ops/s", map[string]float64{"BackendCommitRate": float64(m.BackendCommit.Count) / float64(m.SampledMicroseconds) * 1e6})
	}
	if m.MemoryBytes != nil {
		add("EtcdMemory", "MiB", map[string]float64{"Max": float64(*m.MemoryBytes) / (1 << 20)})
	}
	return items
}

// failuresReachP99 reports whether the p99 would be that of a failed request, if failed requests ranked above all
// latencies.
func failuresReachP99(op v1alpha1.OperationSummary) bool {
	return op.Failed > (op.Succeeded+op.Failed+op.Censored)/100
}

func perfdashLatency(l *v1alpha1.LatencySummary, labels map[string]string) perfdashItem {
	item := perfdashItem{Data: map[string]float64{}, Labels: labels, Unit: "ms"}
	var atLeast []string
	for _, p := range perfdashPercentiles {
		item.Data[p.name] = float64(l.Micros(p.statistic)) / 1000
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
	return perfdashItem{Data: map[string]float64{"Average": op.ThroughputPerSecond.Float64()}, Labels: labels, Unit: "1/s"}
}

// perfdashName is the name of the operation in etcd's own benchmark, if that measures the same. Otherwise the name
// begins with the workload, so that the same operation of two workloads has two graphs.
func perfdashName(b *v1alpha1.EtcdBenchmark, operation spec.Operation) string {
	run := benchmark.Run(b)
	if name := run.Words().Names[operation]; name != "" {
		return name
	}
	name, kind := strings.ToUpper(string(operation)), strings.ToUpper(string(run.Workload.Type))
	if strings.HasPrefix(name, kind) {
		return name
	}
	return kind + "-" + name
}
