package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
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
	of                     func(Run) (float64, bool)
}

// runFigures are drawn in this order.
var runFigures = []runFigure{
	{"throughput", "Throughput", "Successful requests per second.", plots.PerSecond, throughputOf},
	{"p50", "Median latency", "That of the slowest operation. Failed requests rank above all answered ones.", plots.Microseconds, latencyOf(spec.StatisticP50)},
	{"p99", "p99", "That of the slowest operation. Failed requests rank above all answered ones.", plots.Microseconds, latencyOf(spec.StatisticP99)},
	{"failed", "Failed requests", "The share of requests that failed or had no answer.", plots.Percent, failedShare},
	{"cpu", "Processors that the members used", "All members together, on average over the window.", plots.Count, ofMembers(millicores, 1e-3)},
	{"cpu-highest", "Highest use of processors", "The highest second of each member, added up.", plots.Count,
		ofMembers(func(m v1alpha1.MemberSummary) *int64 { return m.CPUHighestMillicores }, 1e-3)},
	{"cpu-request", "Processor time of the members per request", "All members together. Members that have just started use more.", plots.Microseconds, perRequest(ofMembers(processorTime, 1))},
	{"disk", "Bytes written to storage per second", "All members together, as the kernel counts them.", plots.Bytes, inWindow(ofMembers(written, 1))},
	{"disk-request", "Bytes written to storage per request", "All members together, as the kernel counts them.", plots.Bytes, perRequest(ofMembers(written, 1))},
	{"received", "Bytes that the members' pods received per second", "From clients and from other members.", plots.Bytes,
		inWindow(ofMembers(func(m v1alpha1.MemberSummary) *int64 { return m.PodReceivedBytes }, 1))},
	{"sent", "Bytes that the members' pods sent per second", "To clients and to other members.", plots.Bytes,
		inWindow(ofMembers(func(m v1alpha1.MemberSummary) *int64 { return m.PodSentBytes }, 1))},
	{"memory", "Highest resident memory of the members", "All members together. The memory of etcd includes mapped pages of its database, that of a Java server its heap.", plots.Bytes,
		ofMembers(func(m v1alpha1.MemberSummary) *int64 { return m.MemoryBytes }, 1)},
	{"kubelet-cpu", "Processors that the members' pods used (Kubelet)", ofKubelets, plots.Count, ofMembers(byKubelet(func(k v1alpha1.KubeletFigures) *int64 { return k.CPUMillicores }), 1e-3)},
	{"kubelet-disk", "Bytes written to storage per second (Kubelet)", ofKubelets, plots.Bytes, ofMembers(byKubelet(func(k v1alpha1.KubeletFigures) *int64 { return k.WrittenBytesPerSecond }), 1)},
	{"kubelet-received", "Bytes that the members' pods received per second (Kubelet)", ofKubelets, plots.Bytes, ofMembers(byKubelet(func(k v1alpha1.KubeletFigures) *int64 { return k.ReceivedBytesPerSecond }), 1)},
	{"kubelet-sent", "Bytes that the members' pods sent per second (Kubelet)", ofKubelets, plots.Bytes, ofMembers(byKubelet(func(k v1alpha1.KubeletFigures) *int64 { return k.SentBytesPerSecond }), 1)},
	{"kubelet-memory", "Resident memory of the members' pods after the window (Kubelet)", ofKubelets, plots.Bytes, ofMembers(byKubelet(func(k v1alpha1.KubeletFigures) *int64 { return k.RSSBytes }), 1)},
	{"client", "Processors that clients used", "The share that the busiest client pod used of its processors. A client can be the limit without using them: its work waits for a processor that members use.",
		plots.Percent, busiestClient},
}

// ofKubelets describes the figures of kubelets, which have pictures of their own: other sources count other things.
const ofKubelets = "All members together, as the kubelets of their nodes measured the pods."

func byKubelet(figure func(v1alpha1.KubeletFigures) *int64) func(v1alpha1.MemberSummary) *int64 {
	return func(m v1alpha1.MemberSummary) *int64 {
		if m.Kubelet == nil {
			return nil
		}
		return figure(*m.Kubelet)
	}
}

// hasTwoSources reports whether some of the runs had their members' processes sampled, and the members of others gave their own
// numbers.
func (d *Document) hasTwoSources() bool {
	sources := map[bool]bool{}
	for _, r := range d.Suite.Status.Results {
		for _, m := range d.run(r.Name).summary().Members {
			if m.CPUMillicores != nil {
				sources[m.CPUHighestMillicores != nil] = true
			}
		}
	}
	return len(sources) > 1
}

// twoSources is said of figures that samplers and members themselves have.
const twoSources = " Some members were sampled from outside and others gave their own numbers: do not compare these."

func millicores(m v1alpha1.MemberSummary) *int64 { return m.CPUMillicores }

// processorTime is what a member used between its first and its last sample, in microseconds.
func processorTime(m v1alpha1.MemberSummary) *int64 {
	if m.CPUMillicores == nil || m.SampledMicroseconds == 0 {
		return nil
	}
	return new(*m.CPUMillicores * m.SampledMicroseconds / 1000)
}

