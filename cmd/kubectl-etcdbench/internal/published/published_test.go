package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/config/samples"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// suites are those of config/samples/published, by name.
func suites(t *testing.T) map[string]*v1alpha1.EtcdBenchmarkSuite {
	t.Helper()
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*v1alpha1.EtcdBenchmarkSuite{}
	for _, sample := range all {
		if !strings.HasPrefix(sample.File, "published/") {
			continue
		}
		s := &v1alpha1.EtcdBenchmarkSuite{}
		if err := yaml.UnmarshalStrict(sample.Manifest, s); err != nil {
			t.Fatal(err)
		}
		out[s.Name] = s
	}
	return out
}

// ran is a result of each suite, in which each cell has one run with a rate of 1,234/s.
func ran(t *testing.T) measured {
	t.Helper()
	m := newMeasured()
	for name, s := range suites(t) {
		for _, c := range suite.Cells(s) {
			s.Status.Results = append(s.Status.Results, v1alpha1.SuiteResult{
				Name: name, Cell: c.Name, Round: 1, Reason: v1alpha1.ReasonCompleted, ServerMemoryBytes: 50e6,
				Operations: []v1alpha1.SuiteOperation{{Operation: "Put", Succeeded: 2000, ThroughputMilliPerSecond: 1_234_000, MeanMicroseconds: 810, P90Microseconds: 900, P99Microseconds: 1000, MaxMicroseconds: 2000}},
			})
		}
		s.Status.Conditions = append(s.Status.Conditions, metaFinished())
		data, err := yaml.Marshal(typed(s))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.add(name, data); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// Each row of each published table has a cell of a suite.
func TestEachRowIsMeasured(t *testing.T) {
	for _, table := range tablesOf(ran(t)) {
		if len(table.rows) == 0 {
			t.Errorf("%s has no rows", table.id)
		}
		for _, row := range table.rows {
			if len(row) != len(table.header) {
				t.Errorf("%s: row %q, wanted the columns %q", table.id, row, table.header)
			}
		}
	}
}

// The figures in the tables are those of the suites, where both have them.
func TestTheFiguresOfTheSuitesAreThoseOfTheTables(t *testing.T) {
	page := markdown(ran(t), tablesOf(ran(t)))
	for name, s := range suites(t) {
		if s.Spec.Compare == nil || s.Spec.Compare.Baseline.Values == nil {
			continue
		}
		for _, f := range s.Spec.Compare.Baseline.Values.Figures {
			figure := "|" + rate(float64(f.Value)) + "|"
			if s.Spec.Compare.Metrics[0].Type == v1alpha1.MetricLatency {
				figure = latency(float64(f.Value)) + "|"
			}
			if !strings.Contains(page, figure) {
				t.Errorf("%s, cell %s: the page lacks %s", name, f.Cell, figure)
			}
		}
	}
}

// A result that is missing fills its row with the reason.
func TestAMissingResultSaysWhy(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, pageSuite+failedEnding), []byte("bin/tools/etcd: no such file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := readResults(folder, filepath.Join(folder, "stores.json"))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"etcd-writes": cannot + "bin/tools/etcd: no such file", "etcd-reads": cannot + "bin/tools/etcd: no such file",
		"pods": notRun, "stores": cannot + "out/stores.json is missing: make stores writes it",
	} {
		for _, row := range tableWith(t, m, id).rows {
			if row[len(row)-1] != want {
				t.Errorf("%s: got %q, wanted %q", id, row, want)
			}
		}
	}
}

func tableWith(t *testing.T, m measured, id string) table {
	t.Helper()
	all := tablesOf(m)
	i := slices.IndexFunc(all, func(t table) bool { return t.id == id })
	if i < 0 {
		t.Fatalf("no table %s", id)
	}
	return all[i]
}

// The numbers of a run whose load generator was the limit are marked, and left out of the mean of others.
func TestDoubtIsShown(t *testing.T) {
	m := ran(t)
	results := m.suites[pageSuite].Suite.Status.Results
	i := slices.IndexFunc(results, func(r v1alpha1.SuiteResult) bool { return r.Cell == "leader/put/one" })
	results[i].Invalid = "its load generator was a limit"
	if row := tableWith(t, m, "etcd-writes").rows[0]; row[7] != "1,234"+limited {
		t.Errorf("got %q", row)
	}
	valid := results[i]
	valid.Invalid, valid.Round, valid.Operations = "", 2, []v1alpha1.SuiteOperation{{ThroughputMilliPerSecond: 5000, Succeeded: 1}}
	m.suites[pageSuite].Suite.Spec.Rounds, m.suites[pageSuite].Suite.Status.Results = 2, append(results, valid)
	if row := tableWith(t, m, "etcd-writes").rows[0]; row[7] != "5" {
		t.Errorf("got %q", row)
	}
}

// A quick run has each cell of the suite.
func TestAQuickRunHasEachRow(t *testing.T) {
	for name, s := range suites(t) {
		before := len(suite.Cells(s))
		shrink(s)
		if name == layoutsSuite {
			// One, three and nine servers.
			before = before * 3 / 5
		}
		if after := len(suite.Cells(s)); after != before {
			t.Errorf("%s: got %d cells, wanted %d", name, after, before)
		}
		for _, l := range s.Spec.Loads {
			if l.Load.Requests != nil && *l.Load.Requests > quickRequests {
				t.Errorf("%s: %d requests", name, *l.Load.Requests)
			}
		}
	}
}

func metaFinished() metav1.Condition {
	return metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted}
}

func typed(s *v1alpha1.EtcdBenchmarkSuite) *v1alpha1.EtcdBenchmarkSuite {
	s.Kind = "EtcdBenchmarkSuite"
	return s
}
