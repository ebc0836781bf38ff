package benchmark

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// unknown stands where a figure could not be had.
	unknown = "unknown"
	// none stands where there was nothing to be told of.
	none = "none"
)

// performance prints the columns of etcd's performance page. Events are no
// requests, and have no row.
func (t *table) performance() {
	g := grid{left: 1}
	g.add(t.performanceHeader()...)
	for _, op := range t.b.Status.Summary.Operations {
		if !results.Operation(op.Operation).IsEvent() {
			g.add(t.performanceRow(op)...)
		}
	}
	t.section(g)
}

// performanceHeader follows etcd's page: writes count keys, if each request
// writes one of its own, and name their target; reads name their consistency.
func (t *table) performanceHeader() []string {
	w := t.b.Resolved().Workload
	switch {
	case w.Put != nil:
		written := "KEYS WRITTEN"
		if t.b.Status.Summary.MeasuredRequests > w.Put.Keys.Count || w.Put.Keys.Order != v1alpha1.KeyOrderSequential {
			written = "PUTS"
		}
		return []string{"", written, "CONNECTIONS", "CLIENTS", "TARGET", "WRITE QPS", "AVG LATENCY", "AVG SERVER RSS"}
	case w.Delete != nil:
		return []string{"", "KEYS DELETED", "CONNECTIONS", "CLIENTS", "TARGET", "WRITE QPS", "AVG LATENCY", "AVG SERVER RSS"}
	case w.Range != nil:
		return []string{"", "REQUESTS", "CONNECTIONS", "CLIENTS", "CONSISTENCY", "READ QPS", "AVG LATENCY", "AVG SERVER RSS"}
	case t.choosesConsistency():
		return []string{"", "REQUESTS", "CONNECTIONS", "CLIENTS", "CONSISTENCY", "QPS", "AVG LATENCY", "AVG SERVER RSS"}
	default:
		return []string{"", "REQUESTS", "CONNECTIONS", "CLIENTS", "QPS", "AVG LATENCY", "AVG SERVER RSS"}
	}
}

// choosesConsistency says whether there is a consistency to be told of a request.
func (t *table) choosesConsistency() bool {
	w := t.b.Resolved().Workload
	return slices.ContainsFunc(t.b.Status.Summary.Operations, func(op v1alpha1.OperationSummary) bool {
		return consistencyText(w, op.Operation) != ""
	})
}

func (t *table) performanceRow(op v1alpha1.OperationSummary) []string {
	w, load := t.b.Resolved().Workload, t.b.Resolved().Load
	done := op.Succeeded + op.Failed + op.Censored
	if w.Put != nil {
		done = op.Succeeded
	}
	row := []string{
		string(op.Operation),
		results.Grouped(done),
		results.Grouped(int64(load.Connections)),
		results.Grouped(int64(load.Clients)),
	}
	switch {
	case w.Put != nil || w.Delete != nil:
		row = append(row, membersText(t.b.Spec.Target.Members))
	case t.choosesConsistency():
		row = append(row, consistencyText(w, op.Operation))
	}
	return append(row, rateIn(op.ThroughputPerSecond, op.ThroughputPerMillionSeconds).digits(), averageLatency(op), averageRSS(t.b.Status.Target))
}

func averageLatency(op v1alpha1.OperationSummary) string {
	if op.Latency == nil {
		return unknown
	}
	return statistic(op.Latency, v1alpha1.StatisticMean)
}

// averageRSS is the mean over the members whose memory could be read.
func averageRSS(target *v1alpha1.TargetStatus) string {
	if target == nil {
		return unknown
	}
	sum, n := int64(0), int64(0)
	for _, m := range target.Members {
		if m.ResidentMemoryBytes != nil {
			sum, n = sum+*m.ResidentMemoryBytes, n+1
		}
	}
	if n == 0 {
		return unknown
	}
	return Megabytes(sum / n)
}

// shownStatistics are the columns of the table of latencies, in order.
var shownStatistics = []struct {
	name      string
	statistic v1alpha1.LatencyStatistic
}{
	{"P50", v1alpha1.StatisticP50},
	{"P90", v1alpha1.StatisticP90},
	{"P95", v1alpha1.StatisticP95},
	{"P99", v1alpha1.StatisticP99},
	{"P99.9", v1alpha1.StatisticP999},
	{"MAX", v1alpha1.StatisticMax},
}

func (t *table) latencies() {
	g := grid{left: 1}
	header := []string{"", "MIN"}
	for _, s := range shownStatistics {
		header = append(header, s.name)
	}
	g.add(append(header, "STDDEV")...)
	for _, op := range t.b.Status.Summary.Operations {
		g.addLatency(string(op.Operation)+" latency", op.Latency)
		g.addLatency(string(op.Operation)+" service time", op.ServiceTime)
		g.addLatency(string(op.Operation)+" lateness", op.Lateness)
	}
	t.section(g)
}

func (g *grid) addLatency(name string, l *v1alpha1.LatencySummary) {
	if l == nil {
		return
	}
	row := []string{name, Micros(l.MinMicroseconds)}
	for _, s := range shownStatistics {
		row = append(row, statistic(l, s.statistic))
	}
	g.add(append(row, Micros(l.StddevMicroseconds))...)
}

// course draws how the rate and the longest latency went over the window.
func (t *table) course(timeline *Timeline) {
	if timeline == nil {
		return
	}
	c := courseOf(timeline, time.Duration(t.b.Status.Summary.DurationMicroseconds)*time.Microsecond)
	if len(c.rates) == 0 {
		return
	}
	g := grid{left: 2}
	each := "each " + strconv.FormatFloat(c.intervalSeconds, 'g', 3, 64) + "s"
	g.add("OVER TIME", each, "LOWEST", "HIGHEST")
	g.addCourse("throughput", c.rates, rateText)
	if slices.Max(c.failures) > 0 {
		g.addCourse("failures", c.failures, rateText)
	}
	g.addCourse("longest latency", c.longest, microsText)
	interval := time.Duration(c.intervalSeconds * float64(time.Second))
	for _, d := range t.b.Status.Summary.Disturbances {
		if row := markRow(d, interval, len(c.rates)); row != "" {
			g.add(strings.ToLower(string(d.Type)), row)
		}
	}
	t.section(g)
}

// addCourse draws values that are not all unknown.
func (g *grid) addCourse(name string, values []float64, text func(float64) string) {
	known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(known) == 0 {
		return
	}
	lowest, highest := slices.Min(known), slices.Max(known)
	g.add(name, bars(values, highest), text(lowest), text(highest))
}

func rateText(perSecond float64) string { return rateOf(perSecond).String() }

func microsText(us float64) string { return Micros(int64(us)) }

// requests accounts for everything that was sent, so that it can be compared
// with the server's own counters.
func (t *table) requests() {
	counts := t.b.Status.RequestCounts
	if s := t.b.Status.Summary; s != nil {
		counts = s.RequestCounts
	}
	if len(counts) == 0 {
		return
	}
	g := grid{left: 1}
	g.add("REQUESTS SENT", "PRELOAD", "WARM-UP", "MEASURED", "CONTROL", "TOTAL")
	for _, c := range counts {
		g.add(c.RPC, results.Grouped(c.Preload), results.Grouped(c.Warmup), results.Grouped(c.Measured), results.Grouped(c.Control),
			results.Grouped(c.Preload+c.Warmup+c.Measured+c.Control))
	}
	t.section(g)
}