func written(m v1alpha1.MemberSummary) *int64 { return m.StorageWrittenBytes }

// summary is that of a run; without one it has no numbers.
func (r Run) summary() v1alpha1.Summary {
	if r.Object == nil || r.Object.Status.Summary == nil {
		return v1alpha1.Summary{}
	}
	return *r.Object.Status.Summary
}

func throughputOf(r Run) (float64, bool) {
	s := r.summary()
	return 1e6 * succeededOf(s) / float64(max(s.DurationMicroseconds, 1)), s.MeasuredRequests > 0 && s.DurationMicroseconds > 0
}

func succeededOf(s v1alpha1.Summary) float64 {
	return float64(s.MeasuredRequests - s.FailedRequests - s.CensoredRequests)
}

func failedShare(r Run) (float64, bool) {
	s := r.summary()
	return 100 * float64(s.FailedRequests+s.CensoredRequests) / float64(max(s.MeasuredRequests, 1)), s.MeasuredRequests > 0
}

func busiestClient(r Run) (float64, bool) {
	v := r.summary().Validity
	if v == nil || v.CPUPercent == nil {
		return 0, false
	}
	return float64(*v.CPUPercent), true
}

// latencyOf is a quantile of the slowest operation. It is not known if so many requests failed that none of the answered ones is
// there. Without its report, it is known of a run without failed requests.
func latencyOf(p spec.Statistic) func(Run) (float64, bool) {
	q := results.QuantileOf(p)
	return func(r Run) (slowest float64, known bool) {
		operations := r.detail().Operations
		for _, o := range r.summary().Operations {
			if len(operations) == 0 && o.Latency != nil && o.Failed == 0 && !o.Operation.IsEvent() {
				slowest, known = max(slowest, float64(o.Latency.Micros(p))), true
			}
		}
		for operation, op := range operations {
			judged := op.Judged()
			v, some := judged.Quantile(q)
			switch {
			case operation.IsEvent():
			case !some:
				return 0, false
			default:
				slowest, known = max(slowest, float64(v.Duration)/float64(time.Microsecond)), true
			}
		}
		return slowest, known
	}
}

// ofMembers adds up a figure of all members. It is not known if it is not known of one.
func ofMembers(figure func(v1alpha1.MemberSummary) *int64, scale float64) func(Run) (float64, bool) {
	return func(r Run) (sum float64, known bool) {
		all := r.summary().Members
		for _, m := range all {
			v := figure(m)
			if v == nil {
				return 0, false
			}
			sum += float64(*v) * scale
		}
		return sum, len(all) > 0
	}
}

// inWindow divides what was counted in the window by its seconds.
func inWindow(of func(Run) (float64, bool)) func(Run) (float64, bool) {
	return func(r Run) (float64, bool) {
		v, known := of(r)
		length := r.summary().DurationMicroseconds
		return 1e6 * v / float64(max(length, 1)), known && length > 0
	}
}

// perRequest divides what was counted in the window by the successful requests.
func perRequest(of func(Run) (float64, bool)) func(Run) (float64, bool) {
	return func(r Run) (float64, bool) {
		v, known := of(r)
		n := succeededOf(r.summary())
		return v / max(n, 1), known && n > 0
	}
}

// ofPoints explains the points of clientPlots.
const ofPoints = "A point is the mean of the rounds; the line through it goes from the lowest round to the highest."

// clientPlots draw figures of a suite over how many clients its runs had. Of a figure that is always equal, a sentence says
// so.
func clientPlots(d *Document) (out []Plot, equal []render.Block) {
	all := seriesOf(d.Suite)
	for _, f := range runFigures {
		c := plots.Curves{About: plots.About{
			ID: "clients-" + f.id, Title: f.title + " over clients",
			Description: f.description,
		}, Unit: f.unit, Over: "clients"}
		rows := [][]string{{"series", "clients", "mean", "lowest", "highest", "rounds"}}
		anyOpen, points := false, []plots.BarRow{}
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
				anyOpen, points = anyOpen || open, append(points, plots.BarRow{Value: p.Value})
			}
			if len(line.Points) > 0 {
				c.Lines = append(c.Lines, line)
			}
		}
		if text := equalText(points, f.unit); text != "" || len(points) == 0 {
			if text != "" {
				equal = append(equal, render.Block{Label: f.title + ":", Text: text})
			}
			continue
		}
		if slices.Contains([]string{"cpu", "cpu-request", "memory"}, f.id) && d.hasTwoSources() {
			c.Description += twoSources
		}
		if anyOpen {
			c.Description += " A ring: numbers of a round cannot be compared, for example because the client was its limit."
		}
		out = append(out, Plot{Picture: c, Rows: rows})
	}
	return out, equal
}

// valuesOf are those of a figure in the rounds of a cell. open: the numbers of a round cannot be compared.
func (d *Document) valuesOf(cell string, f runFigure) (values []float64, open bool) {
	for round := int32(1); round <= lastRound(d.Suite); round++ {
		r, ran := suite.Counted(d.Suite.Status.Results, cell, round)
		if !ran {
			continue
		}
		if v, known := f.of(d.run(r.Name)); known {
			values, open = append(values, v), open || r.Invalid != ""
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
