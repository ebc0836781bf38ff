package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// unknown replaces a figure that was not measured.
	unknown = "unknown"
	// thin replaces a percentile with too few requests above it.
	thin = "–"
	// none replaces the mean of no events.
	none = "none"
)

// performance prints the columns of etcd's performance page. Events have no row, because they are not requests.
func (t *table) performance() {
	g := grid{left: 1}
	g.add(t.performanceHeader()...)
	for _, op := range t.b.Status.Summary.Operations {
		if !op.Operation.IsEvent() {
			g.add(t.performanceRow(op)...)
		}
	}
	t.section(g)
}

// performanceHeader follows etcd's page. Writes have a column TARGET, and count keys if each request writes its own
// key. Reads have a column CONSISTENCY.
func (t *table) performanceHeader() []string {
	words := t.run.Words()
	done := words.Done
	if words.Written != "" && t.b.Status.Summary.MeasuredRequests <= t.run.Keys().Count {
		done = words.Written
	}
	header := []string{"", done, "CONNECTIONS", "CLIENTS"}
	switch {
	case words.Targets:
		header = append(header, "TARGET")
	case t.reads():
		header = append(header, "CONSISTENCY")
	}
	header = append(header, words.Rate, "AVG LATENCY")
	if t.hasMembers() {
		header = append(header, "AVG SERVER RSS")
	}
	return header
}

// hasMembers is false for a target without members.
func (t *table) hasMembers() bool { return t.b.Spec.Target.Disk == nil }

// reads reports whether the requests read with a selectable consistency.
func (t *table) reads() bool { return slices.Contains(t.run.Operations(), spec.OperationRange) }

func (t *table) performanceRow(op v1alpha1.OperationSummary) []string {
	words, load := t.run.Words(), t.run.Load
	done := op.Succeeded
	if !words.Succeeded {
		done += op.Failed + op.Censored
	}
	row := []string{
		string(op.Operation),
		text.Grouped(done),
		text.Grouped(load.Connections),
		text.Grouped(load.Clients),
	}
	switch {
	case words.Targets:
		row = append(row, loadedText(t.b))
	case t.reads() && op.Operation == spec.OperationRange:
		row = append(row, string(t.run.Consistency()))
	case t.reads():
		row = append(row, "")
	}
	row = append(row, text.RateIn(op.ThroughputPerSecond).Digits(), averageLatency(op))
	if t.hasMembers() {
		row = append(row, averageRSS(t.b.Status.Target))
	}
	return row
}

func averageLatency(op v1alpha1.OperationSummary) string {
	if op.Latency == nil {
		return unknown
	}
	return Statistic(op.Latency, spec.StatisticMean)
}

// averageRSS is the mean of the members whose memory is known.
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
	return text.Megabytes(sum / n)
}

type shownStatistic struct {
	name      string
	statistic spec.Statistic
}

// shownStatistics are the columns of the table of latencies, in order.
var shownStatistics = []shownStatistic{
	{"P50", spec.StatisticP50},
	{"P90", spec.StatisticP90},
	{"P95", spec.StatisticP95},
	{"P99", spec.StatisticP99},
	{"P99.9", spec.StatisticP999},
	{"MAX", spec.StatisticMax},
}

// latencyGrid has the header of a table of latencies.
func latencyGrid() grid {
	header := []string{"", "MIN"}
	for _, s := range shownStatistics {
		header = append(header, s.name)
	}
	g := grid{left: 1}
	g.add(append(header, "STDDEV")...)
	return g
}

func (t *table) latencies() {
	g := latencyGrid()
	for _, op := range t.b.Status.Summary.Operations {
		g.addLatency(string(op.Operation)+" latency", op.Latency)
		if !t.isServiceTime(op) {
			g.addLatency(string(op.Operation)+" service time", op.ServiceTime)
		}
		g.addLatency(string(op.Operation)+" wait for a client", op.BacklogWait)
		if t.run.Load.Rate != nil || op.Operation.IsTask() {
			g.addLatency(string(op.Operation)+" lateness", op.Lateness)
		}
	}
	if len(g.rows) == 1 {
		return
	}
	t.section(g)
	t.sentence("  ", t.latencyLegend())
}

// isServiceTime reports whether latency is the service time. In a closed loop, a request is due when it is sent, but for what
// the load generator took.
func (t *table) isServiceTime(op v1alpha1.OperationSummary) bool {
	const alike = 1.02
	if t.run.Load.Rate != nil || op.Latency == nil || op.ServiceTime == nil {
		return false
	}
	return !slices.ContainsFunc(shownStatistics, func(s shownStatistic) bool {
		return float64(op.Latency.Micros(s.statistic)) > alike*float64(op.ServiceTime.Micros(s.statistic))
	})
}

// latencyLegend explains the rows and marks of the table of latencies.
func (t *table) latencyLegend() string {
	waited, all := false, []*v1alpha1.LatencySummary{}
	for _, op := range t.b.Status.Summary.Operations {
		waited = waited || op.BacklogWait != nil
		all = append(all, op.Latency, op.ServiceTime, op.BacklogWait, op.Lateness)
	}
	legend := "latency: from when a request was due until its response. service time: from when it was sent until its response."
	if !slices.ContainsFunc(t.b.Status.Summary.Operations, func(op v1alpha1.OperationSummary) bool { return op.ServiceTime != nil && !t.isServiceTime(op) }) {
		legend = "latency: from when a request was sent until its response."
	}
	if waited {
		legend += " wait for a client: the time for which all clients were busy, after the request should have been sent."
	}
	if t.run.Load.Rate != nil || t.run.Burst() != nil {
		legend += " lateness: the load generator's own delay before it sent a request."
	}
	return strings.TrimSpace(legend + " " + marksLegend(all))
}

