package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// fewestClients is how many numbers of clients a suite must have to be drawn over them.
const fewestClients = 3

// series is one target of a suite with one workload: its cells differ only in their load.
type series struct {
	label string
	cells []suite.Cell
}

// seriesOf are the series of a suite; none if its loads do not differ in their clients. A second cell with as many clients is a
// series of its own.
func seriesOf(s *v1alpha1.EtcdBenchmarkSuite) (all []series) {
	clients := map[int32]bool{}
	for _, l := range s.Spec.Loads {
		clients[l.Load.Clients] = true
	}
	if s.Spec.Search != nil || len(clients) < fewestClients {
		return nil
	}
	for _, c := range suite.Cells(s) {
		names := []string{string(c.Target.Name)}
		if len(s.Spec.Workloads) > 1 {
			names = append(names, string(c.Workload.Name))
		}
		label := strings.Join(names, "/")
		has := func(of series) bool { return of.label == label }
		i := slices.IndexFunc(all, has)
		if i >= 0 && slices.ContainsFunc(all[i].cells, func(other suite.Cell) bool { return other.Load.Load.Clients == c.Load.Load.Clients }) {
			label += "/" + string(c.Load.Name)
			i = slices.IndexFunc(all, has)
		}
		if i < 0 {
			i, all = len(all), append(all, series{label: label})
		}
		all[i].cells = append(all[i].cells, c)
	}
	for _, of := range all {
		slices.SortFunc(of.cells, func(a, b suite.Cell) int { return cmp.Compare(a.Load.Load.Clients, b.Load.Load.Clients) })
	}
	return all
}

// runFigure is a number of a run that is drawn over how many clients it had.
type runFigure struct {
	id, title, description string
	unit                   plots.Unit
	of                     func(*v1alpha1.Summary) (float64, bool)
}

// runFigures are drawn in this order.
var runFigures = []runFigure{
	{"throughput", "Throughput", "Successful requests per second.", plots.PerSecond, throughputOf},
	{"p50", "Median latency", "That of the slowest operation.", plots.Microseconds, latencyOf(func(l *v1alpha1.LatencySummary) int64 { return l.P50Microseconds })},
	{"p99", "p99", "That of the slowest operation.", plots.Microseconds, latencyOf(func(l *v1alpha1.LatencySummary) int64 { return l.P99Microseconds })},
	{"failed", "Failed requests", "The share of requests that failed or had no answer. They rank above all latencies.", plots.Percent, failedShare},
	{"cpu", "Processors that the members used", "All members together, on average over the window.", plots.Count, ofMembers(millicores, 1e-3)},
	{"cpu-highest", "Highest use of processors", "The highest second of each member, added up.", plots.Count,
		ofMembers(func(m v1alpha1.MemberSummary) *int64 { return m.CPUHighestMillicores }, 1e-3)},
	{"cpu-request", "Processor time of the members per request", "All members together.", plots.Microseconds, each(ofMembers(millicores, 1e3))},
	{"disk", "Bytes written to storage per second", "All members together, as the kernel counts them.", plots.Bytes, inWindow(ofMembers(written, 1))},
	{"disk-request", "Bytes written to storage per request", "All members together, as the kernel counts them.", plots.Bytes, each(inWindow(ofMembers(written, 1)))},
	{"received", "Bytes that the members' pods received per second", "From clients and from other members.", plots.Bytes,
		inWindow(ofMembers(func(m v1alpha1.MemberSummary) *int64 { return m.PodReceivedBytes }, 1))},
	{"sent", "Bytes that the members' pods sent per second", "To clients and to other members.", plots.Bytes,
		inWindow(ofMembers(func(m v1alpha1.MemberSummary) *int64 { return m.PodSentBytes }, 1))},
	{"memory", "Highest resident memory of the members", "All members together. For etcd it includes mapped pages of the database, for a Java server the heap.", plots.Bytes,
		ofMembers(func(m v1alpha1.MemberSummary) *int64 { return m.MemoryBytes }, 1)},
	{"client", "Processors that clients used", "The share that the busiest client pod used of its processors. From 85 % on, the client is the limit.", plots.Percent, busiestClient},
}

func millicores(m v1alpha1.MemberSummary) *int64 { return m.CPUMillicores }

func written(m v1alpha1.MemberSummary) *int64 { return m.StorageWrittenBytes }

func throughputOf(s *v1alpha1.Summary) (float64, bool) {
	ok := float64(s.MeasuredRequests - s.FailedRequests - s.CensoredRequests)
	return 1e6 * ok / float64(max(s.DurationMicroseconds, 1)), ok > 0 && s.DurationMicroseconds > 0
}

func failedShare(s *v1alpha1.Summary) (float64, bool) {
	return 100 * float64(s.FailedRequests+s.CensoredRequests) / float64(max(s.MeasuredRequests, 1)), s.MeasuredRequests > 0
}

func busiestClient(s *v1alpha1.Summary) (float64, bool) {
	if s.Validity == nil || s.Validity.CPUPercent == nil {
		return 0, false
	}
	return float64(*s.Validity.CPUPercent), true
}

