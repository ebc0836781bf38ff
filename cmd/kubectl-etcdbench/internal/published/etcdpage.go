package main

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	pageSuite = "etcd-page"
	podsSuite = "etcd-pods"
)

// published is a row of etcd's page, or of its repetition from pods. Latency is in milliseconds, memory in MB.
type published struct {
	labels        []string
	rate          int64
	latency       float64
	memory        int64
	name          string
	cells         []string
	withoutMemory bool
}

func (p published) row(m measured) []string {
	theirs := []string{text.Grouped(p.rate), latency(1000 * p.latency)}
	if !p.withoutMemory {
		theirs = append(theirs, fmt.Sprintf("%d MB", p.memory))
	}
	n := m.of(p.name, p.cells[0])
	if len(p.cells) > 1 {
		n = m.sum(p.name, p.cells...)
	}
	ours := []string{rate(n.rate), latency(n.mean)}
	if !p.withoutMemory {
		ours = append(ours, memory(n.memory))
	}
	return fill(p.labels, theirs, n, ours...)
}

func rowsOf(m measured, all []published) (rows [][]string) {
	for _, p := range all {
		rows = append(rows, p.row(m))
	}
	return rows
}

const (
	etcdPageSource = "[etcd's performance page](https://etcd.io/docs/latest/op-guide/performance/)"
	etcdPageSetup  = "etcd 3.2.0 on three machines of 8 processors, with a client of 16"
)

func etcdPageWrites(m measured) table {
	return table{
		id: "etcd-writes", title: "etcd's page: writes", theirs: etcdPageSource + ": " + etcdPageSetup + ".",
		differs: requestsText(m, pageSuite, "leader/put/one", "leader/put/many"),
		header:  []string{"keys", "connections", "clients", "target", "QPS", "latency", "RSS", "our QPS", "our latency", "our RSS"},
		rows: rowsOf(m, []published{
			{labels: []string{"10,000", "1", "1", "leader"}, rate: 583, latency: 1.6, memory: 48, name: pageSuite, cells: []string{"leader/put/one"}},
			{labels: []string{"100,000", "100", "1,000", "leader"}, rate: 44341, latency: 22, memory: 124, name: pageSuite, cells: []string{"leader/put/many"}},
			{labels: []string{"100,000", "100", "1,000", "all"}, rate: 50104, latency: 20, memory: 126, name: pageSuite, cells: []string{"all/put/many"}},
		}),
	}
}

// requestsText says how many requests our rows of one client and of many have.
func requestsText(m measured, name, one, many string) string {
	few, all := m.of(name, one), m.of(name, many)
	if few.why+all.why != "" {
		return ""
	}
	return fmt.Sprintf("Ours: %s requests of one client, %s of 1,000.", text.Grouped(few.succeeded+few.failed), text.Grouped(all.succeeded+all.failed))
}

func etcdPageReads(m measured) table {
	return table{
		id: "etcd-reads", title: "etcd's page: reads of one key", theirs: "The same machines; all members.",
		header: []string{"requests", "connections", "clients", "consistency", "QPS", "latency", "our QPS", "our latency"},
		rows: rowsOf(m, []published{
			{labels: []string{"10,000", "1", "1", "linearizable"}, rate: 1353, latency: 0.7, withoutMemory: true, name: pageSuite, cells: []string{"all/linearizable/one"}},
			{labels: []string{"10,000", "1", "1", "serializable"}, rate: 2909, latency: 0.3, withoutMemory: true, name: pageSuite, cells: []string{"all/serializable/one"}},
			{labels: []string{"100,000", "100", "1,000", "linearizable"}, rate: 141578, latency: 5.5, withoutMemory: true, name: pageSuite, cells: []string{"all/linearizable/many"}},
			{labels: []string{"100,000", "100", "1,000", "serializable"}, rate: 185758, latency: 2.2, withoutMemory: true, name: pageSuite, cells: []string{"all/serializable/many"}},
		}),
		said: []string{headline(m)},
	}
}