// marksLegend explains the marks of statistics that some of the latencies have.
func marksLegend(all []*v1alpha1.LatencySummary) string {
	var legend []string
	if slices.ContainsFunc(all, func(l *v1alpha1.LatencySummary) bool { return l != nil && len(l.Thin) > 0 }) {
		legend = append(legend, "–: fewer than ten requests took longer, too few for this percentile.")
	}
	if slices.ContainsFunc(all, func(l *v1alpha1.LatencySummary) bool { return l != nil && len(l.AtLeast) > 0 }) {
		legend = append(legend, "≥: at least, because some requests were unanswered when the run ended.")
	}
	return strings.Join(legend, " ")
}

func (g *grid) addLatency(name string, l *v1alpha1.LatencySummary) {
	if l == nil {
		return
	}
	row := []string{name, text.Micros(l.MinMicroseconds)}
	for _, s := range shownStatistics {
		row = append(row, Statistic(l, s.statistic))
	}
	g.add(append(row, text.Micros(l.StddevMicroseconds))...)
}

// carriers is the number of connections that carry only watchers, if there are any.
func (t *table) carriers() string {
	if n := t.run.Carriers(); n > 0 {
		return fmt.Sprintf(" and %s for watchers", text.Grouped(n))
	}
	return ""
}

// requests prints the number of all requests, to compare with the server's own counters.
func (t *table) requests() {
	counts := t.b.Status.RequestCounts
	if s := t.b.Status.Summary; s != nil {
		counts = s.RequestCounts
	}
	if len(counts) == 0 {
		return
	}
	g, measured := grid{left: 1}, int64(0)
	g.add("REQUESTS SENT", "PRELOAD", "WARM-UP", "MEASURED", "CONTROL", "TOTAL")
	for _, c := range counts {
		measured += c.Measured
		g.add(c.RPC, text.Grouped(c.Preload), text.Grouped(c.Warmup), text.Grouped(c.Measured), text.Grouped(c.Control),
			text.Grouped(c.Preload+c.Warmup+c.Measured+c.Control))
	}
	t.section(g)
	t.sentence("  ", "PRELOAD: keys written before the load. CONTROL: checks, the lock, and deleting the run's keys.")
	if s := t.b.Status.Summary; s != nil && s.RequestBytes > 0 && measured > 0 {
		t.sentence("  ", fmt.Sprintf("Bodies of MEASURED: %s bytes sent and %s received, on average %s and %s per request.",
			text.Grouped(s.RequestBytes), text.Grouped(s.ResponseBytes), text.Grouped(s.RequestBytes/measured), text.Grouped(s.ResponseBytes/measured)))
	}
}

// watch prints the counts of watchers and events, if the run had any.
func (t *table) watch() {
	w := t.b.Status.Summary.Watch
	if w == nil {
		return
	}
	g := grid{left: 0}
	g.add("WATCHERS", "EXPECTED EVENTS", "MISSED", "DUPLICATE", "CANCELLED", "RESUMED", "REPLAYS")
	g.add(text.Grouped(w.Watchers), text.Grouped(w.ExpectedEvents), text.Grouped(w.MissedEvents), text.Grouped(w.DuplicateEvents),
		text.Grouped(w.CancelledWatchers), text.Grouped(w.ResumedWatchers), text.Grouped(w.Replays))
	t.section(g)
}

// disturbances prints the disturbances of the run, such as compactions.
func (t *table) disturbances() {
	all := t.b.Status.Summary.Disturbances
	if len(all) == 0 {
		return
	}
	g := grid{left: 1}
	g.add("DISTURBANCE", "COUNT", "FAILED", "LEFT OUT", "MEAN", "LONGEST")
	for _, d := range all {
		mean, longest := none, none
		if d.Count > 0 {
			mean, longest = text.Micros(d.MeanMicroseconds), text.Micros(d.MaxMicroseconds)
		}
		g.add(string(d.Type), text.Grouped(d.Count), text.Grouped(d.Failed), text.Grouped(d.LeftOut), mean, longest)
	}
	t.section(g)
	for _, d := range all {
		if d.Problem != "" {
			t.sentence("  "+string(d.Type)+": ", d.Problem)
		}
	}
}

// Statistic writes one number of l, with "≥" before it if unanswered requests make it a lower bound. Without an error
// bound, percentiles are unknown.
func Statistic(l *v1alpha1.LatencySummary, s spec.Statistic) string {
	if l.ErrorBoundPerMillion == 0 && s != spec.StatisticMean && s != spec.StatisticMax {
		return unknown
	}
	if slices.Contains(l.Thin, s) {
		return thin
	}
	return orMore(text.Micros(l.Micros(s)), l.AtLeast, s)
}

// orMore marks a statistic that is a lower bound.
func orMore(shown string, atLeast []spec.Statistic, s spec.Statistic) string {
	if slices.Contains(atLeast, s) {
		return "≥" + shown
	}
	return shown
}
