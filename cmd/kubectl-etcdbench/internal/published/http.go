package main

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	httpSuite     = "etcd-2-2"
	overheadSuite = "burst-overhead"
)

// httpRow is a row of the page of etcd 2.2.0-rc. p90 is in milliseconds.
type httpRow struct {
	target, operation string
	bytes, clients    int
	rate              int64
	p90               float64
}

// httpRows are those of the page, in its order.
var httpRows = []httpRow{
	{"leader", "read", 64, 1, 2804, 0.4}, {"leader", "read", 64, 64, 17816, 5.7}, {"leader", "read", 64, 256, 18667, 20.4},
	{"leader", "read", 256, 1, 2181, 0.5}, {"leader", "read", 256, 64, 17435, 6.0}, {"leader", "read", 256, 256, 18180, 21.3},
	{"all", "read", 64, 64, 46965, 2.1}, {"all", "read", 64, 256, 55286, 7.4}, {"all", "read", 256, 64, 46603, 2.1}, {"all", "read", 256, 256, 55291, 7.3},
	{"leader", "write", 64, 1, 76, 19.4}, {"leader", "write", 64, 64, 2461, 31.8}, {"leader", "write", 64, 256, 4275, 69.6},
	{"leader", "write", 256, 1, 64, 16.7}, {"leader", "write", 256, 64, 2385, 31.5}, {"leader", "write", 256, 256, 4353, 74.0},
	{"all", "write", 64, 64, 2005, 49.8}, {"all", "write", 64, 256, 4868, 81.5}, {"all", "write", 256, 64, 1925, 47.7}, {"all", "write", 256, 256, 4975, 70.3},
}

// httpTable is that of etcd's 2.2 benchmark.
func httpTable(m measured) table {
	t := table{
		id: "http", title: "etcd 2.2: one key over HTTP",
		theirs: "[etcd 2.2.0-rc](https://etcd.io/docs/v3.4/benchmarks/etcd-2-2-0-rc-benchmarks/) on three machines of 2 processors, loaded by `boom` from another one. Its reads of `all` are the sum of runs at each member alone.",
		differs: "Ours: etcd 3.4 for both APIs; all members at once; the same key in all requests. In brackets: v3 against v2 on this machine. " +
			"The v2 API keeps its keys in memory, and v3 in a database.",
		header: []string{"operation", "bytes", "clients", "target", "QPS", "p90", "v2 QPS", "v2 p90", "v3 QPS", "v3 p90"},
	}
	for _, r := range httpRows {
		cell := func(api string) string {
			return fmt.Sprintf("%s/%s-%d/%s-c%d", r.target, r.operation, r.bytes, api, r.clients)
		}
		v2, v3 := m.of(httpSuite, cell("v2")), m.of(httpSuite, cell("v3"))
		row := fill([]string{r.operation, fmt.Sprint(r.bytes), fmt.Sprint(r.clients), r.target}, []string{text.Grouped(r.rate), latency(1000 * r.p90)}, v2, rate(v2.rate), tail(v2))
		if v2.why == "" {
			row = fill(row, nil, v3, rate(v3.rate)+against(v3.rate, v2.rate), tail(v3)+against(v3.p90, v2.p90))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// tail is the 90th percentile of at least a hundred requests.
func tail(n numbers) string {
	const least = 100
	if n.succeeded < least {
		return "too few requests"
	}
	return latency(n.p90)
}

// against is a change, in brackets.
func against(v, baseline float64) string {
	if v <= 0 || baseline <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%+.0f%%)", 100*(v/baseline-1))
}