// headline answers the sentence at the top of etcd's page.
func headline(m measured) string {
	const asked = "**Under 1 ms in light load, and over 30,000/s in heavy load?** "
	put, read, stale := m.of(pageSuite, "leader/put/one"), m.of(pageSuite, "all/linearizable/one"), m.of(pageSuite, "all/serializable/one")
	puts, reads := m.of(pageSuite, "all/put/many"), m.of(pageSuite, "all/linearizable/many")
	for _, n := range []numbers{put, read, stale, puts, reads} {
		if n.why != "" {
			return asked + "Open: rows are missing."
		}
	}
	return asked + fmt.Sprintf("Light load: a write %s, a linearizable read %s, a serializable one %s. Heavy load: writes %s, reads %s; %s.",
		under(put.mean), under(read.mean), under(stale.mean), over(puts.rate), over(reads.rate),
		"members and client share the processors, so the second is no answer for members on machines of their own")
}

func under(micros float64) string {
	if micros < 1000 {
		return "yes (" + latency(micros) + ")"
	}
	return "no (" + latency(micros) + ")"
}

func over(perSecond float64) string {
	const asked = 30_000
	if perSecond > asked {
		return "yes (" + rate(perSecond) + "/s)"
	}
	return "no (" + rate(perSecond) + "/s)"
}

func podsTable(m measured) table {
	row := func(one, what, target string, perSecond int64, ms float64, cells ...string) published {
		connections := "100"
		if one == "1" {
			connections = "1"
		}
		return published{labels: []string{what, connections, one, target}, rate: perSecond, latency: ms, withoutMemory: true, name: podsSuite, cells: cells}
	}
	alone := func(load string) []string {
		return []string{"first/serializable/" + load, "second/serializable/" + load, "third/serializable/" + load}
	}
	t := table{
		id: "pods", title: "The same from pods", differs: requestsText(m, podsSuite, "leader/put/one", "leader/put/many"), theirs: "etcd 3.3.10 in three pods of 1 processor and 2 GB on shared nodes, with a client of 16 processors. Serializable reads went to one member after the other; their rates are added up.",
		header: []string{"operation", "connections", "clients", "target", "QPS", "latency", "our QPS", "our latency"},
		rows: rowsOf(m, []published{
			row("1", "write", "leader", 126, 7.7, "leader/put/one"),
			row("1,000", "write", "leader", 16033, 60, "leader/put/many"),
			row("1,000", "write", "all", 15102, 63, "all/put/many"),
			row("1", "linearizable read", "all", 824, 1.2, "all/linearizable/one"),
			row("1", "serializable read", "each, summed", 1628, 0.6, alone("one")...),
			row("1,000", "linearizable read", "all", 37679, 23.8, "all/linearizable/many"),
			row("1,000", "serializable read", "each, summed", 22458, 43.5, alone("many")...),
		}),
		said: []string{serializableReads(m), "Whether reads of members add up is open here: the members share processors, and each alone can use all of them. In a cluster, set `limits: {cpu: 100m}` in [suite_etcd_pods.yaml](../config/samples/published/suite_etcd_pods.yaml), and compare its row `sum` with `all/serializable/many`."},
	}
	for i, cell := range alone("many") {
		n := m.of(podsSuite, cell)
		t.rows = append(t.rows, fill([]string{"serializable read", "100", "1,000", fmt.Sprintf("member %d alone", i+1)}, []string{absent, absent}, n, rate(n.rate), latency(n.mean)))
	}
	n := m.of(podsSuite, "all/serializable/many")
	t.rows = append(t.rows, fill([]string{"serializable read", "100", "1,000", "all at once"}, []string{absent, absent}, n, rate(n.rate), latency(n.mean)))
	return t
}

// serializableReads answers the question that the repetition from pods left open.
func serializableReads(m measured) string {
	const asked = "**Did serializable reads lose on pods, and what was the limit?** "
	linearizable, serializable := m.of(podsSuite, "all/linearizable/many"), m.of(podsSuite, "all/serializable/many")
	if linearizable.why+serializable.why != "" {
		return asked + "Open: rows are missing."
	}
	return asked + fmt.Sprintf("Their figures do not show it. Clients ÷ latency is the throughput of a closed loop: 1,000 ÷ 43.5 ms = 23,000/s. "+
		"So 22,458/s is what 1,000 clients got at one time, not three runs added up, which would be 69,000/s. "+
		"With 1,000 clients at all members at once, linearizable reads got %s/s here, serializable ones %s/s. %s",
		rate(linearizable.rate), rate(serializable.rate), limitOf(m, podsSuite, "all/serializable/many"))
}
