package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// columns of the CSV. A number that is not known is empty.
var columns = []string{
	"namespace", "suite", "cell", "round", "run", "end", "passed", "invalid", "warnings", "operation", "succeeded", "failed",
	"throughput_per_second", "mean_microseconds", "p50_microseconds", "p90_microseconds", "p99_microseconds", "p999_microseconds",
	"max_microseconds", "at_least", "fingerprint", "client",
}

// CSV writes a row for each run and operation, or for each value of a schedule.
func CSV(d *Document) ([]byte, error) {
	rows := [][]string{columns}
	switch {
	case d.Suite != nil:
		for _, r := range d.Suite.Status.Results {
			rows = append(rows, resultRows(d, r)...)
		}
	case d.Schedule != nil:
		rows = seriesRows(d.Schedule)
	default:
		for _, r := range d.Runs {
			rows = append(rows, runRows(r.Object)...)
		}
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for _, row := range rows {
		for i := range row {
			row[i] = harmless(row[i])
		}
		if err := w.Write(row); err != nil {
			return nil, fmt.Errorf("writing the table: %w", err)
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// harmless keeps spreadsheets from reading text of users as a formula.
func harmless(cell string) string {
	if cell == "" || !strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return cell
	}
	return "'" + cell
}

func resultRows(d *Document, r v1alpha1.SuiteResult) (rows [][]string) {
	s := d.Suite
	first := []string{s.Namespace, s.Name, r.Cell, fmt.Sprint(r.Round), r.Name, r.Reason, string(r.Passed), r.Invalid, strings.Join(r.Warnings, " ")}
	for _, o := range r.Operations {
		rows = append(rows, append(append(append([]string(nil), first...), operationCells(o)...), fingerprintOf(d, r.Name), r.Client))
	}
	if len(rows) == 0 {
		rows = append(rows, append(append([]string(nil), first...), make([]string, len(columns)-len(first))...))
	}
	return rows
}

func fingerprintOf(d *Document, name string) string {
	for _, r := range d.Runs {
		if s := r.Object.Status.Summary; r.Object.Name == name && s != nil && s.Fingerprint != nil {
			return s.Fingerprint.ID
		}
	}
	return ""
}

func operationCells(o v1alpha1.SuiteOperation) []string {
	return []string{
		string(o.Operation), fmt.Sprint(o.Succeeded), fmt.Sprint(o.Failed),
		strconv.FormatFloat(float64(o.ThroughputMilliPerSecond)/1000, 'f', -1, 64),
		known(o.MeanMicroseconds), known(o.P50Microseconds), known(o.P90Microseconds), known(o.P99Microseconds), known(o.P999Microseconds),
		known(o.MaxMicroseconds), strconv.FormatBool(o.AtLeast),
	}
}

func known(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func runRows(run *v1alpha1.EtcdBenchmark) (rows [][]string) {
	first := []string{run.Namespace, run.Labels[v1alpha1.LabelSuite], run.Labels[v1alpha1.LabelCell], run.Labels[v1alpha1.LabelRound], run.Name, "", "", "", ""}
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished); c != nil {
		first[5] = c.Reason
	}
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed); c != nil {
		first[6] = string(c.Status)
	}
	s := run.Status.Summary
	if s != nil {
		first[8] = strings.Join(suite.WarningsOf(run), " ")
	}
	if s == nil || len(s.Operations) == 0 {
		return [][]string{append(first, make([]string, len(columns)-len(first))...)}
	}
	id, client := "", ""
	if s.Fingerprint != nil {
		id, client = s.Fingerprint.ID, s.Fingerprint.Client
	}
	for _, o := range s.Operations {
		rows = append(rows, append(append(append([]string(nil), first...), summaryCells(o)...), id, client))
	}
	return rows
}

func summaryCells(o v1alpha1.OperationSummary) []string {
	out := []string{string(o.Operation), fmt.Sprint(o.Succeeded), fmt.Sprint(o.Failed + o.Censored), string(o.ThroughputPerSecond)}
	if o.Latency == nil {
		return append(out, "", "", "", "", "", "", "")
	}
	l := o.Latency
	for _, s := range []spec.Statistic{spec.StatisticMean, spec.StatisticP50, spec.StatisticP90, spec.StatisticP99, spec.StatisticP999, spec.StatisticMax} {
		out = append(out, known(ifSolid(l, s)))
	}
	return append(out, strconv.FormatBool(len(l.AtLeast) > 0))
}

// ifSolid is a statistic in microseconds, 0 if too few requests lie above it.
func ifSolid(l *v1alpha1.LatencySummary, s spec.Statistic) int64 {
	for _, thin := range l.Thin {
		if thin == s {
			return 0
		}
	}
	return l.Micros(s)
}

func seriesRows(s *v1alpha1.EtcdBenchmarkSchedule) [][]string {
	rows := [][]string{{"namespace", "schedule", "session", "started", "cell", "metric", "value", "unit"}}
	for _, series := range s.Status.Series {
		unit, scale := "per_second", 1000.0
		if series.Type == v1alpha1.SeriesLatency {
			unit, scale = "microseconds", 1.0
		}
		for i, v := range series.Values {
			if i >= len(s.Status.Sessions) || v == 0 {
				continue
			}
			session := s.Status.Sessions[i]
			rows = append(rows, []string{
				s.Namespace, s.Name, session.Name, session.StartTime.UTC().Format("2006-01-02T15:04:05Z"), series.Cell, seriesName(series),
				strconv.FormatFloat(float64(v)/scale, 'f', -1, 64), unit,
			})
		}
	}
	return rows
}
