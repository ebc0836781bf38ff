package render

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// ShortLines is the most lines that WriteShort prints.
const ShortLines = 40

// WriteShort prints what a result says, and what limits its value, in at most ShortLines lines: first the answer, if there is
// one. more says how to see the rest. The course may be nil.
func WriteShort(w io.Writer, b *v1alpha1.EtcdBenchmark, answer string, course *results.Course, more string) error {
	// The parts in the order of the page. Those with a lower rank get their lines first.
	parts := []struct {
		rank  int
		write func(*table)
	}{
		{0, func(t *table) { t.answer(answer) }}, {0, (*table).header}, {3, (*table).performance}, {4, (*table).shortLatencies},
		{8, func(t *table) { t.disks(maxDiskRows) }},
		{9, func(t *table) { t.shortCourse(course) }}, {7, (*table).errors}, {5, (*table).limits}, {2, (*table).objectives},
		{6, (*table).warnings}, {1, (*table).footer},
	}
	lines, room := make([][]string, len(parts)), ShortLines-2
	for rank := range parts {
		for i, part := range parts {
			if part.rank != rank || b.Status.Summary == nil && rank > 2 {
				continue
			}
			lines[i] = cut(linesOf(b, part.write), room)
			room -= len(lines[i])
		}
	}
	var out strings.Builder
	for _, part := range lines {
		out.WriteString(strings.Join(part, ""))
	}
	_, err := io.WriteString(w, out.String()+"\n"+more+"\n")
	return err
}

// linesOf returns the lines of a part, each with its end.
func linesOf(b *v1alpha1.EtcdBenchmark, write func(*table)) []string {
	t := newTable(b)
	write(t)
	lines := strings.SplitAfter(t.text.String(), "\n")
	return lines[:len(lines)-1]
}

// cut leaves as many lines as there is room for. The last line of the room says that there is more.
func cut(lines []string, room int) []string {
	if len(lines) > room {
		return append(lines[:max(room-1, 0)], "…\n")[:max(room, 0)]
	}
	return lines
}

func (t *table) answer(answer string) {
	if answer != "" {
		t.wrapped("", answer)
		t.gap()
	}
}

// shortLatencies has the latencies of requests, without their parts.
func (t *table) shortLatencies() {
	g := latencyGrid()
	for _, op := range t.b.Status.Summary.Operations {
		g.addLatency(string(op.Operation)+" latency", op.Latency)
	}
	if len(g.rows) > 1 {
		t.section(g)
	}
}

// shortCourse draws throughput and latency over time.
func (t *table) shortCourse(c *results.Course) {
	if c == nil {
		return
	}
	d := IntervalsOf(c, time.Duration(t.b.Status.Summary.DurationMicroseconds)*time.Microsecond)
	if len(d.Points) < 2 {
		return
	}
	g := grid{left: 2}
	g.add("OVER TIME", "one bar = "+strconv.FormatFloat(d.Length.Seconds(), 'g', 3, 64)+"s, from 0", "LOWEST", "HIGHEST")
	d.addRow(&g, "throughput", rateText, func(i int) float64 { return float64(d.Points[i].Succeeded) / d.Length.Seconds() })
	for _, p := range []spec.Statistic{spec.StatisticP50, d.Tail} {
		d.addRow(&g, strings.ToLower(string(p))+" latency", microsText, func(i int) float64 { return d.Percentile(i, p) })
	}
	t.section(g)
}
