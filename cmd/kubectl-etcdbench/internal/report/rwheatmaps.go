package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// heatmapRow is a line of the file that etcd's tools/rw-heatmaps reads: a point of its grid.
type heatmapRow struct {
	ratio                    float64
	connections, valueLength int64
	// rates are reads and puts per second in each round.
	rates   []readsAndPuts
	comment string
}

type readsAndPuts struct{ reads, puts float64 }

// CheckRWHeatmaps returns why a suite has no file of rw-heatmaps, nil if it has one. It needs no results. s is nil for a run.
func CheckRWHeatmaps(s *v1alpha1.EtcdBenchmarkSuite) error {
	if s == nil || s.Spec.Search != nil {
		return errors.New("rw-heatmaps: wanted a suite with loads, of workloads of type Mixed; use -o csv for other results")
	}
	if n := len(s.Spec.Targets); n != 1 {
		return fmt.Errorf("rw-heatmaps: wanted a suite with one target, found %d: a file has one; the page (-o html) shows the change between two", n)
	}
	for _, c := range suite.Cells(s) {
		switch mixed := c.Workload.Workload.Mixed; {
		case mixed == nil:
			return fmt.Errorf("rw-heatmaps: wanted workloads of type Mixed, found %s in the cell %s: use -o csv", c.Workload.Workload.Type, c.Name)
		case hasBoth(mixed) && suite.KeptOperations(s) < 2:
			return fmt.Errorf("rw-heatmaps: wanted at most 250 runs, found %d: a larger suite keeps only reads or only puts; lower rounds or split it", len(suite.Plan(s)))
		}
	}
	return nil
}

// RWHeatmaps writes a suite of mixed reads and puts as the CSV file of etcd's tools/rw-heatmaps. Its reader wants the
// parameters in the first line after the header, and then one line for each point, by value size and then by
// connections. It ignores the comments of these lines. A point without a result has no line: a rate of 0 would be drawn.
func RWHeatmaps(d *Document) ([]byte, error) {
	s := d.Suite
	if err := CheckRWHeatmaps(s); err != nil {
		return nil, err
	}
	var rows []heatmapRow
	for _, c := range suite.Cells(s) {
		row, known := heatmapRowOf(s, c)
		if !known {
			continue
		}
		if rows = append(rows, row); hasBoth(c.Workload.Workload.Mixed) && lacksOperation(row) {
			return nil, fmt.Errorf("rw-heatmaps: wanted reads and puts of the cell %s, found only one of them: use -o csv", c.Name)
		}
	}
	slices.SortStableFunc(rows, func(a, b heatmapRow) int {
		return cmp.Or(cmp.Compare(a.ratio, b.ratio), cmp.Compare(a.valueLength, b.valueLength), cmp.Compare(a.connections, b.connections))
	})
	return writeHeatmapRows(rows, max(int(s.Spec.Rounds), 1), d.parameters())
}

func writeHeatmapRows(rows []heatmapRow, rounds int, parameters string) ([]byte, error) {
	header := []string{"type", "ratio", "conn_size", "value_size"}
	for i := range rounds {
		header = append(header, fmt.Sprintf("iter%d", i+1))
	}
	first := make([]string, len(header)+1)
	first[0], first[len(header)] = "PARAM", parameters
	lines := [][]string{append(header, "comment"), first}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
	for _, r := range rows {
		line := []string{"DATA", number(r.ratio), fmt.Sprint(r.connections), fmt.Sprint(r.valueLength)}
		for _, v := range r.rates {
			line = append(line, number(v.reads)+":"+number(v.puts))
		}
		lines = append(lines, append(line, harmless(r.comment)))
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := w.WriteAll(lines); err != nil {
		return nil, fmt.Errorf("writing the file of rw-heatmaps: %w", err)
	}
	return out.Bytes(), nil
}

// hasBoth reports whether a mixture has reads and puts.
func hasBoth(m *spec.Mixed) bool { return m.ReadPercent > 0 && m.ReadPercent < 100 }

// lacksOperation reports whether a point has no reads or no puts in any round.
func lacksOperation(row heatmapRow) bool {
	var sum readsAndPuts
	for _, v := range row.rates {
		sum.reads, sum.puts = sum.reads+v.reads, sum.puts+v.puts
	}
	return sum.reads == 0 || sum.puts == 0
}

// mostReads stands for a ratio without a put.
const mostReads = 1000

// heatmapRowOf has all rounds of a cell. A round without a result has the mean of the others, as the reader takes the mean of all.
// known is false if no round has a result.
func heatmapRowOf(s *v1alpha1.EtcdBenchmarkSuite, c suite.Cell) (row heatmapRow, known bool) {
	mixed := c.Workload.Workload.Mixed
	row = heatmapRow{ratio: mostReads, connections: int64(c.Load.Load.Connections), valueLength: int64(mixed.Values.SizeBytes)}
	if puts := 100 - mixed.ReadPercent; puts > 0 {
		row.ratio = float64(mixed.ReadPercent) / float64(puts)
	}
	var sum readsAndPuts
	var missing []int
	var comments []string
	for i := range max(int(s.Spec.Rounds), 1) {
		r, ran := suite.Counted(s.Status.Results, c.Name, int32(i+1))
		v := readsAndPuts{rateOf(r, spec.OperationRange), rateOf(r, spec.OperationPut)}
		if !ran || v == (readsAndPuts{}) {
			missing = append(missing, i)
			comments = append(comments, fmt.Sprintf("iter%d: no result", i+1))
		} else if r.Invalid != "" {
			comments = append(comments, fmt.Sprintf("iter%d: %s", i+1, r.Invalid))
		}
		sum.reads, sum.puts = sum.reads+v.reads, sum.puts+v.puts
		row.rates = append(row.rates, v)
	}
	measured := float64(len(row.rates) - len(missing))
	for _, i := range missing {
		row.rates[i] = readsAndPuts{sum.reads / measured, sum.puts / measured}
	}
	row.comment = strings.Join(comments, "; ")
	return row, measured > 0
}

// rateOf is the throughput of an operation.
func rateOf(r v1alpha1.SuiteResult, operation spec.Operation) float64 {
	for _, o := range r.Operations {
		if o.Operation == operation {
			return float64(o.ThroughputMilliPerSecond) / 1000
		}
	}
	return 0
}

// parameters are what all points of the file share.
func (d *Document) parameters() string {
	mixed := d.Suite.Spec.Workloads[0].Workload.Mixed
	limit := "1 key"
	if mixed.ReadLimit != nil {
		limit = fmt.Sprint(*mixed.ReadLimit)
	}
	out := fmt.Sprintf("key_size=%d,key_space_size=%d,range_limit=%s,suite=%s", mixed.Keys.SizeBytes, mixed.Keys.Count, limit, d.Suite.Name)
	for _, f := range environments(d.Runs) {
		out += "," + f.Name + "=" + f.Value
	}
	return out
}
