package report

import (
	"encoding/csv"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// heatmapped is a finished suite of rw-heatmaps, with this many sizes and connections, and a target for each name.
func heatmapped(entries int, rounds int32, targets ...v1alpha1.EntryName) *Document {
	s := &v1alpha1.EtcdBenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "etcd", Name: "rw-heatmap"}}
	s.Spec.Rounds = rounds
	for _, name := range targets {
		s.Spec.Targets = append(s.Spec.Targets, v1alpha1.SuiteTarget{Name: name})
	}
	for i := range entries {
		n := int32(32 << i)
		s.Spec.Loads = append(s.Spec.Loads, v1alpha1.SuiteLoad{Name: v1alpha1.EntryName(fmt.Sprintf("c%d", n)), Load: spec.Load{Clients: n, Connections: n}})
		s.Spec.Workloads = append(s.Spec.Workloads, v1alpha1.SuiteWorkload{
			Name: v1alpha1.EntryName(fmt.Sprintf("v%d", 8*n)), Workload: spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
				ReadPercent: 80, ReadLimit: new(int64(100)), Keys: spec.Keys{Count: 65_536, SizeBytes: 256}, Values: spec.Values{SizeBytes: 8 * n},
			}},
		})
	}
	for i, p := range suite.Plan(s) {
		reads := 1_000_000 * int64(p.Cell.Load.Load.Clients) / int64(p.Cell.Workload.Workload.Mixed.Values.SizeBytes) * int64(20+p.Round)
		s.Status.Results = append(s.Status.Results, v1alpha1.SuiteResult{
			Name: fmt.Sprintf("run-%d", i), Cell: p.Cell.Name, Round: p.Round, Reason: v1alpha1.ReasonCompleted,
			Operations: []v1alpha1.SuiteOperation{
				{Operation: spec.OperationPut, ThroughputMilliPerSecond: reads / 4, P99Microseconds: 3000 + int64(i)},
				{Operation: spec.OperationRange, ThroughputMilliPerSecond: reads, P99Microseconds: 900 + 10*int64(i)},
			},
		})
	}
	return OfSuite(s, nil)
}

// withChanges compares two targets: cells differ by less than 3 % undecided, and the others decided.
func withChanges(d *Document) *Document {
	s := d.Suite
	m := v1alpha1.Metric{Type: v1alpha1.MetricThroughput}
	s.Spec.Compare = &v1alpha1.SuiteCompare{Axis: v1alpha1.AxisTargets, Baseline: v1alpha1.SuiteBaseline{Entry: s.Spec.Targets[0].Name}, Metrics: []v1alpha1.Metric{m}}
	for i, c := range suite.Cells(s) {
		if c.Target.Name == s.Spec.Targets[0].Name {
			continue
		}
		change := int64(i%9-4) * 15_000
		comparison := v1alpha1.SuiteComparison{
			Cell: c.Name, BaselineCell: suite.NameWith(s, v1alpha1.AxisTargets, s.Spec.Targets[0].Name, c),
			Comparison: v1alpha1.Comparison{Metric: m, ChangePerMillion: &change, LowPerMillion: new(change - 20_000), HighPerMillion: new(change + 20_000), Verdict: v1alpha1.NotCompared},
		}
		if change < -20_000 {
			comparison.Verdict = v1alpha1.Regressed
		} else if change > 20_000 {
			comparison.Verdict = v1alpha1.NotRegressed
		}
		s.Status.Comparisons = append(s.Status.Comparisons, comparison)
	}
	return d
}

