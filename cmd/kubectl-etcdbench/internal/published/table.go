package main

import (
	"math"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/report"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// table is a published table with the numbers of this machine beside it.
type table struct {
	id, title string
	// theirs says where the published numbers are from and on what they were measured; differs, what differs here.
	theirs, differs string
	header          []string
	rows            [][]string
	// said are sentences about the numbers.
	said  []string
	plots []report.Plot
}

// tablesOf are all tables, in the order of the page.
func tablesOf(m measured) []table {
	return []table{etcdPageWrites(m), etcdPageReads(m), podsTable(m), httpTable(m), storesTable(m), fragmentedTable(m), layoutsTable(m), overheadTable(m), timeoutsTable(m)}
}

// limited marks a number whose run cannot be compared.
const limited = " †"

// fill is a row: labels, what was published, and what was measured; or why nothing was.
func fill(labels, theirs []string, n numbers, ours ...string) []string {
	row := append(append([]string{}, labels...), theirs...)
	if n.why != "" {
		return append(row, n.why)
	}
	if n.doubt {
		ours[0] += limited
	}
	return append(row, ours...)
}

// absent is a number that is not known.
const absent = "–"

func rate(perSecond float64) string {
	if perSecond <= 0 {
		return absent
	}
	return text.Grouped(int64(math.Round(perSecond)))
}

// latency writes microseconds.
func latency(micros float64) string {
	if micros <= 0 || math.IsNaN(micros) {
		return absent
	}
	return text.Duration(time.Duration(micros * 1e3))
}

func memory(bytes float64) string {
	if bytes <= 0 {
		return absent
	}
	return text.Megabytes(int64(bytes))
}