func latencyOf(value func(*v1alpha1.LatencySummary) int64) func(*v1alpha1.Summary) (float64, bool) {
	return func(s *v1alpha1.Summary) (slowest float64, known bool) {
		for _, o := range s.Operations {
			if o.Latency != nil && !o.Operation.IsEvent() {
				slowest, known = max(slowest, float64(value(o.Latency))), true
			}
		}
		return slowest, known
	}
}

// ofMembers adds up a figure of all members. It is not known if it is not known of one.
func ofMembers(figure func(v1alpha1.MemberSummary) *int64, scale float64) func(*v1alpha1.Summary) (float64, bool) {
	return func(s *v1alpha1.Summary) (sum float64, known bool) {
		for _, m := range s.Members {
			v := figure(m)
			if v == nil {
				return 0, false
			}
			sum += float64(*v) * scale
		}
		return sum, len(s.Members) > 0
	}
}

// inWindow divides what was counted in the window by its seconds.
func inWindow(of func(*v1alpha1.Summary) (float64, bool)) func(*v1alpha1.Summary) (float64, bool) {
	return func(s *v1alpha1.Summary) (float64, bool) {
		v, known := of(s)
		return 1e6 * v / float64(max(s.DurationMicroseconds, 1)), known && s.DurationMicroseconds > 0
	}
}

// each divides a rate by that of successful requests.
func each(of func(*v1alpha1.Summary) (float64, bool)) func(*v1alpha1.Summary) (float64, bool) {
	return func(s *v1alpha1.Summary) (float64, bool) {
		v, known := of(s)
		rate, some := throughputOf(s)
		return v / max(rate, 1e-9), known && some
	}
}

// ofPoints explains the points of clientPlots.
const ofPoints = "A point is the mean of the rounds; the line through it goes from the lowest round to the highest."

// clientPlots draw figures of a suite over how many clients its runs had.
func clientPlots(d *Document) (out []Plot) {
	all := seriesOf(d.Suite)
	if len(all) == 0 {
		return nil
	}
	for _, f := range runFigures {
		c := plots.Curves{About: plots.About{
			ID: "clients-" + f.id, Title: f.title + " over clients",
			Description: f.description,
		}, Unit: f.unit, Over: "clients"}
		rows := [][]string{{"series", "clients", "mean", "lowest", "highest", "rounds"}}
		anyOpen, anyValue := false, false
		for _, of := range all {
			line := plots.CurveLine{Label: of.label}
			for _, cell := range of.cells {
				values, open := d.valuesOf(cell.Name, f)
				if len(values) == 0 {
					continue
				}
				p := plots.CurvePoint{At: float64(cell.Load.Load.Clients), Value: stat.Mean(values, nil), Low: slices.Min(values), High: slices.Max(values), Open: open}
				line.Points = append(line.Points, p)
				rows = append(rows, []string{of.label, text.Grouped(cell.Load.Load.Clients), f.unit.Text(p.Value), f.unit.Text(p.Low), f.unit.Text(p.High), text.Grouped(len(values))})
				anyOpen, anyValue = anyOpen || open, anyValue || p.Value > 0
			}
			if len(line.Points) > 0 {
				c.Lines = append(c.Lines, line)
			}
		}
		if !anyValue {
			continue
		}
		if anyOpen {
			c.Description += " A ring: numbers of a round cannot be compared, for example because the client was its limit."
		}
		out = append(out, Plot{Picture: c, Rows: rows})
	}
	return out
}

// valuesOf are those of a figure in the rounds of a cell. open: the numbers of a round cannot be compared.
func (d *Document) valuesOf(cell string, f runFigure) (values []float64, open bool) {
	for round := int32(1); round <= lastRound(d.Suite); round++ {
		r, ran := suite.Counted(d.Suite.Status.Results, cell, round)
		if run := d.run(r.Name).Object; ran && run != nil && run.Status.Summary != nil {
			if v, known := f.of(run.Status.Summary); known {
				values, open = append(values, v), open || r.Invalid != ""
			}
		}
	}
	return values, open
}

// errorBlocks are the failed requests of a suite over clients, by message.
func errorBlocks(d *Document) []render.Block {
	rows := [][]string{{"CELL", "ERROR", "MESSAGE", "REQUESTS"}}
	for _, of := range seriesOf(d.Suite) {
		for _, cell := range of.cells {
			counts, messages := map[string]int64{}, map[string]string{}
			for round := int32(1); round <= lastRound(d.Suite); round++ {
				r, _ := suite.Counted(d.Suite.Status.Results, cell.Name, round)
				run := d.run(r.Name).Object
				if run == nil || run.Status.Summary == nil {
					continue
				}
				for _, o := range run.Status.Summary.Operations {
					for _, e := range o.Errors {
						counts[e.Code] += e.Count
						messages[e.Code] = cmp.Or(messages[e.Code], e.Example)
					}
				}
			}
			for _, code := range slices.Sorted(maps.Keys(counts)) {
				rows = append(rows, []string{cell.Name, code, messages[code], text.Grouped(counts[code])})
			}
		}
	}
	if len(rows) == 1 {
		return nil
	}
	return []render.Block{{Text: "Failed requests of all rounds, with the message of one of each kind:"}, {Rows: rows, Left: 3}}
}
