package main

import (
	"fmt"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// The suites of the burst.
const (
	fragmentedSuite = "burst-fragmented"
	layoutsSuite    = "burst-layouts"
	courseSuite     = "burst-course"
	timeoutsSuite   = "burst-timeouts"
)

const slides = "Slides \"Summary of etcd benchmarks\", on etcd as the store of a detector's configuration: 7,000 to 70,000 processes on 42 hosts start at once, and each fetches its parameters of 100 B through the v2 API."

// burst is what the processes of a cell got. last and mean are in microseconds.
type burst struct {
	numbers
	last       float64
	parameters int64
	summary    v1alpha1.BurstSummary
}

// parameterBytes is the length of a parameter in all suites.
const parameterBytes = 100

// burstOf is that of the last run of a cell.
func (m measured) burstOf(name, cell string) burst {
	b := burst{numbers: m.of(name, cell)}
	if b.why != "" {
		return b
	}
	r := m.runOf(name, cell)
	if r == nil || r.Object.Status.Summary == nil || r.Object.Status.Summary.Burst == nil {
		b.why = "the result has no burst"
		return b
	}
	b.summary = *r.Object.Status.Summary.Burst
	b.parameters = b.summary.ValueBytes / parameterBytes
	b.last = float64(b.summary.LastProcessMicroseconds)
	return b
}

// text is the time until the last process, and the mean per process in brackets.
func (b burst) text() string {
	switch {
	case b.why != "":
		return b.why
	case b.last == 0:
		return fmt.Sprintf("%d failed", b.failed)
	}
	s := latency(b.last) + " (" + latency(b.mean) + ")"
	if b.doubt {
		s += limited
	}
	return s
}

// totals are the numbers of parameters of the slides' first picture, in thousands.
var totals = []int{100, 200, 400, 600, 800}

func fragmentedTable(m measured) table {
	t := table{
		id: "fragmented", title: "Burst: a request per parameter, one server", theirs: slides,
		differs: "Ours: over v3. In brackets: the mean per process.",
		header:  []string{"parameters", "slides", "our parameters", "until the last process has all"},
		plots:   fragmentedPlots(m),
	}
	for _, total := range totals {
		theirs := absent
		if total == 800 {
			theirs = "up to 15s"
		}
		b := m.burstOf(fragmentedSuite, fmt.Sprintf("total-%dk", total))
		if b.succeeded > 0 {
			t.differs = fmt.Sprintf("Ours: %s processes, over v3. In brackets: the mean per process.", text.Grouped(b.succeeded))
		}
		t.rows = append(t.rows, []string{text.Grouped(1000 * total), theirs, rate(float64(b.parameters)), b.text()})
	}
	return t
}

// servers are the sizes of clusters in the slides.
var servers = []int{1, 3, 5, 7, 9}

// layouts are the slides' ways to store parameters, and parametersEach how many a process fetches.
var (
	layouts        = []string{"Fragmented", "Blob", "Flat", "Tree"}
	parametersEach = []int{100, 200}
)

func layoutCell(servers int, layout string, parameters int) string {
	return fmt.Sprintf("s%d/%s-%d", servers, strings.ToLower(layout), parameters)
}

func layoutsTable(m measured) table {
	t := table{
		id: "layouts", title: "Burst: layouts and servers", theirs: "The same slides: roughly linear in 1/servers. Fragmented was the slowest by far; 13.7 s stands beside 7 million parameters, most likely at nine servers.",
		differs: "Until the last process has all, and the mean per process. On one machine, more members share the same processors: whether time falls with 1/servers is open here. " +
			"In a cluster, set `limits: {cpu: 100m}` in [suite_burst_layouts.yaml](../config/samples/published/suite_burst_layouts.yaml).",
		header: []string{"layout", "parameters", "slides", "1 server", "3", "5", "7", "9"},
		plots:  layoutsPlots(m),
	}
	processes := int64(0)
	for _, layout := range layouts {
		for _, parameters := range parametersEach {
			row := []string{layout, fmt.Sprint(parameters), absent}
			if layout == "Fragmented" && parameters == 100 {
				row[2] = "13.7s"
			}
			for _, n := range servers {
				b := m.burstOf(layoutsSuite, layoutCell(n, layout, parameters))
				processes = max(processes, b.succeeded)
				if b.why == notRun {
					b.why = absent
				}
				row = append(row, b.text())
			}
			t.rows = append(t.rows, row)
		}
	}
	if processes > 0 {
		t.differs = fmt.Sprintf("Ours: %s processes. ", text.Grouped(processes)) + t.differs
	}
	return t
}

// overheads are the sizes in the slides.
var overheads = []struct {
	layout, theirs string
}{{"Blob", "9 %"}, {"Flat", "81 %"}, {"Tree", "112–121 %"}}

func overheadTable(m measured) table {
	t := table{
		id: "overhead", title: "Burst: how much longer the responses are than the parameters", theirs: "The same slides, JSON of the v2 API.",
		differs: "Ours: shorter key names, and a blob has no names at all.",
		header:  []string{"layout", "parameters", "slides", "v2, JSON", "v3, protobuf"},
		plots:   overheadPlots(m),
	}
	for _, o := range overheads {
		for _, parameters := range parametersEach {
			row := []string{o.layout, fmt.Sprint(parameters), o.theirs}
			for _, api := range []string{"v2", "v3"} {
				row = append(row, overheadText(m.burstOf(overheadSuite, overheadCell(o.layout, parameters, api))))
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

func overheadCell(layout string, parameters int, api string) string {
	return fmt.Sprintf("%s-%d/%s", strings.ToLower(layout), parameters, api)
}

func overheadText(b burst) string {
	if b.why != "" {
		return b.why
	}
	return fmt.Sprintf("%.3g %%", b.summary.BodyOverheadPercent.Float64())
}

// waits are the time-outs of the slides, with their names in cells.
var waits = []struct{ cell, text string }{{"250ms", "250 ms"}, {"10s", "10 s"}}

func timeoutsTable(m measured) table {
	t := table{
		id: "timeouts", title: "Burst: time-outs per process", theirs: "The same slides show how many processes had how many time-outs, after 250 ms and after 10 s.",
		differs: "Ours: one server, a connection for each process, 100 parameters.",
		header:  []string{"layout", "time-out", "processes with 0 time-outs", "1 to 3", "more", "failed"},
		plots:   timeoutsPlots(m),
	}
	for _, layout := range layouts {
		for _, wait := range waits {
			b := m.burstOf(timeoutsSuite, strings.ToLower(layout)+"-"+wait.cell)
			row := []string{layout, wait.text}
			if b.why != "" {
				t.rows = append(t.rows, append(row, b.why, absent, absent, absent))
				continue
			}
			none, few, more := timeoutsOf(b)
			t.rows = append(t.rows, append(row, text.Grouped(none), text.Grouped(few), text.Grouped(more), text.Grouped(b.failed)))
		}
	}
	return t
}

// timeoutsOf counts the processes with no, one to three, and more time-outs.
func timeoutsOf(b burst) (none, few, more int64) {
	for _, c := range b.summary.Timeouts {
		switch {
		case c.From == 0:
			none += c.Processes
		case c.From <= 3:
			few += c.Processes
		default:
			more += c.Processes
		}
	}
	return none, few, more
}
