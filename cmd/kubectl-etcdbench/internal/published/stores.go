package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// storesSuite is the name of the file that make stores writes, and of its suite.
const storesSuite = "stores"

// storesTable is that of dbtester's README.
func storesTable(m measured) table {
	t := table{
		id: "stores", title: "etcd, ZooKeeper and Consul: a million new keys",
		theirs: "[dbtester](https://github.com/etcd-io/dbtester): etcd 3.3.0, ZooKeeper 3.5.3-beta, Consul 1.0.2 on three machines of 16 processors; keys of 256 B, values of 1 KiB; the best number of clients of each.",
		header: []string{"store", "clients", "QPS", "mean", "p99", "maximum", "errors", "our clients", "our QPS", "our mean", "our p99", "our maximum", "our errors"},
		said: []string{"**Whose errors were ZooKeeper's?** Its client asked for sessions of one second, and hung up after 2.7 s without a byte: " +
			"so each longer pause of a server became errors. The pause was the server's, the hang-up the client's. [Compare stores](compare-stores.md) has the rest, and the costs per request that are comparable."},
	}
	for _, s := range []struct {
		name, shown, clients     string
		rate, errors             int64
		meanMs, p99Ms, longestMs float64
		loads                    []string
	}{
		{"etcd", "etcd", "1,000", 35258, 0, 28.3, 74, 117, []string{"c1000x100", "c1000"}},
		{"zookeeper", "ZooKeeper", "700", 16842, 2652, 30.9, 273, 4565, []string{"c700", "c1000"}},
		{"consul", "Consul", "500", 5588, 0, 89.4, 1496, 4616, []string{"c500", "c1000"}},
	} {
		theirs := []string{text.Grouped(s.rate), latency(1000 * s.meanMs), latency(1000 * s.p99Ms), latency(1000 * s.longestMs), text.Grouped(s.errors)}
		load := m.firstOf(storesSuite, s.name, s.loads)
		n := m.of(storesSuite, s.name+"/"+load)
		clients, _, _ := strings.Cut(strings.TrimPrefix(load, "c"), "x")
		if clients == "1000" {
			clients = "1,000"
		}
		t.rows = append(t.rows, withClients(fill([]string{s.shown, s.clients}, theirs, n, rate(n.rate), latency(n.mean), latency(n.p99), latency(n.max), text.Grouped(n.failed)), n, clients))
		t.differs = m.keysOf(load)
	}
	return t
}

// keysOf says how many keys a load of the stores writes.
func (m measured) keysOf(load string) string {
	d := m.suites[storesSuite]
	if d == nil {
		return ""
	}
	for _, l := range d.Suite.Spec.Loads {
		if string(l.Name) == load && l.Load.Requests != nil {
			return fmt.Sprintf("Ours: %s keys, mean of %s, on one machine.", text.Grouped(*l.Load.Requests), text.Plural(max(d.Suite.Spec.Rounds, 1), "round"))
		}
	}
	return ""
}

// withClients puts the number of clients before our numbers.
func withClients(row []string, n numbers, clients string) []string {
	const ours = 7
	if n.why != "" {
		return row
	}
	return slices.Insert(row, ours, clients)
}

// firstOf is the first of some loads that a suite has with a target; without a result, the last.
func (m measured) firstOf(name, target string, loads []string) string {
	if d := m.suites[name]; d != nil {
		for _, load := range loads {
			if slices.ContainsFunc(suite.Cells(d.Suite), func(c suite.Cell) bool { return c.Name == target+"/"+load }) {
				return load
			}
		}
	}
	return loads[len(loads)-1]
}
