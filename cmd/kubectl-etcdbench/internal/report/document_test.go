package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A document that was saved gives the same forms as the objects did.
func TestDocumentsCanBeSaved(t *testing.T) {
	for name, d := range documents(t) {
		t.Run(name, func(t *testing.T) {
			saved := again(t, d)
			if diff := cmp.Diff(pageOf(t, d), pageOf(t, saved)); diff != "" {
				t.Errorf("page (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(string(d.Page().Markdown()), string(saved.Page().Markdown())); diff != "" {
				t.Errorf("Markdown (-before +after):\n%s", diff)
			}
		})
	}
}

func TestReadsObjects(t *testing.T) {
	run := measured(t, "writes", time.Millisecond)
	saved, err := Read(object(t, run.Object, "EtcdBenchmark", map[string]any{"report": json.RawMessage(run.Report)}))
	if err != nil || len(saved.Runs) != 1 || len(saved.Runs[0].Report) == 0 {
		t.Fatalf("found %+v, %v", saved, err)
	}
	if len(saved.Runs[0].detail().Operations) == 0 {
		t.Error("wanted the histograms of the report")
	}
	list := object(t, map[string]any{"items": []any{json.RawMessage(object(t, run.Object, "EtcdBenchmark", nil)), json.RawMessage(object(t, run.Object, "EtcdBenchmark", nil))}}, "List", nil)
	if d, err := Read(list); err != nil || len(d.Runs) != 2 {
		t.Errorf("a list of two runs: found %+v, %v", d, err)
	}
	if d, err := Read(object(t, compared(t, 3, 1).Suite, "EtcdBenchmarkSuite", nil)); err != nil || d.Suite == nil {
		t.Errorf("a suite: found %+v, %v", d, err)
	}
	if d, err := Read(object(t, nightly(3), "EtcdBenchmarkSchedule", nil)); err != nil || d.Schedule == nil {
		t.Errorf("a schedule: found %+v, %v", d, err)
	}
}

func TestReadRefuses(t *testing.T) {
	manifest := measured(t, "writes", time.Millisecond).Object
	manifest.Status.Conditions = nil
	for name, tc := range map[string]struct {
		data string
		want []string
	}{
		"no JSON":          {"{", []string{"JSON"}},
		"another kind":     {`{"kind": "Pod"}`, []string{"EtcdBenchmarkSuite", `"Pod"`}},
		"a manifest":       {string(object(t, manifest, "EtcdBenchmark", nil)), []string{"no result", "manifest"}},
		"a newer document": {`{"kind": "EtcdBenchmarkReport", "version": 2}`, []string{"found 2", "newer kubectl-etcdbench"}},
		"no version":       {`{"kind": "EtcdBenchmarkReport"}`, []string{"found 0"}},
		"nothing in it":    {`{"kind": "EtcdBenchmarkReport", "version": 1}`, []string{"found none"}},
		"a run of nothing": {`{"kind": "EtcdBenchmarkReport", "version": 1, "runs": [{}]}`, []string{"runs[0]"}},
		"an empty list":    {`{"kind": "List", "items": []}`, []string{"empty"}},
		"a list of suites": {`{"kind": "List", "items": [{"kind": "EtcdBenchmarkSuite", "status": {"conditions": [{"type": "Finished"}]}}]}`, []string{"item 0", "EtcdBenchmarks"}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Read([]byte(tc.data))
			if err == nil {
				t.Fatalf("read %+v", d)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("found %q, wanted %q in it", err, want)
				}
			}
		})
	}
}

// Documents that older tools have written open in newer ones. The files are never changed; a new version adds one.
func TestOldDocumentsOpen(t *testing.T) {
	for file, wants := range map[string][]string{
		"version-1-run.json":   {"All objectives were met", "Put: latency by percentile", "Latency over time", "Pending proposals"},
		"version-1-suite.json": {"Regressed", "Change from baseline to candidate", "in each round"},
	} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			d, err := Read(data)
			if err != nil {
				t.Fatal(err)
			}
			wantTexts(t, pageOf(t, d), wants...)
			if rows := tableFrom(t, d); len(rows) < 2 {
				t.Errorf("CSV: found %q", rows)
			}
			if s := junitFrom(t, d); s.Tests == 0 {
				t.Errorf("JUnit: found %+v", s)
			}
		})
	}
}