// A suite with two numeric axes is drawn as a grid for each target, and the changes between them as one more. The table behind a
// grid has its cells.
func TestGridsOfAReport(t *testing.T) {
	d := withChanges(heatmapped(7, 3, "v36", "v37"))
	broken := &d.Suite.Status.Results[0]
	broken.Invalid = "its load generator was a limit (ClientBound)"
	drawn, _ := cellPlots(d.Suite)
	changes := changeGrids(d.Suite)
	var ids []string
	for _, p := range append(drawn, changes...) {
		ids = append(ids, p.Picture.Info().ID)
		if len(p.Rows) != 50 {
			t.Errorf("%s has a table of %d rows, wanted 49 and a header", p.Picture.Info().ID, len(p.Rows))
		}
	}
	if diff := cmp.Diff([]string{"grid-cells-1", "grid-cells-2", "grid-cells-p99-1", "grid-cells-p99-2", "grid-changes-1"}, ids); diff != "" {
		t.Fatalf("the grids (-want +got):\n%s", diff)
	}
	svg := drawn[0].Picture.SVG()
	wantTexts(t, svg, "clients and connections", "values.sizeBytes", "2,048", "16,384", "32, 256: 3,515/s", "Highest: v36/v256/c2048, ")
	about := changes[0].Picture.Info()
	wantTexts(t, about.Title+about.Description, "v37: change of ", "The change from v36 to v37.", "regressed", "The worst: ")
	wantTexts(t, changes[0].Picture.SVG(), "hatched: undecided", "heat-worse-3", "heat-better-3", "Regressed")
	page := pageOf(t, d)
	for _, id := range ids {
		wantTexts(t, page, id+"-d")
	}
	if file := os.Getenv("GRID_PAGE"); file != "" {
		if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A cell without a valid round shows what it has, hatched; one without a run says so.
func TestCellsOfAGridThatCannotBeCompared(t *testing.T) {
	d := heatmapped(3, 1, "one")
	s := d.Suite
	s.Status.Results[0].Invalid, s.Status.Results = "ClientBound", s.Status.Results[:8]
	drawn, _ := cellPlots(s)
	svg := drawn[0].Picture.SVG()
	wantTexts(t, svg, "hatched: cannot be compared", "128, 1,024: no run", "32, 256: 3,2")
	if got := drawn[0].Rows[1]; got[4] != "1, not comparable" {
		t.Errorf("the row is %v", got)
	}
}

// The file has what tools/rw-heatmaps of etcd reads: pkg/dataset takes the columns by their places, the parameters from the
// line after the header, and reads and puts per second from both sides of a colon. pkg/chart takes the points in the
// order of their value sizes and, within these, of their connections.
func TestFilesForRWHeatmaps(t *testing.T) {
	d := heatmapped(3, 2, "one")
	s := d.Suite
	s.Status.Results[17].Reason, s.Status.Results[17].Operations, s.Status.Results[0].Invalid = v1alpha1.ReasonStopped, nil, "ClientBound"
	for i := range s.Status.Results {
		// Nothing of this point succeeded.
		if r := &s.Status.Results[i]; r.Cell == "v512/c64" {
			r.Operations = nil
		}
	}
	s.Spec.Loads[0], s.Spec.Loads[2] = s.Spec.Loads[2], s.Spec.Loads[0]
	data, err := RWHeatmaps(d)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"type", "ratio", "conn_size", "value_size", "iter1", "iter2", "comment"},
		{"PARAM", "", "", "", "", "", "key_size=256,key_space_size=65536,range_limit=100,suite=rw-heatmap"},
		{"DATA", "4.0000", "32", "256", "2625.0000:656.2500", "2750.0000:687.5000", "iter1: ClientBound"},
	}
	if diff := cmp.Diff(want, lines[:3]); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
	if len(lines) != 2+8 {
		t.Errorf("found %d lines, wanted none for the point without a result: %v", len(lines), lines)
	}
	if last := lines[len(lines)-1]; last[2] != "128" || last[3] != "1024" || last[4] != last[5] || last[6] != "iter2: no result" {
		t.Errorf("the point with a missing round is %v", last)
	}
	if file := os.Getenv("RW_HEATMAPS_FILE"); file != "" {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	puts, half, large := compared(t, 3, 1.5), heatmapped(2, 1, "one"), heatmapped(2, 1, "one").Suite
	large.Spec.Rounds = 63
	half.Suite.Status.Results[1].Operations = half.Suite.Status.Results[1].Operations[:1]
	for name, d := range map[string]*Document{"more than 250 runs": OfSuite(large, nil), "only puts were kept": half, "a run": OfRun(failedRun(), nil), "two targets": heatmapped(2, 1, "a", "b"), "puts": puts, "a search": searched(t)} {
		if name == "puts" {
			d.Suite.Spec.Targets = d.Suite.Spec.Targets[:1]
		}
		if _, err := RWHeatmaps(d); err == nil || !strings.Contains(err.Error(), "wanted") {
			t.Errorf("%s: wanted an error that says what is wanted, found %v", name, err)
		}
	}
}
